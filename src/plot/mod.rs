//! Pictures of fields: maps, sections, profiles, soundings and time series, as SVG and as PNG.
//!
//! Everything is drawn on one [`canvas`] of lines, areas, texts and images, with an embedded font. Pictures are drawn
//! from numbers in memory; this module reads no files. Colours are safe for colour-blind readers, except those of radar
//! maps, which are the familiar ones.
//!
//! # Decisions
//!
//! **Pictures are drawn on one canvas** (`canvas`). It has lines, areas, texts, images and clipping groups, from which
//! `svg` and `png` make files. Two small libraries draw the pixels (`tiny-skia`) and read the outlines of glyphs
//! (`ttf-parser`); libraries for whole charts depend on an unmaintained font stack. Texts are measured with the
//! embedded font, so that nothing overlaps; in SVG they stay texts. `io/wrf/plottable` reads every variable that can be
//! drawn, with NaN for invalid values, and `cli/plot` connects both. Report pages (`cli/report_page`) use the
//! data of the JSON report.

pub mod axes;
pub mod bars;
pub mod canvas;
pub mod colour;
pub mod contour;
pub mod curves;
pub mod font;
mod graticule;
pub mod log_axis;
pub mod loglog;
pub mod map;
mod png;
pub mod section;
pub mod skew_t;
pub mod svg;
