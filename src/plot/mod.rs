//! Pictures of fields: maps, sections, profiles, soundings and time series, as SVG and as PNG.
//!
//! Everything is drawn on one [`canvas`], which knows lines, areas, texts and images, with a font
//! inside the program. A picture gets its numbers; it reads no file. Colours are told apart by people
//! of all kinds of sight, but for those of radar maps, which are what people know.
//!
//! # Decisions
//!
//! **Pictures are drawn on one canvas** (`canvas`). It has lines, areas, texts, images and windows, from which `svg`
//! and `png` make files. Two small libraries draw the pixels (`tiny-skia`) and read the outlines of letters
//! (`ttf-parser`); libraries that draw whole charts depend on an unmaintained font stack. Letters are measured with the
//! font inside the program, so that nothing overlaps; in SVG they stay texts. `io/wrf/album` reads every variable that
//! can be drawn, values that are not numbers included, and `cli/plot` connects both. The pages of `--report`
//! (`cli/report_page`) use the figures of `--json`.

pub mod axes;
pub mod bars;
pub mod canvas;
pub mod colour;
pub mod contour;
pub mod curves;
pub mod decades;
pub mod font;
mod graticule;
pub mod map;
mod png;
pub mod powers;
pub mod section;
pub mod skew_t;
pub mod svg;
