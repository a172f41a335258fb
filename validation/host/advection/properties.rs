//! Properties of the scheme in all cases.

use ndarray::{Array2, Array3, Axis};
use nwp_mini::advection::flux::FluxConstants;
use nwp_mini::advection::{self, InflowValues, Limiter, Wind, Workspace};
use nwp_mini::dry_mass::{AirMass, MassCoordinate, MassFlux, longest_time_step};
use nwp_mini::grid::{Grid, Shape, Side, Sides};
use nwp_mini::real::Real;
use nwp_mini::state::BoundaryValues;

use super::case::{Prepared, SCHEMES, difference};
use super::random_cases::{Noise, random_case, sides};

/// A grid of equal cells of mass 1 with its fluxes.
struct Box3<R> {
    grid: Grid,
    air: AirMass<R>,
    flux: MassFlux<R>,
    dt: f64,
}

impl<R: FluxConstants> Box3<R> {
    fn new(shape: Shape, side: Side, flux: MassFlux<R>) -> Self {
        let Shape { nx, ny, nz } = shape;
        let grid = Grid::whole(shape, [1.0; 2], Sides::all(side));
        let coordinate = MassCoordinate {
            mu: Array2::ones((ny, nx)),
            map_x: Array2::ones((ny, nx)),
            map_y: Array2::ones((ny, nx)),
            c1: vec![1.0; nz],
            c2: vec![0.0; nz],
            rdnw: vec![-1.0; nz],
            fnm: vec![0.5; nz],
            fnp: vec![0.5; nz],
            unit: 1.0,
        };
        let air = AirMass::new(&grid, &coordinate);
        Self { grid, air, flux, dt: 1.0 }
    }

    fn wind(&self) -> Wind<'_, R> {
        Wind { grid: &self.grid, air: &self.air, flux: &self.flux, dt: self.dt }
    }

    fn run(&self, limiter: Limiter, q: &Array3<R>, steps: usize) -> Array3<R> {
        let mut q = q.clone();
        let mut work = Workspace::new(self.grid.shape);
        for _ in 0..steps {
            advection::step(&self.wind(), limiter, InflowValues::Nothing, &mut q, &mut work);
        }
        q
    }
}

/// Fluxes from vector potentials of small integers: in binary arithmetic they close exactly.
fn closed_flux<R: Real>(shape: Shape, seed: u64) -> MassFlux<R> {
    let Shape { nx, ny, nz } = shape;
    let mut noise = Noise::new(seed);
    let mut potential = |_| {
        Array3::from_shape_fn((nz + 1, ny, nx), |(k, _, _)| {
            if k == 0 || k == nz { 0.0 } else { noise.between(-8.0, 8.0).round() }
        })
    };
    let [px, py] = [0, 1].map(&mut potential);
    let pz = potential(2);
    let at = |p: &Array3<f64>, k: usize, j: usize, i: usize| p[[k, j % ny, i % nx]];
    // A power of two keeps the integers exact; the largest flux is 32 times it.
    let scale = 1.0 / 128.0;
    let x = |(k, j, i)| {
        let along_y = at(&pz, k, j + 1, i) - at(&pz, k, j, i);
        R::of(scale * (along_y - (at(&py, k + 1, j, i) - at(&py, k, j, i))))
    };
    let y = |(k, j, i)| {
        let along_x = at(&pz, k, j, i + 1) - at(&pz, k, j, i);
        R::of(scale * ((at(&px, k + 1, j, i) - at(&px, k, j, i)) - along_x))
    };
    let z = |(k, j, i)| {
        let along_x = at(&py, k, j, i + 1) - at(&py, k, j, i);
        R::of(scale * (along_x - (at(&px, k, j + 1, i) - at(&px, k, j, i))))
    };
    MassFlux {
        x: Array3::from_shape_fn(shape.x_face(), x),
        y: Array3::from_shape_fn(shape.y_face(), y),
        z: Array3::from_shape_fn(shape.z_face(), z),
    }
}

/// Fluxes that are nowhere zero but at the ground and the lid, and need not close: at faces without
/// wind the monotonic limiter prefers the cell of lower index, which no reflection keeps.
fn nonzero_flux(shape: Shape, seed: u64) -> MassFlux<f64> {
    let Shape { nx, ny, nz } = shape;
    let mut noise = Noise::new(seed);
    let mut flux = MassFlux {
        x: Array3::zeros(shape.x_face()),
        y: Array3::zeros(shape.y_face()),
        z: Array3::zeros(shape.z_face()),
    };
    for f in [&mut flux.x, &mut flux.y, &mut flux.z] {
        f.map_inplace(|f| *f = noise.between(-0.3, 0.3));
    }
    for k in 0..nz {
        (0..ny).for_each(|j| flux.x[[k, j, nx]] = flux.x[[k, j, 0]]);
        (0..nx).for_each(|i| flux.y[[k, ny, i]] = flux.y[[k, 0, i]]);
    }
    for k in [0, nz] {
        flux.z.index_axis_mut(Axis(0), k).fill(0.0);
    }
    flux
}

/// Full of holes and peaks.
fn spots(shape: Shape, seed: u64) -> Array3<f64> {
    let mut noise = Noise::new(seed);
    Array3::from_shape_simple_fn(shape.centre(), || noise.between(-2.0, 1.0).max(0.0))
}

fn constant_stays<R: FluxConstants>() {
    let shape = Shape { nx: 13, ny: 11, nz: 7 };
    let mut case = Box3::<R>::new(shape, Side::Periodic, closed_flux(shape, 3));
    case.dt = longest_time_step(shape, &case.air, &case.flux);
    let q = Array3::from_elem(shape.centre(), R::of(0.7));
    for (limiter, name) in SCHEMES {
        let after = case.run(limiter, &q, 50);
        let drift = difference(&after, &q.mapv(R::f64));
        println!("{} {name}: constant tracer off by {drift:.1e}", R::NAME);
        // The project's promise for single precision.
        assert!(drift <= 1.0e-6, "{name}: {drift:e}");
    }
}

#[test]
fn constant_tracer_stays_constant() {
    constant_stays::<f32>();
    constant_stays::<f64>();
}

fn extremes<R: Real>(q: &Array3<R>) -> [f64; 2] {
    q.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], x| {
        [least.min(x.f64()), most.max(x.f64())]
    })
}

/// The limiters hold up to the longest time step, except for rounding; without them the same case overshoots.
fn limits_hold<R: FluxConstants>(rounding: f64) {
    // Few enough that holes and peaks are still there.
    const STEPS: usize = 3;
    let shape = Shape { nx: 17, ny: 12, nz: 9 };
    let mut case = Box3::<R>::new(shape, Side::Periodic, closed_flux(shape, 5));
    case.dt = longest_time_step(shape, &case.air, &case.flux);
    let q = spots(shape, 7).mapv(R::of);
    let [_, top] = extremes(&q);
    let [plain, _] = extremes(&case.run(Limiter::None, &q, STEPS));
    assert!(plain < -1.0e-3, "the case does not need a limiter: {plain:e}");
    let [least, _] = extremes(&case.run(Limiter::PositiveDefinite, &q, STEPS));
    println!("{}: positive definite {least:e}", R::NAME);
    assert!(least >= -rounding, "positive definite: {least:e}");
    let [least, most] = extremes(&case.run(Limiter::Monotonic, &q, STEPS));
    println!("{}: monotonic {least:e} {:e}", R::NAME, most - top);
    assert!(least >= -rounding && most <= top + rounding, "monotonic: {least:e} {most:e}");
}

#[test]
fn limiters_hold() {
    limits_hold::<f32>(1.0e-7);
    limits_hold::<f64>(1.0e-15);
}

/// Uniform flow along one axis (0: z, 1: y, 2: x) over `n` cells of the unit length.
fn uniform(axis: usize, n: usize) -> (Box3<f64>, Array3<f64>) {
    // Wide enough elsewhere for the periodic stencil; the vertical ends are left out below.
    let mut dim = [4, 4, 4];
    dim[axis] = n;
    let [nz, ny, nx] = dim;
    let shape = Shape { nx, ny, nz };
    let flux =
        |along: usize, dim| if axis == along { Array3::ones(dim) } else { Array3::zeros(dim) };
    let flux = MassFlux {
        x: flux(2, shape.x_face()),
        y: flux(1, shape.y_face()),
        z: flux(0, shape.z_face()),
    };
    let mut case = Box3::new(shape, Side::Periodic, flux);
    // Far below the step at which any limiter acts.
    case.dt = 1.0e-3;
    let wave = |x: f64| -(std::f64::consts::TAU * x).cos() / std::f64::consts::TAU;
    // Means over the cells of 2 + sin(2 pi x).
    let q = Array3::from_shape_fn((nz, ny, nx), |(k, j, i)| {
        let m = [k, j, i][axis] as f64;
        let n = n as f64;
        2.0 + n * (wave((m + 1.0) / n) - wave(m / n))
    });
    (case, q)
}

/// Largest error of the net outflow in uniform flow over one wave of `n` cells.
fn outflow_error(axis: usize, n: usize, limiter: Limiter) -> f64 {
    let (case, q) = uniform(axis, n);
    let mut work = Workspace::new(case.grid.shape);
    let net = advection::net_outflow(&case.wind(), limiter, &q, &q, &mut work);
    let value = |m: usize| (std::f64::consts::TAU * m as f64 / n as f64).sin();
    // The faces next to the ground and the lid are of lower order.
    let inner = if axis == 0 { 3..n - 3 } else { 0..n };
    net.indexed_iter()
        .filter(|((k, j, i), _)| inner.contains(&[*k, *j, *i][axis]))
        .map(|((k, j, i), net)| {
            let m = [k, j, i][axis];
            // Per unit length, so that errors of different n compare.
            (net - (value(m + 1) - value(m))).abs() * n as f64
        })
        .fold(0.0, f64::max)
}

#[test]
fn order_of_convergence() {
    for (axis, order) in [(2, 5.0), (1, 5.0), (0, 3.0)] {
        for n in [24, 48] {
            let [coarse, fine] = [n, 2 * n].map(|n| outflow_error(axis, n, Limiter::None));
            let found = (coarse / fine).log2();
            println!("axis {axis}, {n} to {} cells: order {found:.2}", 2 * n);
            // Within a tenth of the order of the leading error term; not above it either.
            assert!((found - order).abs() <= 0.1, "axis {axis}: order {found}");
        }
    }
}

#[test]
fn limiter_leaves_smooth_flow_alone() {
    for axis in [1, 2] {
        let (case, q) = uniform(axis, 32);
        let plain = case.run(Limiter::None, &q, 5);
        let limited = case.run(Limiter::PositiveDefinite, &q, 5);
        // Low-order flux plus correction rounds differently from the high-order flux.
        assert!(difference(&limited, &plain) <= 1.0e-14);
    }
}

fn flipped(a: &Array3<f64>, axis: usize, sign: f64) -> Array3<f64> {
    let mut view = a.view();
    view.invert_axis(Axis(axis));
    view.mapv(|x| sign * x).as_standard_layout().into_owned()
}

/// Every operation commutes with the reflection, so the bits agree.
#[test]
fn mirror_images() {
    let shape = Shape { nx: 12, ny: 10, nz: 6 };
    for side in [Side::Periodic, Side::Specified, Side::Open] {
        let flux = nonzero_flux(shape, 11);
        let q = spots(shape, 13);
        let image = |along: usize| {
            let turned =
                |a: &Array3<f64>, axis| flipped(a, along, if axis == along { -1.0 } else { 1.0 });
            MassFlux { x: turned(&flux.x, 2), y: turned(&flux.y, 1), z: turned(&flux.z, 0) }
        };
        let images = [0, 1, 2].map(image);
        let case = Box3::new(shape, side, flux.clone());
        for (limiter, name) in SCHEMES {
            let straight = case.run(limiter, &q, 3);
            for (axis, image) in images.iter().enumerate() {
                let mirrored = Box3::new(shape, side, image.clone());
                let after = mirrored.run(limiter, &flipped(&q, axis, 1.0), 3);
                let same = flipped(&after, axis, 1.0) == straight;
                assert!(same, "{side:?} {name} axis {axis}");
            }
        }
    }
}

/// East and north exchanged: both axes use one formula, and the bits agree.
#[test]
fn x_and_y_are_alike() {
    let turned =
        |a: &Array3<f64>| a.view().permuted_axes([0, 2, 1]).as_standard_layout().to_owned();
    let shape = Shape { nx: 12, ny: 10, nz: 6 };
    let across = Shape { nx: 10, ny: 12, nz: 6 };
    let flux = nonzero_flux(shape, 17);
    let q = spots(shape, 19);
    for side in [Side::Periodic, Side::Open] {
        let image = MassFlux { x: turned(&flux.y), y: turned(&flux.x), z: turned(&flux.z) };
        for (limiter, name) in SCHEMES {
            let straight = Box3::new(shape, side, flux.clone()).run(limiter, &q, 3);
            let after = Box3::new(across, side, image.clone()).run(limiter, &turned(&q), 3);
            assert!(turned(&after) == straight, "{side:?} {name}");
        }
    }
}

#[test]
fn threads_do_not_matter() {
    let shape = Shape { nx: 21, ny: 45, nz: 5 };
    for side in [Side::Periodic, Side::Specified, Side::Open] {
        let case = random_case(shape, Sides::all(side), 23);
        for (limiter, name) in SCHEMES {
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let mut prepared = Prepared::<f32>::new(&case);
                    let mut q = case.q.mapv(f32::of);
                    let entered: Vec<f64> =
                        (0..3).map(|_| prepared.step(limiter, &mut q)).collect();
                    (q, entered)
                })
            };
            let one = run(1);
            for threads in [1, 2, 3, 7] {
                assert!(run(threads) == one, "{side:?} {name} {threads} threads");
            }
        }
    }
}

/// A workspace for fewer threads than the pool has still works.
#[test]
fn workspace_of_another_pool() {
    let shape = Shape { nx: 9, ny: 40, nz: 3 };
    let case = random_case(shape, Sides::all(Side::Periodic), 29);
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let mut small = pool(1).install(|| Prepared::<f64>::new(&case));
    let expected = pool(1).install(|| small.steps(Limiter::PositiveDefinite, &case.q, 2));
    let found = pool(6).install(|| small.steps(Limiter::PositiveDefinite, &case.q, 2));
    assert!(found == expected);
}

/// The gain of the region inside the outermost rows is the reported inflow of the step.
#[test]
fn region_gains_what_enters() {
    use Side::{Open as O, Periodic as P, Specified as S};
    for kind in [[P, P, P, P], [S, S, S, S], [O, O, O, O], [P, P, S, S], [O, O, P, P]] {
        let shape = Shape { nx: 14, ny: 19, nz: 6 };
        let case = random_case(shape, sides(kind), 31);
        let mut prepared = Prepared::<f64>::new(&case);
        let amount = |air: &AirMass<f64>, q: &Array3<f64>| -> f64 {
            let (inner_x, inner_y) =
                (case.grid.sides.inner_x(shape.nx), case.grid.sides.inner_y(shape.ny));
            q.indexed_iter()
                .filter(|((_, j, i), _)| inner_y.contains(j) && inner_x.contains(i))
                .map(|((k, j, i), q)| air.cell.at(k, j, i) * q)
                .sum()
        };
        for (limiter, name) in SCHEMES {
            let mut q = case.q.clone();
            let before = amount(&prepared.air, &q);
            let entered = prepared.step(limiter, &mut q);
            let gained = amount(&prepared.air, &q) - before;
            let closed = kind == [P, P, P, P];
            assert!(closed == (entered == 0.0), "{kind:?} {name}: {entered}");
            // Rounding of the sums over 1,000 cells.
            let error = (gained - entered).abs() / before;
            assert!(error <= 1.0e-13, "{kind:?} {name}: {gained} against {entered}");
        }
    }
}

/// At specified sides with inflow the outermost cells have the boundary values, at outflow the values of the inner
/// neighbours.
#[test]
fn given_values_at_inflow() {
    let shape = Shape { nx: 8, ny: 7, nz: 3 };
    let case = random_case(shape, Sides::all(Side::Specified), 37);
    let given = BoundaryValues::of(&Array3::from_shape_fn(shape.centre(), |(k, j, i)| {
        10.0 + (k * 100 + j * 10 + i) as f64
    }));
    let prepared = Prepared::<f64>::new(&case);
    let Prepared { grid, air, flux, dt, mut work } = prepared;
    let wind = Wind { grid: &grid, air: &air, flux: &flux, dt };
    let mut q = case.q.clone();
    advection::step(
        &wind,
        Limiter::PositiveDefinite,
        InflowValues::Values(&given),
        &mut q,
        &mut work,
    );
    for k in 0..shape.nz {
        for j in 1..shape.ny - 1 {
            let west = if flux.x[[k, j, 0]] < 0.0 { q[[k, j, 1]] } else { given.west[[k, j]] };
            let leaves = flux.x[[k, j, shape.nx]] > 0.0;
            let east = if leaves { q[[k, j, shape.nx - 2]] } else { given.east[[k, j]] };
            assert_eq!([q[[k, j, 0]], q[[k, j, shape.nx - 1]]], [west, east]);
        }
        for i in 0..shape.nx {
            let inner = i.clamp(1, shape.nx - 2);
            let leaves = flux.y[[k, 0, i]] < 0.0;
            let south = if leaves { q[[k, 1, inner]] } else { given.south[[k, i]] };
            let leaves = flux.y[[k, shape.ny, i]] > 0.0;
            let north = if leaves { q[[k, shape.ny - 2, inner]] } else { given.north[[k, i]] };
            assert_eq!([q[[k, 0, i]], q[[k, shape.ny - 1, i]]], [south, north]);
        }
    }
}
