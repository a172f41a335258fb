//! `nwp-mini import`: the input of the stand-alone WSM5 of 2008, for `nwp-mini columns`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use tracing::warn;

use crate::cli::distinct_files::refuse_one_file_twice;
use crate::error::Result;
use crate::grid::Shape;
use crate::io::atomic_file::AtomicFile;
use crate::io::benchmark::Benchmark;
use crate::io::writer::Writer;
use crate::os_text::Shown;
use crate::wsm5::scheme::Scheme;

/// Turn an input file of the stand-alone WSM5 of 2008 (`wsm5_in_NNN`) into columns for `nwp-mini columns`.
///
/// Every record is checked: Fortran sequential, big-endian, marks and numbers of four bytes.
///
/// Example: nwp-mini import wsm5_in_001 --output columns.nc
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Import {
    /// File to read
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// NetCDF file to write, in the form that columns reads
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite the output file
    #[arg(long)]
    force: bool,
}

const HELP: &str = "\
Columns are numbered from west to east, then from south to north: column j nx + i. So what the
original prints as \"th at k=1, first row\" is th[0, 0], th[0, 1], ... of the result:
  nwp-mini import wsm5_in_010 --output in.nc
  nwp-mini columns --input in.nc --fallout substepped --output out.nc
  ncks -H -v th -d level,0 -d column,0,8 out.nc
For wsm5_in_010 the numbers published begin 286.2785 286.2001 286.0901. Give --fallout substepped:
the scheme of 2008 let precipitation fall in short steps.";

impl Import {
    pub(super) fn run(&self) -> Result<()> {
        refuse_one_file_twice(
            &[("--output", Some(&self.output))],
            &[("the input file", &self.input)],
        )?;
        drop(AtomicFile::new(&self.output, self.force)?);
        let Benchmark { shape, case, differing } = Benchmark::read(&self.input)?;
        for (name, found, ours) in differing {
            warn!("the constant {name} is {found} in the file and {ours} here; the latter is used");
        }
        let Shape { nx, ny, nz } = shape;
        let about = [
            ("title", "input of the stand-alone WSM5 of 2008"),
            ("source", concat!("nwp-mini ", env!("CARGO_PKG_VERSION"))),
            ("input_file", &*self.input.shown_name()),
            ("arrangement", &format!("column j {nx} + i; i < {nx} eastward, j < {ny} northward")),
        ];
        case.write_input::<Scheme<f32>>(Writer::create(&self.output, self.force)?, &about)?;
        writeln!(
            crate::cli::summary_output(),
            "{}: {nx} x {ny} columns of {nz} levels, dt {} s",
            self.output.shown(),
            case.dt.unwrap_or_default()
        )?;
        Ok(())
    }
}
