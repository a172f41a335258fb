//! Weights written in SCRIP format.

use std::path::Path;

use super::{Arrangement, Coordinates, Weights};
use crate::error::{Error, Result};
use crate::io::store::writer::Writer;

const SOURCE: &str = "src_grid_size";
const TARGET: &str = "dst_grid_size";

impl Weights {
    /// Writes the weights in SCRIP format; `source` is the number of cells of the source grid along x and along y,
    /// `about` the provenance.
    ///
    /// # Errors
    ///
    /// Those of [`Writer::create`] and [`Writer::commit`], and [`Error::Input`] when there are more cells or links than
    /// the format can count.
    pub fn write(
        &self,
        path: &Path,
        force: bool,
        source: [usize; 2],
        about: &[(&str, &str)],
    ) -> Result<()> {
        let matrix = &self.matrix;
        let (links, cells) = (matrix.nonzeros(), matrix.rows());
        if i32::try_from(links.max(cells).max(matrix.columns())).is_err() {
            let message = format!("would have {links} weights; the form counts to {}", i32::MAX);
            return Err(Error::input(path, message));
        }
        let mut file = Writer::create(path, force)?;
        for (name, text) in about {
            file.text(name, text)?;
        }
        file.text("conventions", "SCRIP")?;
        // cdo rejects files that do not name the kinds of grids.
        let kind = if self.target.axes().is_some() { "lonlat" } else { "curvilinear" };
        file.text("source_grid", "curvilinear")?;
        file.text("dest_grid", kind)?;
        file.text("normalization", self.normalisation.name())?;
        file.text("map_method", &self.method)?;
        let target: Vec<i32> = match self.target.arrangement {
            Arrangement::Rows { nx, ny } => vec![nx as i32, ny as i32],
            Arrangement::List(cells) => vec![cells as i32],
        };
        file.dimension(SOURCE, matrix.columns())?;
        file.dimension(TARGET, cells)?;
        file.dimension("src_grid_rank", source.len())?;
        file.dimension("dst_grid_rank", target.len())?;
        file.dimension("num_links", links)?;
        file.dimension("num_wgts", 1)?;

        let source = source.map(|n| n as i32);
        let about = ["1", "cells along the axes, those of a row first"];
        file.variable("src_grid_dims", &["src_grid_rank"], about, &source)?;
        file.variable("dst_grid_dims", &["dst_grid_rank"], about, &target)?;
        if let Some((coordinates, [x, y])) = &self.source {
            let about = units(*coordinates);
            file.variable("src_grid_center_lat", &[SOURCE], about[1], y)?;
            file.variable("src_grid_center_lon", &[SOURCE], about[0], x)?;
        }
        let about = units(self.target.coordinates);
        file.variable("dst_grid_center_lat", &[TARGET], about[1], &self.target.y)?;
        file.variable("dst_grid_center_lon", &[TARGET], about[0], &self.target.x)?;
        if let Some([x, y]) = &self.target.corners {
            file.dimension("dst_grid_corners", x.len() / cells)?;
            let dimensions = [TARGET, "dst_grid_corners"];
            file.variable("dst_grid_corner_lat", &dimensions, about[1], y)?;
            file.variable("dst_grid_corner_lon", &dimensions, about[0], x)?;
        }
        let about = ["unitless", "whether a cell takes part"];
        file.variable("src_grid_imask", &[SOURCE], about, &vec![1_i32; matrix.columns()])?;
        let mask: Vec<i32> = self.fraction.iter().map(|part| i32::from(*part > 0.0)).collect();
        file.variable("dst_grid_imask", &[TARGET], about, &mask)?;
        if let Some([source, target]) = &self.areas {
            let unit = match self.target.coordinates {
                Coordinates::Degrees => "square radians",
                Coordinates::Metres => "m2",
            };
            file.variable("src_grid_area", &[SOURCE], [unit, "area of a cell"], source)?;
            file.variable("dst_grid_area", &[TARGET], [unit, "area of a cell"], target)?;
        }
        let about = ["unitless", "part of a cell that the other grid covers"];
        let whole = vec![1.0; matrix.columns()];
        let source_fraction = self.source_fraction.as_ref().unwrap_or(&whole);
        file.variable("src_grid_frac", &[SOURCE], about, source_fraction)?;
        file.variable("dst_grid_frac", &[TARGET], about, &self.fraction)?;

        let from: Vec<i32> = matrix.column_of().iter().map(|column| *column as i32 + 1).collect();
        let to: Vec<i32> = (0..cells)
            .flat_map(|row| {
                let count = matrix.starts()[row + 1] - matrix.starts()[row];
                std::iter::repeat_n(row as i32 + 1, count)
            })
            .collect();
        let about = ["1", "cell that a link comes from, counted from 1"];
        file.variable("src_address", &["num_links"], about, &from)?;
        let about = ["1", "cell that a link leads to, counted from 1"];
        file.variable("dst_address", &["num_links"], about, &to)?;
        let about = ["1", "weight of a link"];
        file.variable("remap_matrix", &["num_links", "num_wgts"], about, matrix.values())?;
        file.commit()
    }
}

/// Units and description of the coordinates along x and y.
fn units(of: Coordinates) -> [[&'static str; 2]; 2] {
    match of {
        Coordinates::Degrees => [["degrees", "longitude"], ["degrees", "latitude"]],
        Coordinates::Metres => [["m", "distance along x"], ["m", "distance along y"]],
    }
}
