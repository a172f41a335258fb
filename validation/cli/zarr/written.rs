//! Output of a run as a store.

use super::document;
use super::place::{Place, storm};
use super::same;
use super::small::Small;

#[test]
fn a_store_holds_what_the_file_holds() {
    for more in [
        &[][..],
        &["--precision", "f64"],
        &["--compression", "none"],
        &["--compression", "small"],
        &["--keepbits", "9"],
        &["--keepbits", "auto"],
        &["--output-vars", "QVAPOR,RAINNC"],
        &["--physics", "kessler", "--tracers", "2"],
    ] {
        let place = Place::with(&Small::hybrid());
        let frames = ["-q", "--steps", "6", "--output-interval", "120"];
        for output in ["a.zarr", "a.nc"] {
            place.run_small(&[&frames[..], more, &["-o", output]].concat()).good();
        }
        assert_eq!(place.files(), ["a.nc", "a.zarr", "small.nc"]);
        same(&place, "a.nc", "a.zarr");
        same(&place, "a.zarr", "a.nc");
    }
}

#[test]
fn the_metadata_are_those_of_the_specification() {
    let place = Place::with(&Small::new());
    place.run_small(&["-q", "--steps", "4", "--output-interval", "120", "-o", "a.zarr"]).good();
    let root = document(&place, "a.zarr/zarr.json");
    assert_eq!((&root["zarr_format"], &root["node_type"]), (&3.into(), &"group".into()));
    assert_eq!(root["attributes"]["Conventions"], "CF-1.11");
    let all = root["consolidated_metadata"]["metadata"].as_object().expect("arrays");
    for (name, about) in all {
        assert_eq!(*about, document(&place, &format!("a.zarr/{name}/zarr.json")), "{name}");
        let lengths = about["shape"].as_array().expect("a shape").len();
        assert_eq!(about["dimension_names"].as_array().expect("names").len(), lengths, "{name}");
    }
    let wind = &all["U"];
    assert_eq!(wind["shape"], serde_json::json!([3, 8, 10, 13]));
    assert_eq!(wind["attributes"]["units"], "m s-1");
    let dimensions = ["Time", "bottom_top", "south_north", "west_east_stag"];
    assert_eq!(wind["dimension_names"], serde_json::json!(dimensions));
    let blosc = &wind["codecs"][1]["configuration"];
    assert_eq!((&blosc["cname"], &blosc["shuffle"]), (&"zstd".into(), &"shuffle".into()));
}

/// A field of several chunks is stored in shards, whose shape follows from that of the grid.
#[test]
fn large_fields_are_stored_in_shards() {
    let place = Place::empty();
    let storm = storm();
    let storm = storm.to_str().expect("text");
    let short = ["run", "-q", "-i", storm, "--steps", "1", "--refine", "4", "--output-vars"];
    for (output, threads) in [("a.nc", "2"), ("a.zarr", "2"), ("b.zarr", "1")] {
        place
            .command(
                &[&["--threads", threads][..], &short, &["QVAPOR,RAINNC", "-o", output]].concat(),
            )
            .good();
    }
    same(&place, "a.nc", "a.zarr");
    let about = document(&place, "a.zarr/QVAPOR/zarr.json");
    let shards = &about["codecs"][0];
    assert_eq!(shards["name"], "sharding_indexed");
    assert_eq!(shards["configuration"]["index_codecs"][1]["name"], "crc32c");
    // A level has 284 x 232 cells: three of them take 0.8 MB, and the whole field less than 64 MB.
    assert_eq!(shards["configuration"]["chunk_shape"], serde_json::json!([1, 3, 232, 284]));
    let shard = &about["chunk_grid"]["configuration"]["chunk_shape"];
    assert_eq!(*shard, serde_json::json!([1, 27, 232, 284]));
    // The bytes do not depend on the number of threads.
    let bytes = |store: &str| std::fs::read(place.path(&format!("{store}/QVAPOR/c/1/0/0/0")));
    assert!(bytes("a.zarr").expect("a shard") == bytes("b.zarr").expect("a shard"));
}
