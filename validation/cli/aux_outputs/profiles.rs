//! `run --profiles`: every column as one profile, and its contents.

use nwp_mini::dry_mass::AirMass;
use nwp_mini::io::wrf;

use super::fields::centred;
use super::place::Place;
use super::small::Small;

#[test]
fn columns_are_those_of_the_output() {
    let place = Place::with(&Small::hybrid());
    let run = ["-q", "--steps", "2", "--dt", "10", "--output-interval", "10", "--profiles"];
    for (precision, unit) in [("f32", f64::from(f32::EPSILON)), ("f64", f64::EPSILON)] {
        place.run_small(&[&run[..], &["--precision", precision, "--force"]].concat()).good();
        let (output, profiles) = (place.open("small.out.nc"), place.open("small.out.profiles.nc"));
        for name in [
            "T",
            "QVAPOR",
            "QCLOUD",
            "QRAIN",
            "QICE",
            "QSNOW",
            "REFL_10CM",
            "RE_CLOUD",
            "RE_ICE",
            "RE_SNOW",
        ] {
            let levels = output.values(name);
            assert_eq!(profiles.values(name), levels.permuted_axes(vec![0, 2, 3, 1]), "{name}");
        }
        let names: Vec<String> =
            profiles.variable("T").dimensions().iter().map(netcdf::Dimension::name).collect();
        assert_eq!(names, ["time", "south_north", "west_east", "bottom_top"]);

        let shape = [3, 8, 10, 12];
        let pressure = centred(&output, "pressure");
        let found = profiles.values("pressure");
        for time in 0..shape[0] {
            for (k, j, i) in (0..shape[1]).flat_map(|k| {
                (0..shape[2]).flat_map(move |j| (0..shape[3]).map(move |i| (k, j, i)))
            }) {
                let at = ((time * shape[1] + k) * shape[2] + j) * shape[3] + i;
                let off = (found[[time, j, i, k]] - pressure[at]).abs();
                assert!(off <= unit * 1e5, "{} {}", found[[time, j, i, k]], pressure[at]);
            }
        }

        let (domain, _) = wrf::read(&place.path("small.nc"), None).expect("the small file");
        let air = AirMass::<f64>::new(&domain.grid, &domain.coordinate);
        let (echo, most) = (profiles.values("REFL_10CM"), profiles.values("REFL_10CM_MAX"));
        for name in ["QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW"] {
            let (q, totals) = (profiles.values(name), profiles.values(&format!("{name}_PATH")));
            for ((time, j, i), total) in
                totals.into_dimensionality::<ndarray::Ix3>().expect("planes").indexed_iter()
            {
                let maps = [&domain.coordinate.map_x, &domain.coordinate.map_y];
                let area = domain.grid.dx * domain.grid.dy / (maps[0][[j, i]] * maps[1][[j, i]]);
                let expected: f64 =
                    (0..shape[1]).map(|k| q[[time, j, i, k]] * air.cell.at(k, j, i) / area).sum();
                assert!((total - expected).abs() <= 4.0 * unit * expected, "{total} {expected}");
                let column = (0..shape[1]).map(|k| echo[[time, j, i, k]]);
                assert_eq!(most[[time, j, i]], column.fold(f64::MIN, f64::max));
            }
        }
    }
}
