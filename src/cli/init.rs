//! `nwp-mini init`: idealised cases as input of a run.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use tracing::{info, warn};

use crate::cases::{CaseName, CaseOptions, Shear};
use crate::cli::option_values::{check_positive, value_name};
use crate::cli::run::refine::lack_of_memory;
use crate::domain::Attribute;
use crate::error::{Error, Result};
use crate::io::out::ideal_input::IdealInput;
use crate::io::out::output::Header;
use crate::io::store::atomic_file::AtomicFile;
use crate::os_text::{Shown, command_line};
use crate::physics::registry::{SCHEMES, usual_set};

/// Write an idealised case of any size, as a file that run takes.
///
/// Example: nwp-mini init supercell --nx 200 --ny 200 --output supercell.nc
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true, after_help = HELP)]
pub(super) struct Init {
    /// The case
    #[arg(value_name = "CASE")]
    case: CaseName,
    /// NetCDF file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Cells along x [default: of the case, as all below]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(4..))]
    nx: Option<u32>,
    /// Cells along y
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(4..))]
    ny: Option<u32>,
    /// Layers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(4..=256))]
    nz: Option<u32>,
    /// Distance between columns in metres
    #[arg(long, value_name = "M")]
    dx: Option<f64>,
    /// Distance between rows in metres [default: as --dx]
    #[arg(long, value_name = "M")]
    dy: Option<f64>,
    /// Time step that run uses by default, in seconds [default: from winds and spacing]
    #[arg(long, value_name = "S")]
    dt: Option<f64>,
    /// Strongest ascent in m/s, for all cases that have one
    #[arg(long, value_name = "M/S")]
    updraft: Option<f64>,
    /// Hodograph of the supercell [default: quarter-circle]
    #[arg(long, value_name = "SHEAR")]
    shear: Option<Shear>,
    /// Period in seconds of rotation and deformation
    #[arg(long, value_name = "S")]
    period: Option<f64>,
    /// Overwrite the output file
    #[arg(long)]
    force: bool,
}

const HELP: &str = "\
By default:
                cells       dx       strongest ascent   sides along x, y
  warm-bubble   40x40x40    250 m    5 m/s              periodic, periodic
  supercell     80x80x40    1000 m   15 m/s             specified, specified
  kid-warm1     8x4x80      100 m    2 m/s              specified, periodic
  kid-mixed     8x4x90      100 m    2 m/s              specified, periodic
  squall-line   160x16x40   1000 m   8 m/s              specified, periodic
  rotation      100x100x4   1000 m   -                  specified, specified
  deformation   100x100x4   1000 m   -                  periodic, periodic
  storm         71x58x27    30000 m  0.15 m/s           specified, specified
Updrafts keep their size in metres as far as the grid holds them: they take four cells at least, and nine
tenths of its shorter side at most. src/cases/README.md says what to expect of each case.";

/// Admissible distances of columns, m: far beyond the scales of the cases.
const DISTANCES: std::ops::RangeInclusive<f64> = 1.0..=1e6;

/// The longest period, s: the dates of its frames have years of four digits.
const LONGEST_PERIOD: f64 = 365.0 * 86_400.0;

/// Memory for each cell, bytes: twelve fields of the air and a frame in single precision, mass fluxes in double.
const BYTES_A_CELL: usize = 160;

impl Init {
    pub(super) fn run(&self) -> Result<()> {
        let name = self.case;
        let options = self.options(name)?;
        drop(AtomicFile::new(&self.output, self.force)?);
        let [nx, ny, nz] = name.cells(&options);
        let needed = [nx, ny, nz].iter().fold(BYTES_A_CELL, |size, &n| size.saturating_mul(n));
        if let Some([needed, free]) = lack_of_memory(needed) {
            return Err(Error::Usage(format!(
                "a case of {nx}x{ny}x{nz} cells takes about {needed:.1} GB of memory, and \
                 {free:.1} GB are free; choose a smaller --nx, --ny or --nz"
            )));
        }
        let case = name.make(&options)?;
        if case.dt > case.longest {
            warn!(
                "--dt {}: run will reduce it; these winds allow {:.3} s at most",
                case.dt, case.longest
            );
        }
        let title = value_name(&name);
        let facts = [
            (
                "TITLE",
                format!(
                    " OUTPUT FROM NWP-MINI, CASE {}, IN THE FORM OF WRF V4.7 MODEL",
                    title.to_uppercase()
                ),
            ),
            ("title", format!("idealised case {title}")),
            ("NWP_MINI_CASE", title.clone()),
            ("nwp_mini_version", env!("CARGO_PKG_VERSION").to_owned()),
            ("git_hash", env!("NWP_MINI_COMMIT").to_owned()),
            ("command_line", command_line()),
        ];
        let provenance = facts.map(|(name, text)| (name.to_owned(), Attribute::Text(text)));
        let start = case.domain.start;
        let header = Header {
            domain: case.domain.clone(),
            start,
            tracers: usual_set(),
            // The microphysics attribute is always that of the usual scheme; any scheme can run with such a file.
            physics: SCHEMES[0].number,
            dt: case.dt,
            provenance: provenance.into(),
        };
        let mut file = IdealInput::create(&self.output, self.force, header)?;
        for number in 0..case.frames() {
            file.put(&case.frame(number), case.seconds(number))?;
        }
        file.commit()?;
        if case.frames() > 1 {
            info!("{} frames, the last after {} s", case.frames(), case.seconds(case.frames() - 1));
        }
        writeln!(
            crate::cli::summary_output(),
            "{}: {title}, {nx}x{ny}x{nz} cells, dx {} m, {} frame{}, dt {} s (longest possible {:.4} s)",
            self.output.shown(),
            case.domain.grid.dx,
            case.frames(),
            if case.frames() == 1 { "" } else { "s" },
            case.dt,
            case.longest
        )?;
        Ok(())
    }

    /// Options of the case, checked.
    fn options(&self, name: CaseName) -> Result<CaseOptions> {
        for (option, value) in [
            ("--dx", self.dx),
            ("--dy", self.dy),
            ("--dt", self.dt),
            ("--updraft", self.updraft),
            ("--period", self.period),
        ] {
            check_positive(option, value)?;
        }
        for (option, value) in [("--dx", self.dx), ("--dy", self.dy)] {
            if let Some(value) = value.filter(|value| !DISTANCES.contains(value)) {
                let (least, most) = (DISTANCES.start(), DISTANCES.end());
                return Err(Error::Usage(format!(
                    "{option} {value}: give a distance between {least} and {most} m"
                )));
            }
        }
        if let Some(period) = self.period.filter(|period| *period > LONGEST_PERIOD) {
            return Err(Error::Usage(format!(
                "--period {period}: give {LONGEST_PERIOD} s at most, a year"
            )));
        }
        for (option, is_given, belongs, cases) in [
            ("--updraft", self.updraft.is_some(), name.has_updraft(), "cases with an ascent"),
            ("--shear", self.shear.is_some(), name == CaseName::Supercell, "supercell"),
            ("--period", self.period.is_some(), name.has_period(), "rotation and deformation"),
        ] {
            if is_given && !belongs {
                return Err(Error::Usage(format!("{option} applies to {cases} only; omit it")));
            }
        }
        let count = |n: Option<u32>| n.map(|n| n as usize);
        Ok(CaseOptions {
            nx: count(self.nx),
            ny: count(self.ny),
            nz: count(self.nz),
            dx: self.dx,
            dy: self.dy,
            dt: self.dt,
            updraft: self.updraft,
            shear: self.shear,
            period: self.period,
        })
    }
}
