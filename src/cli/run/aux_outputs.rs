//! All outputs of a run as the time loop sees them, and those besides its frames: another grid, stations, profiles.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::FilePrecision;
use crate::cli::run::options::{AuxOptions, Run, RunConfig};
use crate::diagnostics::stations;
use crate::domain::Domain;
use crate::error::Result;
use crate::frame::output_statistics::OutputStatistics;
use crate::frame::{ColumnFrame, PointSample, Saved, Snapshot};
use crate::io::out::append_file::aux_path;
use crate::io::out::divided_output::DividedOutput;
use crate::io::out::output::{Header, Output};
use crate::io::out::profiles::Profiles;
use crate::io::out::regridded::Regridded;
use crate::io::out::samples::AuxOutput;
use crate::io::out::station_series::{PlacedStation, Points};
use crate::io::out::stations::Stations;
use crate::io::store::atomic_file::AtomicFile;
use crate::io::store::blocks;
use crate::io::weights::WeightFile;
use crate::model::{Frames, OutputSink, Probe};
use crate::primitives::csr::Csr;

/// The option that requests each of the files besides the output, and the name of the file.
pub(in crate::cli) fn names(config: &RunConfig) -> Vec<(&'static str, PathBuf)> {
    let AuxOptions { regrid, regrid_output, points, profiles, .. } = &config.options.aux;
    let name = |what: &str| aux_path(&config.output, what);
    let mut names = Vec::new();
    if regrid.is_some() {
        names.push(("--regrid", regrid_output.clone().unwrap_or_else(|| name("regrid"))));
    }
    if points.is_some() {
        names.extend(["points", "points.profiles"].map(|what| ("--points", name(what))));
    }
    if *profiles {
        names.push(("--profiles", name("profiles")));
    }
    names
}

/// Outputs besides frames, read and checked independently of the input.
#[derive(Debug)]
pub(in crate::cli) struct AuxRequest {
    pending: Vec<AtomicFile>,
    weights: Option<WeightFile>,
    stations: Option<Stations>,
}

impl AuxRequest {
    /// Rejects files that cannot be written, and reads weights and stations.
    pub(in crate::cli) fn read(config: &RunConfig) -> Result<Self> {
        let Run { aux, force, .. } = &config.options;
        // Files are written by the first of several ranks.
        let names = names(config).into_iter().filter(|_| config.team.is_first());
        let pending = names.map(|(_, path)| AtomicFile::new(&path, *force));
        Ok(Self {
            pending: pending.collect::<Result<_>>()?,
            weights: aux.regrid.as_deref().map(WeightFile::read).transpose()?,
            stations: aux.points.as_deref().map(Stations::read).transpose()?,
        })
    }

    /// Adapts the outputs to the grid of the run.
    pub(in crate::cli) fn on<R: FilePrecision>(
        self,
        domain: &Domain,
        Run { aux: options, output_interval, .. }: &Run,
    ) -> Result<AuxOutputs<R>> {
        let Self { pending, weights, stations } = self;
        let frames = Frames { interval: *output_interval, ..Frames::default() };
        let profiles = options.profiles.then_some(frames);
        let mut aux =
            AuxOutputs { pending, weights: None, places: None, profiles, probes: Vec::new() };
        if let Some(weights) = weights {
            weights.check_source(domain)?;
            let number = aux.probe(&weights.weights.matrix, frames)?;
            aux.weights = Some((weights, number));
        }
        if let Some((path, stations)) = options.points.as_ref().zip(stations) {
            let (places, matrix) = stations::locate(path, &stations, domain)?;
            let interval = options.points_interval.or(frames.interval);
            let number = aux.probe(&matrix, Frames { interval, ..frames })?;
            aux.places = Some((places, number));
        }
        Ok(aux)
    }
}

/// Outputs besides frames, on the grid of a run.
#[derive(Debug)]
pub(in crate::cli) struct AuxOutputs<R> {
    /// The files, in the order of [`names`].
    pending: Vec<AtomicFile>,
    /// Weights and stations, each with the number of its operator.
    weights: Option<(WeightFile, usize)>,
    places: Option<(Vec<PlacedStation>, usize)>,
    /// Output times of profiles; `None` without profiles.
    profiles: Option<Frames>,
    probes: Vec<Probe<R>>,
}

impl<R: FilePrecision> AuxOutputs<R> {
    /// Adds an operator in the precision of the run; returns its number.
    fn probe(&mut self, matrix: &Csr<f64>, frames: Frames) -> Result<usize> {
        let values = matrix.values().iter().map(|x| R::of(*x)).collect();
        let (starts, columns) = (matrix.starts().to_vec(), matrix.column_of().to_vec());
        let operator = Arc::new(Csr::from_parts(matrix.columns(), starts, columns, values)?);
        self.probes.push(Probe { operator, frames });
        Ok(self.probes.len() - 1)
    }

    /// Starts the files.
    pub(in crate::cli) fn files(&mut self, header: &Header) -> Result<Vec<Box<dyn AuxOutput<R>>>> {
        let mut pending = std::mem::take(&mut self.pending).into_iter();
        let mut next = || blocks(pending.next().expect("a file for whatever is asked for"));
        let mut files: Vec<Box<dyn AuxOutput<R>>> = Vec::new();
        if let Some((weights, number)) = &self.weights {
            let file = Regridded::create::<R>(next(), header, (weights, *number))?;
            files.push(Box::new(file));
        }
        if let Some((places, number)) = &self.places {
            let file = Points::create::<R>([next(), next()], header, (places, *number))?;
            files.push(Box::new(file));
        }
        if self.profiles.is_some() {
            files.push(Box::new(Profiles::create::<R>(next(), header)?));
        }
        Ok(files)
    }
}

/// The writers of an output.
pub(in crate::cli) enum Hands<R> {
    /// A thread of its own.
    Thread(Output<R>),
    /// Several ranks, of which each has its columns.
    Ranks(Box<DividedOutput<R>>),
}

/// The outputs of a run.
pub(in crate::cli) struct WrittenOutput<'a, R> {
    pub(in crate::cli) hands: Hands<R>,
    pub(in crate::cli) aux: &'a AuxOutputs<R>,
    /// Times of restart files; `None` if none are written.
    pub(in crate::cli) restarts: Option<Frames>,
}

impl<R: FilePrecision> WrittenOutput<'_, R> {
    /// Completes all files; returns the number of frames in the output.
    pub(in crate::cli) fn finish(self) -> Result<usize> {
        match self.hands {
            Hands::Thread(output) => output.finish(),
            Hands::Ranks(output) => output.finish(),
        }
    }
}

impl<R: FilePrecision> OutputSink<R> for WrittenOutput<'_, R> {
    fn frame(&mut self, _step: usize, frame: Snapshot<R>) -> bool {
        match &mut self.hands {
            Hands::Thread(output) => output.send(frame),
            Hands::Ranks(output) => output.frame(&frame),
        }
    }

    fn is_free(&self) -> bool {
        match &self.hands {
            Hands::Thread(output) => output.slot().is_free(),
            Hands::Ranks(_) => true,
        }
    }

    fn wait(&self) {
        if let Hands::Thread(output) = &self.hands {
            output.slot().wait();
        }
    }

    fn statistics(&self) -> OutputStatistics {
        match &self.hands {
            Hands::Thread(output) => output.statistics().clone(),
            Hands::Ranks(output) => output.statistics().clone(),
        }
    }

    fn probes(&self) -> Vec<Probe<R>> {
        self.aux.probes.clone()
    }

    fn sample(&mut self, probe: usize, sample: PointSample<R>) -> bool {
        match &mut self.hands {
            Hands::Thread(output) => output.send_sample(probe, sample),
            Hands::Ranks(output) => output.sample(probe, &sample),
        }
    }

    fn columns(&self) -> Option<Frames> {
        self.aux.profiles
    }

    fn take_columns(&mut self, columns: ColumnFrame<R>) -> bool {
        match &mut self.hands {
            Hands::Thread(output) => output.send_columns(columns),
            Hands::Ranks(output) => output.columns(&columns),
        }
    }

    fn restarts(&self) -> Option<Frames> {
        self.restarts
    }

    fn take_restart(&mut self, saved: Saved<R>) -> bool {
        match &mut self.hands {
            Hands::Thread(output) => output.send_restart(saved),
            Hands::Ranks(output) => output.restart(saved),
        }
    }
}
