//! `nwp-mini kernels`: compiles every kernel, without a GPU, and prints the resources of each.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use rayon::prelude::*;
use serde::Serialize;
use tracing::debug;

use crate::chemistry::kinetics::Kinetics;
use crate::chemistry::mechanism::{self, RateCode};
use crate::cli::Precision;
use crate::cli::chemistry::read_mechanism;
use crate::cli::device::CompilerPlace;
use crate::device::{Architecture, Compiler, PtxasReport, ptxas_reports};
use crate::error::{Error, Result};
use crate::gpu::{DOUBLE_SUMS, Entry, catalogue, catalogue_of};
use crate::io::store::atomic_file::AtomicFile;

/// Compile every CUDA kernel with NVRTC, no GPU needed, and tell the registers, the local and
/// shared memory, the spills and the double-precision instructions of each.
///
/// Example: nwp-mini kernels --arch sm_90 --nz 27
#[derive(Debug, Args)]
pub(super) struct Kernels {
    /// Architecture to compile for; may be repeated
    #[arg(long, value_name = "ARCH", default_values_t = [Architecture(90)])]
    arch: Vec<Architecture>,
    /// Number of levels
    #[arg(long, value_name = "N", default_value = "27",
          value_parser = clap::value_parser!(u16).range(4..=128))]
    nz: u16,
    /// Precision [default: both]
    #[arg(long, value_name = "PRECISION")]
    precision: Option<Precision>,
    /// Compile without fast-math
    #[arg(long)]
    no_fast_math: bool,
    /// Fail with exit code 1 if a performance-critical kernel spills registers, or uses double precision in float32
    #[arg(long)]
    check: bool,
    /// Compile the chemistry of this mechanism alone; may be repeated [default: everything, with the
    /// mechanisms of data/chemistry]
    #[arg(long, value_name = "FILE")]
    mechanism: Vec<PathBuf>,
    #[command(flatten)]
    place: CompilerPlace,
    /// Write the figures to a JSON file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Overwrite the JSON file
    #[arg(long)]
    force: bool,
}

/// Compilations of a thread before the lines of all are printed.
const ENTRIES_PER_THREAD: usize = 8;

/// One line of the table.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    receipt: PtxasReport,
    variant: String,
    arch: String,
    precision: &'static str,
    nz: usize,
    hot: bool,
    most_spilled: u32,
}

impl Row {
    /// Fault of the kernel; `None` if it is correct.
    fn fault(&self) -> Option<String> {
        let PtxasReport { name, spill_bytes, f64_instructions, .. } = &self.receipt;
        if !self.hot || self.precision != "f32" || name.ends_with(DOUBLE_SUMS) {
            return None;
        }
        let mut faults = Vec::new();
        if *spill_bytes > self.most_spilled {
            faults.push(format!("spills {spill_bytes} bytes"));
        }
        if *f64_instructions > 0 {
            faults.push(format!("has {f64_instructions} double-precision instructions"));
        }
        let Self { variant, arch, .. } = self;
        (!faults.is_empty()).then(|| format!("{name} {variant} ({arch}) {}", faults.join(" and ")))
    }
}

impl Kernels {
    pub(super) fn run(&self) -> Result<()> {
        let json = AtomicFile::if_asked(self.json.as_deref(), self.force)?;
        let place = self.place.library.as_deref();
        let compiler = Compiler::find(place, !self.no_fast_math).1?;
        let precisions = match self.precision {
            Some(precision) => vec![precision],
            None => vec![Precision::F32, Precision::F64],
        };
        let mut out = io::stdout().lock();
        let (major, minor) = compiler.version();
        let options = compiler.options("ARCH").join(" ");
        writeln!(out, "NVRTC {major}.{minor}, options {options}")?;
        writeln!(
            out,
            "{:<28} {:<14} {:<6} {:>4} {:>9} {:>6} {:>6} {:>6} {:>4}",
            "kernel", "variant", "arch", "real", "registers", "local", "spill", "shared", "f64"
        )?;
        let of_chemistry = self.of_chemistry()?;
        let mut entries = Vec::new();
        for &arch in &self.arch {
            let weather = precisions.iter().flat_map(|&real| catalogue(real, self.nz.into()));
            let weather = weather.filter(|_| self.mechanism.is_empty());
            entries.extend(weather.chain(of_chemistry.iter().cloned()).map(|entry| (entry, arch)));
        }
        let mut rows = Vec::new();
        // Side by side, some at a time, so that lines come while others are compiled.
        for some in entries.chunks(ENTRIES_PER_THREAD * rayon::current_num_threads()) {
            let compiled = some.par_iter().map(|(entry, arch)| rows_of(&compiler, entry, *arch));
            for row in compiled.collect::<Result<Vec<_>>>()?.into_iter().flatten() {
                print(&row, &mut out)?;
                rows.push(row);
            }
        }
        let faults: Vec<String> = rows.iter().filter_map(Row::fault).collect();
        if let Some(json) = json {
            json.write_json(&rows)?;
        }
        if self.check && !faults.is_empty() {
            return Err(Error::Verdict(faults.join("\n")));
        }
        Ok(())
    }

    /// The kernels of the chemistry, for several threads a cell and for one.
    fn of_chemistry(&self) -> Result<Vec<Entry>> {
        let shipped = [
            ("radm2", include_str!("../../data/chemistry/radm2.kpp")),
            ("small_strato", include_str!("../../data/chemistry/small_strato.kpp")),
        ];
        let of_shipped = |(name, text): (&str, &str)| {
            let failed = |why| Error::input(Path::new(name), why);
            let (mechanism, _) = mechanism::parse(name, text).mechanism().map_err(failed)?;
            Kinetics::new(&mechanism).map_err(failed)
        };
        let all: Vec<Kinetics> = if self.mechanism.is_empty() {
            shipped.into_iter().map(of_shipped).collect::<Result<_>>()?
        } else {
            let given =
                self.mechanism.iter().map(|path| Ok(read_mechanism(path, &RateCode::default())?.1));
            given.collect::<Result<_>>()?
        };
        catalogue_of(&all)
    }
}

/// One line for each kernel of an entry.
fn rows_of(compiler: &Compiler, entry: &Entry, arch: Architecture) -> Result<Vec<Row>> {
    let start = Instant::now();
    let row = |receipt| Row {
        receipt,
        variant: entry.variant.clone(),
        arch: arch.to_string(),
        precision: entry.precision.name(),
        nz: entry.nz,
        hot: entry.hot,
        most_spilled: entry.most_spilled,
    };
    let rows = ptxas_reports(compiler, &entry.source, arch)?.into_iter().map(row).collect();
    debug!("{}: {:.2} s", entry.source.file, start.elapsed().as_secs_f64());
    Ok(rows)
}

fn print(row: &Row, out: &mut impl Write) -> Result<()> {
    let Row { variant, arch, precision, receipt, .. } = row;
    let PtxasReport { name, registers, local_bytes, spill_bytes, shared_bytes, f64_instructions } =
        receipt;
    writeln!(
        out,
        "{name:<28} {variant:<14} {arch:<6} {precision:>4} {registers:>9} {local_bytes:>6} \
         {spill_bytes:>6} {shared_bytes:>6} {f64_instructions:>4}"
    )?;
    Ok(())
}
