//! Pictures of fields: maps, sections, profiles, soundings and time series, as SVG and as PNG.
//!
//! Everything is drawn on one [`canvas`], which knows lines, areas, texts and images, with a font
//! inside the program. A picture gets its numbers; it reads no file. Colours are told apart by people
//! of all kinds of sight, but for those of radar maps, which are what people know.

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
