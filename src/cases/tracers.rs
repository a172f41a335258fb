//! Transport with an exact solution: bodies of vapour in dry air, too dilute to condense.
//!
//! The frames of the file hold the exact solution at their times. All layers are alike.

use std::f64::consts::{PI, TAU};
use std::ops::Range;

use ndarray::Array2;
use ndarray::parallel::prelude::*;

use super::column::{Column, Sounding};
use super::flow::Flow;
use super::sounding::SURFACE;
use super::{
    CaseDefaults, CaseOptions, CaseTime, ExactVapour, HOUR, IdealisedCase, air, centre,
    even_domain, extent,
};
use crate::constants::Constants;
use crate::grid::{Grid, Shape, Side, Sides};

pub(super) const USUAL: CaseDefaults =
    CaseDefaults { cells: [100, 100, 4], dx: 1000.0, sides: Sides::all(Side::Specified) };

/// Frames of a rotation, and of a deformation and its reversal.
const FRAMES: [usize; 2] = [4, 20];

/// Unit of periods, s, which puts the frames of both cases at whole seconds.
pub(super) const UNIT: f64 = 20.0;

/// Height of the lid, m.
const LID: f64 = 2000.0;

/// Maximum vapour of a body, kg kg⁻¹: a sixth of saturation in the coldest layer.
const MOST: f64 = 1e-3;

/// Wind along a side of the grid that determines the default period, m s⁻¹.
const BRISK: f64 = 100.0;

/// Vapour of the three bodies, at x and y from the centre, in units of the side.
///
/// A slotted cylinder in the north, a cone in the south, a bell `((1 + cos(π r/r0))/2)²` in the
/// west, each of radius 0.15 at a distance of 0.25.
///
/// Source: LV96, with a bell that is smoother at its edge.
fn bodies([x, y]: [f64; 2]) -> f64 {
    const RADIUS: f64 = 0.15;
    const DISTANCE: f64 = 0.25;
    /// Half width of the slot, and its extent beyond the centre of the cylinder; not round, so that its edges do not
    /// coincide with cell centres.
    const SLOT: [f64; 2] = [0.0265, 0.1035];

    let from = |at: [f64; 2]| (x - at[0]).hypot(y - at[1]) / RADIUS;
    if from([0.0, DISTANCE]) < 1.0 {
        let is_slot = x.abs() < SLOT[0] && y < DISTANCE + SLOT[1];
        return if is_slot { 0.0 } else { MOST };
    }
    let cone = MOST * (1.0 - from([0.0, -DISTANCE])).max(0.0);
    let bell = MOST * (0.5 + 0.5 * (PI * from([-DISTANCE, 0.0]).min(1.0)).cos()).powi(2);
    cone + bell
}

/// The bodies in dry air of 300 K in a flow with the velocity streamfunction ψ(x, y) in m² s⁻¹ at positions in m from
/// the centre.
fn moved(
    options: &CaseOptions,
    grid: Grid,
    psi: impl Fn(f64, f64) -> f64,
    moments: Vec<CaseTime>,
    exact: ExactVapour,
) -> IdealisedCase {
    let sounding = Sounding { surface: SURFACE, theta: |_| f64::THETA_BASE, vapour: |_, _| 0.0 };
    let base = Column::of(&sounding, LID, grid.shape.nz);
    let domain = even_domain(grid, &base);
    let mut air = air(&domain, &base, |_, _| None);
    let plane = exact(0.0);
    air.state.qv_mut().outer_iter_mut().for_each(|mut level| level.assign(&plane));
    let flow =
        Flow::at_rest(&grid, &domain.coordinate).add_rotation(|k, x, y| base.mass[k] * psi(x, y));
    let case = IdealisedCase::new(options, flow.winds(), domain, air, moments);
    IdealisedCase { exact: Some(exact), ..case }
}

/// Period of a rotation: as requested, or whole hours that keep the wind along the sides below 100 m/s.
fn period(options: &CaseOptions, side: f64) -> f64 {
    options.period.unwrap_or_else(|| (PI * side / BRISK / HOUR).ceil() * HOUR)
}

/// The ends of `count` equal parts of a period, with the strength of the wind at each.
fn parts(period: f64, count: usize, wind: impl Fn(f64) -> f64) -> Vec<CaseTime> {
    let part = |n: usize| n as f64 / count as f64;
    (0..=count).map(|n| CaseTime { seconds: part(n) * period, wind: wind(part(n)) }).collect()
}

/// Bodies in cells from the origins of their air: `origin` returns its initial position, in units of the side. Shape:
/// (ny, nx).
fn carried(grid: &Grid, side: f64, origin: impl Fn([f64; 2]) -> [f64; 2] + Sync) -> Array2<f32> {
    let Shape { nx, ny, .. } = grid.shape;
    let mut plane = Array2::zeros((ny, nx));
    plane.outer_iter_mut().into_par_iter().enumerate().for_each(|(j, mut row)| {
        for (i, q) in row.iter_mut().enumerate() {
            let place = centre(grid, [j, i]).map(|x| x / side);
            *q = bodies(origin(place)) as f32;
        }
    });
    plane
}

/// Solid-body rotation, counterclockwise, one turn in the period of the case; a frame every quarter of a turn.
///
/// `u = -ω y, v = ω x`.
pub(super) fn rotation(options: &CaseOptions) -> IdealisedCase {
    let grid = options.grid(USUAL);
    let side = shorter_side(&grid);
    let period = period(options, side);
    let omega = TAU / period;
    let exact = move |seconds: f64| {
        // Full turns reproduce the initial bodies exactly.
        let (sin, cos) = (TAU * (seconds / period).fract()).sin_cos();
        carried(&grid, side, |[x, y]| [cos * x + sin * y, cos * y - sin * x])
    };
    let psi = |x: f64, y: f64| 0.5 * omega * (x * x + y * y);
    moved(options, grid, psi, parts(period, FRAMES[0], |_| 1.0), Box::new(exact))
}

/// Strength of the deformation: the fastest air would cross this fraction of the side in the period if the wind did not
/// decrease.
const STRENGTH: f64 = 1.5;

/// A vortex that stretches the bodies into filaments and, reversed, restores them.
///
/// `u = U sin²(πx) sin(2πy) cos(πt/T)`, `v = -U sin²(πy) sin(2πx) cos(πt/T)`, x and y from the corner of the grid in
/// units of its side. Winds are linear between 20 frames. These are symmetric about the reversal, so that the bodies
/// return in spite of the interpolation error of the cosine. The exact solutions in between are those of the cosine
/// itself.
///
/// Source: LV96.
pub(super) fn deformation(options: &CaseOptions) -> IdealisedCase {
    let mut grid = options.grid(USUAL);
    grid.sides = Sides::all(Side::Periodic);
    let side = shorter_side(&grid);
    let period = period(options, side);
    let speed = STRENGTH * side / period;
    let [width, height] = extent(&grid);
    let exact = move |seconds: f64| {
        // Displacement of the flow so far, in units of the side at full strength: forward and back.
        let time = seconds / period;
        let way = STRENGTH / PI * (PI * time.min(1.0 - time).max(0.0)).sin();
        let steps = STEPS_BACK.start.max((STEPS_BACK.end as f64 * way) as usize);
        carried(&grid, side, |place| back(place, way, steps, [width / side, height / side]))
    };
    let psi = |x: f64, y: f64| {
        let [sx, sy] = [x / width, y / height].map(|part| (PI * (part + 0.5)).sin().powi(2));
        -speed * side / PI * sx * sy
    };
    moved(options, grid, psi, parts(period, FRAMES[1], |part| (PI * part).cos()), Box::new(exact))
}

/// Fewest steps of a trajectory, and steps for a displacement of a whole side: twice as many change the origins by less
/// than 1e-5 of the side.
const STEPS_BACK: Range<usize> = 1..50;

/// Origin of air that was displaced by `way` in the flow of full strength, by fourth-order Runge-Kutta steps. Positions
/// are in units of the side from the centre, on a grid of the extent `size`.
fn back(place: [f64; 2], way: f64, steps: usize, size: [f64; 2]) -> [f64; 2] {
    // Velocity from the streamfunction on a grid that need not be square.
    let velocity = |[x, y]: [f64; 2]| {
        let [(sin_a, cos_a), (sin_b, cos_b)] =
            [x / size[0], y / size[1]].map(|part| (PI * (part + 0.5)).sin_cos());
        // sin²(πa) sin(2πb), by the double-angle formula.
        let both = 2.0 * sin_a * sin_b;
        [both * sin_a * cos_b / size[1], -both * sin_b * cos_a / size[0]]
    };
    let step = -way / steps as f64;
    let along =
        |at: [f64; 2], by: [f64; 2], step: f64| [at[0] + step * by[0], at[1] + step * by[1]];
    (0..steps).fold(place, |at, _| {
        let first = velocity(at);
        let second = velocity(along(at, first, 0.5 * step));
        let third = velocity(along(at, second, 0.5 * step));
        let fourth = velocity(along(at, third, step));
        let mean = [0, 1].map(|n| (first[n] + 2.0 * (second[n] + third[n]) + fourth[n]) / 6.0);
        along(at, mean, step)
    })
}

fn shorter_side(grid: &Grid) -> f64 {
    let [width, height] = extent(grid);
    width.min(height)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trajectories with the default steps and with many more; and back along the reversed flow.
    #[test]
    fn trajectories_are_exact() {
        let (way, size) = (STRENGTH / PI, [1.3, 1.0]);
        let steps = (STEPS_BACK.end as f64 * way) as usize;
        for place in [[0.1, 0.2], [-0.3, 0.05], [0.25, -0.25], [0.5, 0.4]] {
            let [found, finer] = [steps, 100 * steps].map(|steps| back(place, way, steps, size));
            let error = (found[0] - finer[0]).hypot(found[1] - finer[1]);
            assert!(error < 2e-5, "{place:?}: {error:e}");
            assert!(
                (place[0] - finer[0]).hypot(place[1] - finer[1]) > 0.01,
                "{place:?} is at rest"
            );
            let again = back(finer, -way, 100 * steps, size);
            assert!((again[0] - place[0]).hypot(again[1] - place[1]) < 1e-9, "{place:?}");
        }
    }
}
