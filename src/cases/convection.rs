//! Clouds in prescribed updrafts: a warm bubble, a supercell, a squall line.

use std::f64::consts::PI;

use super::column::Column;
use super::flow::{Flow, half_sine};
use super::sounding::{STABLE_LAYER, WEISMAN_KLEMP};
use super::{
    CaseDefaults, CaseOptions, IdealisedCase, Shear, air, even_domain, extent, fitting, steady,
};
use crate::grid::{Side, Sides};

const PERIODIC: Sides = Sides::all(Side::Periodic);
const SPECIFIED: Sides = Sides::all(Side::Specified);

pub(super) const BUBBLE: CaseDefaults =
    CaseDefaults { cells: [40, 40, 40], dx: 250.0, sides: PERIODIC };
pub(super) const SUPERCELL: CaseDefaults =
    CaseDefaults { cells: [80, 80, 40], dx: 1000.0, sides: SPECIFIED };
pub(super) const LINE: CaseDefaults = CaseDefaults {
    cells: [160, 16, 40],
    dx: 1000.0,
    sides: Sides { south: Side::Periodic, north: Side::Periodic, ..SPECIFIED },
};

/// Heights of the lids of the bubble and of deep convection, m.
const LIDS: [f64; 2] = [10_000.0, 20_000.0];

/// A bubble 2 K warmer than its surroundings and as humid, in a ring of overturning air.
///
/// Air rises at `w sin(πz/6 km) g(r)`, `g = cos² s - s cos s sin s`, s = πr/2R: up within 0.55 R and down in the ring
/// outside; 0 from R = 4 km on.
pub(super) fn warm_bubble(options: &CaseOptions) -> IdealisedCase {
    /// Radius of the ring and height of its top, m.
    const RING: [f64; 2] = [4000.0, 6000.0];
    /// Height of the bubble's centre, its half depth (m) and its temperature excess (K).
    const BUBBLE_AT: [f64; 3] = [1500.0, 1200.0, 2.0];
    const UPDRAFT: f64 = 5.0;

    let grid = options.grid(BUBBLE);
    let base = Column::of(&STABLE_LAYER, LIDS[0], grid.shape.nz);
    let radius = fitting(RING[0], &grid, &extent(&grid));
    let domain = even_domain(grid, &base);
    let [middle, depth, warmth] = BUBBLE_AT;
    let air = air(&domain, &base, |x, y| {
        let across = x.hypot(y) / (0.5 * radius);
        (across < 1.0).then(|| {
            let excess = |k: usize| {
                let distance = across.hypot((base.z[k] - middle) / depth).min(1.0);
                warmth * (0.5 * PI * distance).cos().powi(2)
            };
            base.filled(
                |k| base.theta[k] + excess(k),
                |k, saturation| (STABLE_LAYER.vapour)(base.z[k], saturation),
            )
        })
    });
    let most = options.updraft.unwrap_or(UPDRAFT);
    let rising = half_sine(&base.z_face, &base.face_density(), most, RING[1]);
    let flow = Flow::at_rest(&grid, &domain.coordinate).add_overturning(&rising, |x, y| {
        let s = 0.5 * PI * x.hypot(y) / radius;
        let a = if s < 0.5 * PI { -0.5 * s.cos().powi(2) } else { 0.0 };
        [a * x, a * y]
    });
    IdealisedCase::new(options, flow.winds(), domain, air, steady())
}

/// A steady updraft in sheared wind, in the frame of the storm: `w sin(πz/14 km) cos²(πr/2R)`, R = 8 km, with inflow
/// from all sides and no descent.
///
/// Quarter-circle shear: a quarter circle of 7 m/s from the ground to 2 km, then straight by 24 m/s up to 6 km. Linear
/// shear: `31 m/s tanh(z/3 km)` along x. In both the mass-weighted mean of the lowest 6 km is subtracted.
///
/// Source: WK82 (sounding, unidirectional shear); the quarter circle in the manner of later studies
/// with the same sounding.
pub(super) fn supercell(options: &CaseOptions) -> IdealisedCase {
    /// Radius and height of the updraft, m.
    const EXTENT: [f64; 2] = [8000.0, 14_000.0];
    const UPDRAFT: f64 = 15.0;
    /// Heights up to which the wind turns, and up to which it increases, m.
    const TURN: [f64; 2] = [2000.0, 6000.0];
    /// Radius of the quarter circle, and the increase above it, m s⁻¹.
    const SPEEDS: [f64; 2] = [7.0, 24.0];
    /// Height scale of the linear shear, m.
    const SCALE: f64 = 3000.0;

    let grid = options.grid(SUPERCELL);
    let base = Column::of(&WEISMAN_KLEMP, LIDS[1], grid.shape.nz);
    let shear = options.shear.unwrap_or_default();
    let ground_wind = |z: f64| match shear {
        Shear::QuarterCircle => {
            let angle = 0.5 * PI * (z / TURN[0]).min(1.0);
            let beyond = ((z - TURN[0]) / (TURN[1] - TURN[0])).clamp(0.0, 1.0);
            [SPEEDS[0] * (1.0 - angle.cos()) + SPEEDS[1] * beyond, SPEEDS[0] * angle.sin()]
        }
        Shear::Linear => [(SPEEDS[0] + SPEEDS[1]) * (z / SCALE).tanh(), 0.0],
    };
    let motion = mean_below(&base, TURN[1], ground_wind);
    let radius = fitting(EXTENT[0], &grid, &extent(&grid));
    let domain = even_domain(grid, &base);
    let air = air(&domain, &base, |_, _| None);
    let most = options.updraft.unwrap_or(UPDRAFT);
    let rising = half_sine(&base.z_face, &base.face_density(), most, EXTENT[1]);
    let flow = Flow::at_rest(&grid, &domain.coordinate)
        .add_uniform(|k| {
            let [u, v] = ground_wind(base.z[k]);
            [u - motion[0], v - motion[1]]
        })
        .add_overturning(&rising, |x, y| {
            let r = x.hypot(y);
            // r a(r) = -∫ g r dr, from 0 to r or to the edge of the updraft.
            let (b, edge) = (PI / radius, r.min(radius));
            let inside = 0.25 * edge * edge
                + 0.5 * edge * (b * edge).sin() / b
                + 0.5 * ((b * edge).cos() - 1.0) / (b * b);
            let a = if r > 0.0 { -inside / (r * r) } else { 0.0 };
            [a * x, a * y]
        });
    IdealisedCase::new(options, flow.winds(), domain, air, steady())
}

/// A line of ascent along y, in its own frame: `w sin(πz/12 km) cos²(πx/2L)`, L = 8 km, with inflow from both sides, in
/// wind that increases by 17.5 m/s in the lowest 2.5 km and is constant above.
///
/// Source: the shear in the manner of Rotunno, Klemp and Weisman 1988, J. Atmos. Sci. 45, 463-485;
/// sounding WK82.
pub(super) fn squall_line(options: &CaseOptions) -> IdealisedCase {
    /// Half width and height of the ascent, m.
    const EXTENT: [f64; 2] = [8000.0, 12_000.0];
    const UPDRAFT: f64 = 8.0;
    /// Depth (m) and strength (m s⁻¹) of the shear.
    const SHEAR: [f64; 2] = [2500.0, 17.5];

    let grid = options.grid(LINE);
    let base = Column::of(&WEISMAN_KLEMP, LIDS[1], grid.shape.nz);
    let half = fitting(EXTENT[0], &grid, &extent(&grid)[..1]);
    let domain = even_domain(grid, &base);
    let air = air(&domain, &base, |_, _| None);
    let most = options.updraft.unwrap_or(UPDRAFT);
    let rising = half_sine(&base.z_face, &base.face_density(), most, EXTENT[1]);
    let ground_wind = |z: f64| [SHEAR[1] * (z / SHEAR[0]).min(1.0), 0.0];
    let motion = mean_below(&base, EXTENT[1], ground_wind);
    let flow = Flow::at_rest(&grid, &domain.coordinate)
        .add_uniform(|k| [ground_wind(base.z[k])[0] - motion[0], 0.0])
        .add_overturning(&rising, |x, _| {
            let x = x.clamp(-half, half);
            [-0.5 * (x + half / PI * (PI * x / half).sin()), 0.0]
        });
    IdealisedCase::new(options, flow.winds(), domain, air, steady())
}

/// Mass-weighted mean wind of the layers below a height, m s⁻¹.
fn mean_below(column: &Column, height: f64, wind: impl Fn(f64) -> [f64; 2]) -> [f64; 2] {
    let below = column.z.iter().zip(&column.mass).filter(|(z, _)| **z < height);
    let (mut total, mut sum) = (0.0, [0.0; 2]);
    for (z, mass) in below {
        let [u, v] = wind(*z);
        total += mass;
        sum = [sum[0] + mass * u, sum[1] + mass * v];
    }
    if total > 0.0 { sum.map(|x| x / total) } else { [0.0; 2] }
}
