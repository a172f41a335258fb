//! Radiative boundary condition of open sides: outflow, without ghost cells.

use super::Limiter;
use super::flux::FluxConstants;
use super::stage::Stage;
use super::strip::Rows;
use crate::grid::{Shape, Side, Sides};
use crate::real::Real;

/// Net outflow from a cell of an open row across its side, per map factor.
///
/// max(F out, 0) (q − q inner) + q* (F₊ − F₋), with F out the mean of the two fluxes
///
/// Air that enters through the side has no gradient across it.
///
/// Source: WS02 (radiative boundary of WRF).
/// Units: `outward` and `divergence` kg s⁻¹, `edge` and `inner` kg kg⁻¹ (at the start of the step
/// in a limited stage), `latest` kg kg⁻¹; returns kg s⁻¹.
#[inline(always)]
pub fn radiative_outflow<R: Real>(outward: R, divergence: R, edge: R, inner: R, latest: R) -> R {
    outward.larger(R::ZERO) * (edge - inner) + latest * divergence
}

/// One cell of an open row: its index, the index of its inner neighbour, the fluxes through the two faces across the
/// side, and `true` if the side is the western or southern one.
struct Edge<R> {
    at: usize,
    inner: usize,
    fluxes: [R; 2],
    low_side: bool,
}

/// Adds the radiative outflow through the open sides of row j to its net lateral outflow.
///
/// WRF omits the map factor in this term; all other lateral fluxes have it as a common factor, so it is divided out
/// here.
pub(super) fn add_open_sides<R: FluxConstants>(
    stage: &Stage<'_, R>,
    k: usize,
    j: usize,
    net: &mut [R],
) {
    let Shape { nx, ny, .. } = stage.shape();
    let Sides { west, east, south, north } = stage.wind.grid.sides;
    if ![west, east, south, north].contains(&Side::Open) {
        return;
    }
    let level = k * nx * ny;
    let cell = |j: usize, i: usize| level + j * nx + i;
    let radiate = |edge: &Edge<R>, i: usize| {
        let [low, high] = edge.fluxes;
        let mean = (low + high) * R::HALF;
        let outward = if edge.low_side { -mean } else { mean };
        // Unlimited stages use the latest values for both; limited stages use the values at the start of the step.
        let limited = stage.limiter != Limiter::None;
        let carried = if limited { stage.start } else { stage.field };
        let latest = stage.field[edge.at];
        radiative_outflow(outward, high - low, carried[edge.at], carried[edge.inner], latest)
            / stage.wind.air.map_x[[j, i]]
    };
    let x = stage.mass_x(k, j);
    for (i, inner, side, low_side) in
        [(0, 1, west, true), (nx - 1, nx.wrapping_sub(2), east, false)]
    {
        if side == Side::Open {
            let fluxes = [x[i], x[i + 1]];
            let edge = Edge { at: cell(j, i), inner: cell(j, inner), fluxes, low_side };
            net[i] += radiate(&edge, i);
        }
    }
    for (row, inner, side, low_side) in
        [(0, 1, south, true), (ny - 1, ny.wrapping_sub(2), north, false)]
    {
        if side == Side::Open && j == row {
            let [below, above] = [j, j + 1].map(|first| stage.mass_y(k, Rows { first, count: 1 }));
            for i in 0..nx {
                let fluxes = [below[i], above[i]];
                let edge = Edge { at: cell(j, i), inner: cell(inner, i), fluxes, low_side };
                net[i] += radiate(&edge, i);
            }
        }
    }
}
