//! The page of a run, and that of a measurement.

use std::fs;

use roxmltree::Document;

use super::place::Place;
use super::small::Small;

/// The page as XML, after closing three elements that HTML leaves open.
fn parsed(html: &str) -> String {
    let mut xml = html.trim_start_matches("<!DOCTYPE html>\n").to_owned();
    for mark in ["<meta charset=\"utf-8\">", "<link rel=\"icon\" href=\"data:,\">"] {
        xml = xml.replace(mark, "");
    }
    let viewport = "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">";
    xml.replace(viewport, "")
}

/// Panics if the page refers to anything outside of it.
fn assert_alone(html: &str) {
    for (at, _) in html.match_indices("href=\"") {
        let target = &html[at + 6..];
        assert!(target.starts_with('#') || target.starts_with("data:"), "{}", &target[..40]);
    }
    for word in ["<script", "src=", "url(http", "@import"] {
        assert!(!html.contains(word), "{word}");
    }
}

#[test]
fn a_run_leaves_a_page_with_pictures_and_figures() {
    let place = Place::with(&Small::new());
    let run = ["--backend", "cpu", "--steps", "3", "--report", "page.html", "--json", "a.json"];
    place.run_small(&run).good();
    let html = fs::read_to_string(place.path("page.html")).expect("a page");
    assert_alone(&html);
    let xml = parsed(&html);
    let document = Document::parse(&xml).expect("well-formed");
    let heads: Vec<&str> =
        document.descendants().filter(|n| n.has_tag_name("h2")).filter_map(|n| n.text()).collect();
    for head in ["What ran", "Pictures of the last frame", "Water", "Times", "Provenance"] {
        assert!(heads.contains(&head), "{head} in {heads:?}");
    }
    let figures = document.descendants().filter(|node| node.has_tag_name("figure")).count();
    assert_eq!(figures, 6, "all pictures");
    // Names inside the pictures are those of one page.
    let mut ids: Vec<&str> = document.descendants().filter_map(|n| n.attribute("id")).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "names that are given twice");
    let facts = place.json("a.json");
    let dt = format!("{} s;", facts["dt"].as_f64().expect("a time"));
    for words in ["12×10×8 cells", "small.nc", &dt, "page.html", "simulated in 3 steps"] {
        assert!(html.contains(words), "{words}");
    }
    place.run_small(&[&run[..], &["--output", "b.nc"]].concat()).refused(3, &["a.json", "exists"]);
    place.run_small(&["--report", "small.nc"]).refused(2, &["--report", "input"]);
}

#[test]
fn a_measurement_leaves_a_page_with_ladders() {
    let place = Place::with(&Small::new());
    let arguments = [
        "bench",
        "wsm5",
        "reduce",
        "--input",
        "small.nc",
        "--elements",
        "4096",
        "--runs",
        "2",
        "--backend",
        "cpu",
        "--report",
        "page.html",
    ];
    let output = place.program(&arguments).output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    let html = fs::read_to_string(place.path("page.html")).expect("a page");
    assert_alone(&html);
    let xml = parsed(&html);
    let document = Document::parse(&xml).expect("well-formed");
    assert_eq!(document.descendants().filter(|node| node.has_tag_name("figure")).count(), 2);
    for words in ["Roofline", "The ladder of the sum over an array", "× floor", "1 thread"] {
        assert!(html.contains(words), "{words}");
    }
}
