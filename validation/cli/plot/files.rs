//! Outputs to draw, and the texts and pixels of pictures.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use roxmltree::{Document, ParsingOptions};
use tiny_skia::Pixmap;

use super::place::{Ended, Place};
use super::small::Small;

/// Pixels for a unit of length of a picture.
pub(crate) const PIXELS: f64 = 2.0;

/// The output of the storm, of three times, computed once for all tests.
static STORM: LazyLock<Place> = LazyLock::new(|| {
    let place = Place::empty();
    place.run_storm(&["-q", "--steps", "4", "--output-interval", "300"]).good();
    place
});

/// A folder with the output of the storm as `storm.nc`.
pub(crate) fn storm() -> Place {
    let place = Place::empty();
    fs::copy(STORM.path("soc.out.nc"), place.path("storm.nc")).expect("a copy");
    place
}

/// A folder with a small file of WRF, changed.
pub(crate) fn small(change: impl FnOnce(&mut Small)) -> Place {
    let mut small = Small::new();
    change(&mut small);
    Place::with(&small)
}

/// Runs `nwp-mini plot` in a folder.
pub(crate) fn plot(place: &Place, arguments: &[&str]) -> Ended {
    let mut program = place.program(&["plot"]);
    let output = program.args(arguments).output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// An SVG that is well-formed, and its texts.
pub(crate) fn texts(path: &Path) -> Vec<String> {
    let svg = fs::read_to_string(path).expect("a picture");
    let document = Document::parse_with_options(&svg, ParsingOptions::default()).expect("XML");
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "svg");
    for node in root.descendants() {
        for attribute in node.attributes() {
            let value = attribute.value();
            let is_number = !["href", "font-family"].contains(&attribute.name());
            assert!(!is_number || !value.contains("NaN") && !value.contains("inf"), "{value}");
        }
    }
    let elements = root.descendants().filter(|node| node.has_tag_name("text"));
    let found = root.descendants().filter(|node| node.tag_name().name() == "text");
    assert!(elements.count() <= found.clone().count());
    found.filter_map(|node| node.text().map(str::to_owned)).collect()
}

/// The pixels of a PNG.
pub(crate) fn pixels(path: &Path) -> Pixmap {
    Pixmap::decode_png(&fs::read(path).expect("a picture")).expect("a PNG")
}

/// The colour of a place of a picture, in units of its length.
pub(crate) fn colour(pixels: &Pixmap, [x, y]: [f64; 2]) -> [u8; 3] {
    let pixel = pixels.pixel((x * PIXELS) as u32, (y * PIXELS) as u32).expect("a place inside");
    [pixel.red(), pixel.green(), pixel.blue()]
}
