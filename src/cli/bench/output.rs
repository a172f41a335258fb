//! Speed of compressing and writing output frames, and of reading an input.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::Bench;
use super::record::Record;
use crate::advection::Limiter;
use crate::backend::cpu::Cpu;
use crate::cli::FilePrecision;
use crate::cli::run::metadata::machine;
use crate::cli::run::refine::refined;
use crate::error::{Error, Result};
use crate::frame::output_statistics::OutputStatistics;
use crate::frame::{Frame, FrameSource, Snapshot};
use crate::io::out::output::{FileForm, Header, Output, Storage};
use crate::io::out::selection::Selection;
use crate::io::store;
use crate::io::store::storage::{Compression, Keep};
use crate::io::wrf::series::Overlap;
use crate::io::wrf::{self};
use crate::model::{self, Frames, RunInput};
use crate::os_text::Shown;
use crate::physics::registry;
use crate::time_steps::{Length, Plan};

/// Steps before the frame that is written: the diagnostics of the initial state are not typical of a run.
const STEPS: usize = 2;

/// The measured forms of output, with the endings of names.
const FORMS: &[(&str, Compression, Keep, &str)] = &[
    ("none", Compression::None, Keep::All, "nc"),
    ("fast", Compression::Fast, Keep::All, "nc"),
    ("small", Compression::Small, Keep::All, "nc"),
    ("fast, keepbits auto", Compression::Fast, Keep::Auto, "nc"),
    #[cfg(feature = "zarr")]
    ("zarr, none", Compression::None, Keep::All, "zarr"),
    #[cfg(feature = "zarr")]
    ("zarr, fast", Compression::Fast, Keep::All, "zarr"),
];

/// Options of `output`.
#[derive(Args, Clone, Debug)]
pub(super) struct OutputBenchOptions {
    /// Divide every cell of the input of `output` into N x N
    #[arg(long, value_name = "N", default_value = "4",
          value_parser = clap::value_parser!(u16).range(1..))]
    refine: u16,
    /// Frames that `output` writes to a file
    #[arg(long, value_name = "N", default_value = "4",
          value_parser = clap::value_parser!(u16).range(1..))]
    frames: u16,
    /// Folder that `output` writes to [default: that of the system for temporary files]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// WRF file that `output` reads like a run, instead of writing
    #[arg(long, value_name = "FILE")]
    read: Option<PathBuf>,
}

/// A line of the table.
#[derive(Debug, Serialize)]
struct Row {
    bench: &'static str,
    form: &'static str,
    precision: &'static str,
    grid: [usize; 3],
    frames: usize,
    threads: usize,
    /// Time from the first frame until the file has its final name, s.
    total_s: f64,
    raw_bytes: u64,
    compressed_bytes: u64,
    file_bytes: u64,
    raw_gb_per_s: f64,
    ms_per_frame: f64,
    file_bytes_per_cell: f64,
}

impl Bench {
    /// Writes frames, or reads the given file.
    pub(super) fn files<R: FilePrecision>(&self, record: &mut Record) -> Result<()> {
        match &self.output.read {
            Some(path) => reading(path, record),
            None => self.output::<R>(record),
        }
    }

    /// Writes frames in all forms, without the shortcut for fields that are the same in all frames.
    fn output<R: FilePrecision>(&self, record: &mut Record) -> Result<()> {
        let OutputBenchOptions { refine, frames, folder, .. } = &self.output;
        let (frames, folder) =
            (usize::from(*frames), folder.clone().unwrap_or_else(std::env::temp_dir));
        let (header, snapshot) = self.frame_of_output::<R>((*refine).into())?;
        let shape = header.domain.grid.shape;
        writeln!(
            record.out,
            "output: {frames} frames of {shape} cells, {}, {} threads, to {}\n\
             {:<20} {:>9} {:>10} {:>9} {:>12}",
            R::NAME,
            machine().threads,
            folder.shown(),
            "form",
            "ms/frame",
            "raw GB/s",
            "bytes/cell",
            "total s"
        )?;
        for &(form, compression, keep, ending) in FORMS {
            let path = folder.join(format!(".nwp-mini-bench-{}.{ending}", std::process::id()));
            let storage =
                Storage { compression, keep, variables: Selection::All, ..Storage::default() };
            let file = FileForm { storage, statistics: OutputStatistics::default() };
            let statistics = file.statistics.clone();
            let pending = store::of_name(&path, false)?;
            let begin = Instant::now();
            let output = Output::create(pending, (header.clone(), file), Vec::new(), None)?;
            let _ = (0..frames).all(|_| output.send(snapshot.clone()));
            output.finish()?;
            let total_s = begin.elapsed().as_secs_f64();
            let file_bytes = length(&path).map_err(|e| Error::io(&path, "look at", e))?;
            let removed =
                if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(|e| Error::io(&path, "remove", e))?;
            let cells = (frames * shape.cells()) as f64;
            let row = Row {
                bench: "output",
                form,
                precision: R::NAME,
                grid: [shape.nx, shape.ny, shape.nz],
                frames,
                threads: machine().threads,
                total_s,
                raw_bytes: statistics.raw_bytes(),
                compressed_bytes: statistics.stored_bytes(),
                file_bytes,
                raw_gb_per_s: statistics.raw_bytes() as f64 / total_s / 1e9,
                ms_per_frame: total_s / frames as f64 * 1e3,
                file_bytes_per_cell: file_bytes as f64 / cells,
            };
            let line = format!(
                "{form:<20} {:>9.1} {:>10.3} {:>9.2} {:>12.3}",
                row.ms_per_frame, row.raw_gb_per_s, row.file_bytes_per_cell, row.total_s
            );
            record.show(&line, &row)?;
        }
        Ok(())
    }

    /// A frame of a short run on the CPU.
    fn frame_of_output<R: FilePrecision>(&self, refine: usize) -> Result<(Header, Snapshot<R>)> {
        let read = wrf::open(
            std::slice::from_ref(&self.input),
            None,
            Overlap::Refuse,
            &registry::usual_set(),
        )?;
        let (domain, frame, series) = refined(refine, R::PRECISION, read, None)?;
        let mut case = RunInput::<R>::new(domain, frame)?;
        let state = case.take_state();
        let plan = Plan::new(Length::Steps(STEPS), None, case.domain.dt, case.max_dt)?;
        let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
        let (limiter, scheme) = (Limiter::PositiveDefinite, registry::usual());
        let mut backend = Cpu::new(grid, coordinate, limiter, &*scheme, &case.forcing, state);
        let domain = case.domain.clone();
        let header = Header {
            domain,
            start: series.start(),
            tracers: Arc::clone(&case.tracers),
            physics: registry::SCHEMES[0].number,
            dt: plan.dt,
            provenance: Vec::new(),
        };
        let (mut last, stop) = (None, AtomicBool::new(false));
        let mut keep = |_: usize, frame: Snapshot<R>| {
            last = Some(Snapshot { lasts: false, ..frame });
            true
        };
        let frames = Frames::default();
        model::run(&mut case, &plan, frames, &mut backend, &stop, &mut keep, &mut |_| {})?;
        let none = || Error::input(&self.input, "a run of this input writes no output frame");
        Ok((header, last.ok_or_else(none)?))
    }
}

/// Bytes of a file, or of all files of a folder.
fn length(path: &Path) -> std::io::Result<u64> {
    let about = fs::metadata(path)?;
    if !about.is_dir() {
        return Ok(about.len());
    }
    fs::read_dir(path)?.map(|entry| length(&entry?.path())).sum()
}

/// Number of times that a file is read: the first time it may come from disk.
const TIMES: usize = 5;

/// The result of reading.
#[derive(Debug, Serialize)]
struct ReadingRow {
    bench: &'static str,
    grid: [usize; 3],
    threads: usize,
    /// Shortest time until the fields are read, checked and stored, s.
    least_s: f64,
    raw_bytes: usize,
    raw_gb_per_s: f64,
}

/// Reads the first time of a WRF file as a run does.
fn reading(path: &Path, record: &mut Record) -> Result<()> {
    let (mut least_s, mut raw_bytes, mut grid) = (f64::INFINITY, 0, [0; 3]);
    for _ in 0..TIMES {
        let begin = Instant::now();
        let (domain, frame, _) = wrf::open(
            std::slice::from_ref(&path.to_owned()),
            None,
            Overlap::Refuse,
            &registry::usual_set(),
        )?;
        least_s = least_s.min(begin.elapsed().as_secs_f64());
        raw_bytes = bytes(&frame);
        let shape = domain.grid.shape;
        grid = [shape.nx, shape.ny, shape.nz];
    }
    let threads = machine().threads;
    let raw_gb_per_s = raw_bytes as f64 / least_s / 1e9;
    let [nx, ny, nz] = grid;
    writeln!(
        record.out,
        "reading: {} of {nx}x{ny}x{nz} cells, {threads} threads\n\
         {:.1} MB of values in {:.1} ms, {raw_gb_per_s:.3} GB/s",
        path.shown(),
        raw_bytes as f64 / 1e6,
        1e3 * least_s
    )?;
    record.add(&ReadingRow { bench: "reading", grid, threads, least_s, raw_bytes, raw_gb_per_s });
    Ok(())
}

/// Bytes of the planes and volumes.
fn bytes(frame: &Frame) -> usize {
    let Frame { state, u, v, pressure, geopotential, column_mass, .. } = frame;
    let volumes = state.fields().iter().chain([u, v]).chain(pressure).chain(geopotential);
    let values: usize = volumes.map(ndarray::Array::len).sum();
    let planes: usize = column_mass.iter().map(ndarray::Array::len).sum();
    (values + planes) * size_of::<f32>()
}
