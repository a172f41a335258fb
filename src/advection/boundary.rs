//! What happens in the outermost rows of sides that are not periodic.

use ndarray::{Array3, Axis};
use rayon::prelude::*;

use super::flux::FluxConstants;
use super::stage::Stage;
use super::{Limiter, Wind};
use crate::grid::{Shape, Side, Sides};
use crate::mass::MassFlux;
use crate::real::Real;
use crate::state::BoundaryValues;

/// Net outflow from a cell of an open row across its side, per map factor.
///
/// max(F out, 0) (q − q inner) + q* (F₊ − F₋), with F out the mean of the two fluxes
///
/// Air that comes in from outside brings no gradient with it.
///
/// Source: WS02 (radiative boundary of WRF).
/// Units: `outward` and `divergence` kg s⁻¹, `edge` and `inner` kg kg⁻¹ (at the start of the step
/// in a limited stage), `latest` kg kg⁻¹; returns kg s⁻¹.
#[inline(always)]
pub fn radiative_outflow<R: Real>(outward: R, divergence: R, edge: R, inner: R, latest: R) -> R {
    outward.larger(R::ZERO) * (edge - inner) + latest * divergence
}

/// One cell of an open row: where it is, its inner neighbour, the fluxes on either side of it,
/// and whether its side is the one of low indices.
struct Edge<R> {
    at: usize,
    inner: usize,
    fluxes: [R; 2],
    low_side: bool,
}

/// Adds what radiates through the open sides of row j to its net lateral outflow.
///
/// WRF leaves the map factor out here, which all other lateral fluxes have in common.
pub(super) fn add_open_sides<R: FluxConstants>(
    stage: &Stage<'_, R>,
    k: usize,
    j: usize,
    net: &mut [R],
) {
    let Shape { nx, ny, .. } = stage.shape();
    let Sides { west, east, south, north } = stage.wind.grid.sides;
    let level = k * nx * ny;
    let cell = |j: usize, i: usize| level + j * nx + i;
    let radiate = |edge: &Edge<R>, i: usize| {
        let [low, high] = edge.fluxes;
        let mean = (low + high) * R::HALF;
        let outward = if edge.low_side { -mean } else { mean };
        // Only limited stages know the values at the start; the others use the latest ones.
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
            let (below, above) = (stage.mass_y(k, j), stage.mass_y(k, j + 1));
            for i in 0..nx {
                let fluxes = [below[i], above[i]];
                let edge = Edge { at: cell(j, i), inner: cell(inner, i), fluxes, low_side };
                net[i] += radiate(&edge, i);
            }
        }
    }
}

/// Sets the outermost rows of the specified sides: where air leaves through the outer face, to
/// the neighbour inside; where it enters, to the given value or else zero.
///
/// The southern and the northern row own the corners; their neighbour inside is in neither of
/// the outermost columns.
///
/// Source: WRF's flow-dependent boundary.
pub(super) fn set_specified<R: Real>(
    wind: &Wind<'_, R>,
    inflow: Option<&BoundaryValues<R>>,
    q: &mut Array3<R>,
) {
    let sides = wind.grid.sides;
    if ![sides.west, sides.east, sides.south, sides.north].contains(&Side::Specified) {
        return;
    }
    q.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(k, mut level)| {
        let level = level.as_slice_mut().expect("a level is contiguous");
        set_specified_y(wind, inflow, k, level);
        set_specified_x(wind, inflow, k, level);
    });
}

fn set_specified_y<R: Real>(
    wind: &Wind<'_, R>,
    inflow: Option<&BoundaryValues<R>>,
    k: usize,
    level: &mut [R],
) {
    let Shape { nx, ny, .. } = wind.grid.shape;
    let sides = wind.grid.sides;
    let inner = sides.inner_x(nx);
    let MassFlux { y, .. } = wind.flux;
    for i in 0..nx {
        let source = i.clamp(inner.start, inner.end - 1);
        if sides.south == Side::Specified {
            let leaves = y[[k, 0, i]] < R::ZERO;
            let given = inflow.map_or(R::ZERO, |values| values.south[[k, i]]);
            level[i] = if leaves { level[nx + source] } else { given };
        }
        if sides.north == Side::Specified {
            let leaves = y[[k, ny, i]] > R::ZERO;
            let given = inflow.map_or(R::ZERO, |values| values.north[[k, i]]);
            level[(ny - 1) * nx + i] = if leaves { level[(ny - 2) * nx + source] } else { given };
        }
    }
}

fn set_specified_x<R: Real>(
    wind: &Wind<'_, R>,
    inflow: Option<&BoundaryValues<R>>,
    k: usize,
    level: &mut [R],
) {
    let Shape { nx, ny, .. } = wind.grid.shape;
    let sides = wind.grid.sides;
    let MassFlux { x, .. } = wind.flux;
    let first = usize::from(sides.south == Side::Specified);
    let last = ny - usize::from(sides.north == Side::Specified);
    for j in first..last {
        let row = &mut level[j * nx..][..nx];
        if sides.west == Side::Specified {
            let leaves = x[[k, j, 0]] < R::ZERO;
            let given = inflow.map_or(R::ZERO, |values| values.west[[k, j]]);
            row[0] = if leaves { row[1] } else { given };
        }
        if sides.east == Side::Specified {
            let leaves = x[[k, j, nx]] > R::ZERO;
            let given = inflow.map_or(R::ZERO, |values| values.east[[k, j]]);
            row[nx - 1] = if leaves { row[nx - 2] } else { given };
        }
    }
}
