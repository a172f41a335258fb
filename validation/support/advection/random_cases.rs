//! Cases of random numbers.

use ndarray::{Array2, Array3};
use nwp_mini::dry_mass::MassCoordinate;
use nwp_mini::grid::{Grid, Shape, Side, Sides};
use nwp_mini::io::cases::transport::TransportCase;

const P: Side = Side::Periodic;
const S: Side = Side::Specified;
const O: Side = Side::Open;

/// Kinds of sides that differ in what happens in the outermost rows: west, east, south, north.
#[allow(dead_code, reason = "of some suites alone")]
pub const KINDS: [[Side; 4]; 9] = [
    [P, P, P, P],
    [S, S, S, S],
    [O, O, O, O],
    [P, P, S, S],
    [O, O, P, P],
    [S, S, P, P],
    [O, S, S, O],
    [S, O, O, S],
    [S, O, O, O],
];

/// A reproducible sequence of numbers between 0 and 1 (Knuth's MMIX generator).
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // The upper bits are the random ones.
        (self.0 >> 33) as f64 / f64::from(1_u32 << 31)
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
}

/// A case in which everything varies: masses, map factors, layers, winds; the winds need not
/// close, and some faces carry more than the cap of the positive-definite limiter.
pub fn random_case(shape: Shape, sides: Sides, seed: u64) -> TransportCase {
    let Shape { nx, ny, nz } = shape;
    let mut noise = Noise::new(seed);
    let mut plane = |low, high| Array2::from_shape_simple_fn((ny, nx), || noise.between(low, high));
    let mu = plane(7.0e4, 9.0e4);
    let mu_end = &mu * &plane(0.98, 1.02);
    let (map_x, map_y) = (plane(0.8, 1.2), plane(0.8, 1.2));
    let rdnw: Vec<f64> = (0..nz).map(|_| -noise.between(0.7, 1.4) * nz as f64).collect();
    let (mut fnm, mut fnp) = (vec![0.0], vec![0.0]);
    for k in 1..nz {
        let [below, above] = [1.0 / rdnw[k - 1], 1.0 / rdnw[k]];
        fnm.push(below / (below + above));
        fnp.push(above / (below + above));
    }
    let coordinate = MassCoordinate {
        mu,
        map_x,
        map_y,
        c1: (0..nz).map(|_| noise.between(0.6, 1.0)).collect(),
        c2: (0..nz).map(|_| noise.between(0.0, 5.0e3)).collect(),
        rdnw,
        fnm,
        fnp,
        unit: 1.0,
    };
    let (dx, dy, dt) = (3000.0, 2000.0, 10.0);
    // Courant numbers of up to 0.6 along one axis at a time, of mostly much less.
    let mut wind = |dim, scale: f64| {
        Array3::from_shape_simple_fn(dim, || scale * noise.between(-1.0, 1.0).powi(3))
    };
    let mut ru = wind(shape.x_face(), 0.6 * 7.0e4 * dx / dt);
    let mut rv = wind(shape.y_face(), 0.6 * 7.0e4 * dy / dt);
    let mut rom = wind(shape.z_face(), 0.6 * 7.0e4 / (dt * nz as f64));
    for k in 0..nz {
        if sides.periodic_x() {
            (0..ny).for_each(|j| ru[[k, j, nx]] = ru[[k, j, 0]]);
        }
        if sides.periodic_y() {
            (0..nx).for_each(|i| rv[[k, ny, i]] = rv[[k, 0, i]]);
        }
    }
    for (j, i) in (0..ny).flat_map(|j| (0..nx).map(move |i| (j, i))) {
        rom[[0, j, i]] = 0.0;
        rom[[nz, j, i]] = 0.0;
    }
    // A third of the cells hold nothing, so that the limiters have work.
    let mut q = Array3::from_shape_simple_fn(shape.centre(), || noise.between(-0.5, 1.0).max(0.0));
    // One cell always does, or nothing could be compared in the smallest grids.
    q[[0, 0, 0]] = 1.0;
    let grid = Grid::whole(shape, [dx, dy], sides);
    TransportCase { grid, coordinate, mu_end, ru, rv, rom, q, dt, steps: 2 }
}

pub fn sides([west, east, south, north]: [Side; 4]) -> Sides {
    Sides { west, east, south, north }
}
