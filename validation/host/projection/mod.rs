//! The wind projection closes continuity, changes the winds by a gradient and by nothing else.

#![allow(clippy::print_stdout, reason = "the figures that a test arrives at")]

mod case;
mod files;

use nwp_mini_support::{random, real};

use ndarray::{Array2, Array3, Axis, s};
use nwp_mini::dry_mass::Winds;
use nwp_mini::error::Error;
use nwp_mini::grid::{Shape, Side, Sides};
use nwp_mini::projection::{
    Method, Projection, project, terrain_following_velocity, vertical_velocity,
};
use nwp_mini::real::Real;

use case::{Case, GRAVITY, horizontal};
use random::Random;

/// Largest column divergence after the projection, Pa h⁻¹.
const PROMISED: f64 = 1e-3;

/// Column divergence at which its solver stops, Pa h⁻¹; a little more for rounding.
const STOPPED: f64 = 0.901 * PROMISED;

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
        // Error of the rounded fluxes at the top: the residual and the rounding of a sum.
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
        // A periodic line is closed by its last face, which is at index 0 as well.
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

/// Every cell keeps its mass, up to the rounding of the two vertical fluxes and its share, by mass, of the residual of
/// the rounded horizontal fluxes in its column.
fn cells_close<R: Real>(roundoff: f64) {
    for case in cases() {
        let Projection { flux, report, .. } = case.project::<R>();
        let Shape { nx, ny, nz } = case.grid.shape;
        assert!(flux.z.index_axis(Axis(0), 0).iter().all(|f| *f == R::ZERO), "ground");
        assert!(flux.z.index_axis(Axis(0), nz).iter().all(|f| *f == R::ZERO), "lid");
        let mut lid = 0.0_f64;
        for j in 0..ny {
            for i in 0..nx {
                let gross: f64 = (0..nz)
                    .map(|k| {
                        let [x, y] = [&flux.x, &flux.y].map(|f| f[[k, j, i]].f64().abs());
                        x + y
                            + flux.x[[k, j, i + 1]].f64().abs()
                            + flux.y[[k, j + 1, i]].f64().abs()
                    })
                    .sum();
                // Rounding of the double-precision sums in these results.
                let sums = 8.0 * f64::EPSILON * gross;
                let net: f64 = (0..nz).map(|k| horizontal(&flux, [k, j, i])).sum();
                lid = lid.max(net.abs() * case.per_flux(j, i));
                // Each horizontal flux was rounded once.
                let limit = STOPPED / case.per_flux(j, i) + roundoff * gross + sums;
                assert!(net.abs() <= limit, "{net:e} at the lid, {limit:e} admitted");
                let mu = case.coordinate.mu[[j, i]];
                let column: f64 = (0..nz).map(|k| case.layer(k, mu)).sum();
                for k in 0..nz {
                    let (below, above) = (flux.z[[k, j, i]].f64(), flux.z[[k + 1, j, i]].f64());
                    let missing = horizontal(&flux, [k, j, i]) + above - below;
                    let share = net * case.layer(k, mu) / column;
                    let rounding = roundoff * (below.abs() + above.abs()) + sums;
                    assert!((missing - share).abs() <= rounding, "{missing:e} in {k} {j} {i}");
                }
            }
        }
        assert!((report.lid - lid).abs() <= 1e-3 * lid + 0.1 * STOPPED, "{lid:e} {report:?}");
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
        // Differences of a stream function at the corners of the cells have zero divergence.
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
    // The same wind over uneven air has to be changed, although the grid as a whole has no net inflow.
    let uneven = Case { winds: case.winds.clone(), ..Case::random(5, [9, 7, 3], periodic()) };
    let report = uneven.project::<f64>().report;
    assert!(report.max_du > 0.1 && report.residual_after <= STOPPED, "{report:?}");
}

#[test]
fn a_uniform_inflow_leaves_through_all_sides() {
    // Inflow from the west only, 2 m/s, with a divergence in Pa/h computed by hand.
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
fn no_more_is_computed_than_the_residual_asks_for() {
    let case = Case::random(10, [61, 47, 3], specified());
    let mut before = 0;
    for residual in [1.0, 1e-3, 1e-6] {
        let found = case.project_by::<f64>(&Method { residual, ..Method::default() }).report;
        assert!(found.residual_after <= residual && found.residual_after > 1e-3 * residual);
        assert!(found.iterations > before && found.iterations <= 20, "{found:?}");
        before = found.iterations;
    }
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
            // Pressure decreases by g rho w in air that rises with this density.
            let density = f64::midpoint(rho[[k, j, i]], rho[[k - 1, j, i]]);
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
        let found = project::<f32>(grid, coordinate, maps, winds, &Method::default());
        found.map(|p| p.report).expect_err("not to be done")
    };
    let error = refused(&|case| case.winds.v[[2, 4, 1]] = f64::NAN);
    assert!(matches!(error, Error::BlowUp { variable: "v", cell: [2, 4, 1], step: 0, .. }));
    // The second cuts the grid in two parts.
    for (change, place) in [
        (&(|case: &mut Case| case.maps.u_y.fill(0.0)) as &dyn Fn(&mut Case), "X face i=0 j=0"),
        (&|case| case.maps.u_x.column_mut(2).fill(0.0), "X face i=2 j=0"),
        (&|case| case.maps.v_y[[1, 2]] = -1.0, "Y face i=2 j=1"),
        (&|case| case.coordinate.mu.fill(0.0), "X face i=0 j=0"),
        (&|case| case.coordinate.mu[[1, 2]] = f64::NAN, "X face i=2 j=1"),
    ] {
        let message = refused(change).to_string();
        assert!(message.contains("must be positive") && message.contains(place), "{message}");
    }
    // Winds whose divergence no iteration removes.
    for change in [&(|case: &mut Case| case.winds.u.fill(1e300)) as &dyn Fn(&mut Case), &|case| {
        case.winds.v[[1, 2, 3]] = 1e14;
    }] {
        let message = refused(change).to_string();
        let place = message.contains("column i=") && message.contains(" j=");
        assert!(message.contains("Pa/h is needed") && place, "{message}");
    }
}

#[test]
fn air_on_a_slope_climbs_with_it() {
    let sides = Sides { west: Side::Periodic, east: Side::Periodic, ..specified() };
    let mut case = Case::random(5, [9, 8, 6], sides).plain();
    let Shape { nx, .. } = case.grid.shape;
    case.winds.u.fill(10.0);
    case.winds.v.fill(-4.0);
    let (slope_x, slope_y) = (0.02, 0.05);
    let z = Array3::from_shape_fn(case.grid.shape.z_face(), |(k, j, i)| {
        500.0 * k as f64 + slope_x * case.grid.dx * i as f64 + slope_y * case.grid.dy * j as f64
    });
    let w = terrain_following_velocity(&case.grid, &case.coordinate, &case.maps, &case.winds, &z);
    // At the periodic boundary there is a step in the terrain, half of it in either adjacent cell.
    let wanted = 10.0 * slope_x - 4.0 * slope_y;
    let inner = w.slice(s![.., .., 1..nx - 1]);
    assert!(inner.iter().all(|w| (w - wanted).abs() < 1e-12), "{inner}");
    let cliff = 10.0 * slope_x * (2.0 - nx as f64) / 2.0 - 4.0 * slope_y;
    assert!(w.slice(s![.., .., 0]).iter().all(|w| (w - cliff).abs() < 1e-12), "{cliff}");

    let flat = Array3::from_shape_fn(case.grid.shape.z_face(), |(k, ..)| 500.0 * k as f64);
    let w =
        terrain_following_velocity(&case.grid, &case.coordinate, &case.maps, &case.winds, &flat);
    assert!(w.iter().all(|w| *w == 0.0), "nothing to climb");
}
