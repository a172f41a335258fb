//! Named cases of corrupted files that have revealed defects: each ended in a panic, took unlimited memory or time, or
//! was accepted, before the defect was fixed.

use std::fs;
use std::path::Path;

use netcdf::AttributeValue;

use super::bases::{self, Kind};
use super::child::{self, Ended};
use super::model::{Data, Flavour, Model};
use super::weights::File;

/// Runs the first command for files of this kind on output of `make`; it must end with exit code 3 and these words.
#[track_caller]
fn refused(kind: Kind, words: &[&str], make: impl Fn(&Path, &Path)) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    bases::furnish(folder);
    let name = kind.file();
    make(folder, &folder.join(name));
    let commands = kind.commands(name);
    for command in commands.iter().take(2) {
        let Ended { code, said, .. } = child::survives(folder, name, command)
            .unwrap_or_else(|why| panic!("{command:?}: {why}"));
        assert_eq!(code, 3, "{command:?}: {said}");
        for word in words {
            assert!(said.contains(word), "{command:?}: {word:?} is not in {said}");
        }
    }
}

fn write(model: &Model, path: &Path, flavour: Flavour) {
    model.write(path, flavour).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

/// The small file as a model.
fn small(folder: &Path) -> Model {
    Model::read(&folder.join("small.nc"))
}

/// A weight file with a dimension of another length.
fn weights(file: &File, name: &str, length: usize, path: &Path) {
    file.write(path);
    let mut model = Model::read(path);
    model.resize(name, length);
    write(&model, path, Flavour::Hdf5);
}

/// Replaces the first occurrence of `old` in the bytes of a file.
fn patch(path: &Path, old: &[u8], new: &[u8]) {
    let mut bytes = fs::read(path).expect("the file");
    let at = bytes.windows(old.len()).position(|part| part == old).expect("what is to be replaced");
    bytes[at..at + new.len()].copy_from_slice(new);
    fs::write(path, bytes).expect("a file");
}

const HUGE: usize = 1 << 40;

#[test]
fn sizes_that_no_file_holds() {
    refused(Kind::Columns, &["variable th would have", "can hold"], |_, path| {
        let mut columns = bases::columns();
        columns.resize("column", HUGE);
        write(&columns, path, Flavour::Hdf5);
    });
    refused(Kind::Input, &["variable Times would have"], |folder, path| {
        let mut model = small(folder);
        model.resize("DateStrLen", HUGE);
        write(&model, path, Flavour::Hdf5);
    });
    refused(Kind::Weights, &["variable dst_grid_frac would have"], |_, path| {
        weights(&File::scrip(), "dst_grid_size", HUGE, path);
    });
    refused(Kind::Weights, &["columns; indices have 32 bits"], |_, path| {
        weights(&File::esmf(), "n_a", HUGE, path);
    });
}

/// A million frames that are nowhere described were listed one by one.
#[test]
fn frames_without_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    bases::furnish(folder);
    let mut model = small(folder);
    model.fields.retain(|field| field.axes.len() == 1 && field.name != "Times");
    model.dimensions.iter_mut().find(|d| d.name == "Time").expect("Time").unlimited = false;
    model.resize("Time", 1 << 31);
    write(&model, &folder.join("hostile.nc"), Flavour::Hdf5);
    let ended = child::survives(folder, "hostile.nc", &["info", "hostile.nc"]);
    assert!(matches!(ended, Ok(Ended { code: 0 | 3, .. })), "{ended:?}");
}

#[test]
fn names_that_are_no_text() {
    for flavour in [Flavour::Classic, Flavour::LongData] {
        refused(Kind::Columns, &["damaged", "is not text"], |_, path| {
            write(&bases::columns(), path, flavour);
            patch(path, b"column", b"col\xffmn");
        });
    }
    refused(Kind::Columns, &["not a readable NetCDF file"], |_, path| {
        write(&bases::columns(), path, Flavour::Hdf5);
        patch(path, b"delz", b"de\xffz");
    });
}

/// The library allocates the declared length of an attribute, and fills it with zeros.
#[test]
fn attributes_longer_than_the_file() {
    refused(Kind::Columns, &["values of attribute about"], |_, path| {
        let mut columns = bases::columns();
        columns.set("about", AttributeValue::Str("columns".to_owned()));
        write(&columns, path, Flavour::Classic);
        patch(path, b"\x00\x00\x00\x07columns", b"\x10\x00\x00\x07columns");
    });
}

/// The library reads zeros for missing data.
#[test]
fn classic_files_that_are_cut_off() {
    for (flavour, part) in
        [(Flavour::Classic, 1), (Flavour::LongOffsets, 500), (Flavour::LongData, 9000)]
    {
        refused(Kind::Input, &["is truncated or damaged"], |folder, path| {
            write(&small(folder), path, flavour);
            let bytes = fs::read(path).expect("the file");
            fs::write(path, &bytes[..bytes.len() - 4 * part]).expect("a file");
        });
    }
}

/// The library looped endlessly over an object of size zero.
#[test]
fn heaps_without_end() {
    refused(Kind::Input, &["the global heap at byte", "object of length 0"], |folder, path| {
        write(&small(folder), path, Flavour::Deflated);
        let mut bytes = fs::read(path).expect("the file");
        let heap = bytes.windows(4).position(|part| part == b"GCOL").expect("a heap");
        bytes[heap + 16..heap + 330].fill(0);
        fs::write(path, bytes).expect("a file");
    });
}

/// Steps without end.
#[test]
fn more_than_anybody_waits_for() {
    let with = |name: &'static str, value: f64, words: &[&str]| {
        refused(Kind::Columns, words, |_, path| {
            let mut columns = bases::columns();
            if let Some(field) = columns.fields.iter_mut().find(|field| field.name == name) {
                field.data = Data::Float(vec![value as f32]);
            } else {
                columns.set(name, value);
            }
            write(&columns, path, Flavour::Hdf5);
        });
    };
    with("dt", 1e38, &["attribute dt is", "86400 at most"]);
    with("calls", 1e9, &["attribute calls is 1000000000", "from 1 to 1000000"]);
    with("delz", 1e-30, &["variable delz is", "1e-1 to 1e5 m is expected"]);
    with("den", 1e-30, &["variable den is", "is expected"]);
    refused(
        Kind::Transport,
        &["attribute nsteps is 4294967295", "from 1 to 1000000"],
        |_, path| {
            let mut case = bases::transport();
            case.set("nsteps", 4_294_967_295.0);
            write(&case, path, Flavour::Hdf5);
        },
    );
}
