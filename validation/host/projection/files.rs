//! The projection on files of WRF, if they are available.

use std::path::Path;
use std::time::Instant;

use ndarray::{Array3, Axis, s};
use nwp_mini::dry_mass::MassCoordinate;
use nwp_mini::dry_mass::{FaceMaps, Winds};
use nwp_mini::grid::{Grid, Shape, Side, Sides};
use nwp_mini::projection::vertical_velocity;

use super::PROMISED;
use super::case::{Case, GRAVITY};
use super::real::{needed, storm};

/// The winds and the air of the first time of a WRF file, all sides specified; and its `W`, and
/// the pressure depth of each layer over its geopotential depth, which is its density.
fn wrf(path: &Path) -> (Case, Array3<f64>, Array3<f64>) {
    let file = netcdf::open(path).expect("a NetCDF file");
    let values = |name: &str| {
        let variable = file.variable(name).unwrap_or_else(|| panic!("{name}"));
        variable.get::<f64, _>(..).expect("numbers").index_axis_move(Axis(0), 0)
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
    let grid = Grid::whole(shape, [spacing("DX"), spacing("DY")], Sides::all(Side::Specified));
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
        let inner = field.slice(s![1..field.len_of(Axis(0)) - 1, .., ..]).to_owned();
        let mean = inner.mean().expect("not empty");
        inner - mean
    };
    let (a, b) = (inner(a), inner(b));
    (&a * &b).sum() / ((&a * &a).sum() * (&b * &b).sum()).sqrt()
}

#[test]
fn the_storm_keeps_its_winds() {
    let path = storm();
    let (case, w, rho) = wrf(&path);
    let start = Instant::now();
    let found = case.project::<f64>();
    let seconds = start.elapsed().as_secs_f64();
    let single = case.project::<f32>();
    let diagnosed = vertical_velocity(&case.grid, &case.coordinate, &found.flux.z, &rho);
    let correlation = correlation(&diagnosed, &w);
    println!("{:?}\n{seconds:.3} s, correlation of w {correlation:.4}", found.report);
    println!("single precision: lid {:.2e} Pa/h", single.report.lid);
    let drift = case.drift(&single.flux) * 50.0 * 60.0;
    println!("a constant drifts by {drift:.1e} in 50 steps of 60 s");
    assert!(drift < 1e-6, "what the design promises of a constant tracer: {drift:e}");
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
#[ignore = "needs files that are not shipped: NWP_MINI_REFERENCE=FOLDER"]
fn terrain_map_factors_and_the_hybrid_coordinate_close_as_well_from_larger_data() {
    let path = needed("wrfinput_hybrid_3km.nc");
    let (case, ..) = wrf(&path);
    let start = Instant::now();
    let found = case.project::<f64>();
    println!("{:?}\n{:.3} s", found.report, start.elapsed().as_secs_f64());
    assert!(case.residual(&found.flux) <= PROMISED);
    // Some per cent of the wind: the file starts a forecast and was balanced by another model.
    assert!(found.report.max_du < 5.0 && found.report.max_dv < 5.0, "{:?}", found.report);
}

#[test]
#[ignore = "needs files that are not shipped: NWP_MINI_REFERENCE=FOLDER"]
fn the_net_inflow_is_what_the_columns_gain_from_larger_data() {
    let path = needed("soc_series.nc");
    let report = wrf(&path).0.project::<f64>().report;
    let file = netcdf::open(&path).expect("a NetCDF file");
    let mu = file.variable("MU").expect("MU").get::<f64, _>(..).expect("numbers");
    let mean = |time: usize| mu.index_axis(Axis(0), time).mean().expect("not empty");
    // Frames are an hour apart; the wind of the first one knows only the beginning of the hour.
    let gained = mean(1) - mean(0);
    println!("mean inflow {:.1} Pa/h, mean gain {gained:.1} Pa in the first hour", report.inflow);
    assert!((report.inflow / gained - 1.0).abs() < 0.5, "{} {gained}", report.inflow);
}
