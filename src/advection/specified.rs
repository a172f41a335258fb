//! Flow-dependent boundary condition in the outermost rows of specified sides.

use std::ops::Range;

use ndarray::{Array2, Array3, Axis};
use rayon::prelude::*;

use super::stage::{memory, row};
use super::{InflowValues, Wind};
use crate::grid::{Shape, Side};
use crate::real::Real;
use crate::state::BoundaryValues;

/// Sets the outermost rows of the specified sides: at outflow through the outer face to the value of the neighbour
/// inside, at inflow to the boundary value, or zero without one.
///
/// The southern and the northern row own the corners; the inner neighbour of a corner lies in neither of the outermost
/// columns.
///
/// Source: WRF's flow-dependent boundary.
pub(super) fn set_specified<R: Real>(
    wind: &Wind<'_, R>,
    inflow: InflowValues<'_, R>,
    q: &mut Array3<R>,
) {
    let sides = wind.grid.sides;
    if ![sides.west, sides.east, sides.south, sides.north].contains(&Side::Specified) {
        return;
    }
    q.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(k, mut level)| {
        let level = level.as_slice_mut().expect("a level is contiguous");
        set_level(wind, inflow, k, level);
    });
}

fn set_level<R: Real>(wind: &Wind<'_, R>, inflow: InflowValues<'_, R>, k: usize, level: &mut [R]) {
    let Shape { nx, ny, .. } = wind.grid.shape;
    let sides = wind.grid.sides;
    let x = &memory(&wind.flux.x)[k * ny * (nx + 1)..];
    let y = &memory(&wind.flux.y)[k * (ny + 1) * nx..];
    let given = |side: fn(&BoundaryValues<R>) -> &Array2<R>| match inflow {
        InflowValues::Values(all) => SideInflow::Values(row(side(all), k)),
        InflowValues::Nothing => SideInflow::Nothing,
        InflowValues::Neighbour => SideInflow::Neighbour,
    };
    let inner = sides.inner_x(nx);
    let inside = |i: usize| i.clamp(inner.start, inner.end - 1);
    if sides.south == Side::Specified {
        let cells = |i| [i, nx + inside(i)];
        set_side(level, 0..nx, cells, |i| -y[i], given(|inflow| &inflow.south));
    }
    if sides.north == Side::Specified {
        let cells = |i| [(ny - 1) * nx + i, (ny - 2) * nx + inside(i)];
        set_side(level, 0..nx, cells, |i| y[ny * nx + i], given(|inflow| &inflow.north));
    }
    let first = usize::from(sides.south == Side::Specified);
    let last = ny - usize::from(sides.north == Side::Specified);
    if sides.west == Side::Specified {
        let cells = |j| [j * nx, j * nx + 1];
        set_side(level, first..last, cells, |j| -x[j * (nx + 1)], given(|inflow| &inflow.west));
    }
    if sides.east == Side::Specified {
        let cells = |j| [j * nx + nx - 1, j * nx + nx - 2];
        set_side(level, first..last, cells, |j| x[j * (nx + 1) + nx], given(|inflow| &inflow.east));
    }
}

/// Sets the cells of one side at a level; `cells` gives their indices and those of their inner neighbours, `outward`
/// the mass flux out of them.
fn set_side<R: Real>(
    level: &mut [R],
    along: Range<usize>,
    cells: impl Fn(usize) -> [usize; 2],
    outward: impl Fn(usize) -> R,
    given: SideInflow<'_, R>,
) {
    for at in along {
        let [edge, inside] = cells(at);
        let given = match given {
            SideInflow::Values(given) => given[at],
            SideInflow::Nothing => R::ZERO,
            SideInflow::Neighbour => level[inside],
        };
        level[edge] = if outward(at) > R::ZERO { level[inside] } else { given };
    }
}

/// Boundary values of inflow along one side of a level.
#[derive(Clone, Copy)]
enum SideInflow<'a, R> {
    Nothing,
    Values(&'a [R]),
    Neighbour,
}
