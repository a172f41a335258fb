//! Mechanisms of WRF-Chem against the rate constants that their own Fortran gives.

use std::path::Path;

use netcdf::File;
use nwp_mini::chemistry::cells::{Cells, rate_constants};
use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::mechanism::quantity::{Origin, Quantity};
use nwp_mini::chemistry::mechanism::{Mechanism, read};

use nwp_mini_support::chemistry::relative;
use nwp_mini_support::real::needed;

/// Largest difference of a rate constant from that of Fortran with literals in double precision, or in single.
const TOLERANCE: f64 = 1e-9;

fn doubles(file: &File, name: &str) -> Vec<f64> {
    file.variable(name).unwrap_or_else(|| panic!("no {name}")).get_values(..).expect(name)
}

fn texts(file: &File, name: &str) -> Vec<String> {
    let variable = file.variable(name).expect(name);
    let bytes = variable.get_raw_values(..).expect(name);
    let text = |row: &[u8]| String::from_utf8_lossy(row).trim_matches(['\0', ' ']).to_owned();
    bytes.chunks(variable.dimensions()[1].len()).map(text).collect()
}

/// The values of a quantity in all states.
fn values(file: &File, mechanism: &Mechanism, quantity: &Quantity) -> Vec<f64> {
    let lower = match quantity.origin {
        Origin::Species(species) => mechanism.species[species].name.to_ascii_lowercase(),
        _ => quantity.name.to_ascii_lowercase(),
    };
    let named = |variable: &netcdf::Variable<'_>| {
        let same = variable
            .name()
            .strip_prefix("host_")
            .is_some_and(|name| name.eq_ignore_ascii_case(&lower));
        let spelt = ["in_cells", "spellings"].iter().any(|attribute| {
            let text: Option<String> = variable
                .attribute(attribute)
                .and_then(|attribute| attribute.value().ok())
                .and_then(|value| value.try_into().ok());
            text.is_some_and(|text| {
                text.split_whitespace().any(|word| word.eq_ignore_ascii_case(&lower))
            })
        });
        variable.name().starts_with("host_") && (same || spelt)
    };
    match quantity.origin {
        Origin::Water => doubles(file, "c_h2o"),
        Origin::Humidity => doubles(file, "rh"),
        Origin::Air => doubles(file, "c_m"),
        Origin::Species(_) if lower == "h2o" => doubles(file, "c_h2o"),
        Origin::Species(_) if lower == "m" => doubles(file, "c_m"),
        _ => {
            // A sum of one family of mechanisms may have the name of another's.
            let family = mechanism.name.split('_').next().unwrap_or_default();
            let exact = [format!("host_{family}_{lower}"), format!("host_{lower}")];
            let is = |wanted: &String| {
                file.variables().find(|variable| variable.name().eq_ignore_ascii_case(wanted))
            };
            let found = exact.iter().find_map(is).or_else(|| file.variables().find(named));
            let found = found.unwrap_or_else(|| panic!("no {lower}"));
            found.get_values(..).expect("numbers")
        }
    }
}

/// The largest differences of a mechanism, in words.
fn findings(file: &File, folder: &Path, name: &str) -> Vec<String> {
    let reading = read(&folder.join(name).join(format!("{name}.def"))).expect(name);
    let (mechanism, _) = reading.mechanism().unwrap_or_else(|e| panic!("{name} {e}"));
    let kinetics = Kinetics::new(&mechanism).expect(name);
    let temperature = doubles(file, "temp");
    let states = temperature.len();
    let air_density = doubles(file, "c_m");
    let (light, frequencies) = (texts(file, "j_name"), doubles(file, "j_value"));
    let frequency = |name: &String| {
        frequencies[light.iter().position(|known| known.eq_ignore_ascii_case(name)).expect(name)]
    };
    let of_cell: Vec<f64> = mechanism.photolysis.iter().map(frequency).collect();
    let columns: Vec<Vec<f64>> =
        mechanism.quantities.iter().map(|quantity| values(file, &mechanism, quantity)).collect();
    let cells = Cells {
        air_factor: air_density.iter().map(|m| m / 1e6).collect(),
        hydrolysis: doubles(file, "rc_n2o5"),
        photolysis: of_cell.repeat(states),
        quantities: (0..states).flat_map(|s| columns.iter().map(move |column| column[s])).collect(),
        start: vec![0.0; states],
        temperature,
        air_density,
        ..Cells::default()
    };
    let found = rate_constants(&kinetics, &cells);
    let [double, fortran] =
        ["double", "fortran"].map(|kind| doubles(file, &format!("{name}_k_{kind}")));
    assert_eq!(found.len(), double.len(), "{name}");
    let count = mechanism.reactions.len();
    let is_right = |place: usize| {
        [&double, &fortran].iter().any(|k| relative(found[place], k[place]) < TOLERANCE)
    };
    (0..found.len())
        .filter(|&place| !is_right(place))
        .map(|place| {
            let (reaction, k) = (mechanism.reaction_name(place % count), found[place]);
            format!("{name}, {reaction}: {k:e}, expected {:e}", double[place])
        })
        .collect()
}

#[test]
#[ignore = "needs files that are not shipped: NWP_MINI_REFERENCE=FOLDER"]
fn rates_of_wrf_chem_from_larger_data() {
    let path = needed("wrf/rates.nc");
    let file = netcdf::open(&path).expect("rates.nc");
    let names: String = file.attribute("mechanisms").unwrap().value().unwrap().try_into().unwrap();
    let folder = path.parent().expect("a folder");
    let mut count = 0;
    for name in names.split_whitespace() {
        let findings = findings(&file, folder, name);
        assert!(findings.is_empty(), "{}", findings.join("\n"));
        count += 1;
    }
    assert!(count > 0, "no mechanisms");
}
