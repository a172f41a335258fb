//! Backends on the CPU that stand in for others.

use ndarray::{Array, Dimension};
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::backend::{
    Account, Accumulators, Backend, CapturedFrame, Checkpoint, CollectedOutput, Info, Output,
    RunStart, SamplingRequest, Summary,
};
use nwp_mini::error::Result;
use nwp_mini::forcing::TimeInterpolant;
use nwp_mini::primitives::reduce::{Extrema, Statistics};
use nwp_mini::state::State;
use rayon::ThreadPool;

/// The CPU with its own thread pool.
pub(crate) struct Pooled {
    pub(crate) pool: ThreadPool,
    pub(crate) cpu: Cpu<f32>,
}

impl Backend<f32> for Pooled {
    fn info(&mut self) -> Result<Info> {
        let info = self.pool.install(|| self.cpu.info())?;
        Ok(Info { kind: "pooled", device: "a stand-in".to_owned(), ..info })
    }

    fn start(&mut self, start: RunStart<'_, f32>) -> Result<()> {
        self.cpu.start(start)
    }

    fn drive(&mut self, moment: &TimeInterpolant<f32>) -> Result<()> {
        self.pool.install(|| self.cpu.drive(moment))
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        self.pool.install(|| self.cpu.step(dt))
    }

    fn check(&mut self, step: usize, wait: bool) -> Result<()> {
        self.cpu.check(step, wait)
    }

    fn capture(&mut self, output: Output, moment: &TimeInterpolant<f32>) -> Result<()> {
        self.pool.install(|| self.cpu.capture(output, moment))
    }

    fn collect(&mut self, output: Output, wait: bool) -> Result<Option<CollectedOutput<f32>>> {
        self.cpu.collect(output, wait)
    }

    fn account(&mut self, member: usize) -> Result<Account> {
        self.pool.install(|| self.cpu.account(member))
    }
}

/// A run in double precision whose output is rounded to single precision: a backend without rounding errors of its own.
pub(crate) struct Wide(pub(crate) Cpu<f64>);

fn narrow_level(level: &Statistics<f64>) -> Statistics<f32> {
    let extrema = level.extrema.map(|Extrema { min, min_at, max, max_at }| Extrema {
        min: min as f32,
        min_at,
        max: max as f32,
        max_at,
    });
    Statistics { extrema, sum: level.sum, squares: level.squares, nans: level.nans }
}

fn narrow<D: Dimension>(field: &Array<f64, D>) -> Array<f32, D> {
    field.mapv(|x| x as f32)
}

impl Backend<f32> for Wide {
    fn info(&mut self) -> Result<Info> {
        let description = "double precision".to_owned();
        Ok(Info { kind: "wide", description, device: "a stand-in".to_owned(), ..self.0.info()? })
    }

    fn start(&mut self, start: RunStart<'_, f32>) -> Result<()> {
        let RunStart { states, gathered, attached } = start;
        assert!(
            attached.operators.is_empty() && attached.weights.is_none(),
            "nothing is sampled here"
        );
        let states: Vec<_> = states.iter().map(State::widened).collect();
        let gathered = gathered.map(Accumulators::widened);
        let (gathered, attached) = (gathered.as_ref(), SamplingRequest::default());
        self.0.start(RunStart { states: &states, gathered, attached })
    }

    fn drive(&mut self, moment: &TimeInterpolant<f32>) -> Result<()> {
        self.0.drive(&moment.widened())
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        self.0.step(dt)
    }

    fn check(&mut self, step: usize, wait: bool) -> Result<()> {
        self.0.check(step, wait)
    }

    fn capture(&mut self, output: Output, moment: &TimeInterpolant<f32>) -> Result<()> {
        self.0.capture(output, &moment.widened())
    }

    fn collect(&mut self, output: Output, wait: bool) -> Result<Option<CollectedOutput<f32>>> {
        let collected = self.0.collect(output, wait)?;
        if let Some(CollectedOutput::Checkpoint(checkpoint)) = collected {
            let Checkpoint { state, gathered } = *checkpoint;
            let surface = gathered.surface.map(narrow);
            let Accumulators { changes, passive, chemistry, first_steps, parts, .. } = gathered;
            let gathered =
                Accumulators { surface, changes, passive, chemistry, first_steps, parts };
            let checkpoint = Checkpoint { state: state.map(narrow), gathered };
            return Ok(Some(CollectedOutput::Checkpoint(Box::new(checkpoint))));
        }
        let frame = collected.and_then(CollectedOutput::frame);
        let Some(CapturedFrame { state, diagnostics, surface, summary }) = frame else {
            return Ok(None);
        };
        Ok(Some(CollectedOutput::Frame(Box::new(CapturedFrame {
            state: state.map(narrow),
            diagnostics: diagnostics.map(narrow),
            surface: surface.map(narrow),
            summary: Summary {
                levels: summary.levels.iter().map(narrow_level).collect(),
                contents: narrow(&summary.contents),
                outflow: summary.outflow,
                water: summary.water,
                changes: summary.changes,
            },
        }))))
    }

    fn account(&mut self, member: usize) -> Result<Account> {
        self.0.account(member)
    }
}
