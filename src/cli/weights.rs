//! `nwp-mini weights`: weights for the interpolation of a run's fields to a regular grid.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::cli::distinct_files::refuse_one_file_twice;
use crate::cli::option_values::check_positive;
use crate::cli::run::refine::lack_of_memory;
use crate::diagnostics::regrid::{self, Bounds, Method, Regular};
use crate::error::{Error, Result};
use crate::io::store::atomic_file::AtomicFile;
use crate::io::weights::Coordinates;
use crate::io::wrf;
use crate::os_text::{Shown, command_line};

/// Make weights for run --regrid: from the grid of a WRF file to a regular one.
///
/// The file is in the form of SCRIP, which cdo reads too.
///
/// Example: nwp-mini weights --input wrfinput_d01 --target latlon --spacing 0.1 --output w.nc
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(super) struct Weights {
    /// WRF file with the source grid; fields are not needed (geo_em files suffice)
    #[arg(short, long, value_name = "FILE")]
    input: PathBuf,
    /// Weight file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Coordinates of the target grid
    #[arg(long, value_name = "GRID")]
    target: Coordinates,
    /// Cell size of the target, in degrees for latlon and in metres for xy
    #[arg(long, value_name = "SIZE")]
    spacing: f64,
    /// Edges of the target [default: around the whole grid]
    #[arg(long, value_name = "WEST,SOUTH,EAST,NORTH", allow_hyphen_values = true)]
    bounds: Option<Bounds>,
    /// Interpolation method
    #[arg(long, value_name = "METHOD", default_value = "bilinear")]
    method: Method,
    /// Divide every cell of the input into N x N first, as run --refine does
    #[arg(long, value_name = "N", default_value = "1",
          value_parser = clap::value_parser!(u16).range(1..))]
    refine: u16,
    /// Overwrite the output file
    #[arg(long)]
    force: bool,
}

/// Memory for each cell of the target, bytes: coordinates and corners, some weights as a list and as a matrix, and the
/// memory for sorting them.
const BYTES_A_CELL: usize = 400;

impl Weights {
    pub(super) fn run(&self) -> Result<()> {
        let spacing = self.spacing;
        check_positive("--spacing", Some(spacing))?;
        refuse_one_file_twice(
            &[("--output", Some(&self.output))],
            &[("the input file", &self.input)],
        )?;
        drop(AtomicFile::new(&self.output, self.force)?);
        let mut domain = wrf::grid::read(&self.input)?;
        if self.refine > 1 {
            domain = wrf::refine::domain(&domain, self.refine.into());
        }
        let regular = Regular { coordinates: self.target, spacing, bounds: self.bounds };
        let cells = regrid::count(&domain, regular)?;
        if let Some([needed, free]) = lack_of_memory(cells.saturating_mul(BYTES_A_CELL)) {
            return Err(Error::Usage(format!(
                "--spacing {spacing}: weights for {cells} cells need about {needed:.1} GB of \
                 memory, and {free:.1} GB are free; choose a larger --spacing or narrower --bounds"
            )));
        }
        let weights = regrid::weights(&domain, regular, self.method)?;
        let about = [
            ("title", "weights from the grid of a run to a regular one"),
            ("source", concat!("nwp-mini ", env!("CARGO_PKG_VERSION"))),
            ("input_file", &*self.input.shown_name()),
            ("command_line", &command_line()),
        ];
        let shape = domain.grid.shape;
        weights.write(&self.output, self.force, [shape.nx, shape.ny], &about)?;
        let reached = weights.matrix.starts().windows(2).filter(|pair| pair[0] < pair[1]).count();
        writeln!(
            crate::cli::summary_output(),
            "{}: {} from {}x{} to {} cells, {reached} of {cells} reached, {} weights",
            self.output.shown(),
            weights.method.to_lowercase(),
            shape.nx,
            shape.ny,
            weights.target.arrangement,
            weights.matrix.nonzeros()
        )?;
        Ok(())
    }
}
