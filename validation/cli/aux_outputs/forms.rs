//! Weight files of both forms: accepted and rejected ones.

use nwp_mini::error::Result;
use nwp_mini::io::weights::{Arrangement, Coordinates, Normalisation, WeightFile};

use super::place::Place;
use super::random::Random;
use super::real::needed;
use super::weights::{File, LINKS, SIZES};

fn read(file: &File) -> Result<WeightFile> {
    let place = Place::empty();
    file.write(&place.path("w.nc"));
    WeightFile::read(&place.path("w.nc"))
}

fn good(file: &File) -> WeightFile {
    read(file).unwrap_or_else(|e| panic!("{e}"))
}

/// The matrix as a list of links, counted from 1.
fn links(file: &WeightFile) -> Vec<(i32, i32, f64)> {
    let matrix = &file.weights.matrix;
    let row = |row: usize| {
        let entries = matrix.starts()[row]..matrix.starts()[row + 1];
        let column = |at: usize| matrix.column_of()[at] as i32 + 1;
        entries.map(move |at| (column(at), row as i32 + 1, matrix.values()[at]))
    };
    (0..matrix.rows()).flat_map(row).collect()
}

#[test]
fn both_forms_say_the_same() {
    let [scrip, esmf] = [File::scrip(), File::esmf()].map(|file| good(&file));
    for file in [&scrip, &esmf] {
        assert_eq!(links(file), LINKS);
        assert_eq!([file.weights.matrix.columns(), file.weights.matrix.rows()], SIZES);
        assert_eq!(file.source_dimensions, [12, 10]);
        assert_eq!(file.weights.normalisation, Normalisation::FracArea);
        assert_eq!(file.weights.target.arrangement, Arrangement::Rows { nx: 3, ny: 2 });
        assert_eq!(file.weights.target.coordinates, Coordinates::Degrees);
        assert!(file.defect < 1e-15, "{}", file.defect);
    }
    let [a, b] = [&scrip, &esmf].map(|file| &file.weights.target);
    for (a, b) in a.x.iter().chain(&a.y).zip(b.x.iter().chain(&b.y)) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
}

#[test]
fn links_come_in_any_order_and_in_parts() {
    let mut file = File::scrip();
    let mut order: Vec<usize> = (0..LINKS.len()).collect();
    let mut random = Random::new(1);
    for n in (1..order.len()).rev() {
        order.swap(n, (random.bits() % (n as u64 + 1)) as usize);
    }
    assert_ne!(order, (0..LINKS.len()).collect::<Vec<_>>());
    *file.indices("src_address") = order.iter().map(|n| LINKS[*n].0).collect();
    *file.indices("dst_address") = order.iter().map(|n| LINKS[*n].1).collect();
    *file.numbers("remap_matrix") = order.iter().map(|n| LINKS[*n].2).collect();
    assert_eq!(links(&good(&file)), LINKS);

    // One of the links in two parts, at both ends.
    let mut file = File::scrip();
    file.lengths.insert("num_links", LINKS.len() + 1);
    file.indices("src_address").push(1);
    file.indices("dst_address").push(1);
    file.numbers("remap_matrix").push(0.125);
    file.numbers("remap_matrix")[0] = 0.125;
    assert_eq!(links(&good(&file)), LINKS);
}

/// Sums of the weights under each normalisation, and the resulting values.
#[test]
fn every_normalisation_is_checked() {
    let fraction = [1.0, 0.5, 1.0, 1.0, 0.25, 0.0];
    let area = [2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    let scaled = |by: &dyn Fn(usize) -> f64| {
        LINKS.map(|(_, to, weight)| weight * by(to as usize - 1)).to_vec()
    };

    let mut file = File::scrip();
    file.set("normalization", "destarea");
    *file.numbers("remap_matrix") = scaled(&|row| fraction[row]);
    let read_file = good(&file);
    assert_eq!(read_file.weights.normalisation, Normalisation::DestArea);
    let sums: Vec<f64> = (1..=6)
        .map(|row| links(&read_file).iter().filter(|link| link.1 == row).map(|link| link.2).sum())
        .collect();
    assert_eq!(sums, fraction);

    // Weights that contain areas become means; without areas this is not possible.
    file.set("normalization", "none");
    *file.numbers("remap_matrix") = scaled(&|row| fraction[row] * area[row]);
    let error = read(&file).expect_err("no areas").to_string();
    assert!(error.contains("normalization none") && error.contains("areas"), "{error}");
    file.real("src_grid_area", &["src_grid_size"], "m2", vec![1.0; SIZES[0]]);
    file.real("dst_grid_area", &["dst_grid_size"], "m2", area.to_vec());
    for (found, link) in links(&good(&file)).iter().zip(LINKS) {
        assert!((found.2 - link.2).abs() < 1e-15, "{found:?} {link:?}");
    }

    // Interpolation has no areas, and no parts of cells.
    let mut file = File::scrip();
    file.set("normalization", "none");
    file.set("map_method", "Bilinear remapping");
    *file.numbers("dst_grid_frac") = vec![1.0; 6];
    assert_eq!(links(&good(&file)), LINKS);
}

/// Of three weights for each link, as SCRIP writes them, the first is that of the value.
#[test]
fn gradients_are_left_out_where_the_method_allows_it() {
    let mut file = File::scrip();
    file.lengths.insert("num_wgts", 3);
    let weights = LINKS.iter().flat_map(|link| [link.2, 7.0, -8.0]).collect();
    file.real("remap_matrix", &["num_links", "num_wgts"], "1", weights);
    assert_eq!(links(&good(&file)), LINKS);
    file.set("map_method", "Bicubic remapping");
    let error = read(&file).expect_err("gradients").to_string();
    assert!(error.contains("3 weights") && error.contains("first-order"), "{error}");
}

#[test]
fn rows_may_be_named_first() {
    for (dimensions, nx, ny) in [([3, 2], 3, 2), ([2, 3], 3, 2)] {
        let mut file = File::scrip();
        *file.indices("dst_grid_dims") = dimensions.to_vec();
        let found = good(&file).weights.target.arrangement;
        assert_eq!(found, Arrangement::Rows { nx, ny }, "{dimensions:?}");
    }
    let mut file = File::scrip();
    file.lengths.insert("dst_grid_rank", 1);
    *file.indices("dst_grid_dims") = vec![6];
    assert_eq!(good(&file).weights.target.arrangement, Arrangement::List(6));
}

#[test]
fn what_is_wrong_is_reported() {
    let refused = |what: &str, change: &dyn Fn(&mut File), words: &[&str]| {
        let mut file = File::scrip();
        change(&mut file);
        let error = read(&file).expect_err(what);
        assert_eq!(error.exit_code(), 3, "{what}");
        let error = error.to_string();
        for word in words {
            assert!(error.contains(word), "{what}: {word:?} is not in {error:?}");
        }
    };
    refused("no links", &|f| f.remove("src_address"), &["not a weight file", "src_address", "col"]);
    refused(
        "no normalisation",
        &|f| drop(f.attributes.remove("normalization")),
        &["no global attribute normalization", "fracarea, destarea, none"],
    );
    refused("another", &|f| f.set("normalization", "yes"), &["\"yes\"", "fracarea"]);
    refused("no fraction", &|f| f.remove("dst_grid_frac"), &["no variable dst_grid_frac"]);
    refused("no places", &|f| f.remove("dst_grid_center_lat"), &["dst_grid_center_lat"]);
    for (value, words) in [
        (0, ["src_address is 0 in link 4", "from 1 to 120"]),
        (-3, ["src_address is -3 in link 4", "from 1 to 120"]),
        (121, ["src_address is 121 in link 4", "from 1 to 120"]),
    ] {
        refused("source", &|f| f.indices("src_address")[3] = value, &words);
    }
    refused("target", &|f| f.indices("dst_address")[8] = 7, &["dst_address is 7", "1 to 6"]);
    refused(
        "not finite",
        &|f| f.numbers("remap_matrix")[2] = f64::NAN,
        &["remap_matrix is NaN at place 3", "finite"],
    );
    refused(
        "sums",
        &|f| f.numbers("remap_matrix")[2] = 0.9,
        &["target cell 2 add up to 0.9", "fracarea", "should add up to 1"],
    );
    // A row without links for a cell with a covered fraction above zero.
    refused(
        "a gap",
        &|f| f.numbers("dst_grid_frac")[5] = 1.0,
        &["target cell 6 add up to 0", "covered part of 1"],
    );
    refused(
        "dimensions",
        &|f| *f.indices("dst_grid_dims") = vec![3, 3],
        &["dst_grid_dims", "product is not 6"],
    );
    refused(
        "units",
        &|f| f.variables.get_mut("dst_grid_center_lat").expect("there").units = "furlongs",
        &["dst_grid_center_lat", "furlongs", "radians, degrees or m"],
    );
    refused(
        "what is conserved",
        &|f| {
            f.real("src_grid_area", &["src_grid_size"], "m2", vec![1.0; SIZES[0]]);
            f.real("src_grid_frac", &["src_grid_size"], "1", vec![1.0; SIZES[0]]);
            f.real("dst_grid_area", &["dst_grid_size"], "m2", vec![1.0; SIZES[1]]);
        },
        &["claims to be conservative", "areas or the weights are wrong"],
    );
}

#[test]
fn a_file_that_is_no_weight_file_is_distinguished() {
    let place = Place::empty();
    std::fs::write(place.path("text"), "no NetCDF").expect("a file");
    for (name, word) in [("text", "NetCDF"), ("absent", "cannot read")] {
        let error = WeightFile::read(&place.path(name)).expect_err(name).to_string();
        assert!(error.contains(word), "{error}");
    }
}

/// Weights from cdo, from 128 x 64 to 192 x 128 cells without land.
#[test]
#[ignore = "needs files that are not shipped: NWP_MINI_REFERENCE=FOLDER"]
fn weights_of_cdo_are_read_from_larger_data() {
    let path = needed("scrip_T42_to_POP43_conserv.nc");
    let file = WeightFile::read(&path).unwrap_or_else(|e| panic!("{e}"));
    let matrix = &file.weights.matrix;
    assert_eq!([matrix.rows(), matrix.columns(), matrix.nonzeros()], [24_576, 8_192, 42_461]);
    assert_eq!(file.weights.normalisation, Normalisation::FracArea);
    assert_eq!(file.weights.target.arrangement, Arrangement::Rows { nx: 192, ny: 128 });
    // Rounding of sums of a dozen weights, and of the whole Earth.
    assert!(file.defect < 1e-14, "{}", file.defect);
    assert!(file.conservation.expect("areas") < 1e-13, "{:?}", file.conservation);

    let mut y = vec![0.0; matrix.rows()];
    matrix.multiply(&vec![273.15; matrix.columns()], &mut y);
    let fraction = &file.weights.fraction;
    let (sea, land): (Vec<_>, Vec<_>) = y.iter().zip(fraction).partition(|(_, f)| **f > 0.0);
    assert_eq!([sea.len(), land.len()], [16_203, 24_576 - 16_203]);
    assert!(sea.iter().all(|(y, _)| (**y - 273.15).abs() < 1e-12));
    assert!(land.iter().all(|(y, _)| **y == 0.0));

    // The target has the values of the field above the sea.
    let mut random = Random::new(7);
    let x: Vec<f64> = (0..matrix.columns()).map(|_| random.between(-1.0, 1.0)).collect();
    matrix.multiply(&x, &mut y);
    let [source, target] = file.weights.areas.as_ref().expect("areas");
    let part = file.weights.source_fraction.as_ref().expect("parts");
    let given: f64 = (0..x.len()).map(|c| source[c] * part[c] * x[c]).sum();
    let taken: f64 = (0..y.len()).map(|c| target[c] * fraction[c] * y[c]).sum();
    let scale: f64 = (0..x.len()).map(|c| source[c] * part[c] * x[c].abs()).sum();
    assert!((given - taken).abs() < 1e-13 * scale, "{given} {taken}");
}
