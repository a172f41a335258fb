//! Cases of the kinematic driver: one column whose ascent is a function of time.
//!
//! The driver lifts a single column and does not specify the source of the air; its tracers obey the advective form
//! `∂q/∂t = -w ∂q/∂z`. Here the air enters and leaves at both sides: with the same w in all columns, `u = -x/ρ
//! ∂(ρw)/∂z` closes the mass balance of every cell. As long as adjacent columns are alike, the lateral fluxes of a
//! tracer reduce the flux form to the advective form, so that every column is the column of the driver. Inflow is the
//! initial air, in the layers where ρw increases with height: in the lowest one only, while w is uniform.

use std::f64::consts::PI;

use super::column::{Column, Sounding};
use super::flow::Flow;
use super::sounding::{COLD_LAYER, TRADE_WIND};
use super::{CaseDefaults, CaseOptions, CaseTime, HOUR, IdealisedCase, air, even_domain};
use crate::grid::{Side, Sides};

/// Lateral boundaries: specified in x, for inflow and outflow; periodic in y, along which columns are alike.
const SIDES: Sides =
    Sides { south: Side::Periodic, north: Side::Periodic, ..Sides::all(Side::Specified) };

/// A case: `w = w1 sin(π t / t1)` until t1, then 0.
#[derive(Clone, Copy)]
pub(super) struct Kinematic {
    pub(super) usual: CaseDefaults,
    lid: f64,
    /// Height up to which w is uniform, and above which it is 0, m.
    heights: [f64; 2],
    sounding: Sounding,
    /// Maximum ascent w1, m s⁻¹.
    updraft: f64,
    /// Duration of the ascent t1, s.
    duration: f64,
    /// Number of frames during the ascent.
    frames: usize,
}

/// Shallow warm rain: w1 = 2 m/s, t1 = 600 s; linear interpolation between frames 20 s apart differs from the sine by
/// 0.14 % of w1 at most.
///
/// Source: SH12, case W1. The lid differs: w decreases to 0 from 3 to 4 km, where the driver ends at 3 km.
pub(super) const WARM1: Kinematic = Kinematic {
    usual: CaseDefaults { cells: [8, 4, 80], dx: 100.0, sides: SIDES },
    lid: 4000.0,
    heights: [3000.0, 4000.0],
    sounding: TRADE_WIND,
    updraft: 2.0,
    duration: 600.0,
    frames: 30,
};

/// A cold cloud with ice, similar to the mixed-phase cases of the same driver, with a profile of this program: w1 = 2
/// m/s, t1 = 1200 s.
pub(super) const MIXED: Kinematic = Kinematic {
    usual: CaseDefaults { cells: [8, 4, 90], dx: 100.0, sides: SIDES },
    lid: 9000.0,
    heights: [6000.0, 8000.0],
    sounding: COLD_LAYER,
    updraft: 2.0,
    duration: 1200.0,
    frames: 40,
};

/// Builds a case of the driver.
pub(super) fn make(options: &CaseOptions, case: Kinematic) -> IdealisedCase {
    let grid = options.grid(case.usual);
    let base = Column::of(&case.sounding, case.lid, grid.shape.nz);
    let domain = even_domain(grid, &base);
    let air = air(&domain, &base, |_, _| None);
    let most = options.updraft.unwrap_or(case.updraft);
    let [low, high] = case.heights;
    let shape = |z: f64| (0.5 * PI * ((z - low) / (high - low)).clamp(0.0, 1.0)).cos().powi(2);
    let lid = grid.shape.nz;
    let faces = base.z_face.iter().zip(base.face_density()).enumerate();
    let rising: Vec<f64> = faces
        .map(|(face, (&z, rho))| if face == 0 || face == lid { 0.0 } else { rho * most * shape(z) })
        .collect();
    let flow = Flow::at_rest(&grid, &domain.coordinate).add_overturning(&rising, |x, _| [-x, 0.0]);
    IdealisedCase::new(options, flow.winds(), domain, air, moments(&case))
}

/// Times of the frames: during the ascent, and one an hour after the start.
fn moments(case: &Kinematic) -> Vec<CaseTime> {
    let along = |n: usize| n as f64 / case.frames as f64;
    let rising = (0..case.frames)
        .map(|n| CaseTime { seconds: case.duration * along(n), wind: (PI * along(n)).sin() });
    let rest = [case.duration, HOUR].map(|seconds| CaseTime { seconds, wind: 0.0 });
    rising.chain(rest).collect()
}
