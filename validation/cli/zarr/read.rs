//! Stores as input, those of others too.

use std::fs;

use serde_json::{Value, json};

use super::place::Place;
use super::small::Small;
use super::{document, same};

/// A place with the same output as file and as store.
fn both() -> Place {
    let place = Place::with(&Small::new());
    for output in ["a.nc", "a.zarr"] {
        let frames = ["--dt", "60", "--steps", "4", "--output-interval", "60"];
        place.run_small(&[&["-q", "-o", output][..], &frames].concat()).good();
    }
    place
}

#[test]
fn a_store_is_an_input() {
    let place = both();
    for (input, output) in [("a.nc", "of_file.nc"), ("a.zarr", "of_store.zarr")] {
        place.run(&["-q", "--input", input, "--steps", "6", "--dt", "60", "-o", output]).good();
    }
    same(&place, "of_file.nc", "of_store.zarr");
    let [file, store] =
        ["a.nc", "a.zarr"].map(|input| place.command(&["info", input]).good().stdout);
    assert_eq!(file.replace("a.nc", "a.zarr"), store);
    for (input, pictures) in [("a.nc", "of_file"), ("a.zarr", "of_store")] {
        place.command(&["plot", "-q", input, "-o", pictures]).good();
    }
    let pictures = |folder: &str| {
        let all = fs::read_dir(place.path(folder)).expect("a folder");
        let mut names: Vec<_> = all.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    assert!(!pictures("of_file").is_empty());
    assert_eq!(pictures("of_file").len(), pictures("of_store").len());
}

/// Without the metadata at the root, those of the arrays are read.
#[test]
fn consolidated_metadata_are_not_needed() {
    let place = both();
    let mut root = document(&place, "a.zarr/zarr.json");
    root.as_object_mut().expect("an object").remove("consolidated_metadata");
    fs::write(place.path("a.zarr/zarr.json"), root.to_string()).expect("a document");
    same(&place, "a.nc", "a.zarr");
}

/// The store in version 2 of the format, with the names of xarray.
fn as_version_2(place: &Place, is_consolidated: bool) {
    let root = document(place, "a.zarr/zarr.json");
    let at = |path: &str| place.path(&format!("a.zarr/{path}"));
    let write = |path: &str, value: &Value| fs::write(at(path), value.to_string()).expect("JSON");
    let mut all = json!({".zgroup": {"zarr_format": 2}, ".zattrs": root["attributes"]});
    write(".zgroup", &all[".zgroup"]);
    write(".zattrs", &all[".zattrs"]);
    for (name, about) in root["consolidated_metadata"]["metadata"].as_object().expect("arrays") {
        let kind = match about["data_type"].as_str().expect("a type") {
            "float32" => "<f4",
            "float64" => "<f8",
            "int32" => "<i4",
            _ => "|O",
        };
        let blosc = &about["codecs"][1]["configuration"];
        let compressor = match blosc["cname"].as_str() {
            Some(cname) => json!({"id": "blosc", "cname": cname, "clevel": 1, "shuffle": 1}),
            None => Value::Null,
        };
        let filters = if kind == "|O" { json!([{"id": "vlen-utf8"}]) } else { Value::Null };
        let chunks = &about["chunk_grid"]["configuration"]["chunk_shape"];
        let own = json!({
            "zarr_format": 2, "shape": about["shape"], "chunks": chunks, "dtype": kind,
            "compressor": compressor, "filters": filters, "fill_value": null, "order": "C",
        });
        let mut attributes = about["attributes"].clone();
        attributes["_ARRAY_DIMENSIONS"] = about["dimension_names"].clone();
        write(&format!("{name}/.zarray"), &own);
        write(&format!("{name}/.zattrs"), &attributes);
        all[format!("{name}/.zarray")] = own;
        all[format!("{name}/.zattrs")] = attributes;
        fs::remove_file(at(&format!("{name}/zarr.json"))).expect("a document");
        let chunks = chunks.as_array().expect("chunks").len();
        let shape = about["shape"].as_array().expect("a shape");
        let growing = shape.first().filter(|_| about["dimension_names"][0] == "Time");
        for time in 0..growing.and_then(Value::as_u64).unwrap_or(1) {
            // One chunk a time: c/3/0/0 becomes 3.0.0.
            let place: Vec<String> =
                (0..chunks).map(|axis| if axis == 0 { time } else { 0 }.to_string()).collect();
            let old = format!("{name}/c{}{}", if chunks > 0 { "/" } else { "" }, place.join("/"));
            let new = if chunks > 0 { place.join(".") } else { "0".to_owned() };
            fs::rename(at(&old), at(&format!("{name}/{new}"))).expect("a chunk");
        }
    }
    fs::remove_file(at("zarr.json")).expect("a document");
    if is_consolidated {
        write(".zmetadata", &json!({"zarr_consolidated_format": 1, "metadata": all}));
    }
}

#[test]
fn version_2_is_read() {
    for is_consolidated in [false, true] {
        let place = both();
        as_version_2(&place, is_consolidated);
        same(&place, "a.nc", "a.zarr");
        place.run(&["-q", "--input", "a.zarr", "--steps", "2", "-o", "b.nc"]).good();
    }
}

#[test]
fn a_missing_chunk_is_a_missing_value() {
    let place = both();
    fs::remove_file(place.path("a.zarr/QVAPOR/c/0/0/0/0")).expect("a chunk");
    place
        .run(&["-q", "--input", "a.zarr", "--steps", "1", "-o", "b.nc"])
        .refused(3, &["a.zarr", "QVAPOR", "bottom_top=0", "NaN"]);
}
