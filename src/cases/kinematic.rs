//! The cases of the kinematic driver: one column whose ascent is a function of time.
//!
//! The driver carries a single column upward and leaves open where the air comes from; its tracers
//! obey the advective form `∂q/∂t = -w ∂q/∂z`. Here the air comes from and goes to both sides:
//! with w the same in all columns, `u = -x/ρ ∂(ρw)/∂z` closes the balance of every cell. As long as
//! neighbouring columns are alike, the lateral fluxes of a tracer cancel all but its advective form,
//! and every column is the column of the driver. What enters from outside is the initial air, in
//! the layers where ρw grows with height: the lowest one alone while w is the same at all heights.

use std::f64::consts::PI;

use super::column::{Column, Sounding};
use super::flow::Flow;
use super::sounding::{SURFACE, cold_layer, trade_wind};
use super::{HOUR, Idealised, Moment, Parts, Usual, Wish, air, even_domain};
use crate::grid::{Side, Sides};

/// Inflow and outflow along x; along y one column is like the other.
const SIDES: Sides = Sides {
    west: Side::Specified,
    east: Side::Specified,
    south: Side::Periodic,
    north: Side::Periodic,
};

/// One case: `w = w1 sin(π t / t1)` until t1, then 0.
#[derive(Clone, Copy)]
pub(super) struct Kinematic {
    pub(super) usual: Usual,
    lid: f64,
    /// Height up to which w is the same, and above which it is 0, m.
    heights: [f64; 2],
    theta: fn(f64) -> f64,
    vapour: fn(f64, f64) -> f64,
    /// Strongest ascent w1, m s⁻¹.
    updraft: f64,
    /// Its duration t1, s.
    duration: f64,
    /// Frames in that time.
    frames: usize,
}

/// Shallow warm rain: w1 = 2 m/s, t1 = 600 s; frames 20 s apart, between which a line misses the
/// sine by 0.14 % of w1 at most.
///
/// Source: SH12, case W1. Differs in the lid: w falls off from 3 to 4 km, where the driver ends at
/// 3 km.
pub(super) const WARM1: Kinematic = Kinematic {
    usual: Usual { cells: [8, 4, 80], dx: 100.0, sides: SIDES },
    lid: 4000.0,
    heights: [3000.0, 4000.0],
    theta: trade_wind::theta,
    vapour: trade_wind::vapour,
    updraft: 2.0,
    duration: 600.0,
    frames: 30,
};

/// A cold cloud with ice, in the manner of the mixed-phase cases of the same driver, with a
/// profile of our own: w1 = 2 m/s, t1 = 1200 s.
pub(super) const MIXED: Kinematic = Kinematic {
    usual: Usual { cells: [8, 4, 90], dx: 100.0, sides: SIDES },
    lid: 9000.0,
    heights: [6000.0, 8000.0],
    theta: cold_layer::theta,
    vapour: cold_layer::vapour,
    updraft: 2.0,
    duration: 1200.0,
    frames: 40,
};

/// Makes one of them.
pub(super) fn make(wish: &Wish, case: Kinematic) -> Idealised {
    let grid = wish.grid(case.usual);
    let sounding = Sounding { surface: SURFACE, theta: &case.theta, vapour: &case.vapour };
    let base = Column::of(&sounding, case.lid, grid.shape.nz);
    let domain = even_domain(grid, &base);
    let air = air(&domain, &base, |_, _| None);
    let most = wish.updraft.unwrap_or(case.updraft);
    let [low, high] = case.heights;
    let shape = |z: f64| (0.5 * PI * ((z - low) / (high - low)).clamp(0.0, 1.0)).cos().powi(2);
    let lid = grid.shape.nz;
    let faces = base.z_face.iter().zip(base.face_density()).enumerate();
    let rising: Vec<f64> = faces
        .map(|(face, (&z, rho))| if face == 0 || face == lid { 0.0 } else { rho * most * shape(z) })
        .collect();
    let flow = Flow::at_rest(&grid, &domain.coordinate).add_overturning(&rising, |x, _| [-x, 0.0]);
    let winds = flow.winds();
    Idealised::new(Parts { wish, domain, air, winds, moments: moments(&case) })
}

/// Frames while the air rises, and one an hour after the start.
fn moments(case: &Kinematic) -> Vec<Moment> {
    let along = |n: usize| n as f64 / case.frames as f64;
    let rising = (0..case.frames)
        .map(|n| Moment { seconds: case.duration * along(n), wind: (PI * along(n)).sin() });
    let rest = [case.duration, HOUR].map(|seconds| Moment { seconds, wind: 0.0 });
    rising.chain(rest).collect()
}
