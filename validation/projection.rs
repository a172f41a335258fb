//! The wind projection closes continuity, changes the winds by a gradient and by nothing else.

#[path = "support/random.rs"]
mod random;

use std::path::{Path, PathBuf};
use std::time::Instant;

use ndarray::{Array2, Array3, Axis, s};
use nwp_mini::error::Error;
use nwp_mini::grid::{Grid, Shape, Side, Sides};
use nwp_mini::mass::{MassCoordinate, MassFlux};
use nwp_mini::projection::{FaceMaps, Projection, Winds, project, vertical_velocity};
use nwp_mini::real::Real;

use random::Random;

const GRAVITY: f64 = 9.81;

/// Largest column divergence that the projection may leave, Pa h⁻¹.
const PROMISED: f64 = 1e-3;

/// Column divergence at which its solver stops, Pa h⁻¹; a tenth more for rounding.
const STOPPED: f64 = 1.1e-6;

/// All that a projection takes.
struct Case {
    grid: Grid,
    coordinate: MassCoordinate,
    maps: FaceMaps,
    winds: Winds,
}

impl Case {
    /// Random masses, map factors, hybrid coefficients and winds, without any smoothness.
    fn random(seed: u64, [nx, ny, nz]: [usize; 3], sides: Sides) -> Self {
        let random = &mut Random::new(seed);
        let shape = Shape { nx, ny, nz };
        let grid = Grid { shape, dx: 30_000.0, dy: 20_000.0, sides };
        let eta: Vec<f64> = (0..nz).map(|_| random.between(0.5, 1.5)).collect();
        let depth: f64 = eta.iter().sum();
        let c1: Vec<f64> = (0..nz).map(|_| random.between(0.2, 1.0)).collect();
        let mut plane =
            |shape, low, high| Array2::from_shape_simple_fn(shape, || random.between(low, high));
        let (cells, x_faces, y_faces) = ((ny, nx), (ny, nx + 1), (ny + 1, nx));
        let coordinate = MassCoordinate {
            mu: plane(cells, 7e4, 1e5),
            map_x: plane(cells, 0.8, 1.2),
            map_y: plane(cells, 0.8, 1.2),
            c2: c1.iter().map(|c1| (1.0 - c1) * 9e4).collect(),
            c1,
            rdnw: eta.iter().map(|eta| -depth / eta).collect(),
            fnm: vec![0.5; nz],
            fnp: vec![0.5; nz],
            unit: grid.dx * grid.dy / GRAVITY,
        };
        let mut maps = FaceMaps {
            u_x: plane(x_faces, 0.8, 1.2),
            u_y: plane(x_faces, 0.8, 1.2),
            v_x: plane(y_faces, 0.8, 1.2),
            v_y: plane(y_faces, 0.8, 1.2),
        };
        for (map, axis, periodic) in [
            (&mut maps.u_x, Axis(1), sides.periodic_x()),
            (&mut maps.u_y, Axis(1), sides.periodic_x()),
            (&mut maps.v_x, Axis(0), sides.periodic_y()),
            (&mut maps.v_y, Axis(0), sides.periodic_y()),
        ] {
            if periodic {
                let first = map.index_axis(axis, 0).to_owned();
                let last = map.len_of(axis) - 1;
                map.index_axis_mut(axis, last).assign(&first);
            }
        }
        // Where the sides are periodic the last face of these winds contradicts the first.
        let mut wind = |shape| Array3::from_shape_simple_fn(shape, || random.between(-40.0, 40.0));
        let winds = Winds { u: wind(shape.x_face()), v: wind(shape.y_face()) };
        Self { grid, coordinate, maps, winds }
    }

    /// The same on a plane with the classic coordinate and one column mass.
    fn plain(mut self) -> Self {
        self.coordinate.mu.fill(9e4);
        self.coordinate.map_x.fill(1.0);
        self.coordinate.map_y.fill(1.0);
        self.coordinate.c1.fill(1.0);
        self.coordinate.c2.fill(0.0);
        self.maps = FaceMaps::plane(self.grid.shape);
        self
    }

    fn project<R: Real>(&self) -> Projection<R> {
        project(&self.grid, &self.coordinate, &self.maps, &self.winds).expect("a projection")
    }

    /// Pa h⁻¹ of a column for a mass flux of 1 kg s⁻¹ into it.
    fn per_flux(&self, j: usize, i: usize) -> f64 {
        let MassCoordinate { map_x, map_y, .. } = &self.coordinate;
        3600.0 * GRAVITY * map_x[[j, i]] * map_y[[j, i]] / (self.grid.dx * self.grid.dy)
    }

    /// Mass per Pa and m/s of an x-face or y-face, and the mass of its columns, by WRF's formulas.
    fn face(&self, across_x: bool, j: usize, i: usize) -> (f64, f64) {
        let Shape { nx, ny, .. } = self.grid.shape;
        let (at, n, periodic) = if across_x {
            (i, nx, self.grid.sides.periodic_x())
        } else {
            (j, ny, self.grid.sides.periodic_y())
        };
        let (a, b) = match (at, periodic) {
            (0, true) => (n - 1, 0),
            (0, false) => (0, 0),
            (at, true) if at == n => (n - 1, 0),
            (at, false) if at == n => (n - 1, n - 1),
            (at, _) => (at - 1, at),
        };
        let mu = &self.coordinate.mu;
        if across_x {
            let width = self.grid.dy / (GRAVITY * self.maps.u_y[[j, i]]);
            (width, (mu[[j, a]] + mu[[j, b]]) / 2.0)
        } else {
            let width = self.grid.dx / (GRAVITY * self.maps.v_x[[j, i]]);
            (width, (mu[[a, i]] + mu[[b, i]]) / 2.0)
        }
    }

    /// Thickness of a layer in Pa where the column mass is `mu`.
    fn layer(&self, k: usize, mu: f64) -> f64 {
        (self.coordinate.c1[k] * mu + self.coordinate.c2[k]) / -self.coordinate.rdnw[k]
    }

    /// Largest column divergence of the horizontal fluxes, Pa h⁻¹.
    fn residual<R: Real>(&self, flux: &MassFlux<R>) -> f64 {
        let Shape { nx, ny, nz } = self.grid.shape;
        let mut largest = 0.0_f64;
        for j in 0..ny {
            for i in 0..nx {
                let net: f64 = (0..nz).map(|k| horizontal(flux, [k, j, i])).sum();
                largest = largest.max((net * self.per_flux(j, i)).abs());
            }
        }
        largest
    }
}

/// What leaves a cell through its four lateral faces, kg s⁻¹.
fn horizontal<R: Real>(flux: &MassFlux<R>, [k, j, i]: [usize; 3]) -> f64 {
    let (x, y) = (&flux.x, &flux.y);
    x[[k, j, i + 1]].f64() - x[[k, j, i]].f64() + y[[k, j + 1, i]].f64() - y[[k, j, i]].f64()
}

fn largest(values: &Array3<f64>) -> f64 {
    values.fold(0.0, |most: f64, x| most.max(x.abs()))
}

fn specified() -> Sides {
    Sides::all(Side::Specified)
}

fn periodic() -> Sides {
    Sides::all(Side::Periodic)
}

/// Periodic along one axis, closed off along the other.
fn channels() -> [Sides; 2] {
    let along_x = Sides { west: Side::Periodic, east: Side::Periodic, ..Sides::all(Side::Open) };
    let along_y = Sides { south: Side::Periodic, north: Side::Periodic, ..specified() };
    [along_x, along_y]
}

/// Every kind of sides on small, odd and narrow grids.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for sides in [specified(), periodic(), channels()[0], channels()[1]] {
        for size in [[5, 4, 2], [7, 11, 5], [1, 3, 3], [4, 1, 1], [2, 2, 3], [33, 17, 9]] {
            cases.push(Case::random(cases.len() as u64, size, sides));
        }
    }
    cases
}

#[test]
fn columns_close_whatever_the_sides() {
    for case in cases() {
        let found = case.project::<f64>();
        let report = found.report;
        let about = format!("{} {:?}: {report:?}", case.grid.shape, case.grid.sides);
        let residual = case.residual(&found.flux);
        assert!(residual <= STOPPED && STOPPED < PROMISED, "{residual:e} {about}");
        assert!((report.residual_after - residual).abs() <= 0.1 * STOPPED, "{residual:e} {about}");
        let open = !(case.grid.sides.periodic_x() && case.grid.sides.periodic_y());
        assert!(report.residual_before > 100.0 || (!open && case.grid.shape.columns() == 1));
        // What the rounded fluxes miss at the lid: the residual and the rounding of a sum.
        assert!(report.lid <= 2.0 * STOPPED, "{about}");
        let [du, dv] = [&found.winds.u - &case.winds.u, &found.winds.v - &case.winds.v];
        let inner = |d: &Array3<f64>, x: usize, y: usize| {
            let (_, ny, nx) = d.dim();
            largest(&d.slice(s![.., ..ny - y, ..nx - x]).to_owned())
        };
        // The last face of a periodic axis is left out: it takes the wind of the first.
        let wrap = |periodic: bool| usize::from(periodic);
        let max_du = inner(&du, wrap(case.grid.sides.periodic_x()), 0);
        let max_dv = inner(&dv, 0, wrap(case.grid.sides.periodic_y()));
        assert!((report.max_du - max_du).abs() < 1e-12 && (report.max_dv - max_dv).abs() < 1e-12);
    }
}

#[test]
fn the_fluxes_are_those_of_the_projected_winds() {
    for case in cases() {
        let Projection { flux, winds, .. } = case.project::<f64>();
        for (across_x, flux, wind) in [(true, &flux.x, &winds.u), (false, &flux.y, &winds.v)] {
            for ((k, j, i), flux) in flux.indexed_iter() {
                let (width, mu) = case.face(across_x, j, i);
                let wanted = wind[[k, j, i]] * width * case.layer(k, mu);
                // A few roundings of the product.
                assert!((flux - wanted).abs() <= 1e-14 * wanted.abs(), "{flux} {wanted}");
            }
        }
        let Shape { nx, ny, .. } = case.grid.shape;
        if case.grid.sides.periodic_x() {
            assert_eq!(flux.x.index_axis(Axis(2), 0), flux.x.index_axis(Axis(2), nx));
            assert_eq!(winds.u.index_axis(Axis(2), 0), winds.u.index_axis(Axis(2), nx));
        }
        if case.grid.sides.periodic_y() {
            assert_eq!(flux.y.index_axis(Axis(1), 0), flux.y.index_axis(Axis(1), ny));
            assert_eq!(winds.v.index_axis(Axis(1), 0), winds.v.index_axis(Axis(1), ny));
        }
    }
}

/// A potential that is 0 beyond open sides exists just when the increment, times the distance,
/// has no circulation around any corner of cells and adds up to 0 from side to side.
#[test]
fn the_increment_is_the_gradient_of_one_potential_at_all_levels() {
    for case in cases() {
        let Shape { nx, ny, .. } = case.grid.shape;
        let found = case.project::<f64>();
        let du = &found.winds.u - &case.winds.u;
        let dv = &found.winds.v - &case.winds.v;
        let step_x = &du.index_axis(Axis(0), 0) * case.grid.dx / &case.maps.u_x;
        let step_y = &dv.index_axis(Axis(0), 0) * case.grid.dy / &case.maps.v_y;
        // Winds, up to 100 m/s, times distances are rounded.
        let rounding = 1e-13 * 100.0 * case.grid.dx * (nx + ny) as f64;
        for j in 1..ny {
            for i in 1..nx {
                let around =
                    step_x[[j - 1, i]] + step_y[[j, i]] - step_x[[j, i]] - step_y[[j, i - 1]];
                assert!(around.abs() < rounding, "{around} around corner {j} {i}");
            }
        }
        // A periodic line is closed by its own last face, which stands in place 0 as well.
        let skip = |periodic: bool| usize::from(periodic);
        let across_x = step_x.slice(s![.., skip(case.grid.sides.periodic_x())..]).sum_axis(Axis(1));
        let across_y = step_y.slice(s![skip(case.grid.sides.periodic_y()).., ..]).sum_axis(Axis(0));
        if !case.grid.sides.periodic_x() {
            assert!(across_x.iter().all(|sum| sum.abs() < rounding), "{across_x}");
        }
        if !case.grid.sides.periodic_y() {
            assert!(across_y.iter().all(|sum| sum.abs() < rounding), "{across_y}");
        }
        for (k, level) in du.slice(s![.., .., 1..nx]).outer_iter().enumerate() {
            let off = (&level - &du.slice(s![0, .., 1..nx])).mapv(f64::abs).sum();
            assert!(off < 1e-13 * 100.0 * (nx * ny) as f64, "level {k} differs by {off}");
        }
    }
}

/// Every cell keeps its mass to the rounding of the two vertical fluxes; the uppermost one also
/// misses what the lid does.
fn cells_close<R: Real>(roundoff: f64) {
    for case in cases() {
        let Projection { flux, report, .. } = case.project::<R>();
        let Shape { nx, ny, nz } = case.grid.shape;
        assert!(flux.z.index_axis(Axis(0), 0).iter().all(|f| *f == R::ZERO), "ground");
        assert!(flux.z.index_axis(Axis(0), nz).iter().all(|f| *f == R::ZERO), "lid");
        let mut lid = 0.0_f64;
        for j in 0..ny {
            for i in 0..nx {
                let mut gross = 0.0;
                for k in 0..nz {
                    let (below, above) = (flux.z[[k, j, i]].f64(), flux.z[[k + 1, j, i]].f64());
                    let missing = horizontal(&flux, [k, j, i]) + above - below;
                    let sides = [flux.x[[k, j, i]], flux.x[[k, j, i + 1]]].map(R::f64);
                    let ends = [flux.y[[k, j, i]], flux.y[[k, j + 1, i]]].map(R::f64);
                    gross += sides.iter().chain(&ends).map(|f| f.abs()).sum::<f64>();
                    // Roundings of the fluxes, and of the double-precision sums behind them.
                    let rounding =
                        roundoff * (below.abs() + above.abs()) + 4.0 * f64::EPSILON * gross;
                    if k + 1 < nz {
                        assert!(missing.abs() <= rounding, "{missing:e} in {k} {j} {i}");
                    } else {
                        let missing = missing * case.per_flux(j, i);
                        let rounding = rounding * case.per_flux(j, i);
                        assert!(missing.abs() <= report.lid + rounding, "{missing:e} below lid");
                        lid = lid.max(missing.abs());
                        // Each horizontal flux was rounded once.
                        let limit =
                            STOPPED + (roundoff + 4.0 * f64::EPSILON) * gross * case.per_flux(j, i);
                        assert!(missing.abs() <= limit + rounding, "{missing:e} {limit:e}");
                    }
                }
            }
        }
        // The report is neither too small nor too large: within what rounding may hide.
        assert!(
            report.lid <= lid * (1.0 + 1e-3) + 40.0 * roundoff * report.residual_before + STOPPED
        );
    }
}

#[test]
fn cells_close_to_rounding() {
    cells_close::<f64>(f64::EPSILON / 2.0);
    cells_close::<f32>(f64::from(f32::EPSILON) / 2.0);
}

#[test]
fn both_precisions_share_the_winds() {
    for case in cases() {
        let (single, double) = (case.project::<f32>(), case.project::<f64>());
        assert_eq!(single.winds.u, double.winds.u);
        assert_eq!(single.winds.v, double.winds.v);
        assert_eq!(single.flux.x, double.flux.x.mapv(f32::of));
        assert_eq!(single.flux.y, double.flux.y.mapv(f32::of));
    }
}

#[test]
fn a_second_projection_changes_nothing() {
    for mut case in cases() {
        let once = case.project::<f64>();
        case.winds = once.winds.clone();
        let twice = case.project::<f64>();
        assert!(twice.report.residual_before <= STOPPED, "{:?}", twice.report);
        // A wind of 1e-8 m/s carries some 1e-4 Pa/h across a cell: less than that may move.
        assert!(largest(&(&twice.winds.u - &once.winds.u)) < 1e-8);
        assert!(largest(&(&twice.winds.v - &once.winds.v)) < 1e-8);
    }
}

#[test]
fn winds_that_close_stay_as_they_are() {
    for mut case in cases() {
        let Shape { nx, ny, nz } = case.grid.shape;
        let (periodic_x, periodic_y) = (case.grid.sides.periodic_x(), case.grid.sides.periodic_y());
        // Differences of a stream function at the corners of the cells close by themselves.
        let random = &mut Random::new(99);
        let corners = Array2::from_shape_simple_fn((ny, nx), || random.between(-1e10, 1e10));
        let open = Array2::from_shape_simple_fn((ny + 1, nx + 1), || random.between(-1e10, 1e10));
        let psi = |j: usize, i: usize| match (periodic_x, periodic_y) {
            (true, true) => corners[[j % ny, i % nx]],
            (true, false) => open[[j, i % nx]],
            (false, true) => open[[j % ny, i]],
            (false, false) => open[[j, i]],
        };
        // Divided by the mass of the column's face, for one wind at all levels.
        let column = |mu: f64| (0..nz).map(|k| case.layer(k, mu)).sum::<f64>();
        let u = Array3::from_shape_fn(case.grid.shape.x_face(), |(_, j, i)| {
            let (width, mu) = case.face(true, j, i);
            (psi(j + 1, i) - psi(j, i)) / (width * column(mu))
        });
        let v = Array3::from_shape_fn(case.grid.shape.y_face(), |(_, j, i)| {
            let (width, mu) = case.face(false, j, i);
            (psi(j, i) - psi(j, i + 1)) / (width * column(mu))
        });
        case.winds = Winds { u, v };
        let found = case.project::<f64>();
        assert!(found.report.residual_before <= STOPPED, "{:?}", found.report);
        assert_eq!(found.report.iterations, 0);
        assert_eq!(found.winds.u, case.winds.u);
        assert_eq!(found.winds.v, case.winds.v);
    }
}

#[test]
fn an_even_wind_crosses_a_periodic_plane_untouched() {
    let mut case = Case::random(5, [9, 7, 3], periodic()).plain();
    case.winds.u.fill(17.3);
    case.winds.v.fill(-4.1);
    let found = case.project::<f32>();
    assert_eq!((&found.winds.u, &found.winds.v), (&case.winds.u, &case.winds.v));
    assert!(found.flux.z.iter().all(|f| *f == 0.0));
    assert_eq!((found.report.iterations, found.report.max_du, found.report.lid), (0, 0.0, 0.0));
    // The same wind over uneven air has to be changed, though nothing enters the whole grid.
    let uneven = Case { winds: case.winds.clone(), ..Case::random(5, [9, 7, 3], periodic()) };
    let report = uneven.project::<f64>().report;
    assert!(report.max_du > 0.1 && report.residual_after <= STOPPED, "{report:?}");
}

#[test]
fn a_uniform_inflow_leaves_through_all_sides() {
    // Air comes in from the west only, 2 m/s: a Pa/h count made by hand.
    let mut case = Case::random(6, [6, 5, 2], specified()).plain();
    case.winds.u.fill(0.0);
    case.winds.v.fill(0.0);
    case.winds.u.slice_mut(s![.., .., 0]).fill(2.0);
    let found = case.project::<f64>();
    let inflow = 2.0 * 9e4 / (6.0 * case.grid.dx) * 3600.0;
    assert!((found.report.inflow / inflow - 1.0).abs() < 1e-12, "{}", found.report.inflow);
    assert!((found.report.residual_before / (6.0 * inflow) - 1.0).abs() < 1e-12);
    let winds = found.winds;
    assert!(winds.u.slice(s![.., .., 6]).iter().all(|u| *u > 0.0), "out in the east");
    assert!(winds.v.slice(s![.., 5, ..]).iter().all(|v| *v > 0.0), "out in the north");
    assert!(winds.v.slice(s![.., 0, ..]).iter().all(|v| *v < 0.0), "out in the south");
    assert!(winds.u.slice(s![.., .., 0]).iter().all(|u| (0.0..2.0).contains(u)), "less comes in");
}

#[test]
fn threads_do_not_matter() {
    let case = Case::random(7, [61, 47, 11], channels()[0]);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| case.project::<f32>())
    };
    let alone = on(1);
    for threads in [2, 5] {
        let found = on(threads);
        assert_eq!(found.report, alone.report);
        assert_eq!(found.flux.x, alone.flux.x);
        assert_eq!(found.flux.z, alone.flux.z);
    }
}

#[test]
fn the_vertical_velocity_is_volume_through_true_area() {
    let case = Case::random(8, [5, 4, 3], specified());
    let flux = case.project::<f64>().flux.z;
    let random = &mut Random::new(81);
    let rho = Array3::from_shape_simple_fn(case.grid.shape.centre(), || random.between(0.2, 1.2));
    let w = vertical_velocity(&case.grid, &case.coordinate, &flux, &rho);
    assert!(w.slice(s![0, .., ..]).iter().chain(w.slice(s![3, .., ..])).all(|w| *w == 0.0));
    assert!(largest(&w) > 1e-3);
    for k in 1..3 {
        for ((j, i), w) in w.index_axis(Axis(0), k).indexed_iter() {
            // Pressure falls by g rho w where air of this density rises.
            let density = (rho[[k, j, i]] + rho[[k - 1, j, i]]) / 2.0;
            let rise = flux[[k, j, i]] * case.per_flux(j, i) / (3600.0 * GRAVITY * density);
            assert!((w - rise).abs() <= 1e-14 * rise.abs());
        }
    }
}

#[test]
fn what_cannot_be_projected_is_refused_by_name() {
    let refused = |change: &dyn Fn(&mut Case)| {
        let mut case = Case::random(9, [5, 4, 3], specified());
        change(&mut case);
        let Case { grid, coordinate, maps, winds } = &case;
        project::<f32>(grid, coordinate, maps, winds).expect_err("not to be projected")
    };
    let error = refused(&|case| case.winds.v[[2, 4, 1]] = f64::NAN);
    assert!(matches!(error, Error::BlowUp { variable: "v", cell: [2, 4, 1], step: 0, .. }));
    for change in [
        &(|case: &mut Case| case.maps.u_y.fill(0.0)) as &dyn Fn(&mut Case),
        &|case| case.maps.v_y[[1, 2]] = -1.0,
        &|case| case.coordinate.mu.fill(0.0),
        &|case| case.coordinate.mu[[1, 2]] = f64::NAN,
    ] {
        if let Error::Input { message, .. } = refused(change) {
            assert!(message.contains("must be positive"), "{message}");
        }
    }
    let error = refused(&|case| case.winds.u.fill(1e300)).to_string();
    assert!(error.contains("Pa/h is needed"), "{error}");
}

/// A WRF file where the project or its surroundings have one.
fn real(name: &str) -> Option<PathBuf> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = ["data", "../shared/real"]
        .map(|folder| project.join(folder).join(name))
        .into_iter()
        .find(|path| path.exists());
    if found.is_none() {
        println!("{name} is not here: skipped");
    }
    found
}

/// The winds and the air of the first time of a WRF file, all sides specified; and its `W`, and
/// the pressure depth of each layer over its geopotential depth, which is its density.
fn wrf(path: &Path) -> (Case, Array3<f64>, Array3<f64>) {
    let file = netcdf::open(path).expect("a NetCDF file");
    let values = |name: &str| {
        let variable = file.variable(name).unwrap_or_else(|| panic!("{name}"));
        variable.get::<f64, _>((0, ..)).expect("numbers")
    };
    let three = |name: &str| values(name).into_dimensionality::<ndarray::Ix3>().expect("3-D");
    let two = |name: &str| values(name).into_dimensionality::<ndarray::Ix2>().expect("2-D");
    let one = |name: &str| values(name).iter().copied().collect::<Vec<f64>>();
    let spacing = |name: &str| match file.attribute(name).expect(name).value().expect(name) {
        netcdf::AttributeValue::Float(x) => f64::from(x),
        other => panic!("{name}: {other:?}"),
    };
    let mu = two("MU") + two("MUB");
    let (ny, nx) = mu.dim();
    let winds = Winds { u: three("U"), v: three("V") };
    let shape = Shape { nx, ny, nz: winds.u.dim().0 };
    let grid = Grid { shape, dx: spacing("DX"), dy: spacing("DY"), sides: specified() };
    let coordinate = MassCoordinate {
        mu,
        map_x: two("MAPFAC_MX"),
        map_y: two("MAPFAC_MY"),
        c1: one("C1H"),
        c2: one("C2H"),
        rdnw: one("RDNW"),
        fnm: one("FNM"),
        fnp: one("FNP"),
        unit: grid.dx * grid.dy / GRAVITY,
    };
    let maps = FaceMaps {
        u_x: two("MAPFAC_UX"),
        u_y: two("MAPFAC_UY"),
        v_x: two("MAPFAC_VX"),
        v_y: two("MAPFAC_VY"),
    };
    let case = Case { grid, coordinate, maps, winds };
    let geopotential = three("PH") + three("PHB");
    let rho = Array3::from_shape_fn(shape.centre(), |(k, j, i)| {
        let depth = geopotential[[k + 1, j, i]] - geopotential[[k, j, i]];
        case.layer(k, case.coordinate.mu[[j, i]]) / depth
    });
    (case, three("W"), rho)
}

/// Correlation of two fields away from ground and lid.
fn correlation(a: &Array3<f64>, b: &Array3<f64>) -> f64 {
    let inner = |field: &Array3<f64>| {
        let inner = field.slice(s![1..-1, .., ..]).to_owned();
        let mean = inner.mean().expect("not empty");
        inner - mean
    };
    let (a, b) = (inner(a), inner(b));
    (&a * &b).sum() / ((&a * &a).sum() * (&b * &b).sum()).sqrt()
}

#[test]
fn the_storm_keeps_its_winds() {
    let Some(path) = real("soc.nc") else { return };
    let (case, w, rho) = wrf(&path);
    let start = Instant::now();
    let found = case.project::<f64>();
    let seconds = start.elapsed().as_secs_f64();
    let single = case.project::<f32>();
    let diagnosed = vertical_velocity(&case.grid, &case.coordinate, &found.flux.z, &rho);
    let correlation = correlation(&diagnosed, &w);
    println!("{:?}\n{seconds:.3} s, correlation of w {correlation:.4}", found.report);
    println!("single precision: lid {:.2e} Pa/h", single.report.lid);
    let report = found.report;
    assert!(case.residual(&found.flux) <= PROMISED);
    assert!(report.lid <= PROMISED);
    // The figures of the design; the bounds leave room for another cut of the same storm.
    assert!((report.inflow.abs() - 147.0).abs() < 10.0, "{report:?}");
    assert!((0.3..0.7).contains(&report.max_du), "{report:?}");
    assert!((0.1..1.5).contains(&report.max_dv), "{report:?}");
    assert!(correlation > 0.95, "{correlation}");
}

#[test]
fn terrain_map_factors_and_the_hybrid_coordinate_close_as_well() {
    let Some(path) = real("wrfinput_hybrid_3km.nc") else { return };
    let (case, ..) = wrf(&path);
    let start = Instant::now();
    let found = case.project::<f64>();
    println!("{:?}\n{:.3} s", found.report, start.elapsed().as_secs_f64());
    assert!(case.residual(&found.flux) <= PROMISED);
    // Some per cent of the wind: the file starts a forecast and was balanced by another model.
    assert!(found.report.max_du < 5.0 && found.report.max_dv < 5.0, "{:?}", found.report);
}
