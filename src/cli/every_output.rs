//! Every output, in NetCDF and in a second format.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use clap::Parser;

use super::{Cli, Command, Team};
use crate::io::read::packing::FLOAT_FILL;
use crate::io::read::reader::Reader;
use crate::io::read::variables::Values;
use crate::io::store::raw::{block_of, instead};
use crate::os_text::Shown;
use crate::ranks::Alone;

/// Runs a command of this process.
fn run(words: &[String]) {
    let words = ["nwp-mini".to_owned()].into_iter().chain(words.iter().cloned());
    let done = match Cli::try_parse_from(words).expect("a command").command {
        Command::Run(command) => command.run(&Team::new(std::sync::Arc::new(Alone)), None),
        Command::Init(command) => command.run(),
        Command::Weights(command) => command.run(),
        other => panic!("{other:?}"),
    };
    done.expect("output");
}

/// Values of a variable of a file, as bytes, the lowest first; missing ones as they are stored.
fn bytes(values: Values) -> Vec<u8> {
    let single = |x: f32| if x.is_nan() { FLOAT_FILL } else { x };
    let double = |x: f64| if x.is_nan() { FLOAT_FILL.into() } else { x };
    match values {
        Values::Single(all) => all.into_iter().map(single).flat_map(f32::to_le_bytes).collect(),
        Values::Double(all) => all.into_iter().map(double).flat_map(f64::to_le_bytes).collect(),
        Values::Signed(all) => all.into_iter().flat_map(|x| (x as i32).to_le_bytes()).collect(),
        Values::Text(all) => all,
        other => panic!("{other:?}"),
    }
}

/// Compares a file with the folder of its values, of which there are as many.
fn check(file: &Path, folder: &Path) {
    let about = file.shown();
    let reader = Reader::open(file).expect("a file");
    let mut written: BTreeMap<String, usize> = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("a file").file_name().into_string().expect("text");
        let (name, block) = block_of(&entry);
        let extents = reader.description(name).expect("a variable").extents;
        let block = block.unwrap_or_else(|| extents.iter().map(|axis| 0..axis.length).collect());
        let found = bytes(reader.part(name, &block).expect("values"));
        let raw = fs::read(folder.join(&entry)).expect("values");
        assert!(found == raw, "{about}: {entry}");
        *written.entry(name.to_owned()).or_default() +=
            block.iter().map(ExactSizeIterator::len).product::<usize>();
    }
    // The mapping has attributes alone.
    for of in reader.descriptions().expect("variables").iter().filter(|of| of.name != "crs") {
        let values: usize = of.extents.iter().map(|axis| axis.length).product();
        assert_eq!(written.get(&of.name), Some(&values), "{about}: values of {}", of.name);
    }
}

/// A second format gets the values that NetCDF gets: frames and the files besides them, ensembles, restart files,
/// input, weights.
#[test]
fn another_format_takes_every_output() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/data");
    let place = tempfile::tempdir().expect("a folder");
    let at = |name: &str| place.path().join(name).shown().into_owned();
    let words = |line: &str| -> Vec<String> {
        let word = |word: &str| match word.split_once(':') {
            Some(("at", name)) => at(name),
            Some(("data", name)) => format!("{data}/{name}"),
            _ => word.to_owned(),
        };
        line.split(' ').map(word).collect()
    };
    fs::write(at("places.csv"), "name,x,y\nhere,900e3,800e3\n").expect("a file");
    let ensemble = "members = 2\nseed = 3\n[parameters]\nn0r = { factor = [0.5, 2.0] }\n";
    fs::write(at("e.toml"), ensemble).expect("a file");
    let grid = "weights --input data:soc.nc --target xy --spacing 60000 --output at:w.nc";
    run(&words(grid));
    let storm = "run --quiet --backend cpu --input data:soc.nc --steps 2";
    let beside =
        "--profiles --points at:places.csv --regrid at:w.nc --restart-output at:restart.nc";
    let samples =
        ["storm.profiles.nc", "storm.points.nc", "storm.points.profiles.nc", "storm.regrid.nc"];
    let of_storm = [&samples[..], &["storm.nc", "restart.nc"]].concat();
    let commands: [(String, &[&str]); 4] = [
        (format!("{storm} {beside} --output at:storm.nc"), &of_storm),
        (format!("{storm} --ensemble at:e.toml --output at:members.nc"), &["members.nc"]),
        ("init warm-bubble --nx 8 --ny 8 --output at:input.nc".to_owned(), &["input.nc"]),
        (grid.replace("w.nc", "weights.nc"), &["weights.nc"]),
    ];
    for (line, files) in commands {
        run(&words(&line));
        instead(&place.path().join("raw"), || run(&words(&format!("{line} --force"))));
        for file in files {
            check(&place.path().join(file), &place.path().join("raw").join(file));
        }
    }
}
