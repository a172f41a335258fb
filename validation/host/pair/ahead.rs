//! A backend that runs ahead of its caller: frames come late, and failures too.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::backend::{
    Account, Backend, CollectedOutput, FRAMES_IN_FLIGHT, Info, Output, RunStart,
};
use nwp_mini::error::{Error, Result};
use nwp_mini::forcing::TimeInterpolant;
use nwp_mini::frame::{PointSample, Snapshot};
use nwp_mini::io::wrf;
use nwp_mini::model::{self, Frames, OutputSink, Probe, RunInput};
use nwp_mini::physics::wsm5::Wsm5;
use nwp_mini::primitives::csr::Csr;
use nwp_mini::time_steps::{Past, Plan};

/// Returns frames only on a blocking request, and reports a failure one step late.
struct RunAheadBackend {
    cpu: Cpu<f32>,
    frames: VecDeque<CollectedOutput<f32>>,
    most_in_flight: usize,
    fails_at: Option<usize>,
}

impl Backend<f32> for RunAheadBackend {
    fn info(&mut self) -> Result<Info> {
        Ok(Info { kind: "ahead", device: "none".to_owned(), ..self.cpu.info()? })
    }

    fn start(&mut self, start: RunStart<'_, f32>) -> Result<()> {
        self.cpu.start(start)
    }

    fn drive(&mut self, moment: &TimeInterpolant<f32>) -> Result<()> {
        self.cpu.drive(moment)
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        self.cpu.step(dt)
    }

    fn check(&mut self, step: usize, wait: bool) -> Result<()> {
        match self.fails_at {
            Some(at) if step > at || (wait && step == at) => {
                Err(Error::BlowUp { variable: "qv", value: f64::NAN, step: at, cell: [0, 0, 0] })
            }
            _ => Ok(()),
        }
    }

    fn capture(&mut self, output: Output, moment: &TimeInterpolant<f32>) -> Result<()> {
        self.cpu.capture(output, moment)?;
        if let Output::Frame(_) = output {
            assert!(self.frames.len() < FRAMES_IN_FLIGHT);
            self.frames.extend(self.cpu.collect(output, true)?);
            self.most_in_flight = self.most_in_flight.max(self.frames.len());
        }
        Ok(())
    }

    fn collect(&mut self, output: Output, wait: bool) -> Result<Option<CollectedOutput<f32>>> {
        match output {
            _ if !wait => Ok(None),
            Output::Frame(_) => Ok(self.frames.pop_front()),
            _ => self.cpu.collect(output, wait),
        }
    }

    fn account(&mut self, member: usize) -> Result<Account> {
        self.cpu.account(member)
    }
}

/// Results in order: frames with the sum of their vapour, and samples with that of theirs.
#[derive(Debug, PartialEq)]
struct Taken {
    frames: Vec<(usize, f64)>,
    samples: Vec<(f64, f64)>,
    columns: usize,
}

impl OutputSink<f32> for Taken {
    fn frame(&mut self, step: usize, frame: Snapshot<f32>) -> bool {
        assert!((frame.seconds - 60.0 * step as f64).abs() < 1e-9);
        self.frames.push((step, frame.state.qv().iter().map(|q| f64::from(*q)).sum()));
        true
    }

    fn probes(&self) -> Vec<Probe<f32>> {
        let triplets = [(0, 7, 0.5), (0, 8, 0.5), (1, self.columns - 1, 1.0)];
        let operator = Csr::from_triplets(2, self.columns, &triplets).expect("a good matrix");
        let frames = Frames { interval: Some(120.0), ..Frames::default() };
        vec![Probe { operator: Arc::new(operator), frames }]
    }

    fn sample(&mut self, probe: usize, sample: PointSample<f32>) -> bool {
        assert_eq!(probe, 0);
        let vapour = sample.fields[1].iter().map(|q| f64::from(*q)).sum();
        self.samples.push((sample.seconds, vapour));
        true
    }
}

/// Runs five steps with a frame after each and a sample after every other; returns the results, and the end of the run.
fn run(late: bool, fails_at: Option<usize>) -> (Taken, usize, Result<usize>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/soc.nc");
    let (domain, frame) = wrf::read(&path, None).expect("the storm");
    let mut case = RunInput::<f32>::new(domain, frame).expect("the storm's winds");
    let state = case.take_state();
    let domain = &case.domain;
    let (limiter, scheme) = (Limiter::PositiveDefinite, Wsm5::default());
    let mut cpu =
        Cpu::new(&domain.grid, &domain.coordinate, limiter, &scheme, &case.forcing, state.clone());
    let past = Past::default();
    let plan = Plan { dt: 60.0, steps: 5, last_dt: 60.0, max_dt: 200.0, past };
    let frames = Frames { interval: Some(60.0), ..Frames::default() };
    let mut taken =
        Taken { frames: Vec::new(), samples: Vec::new(), columns: domain.grid.shape.columns() };
    let stop = AtomicBool::new(false);
    let on_step = &mut |_| ();
    if !late {
        let done = model::run(&mut case, &plan, frames, &mut cpu, &stop, &mut taken, on_step);
        return (taken, 1, done.map(|outcome| outcome.steps));
    }
    let mut ahead = RunAheadBackend { cpu, frames: VecDeque::new(), most_in_flight: 0, fails_at };
    let done = model::run(&mut case, &plan, frames, &mut ahead, &stop, &mut taken, on_step);
    (taken, ahead.most_in_flight, done.map(|outcome| outcome.steps))
}

#[test]
fn late_frames_all_arrive_in_their_order() {
    let (prompt, _, steps) = run(false, None);
    assert_eq!(steps.expect("a good run"), 5);
    let steps: Vec<usize> = prompt.frames.iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, [0, 1, 2, 3, 4, 5]);
    let seconds: Vec<f64> = prompt.samples.iter().map(|(seconds, _)| *seconds).collect();
    assert_eq!(seconds, [0.0, 120.0, 240.0, 300.0]);
    let (late, most, steps) = run(true, None);
    assert_eq!(steps.expect("a good run"), 5);
    assert_eq!(late, prompt);
    assert_eq!(most, FRAMES_IN_FLIGHT);
}

#[test]
fn frames_before_a_late_failure_arrive_too() {
    let (all, ..) = run(false, None);
    let (sent, _, ended) = run(true, Some(3));
    // Reported after step 4; the frames up to step 3 had been requested by then.
    assert_eq!(sent.frames, all.frames[..=3]);
    assert_eq!(sent.samples, all.samples[..=1]);
    assert!(matches!(ended, Err(Error::BlowUp { step: 3, .. })), "{ended:?}");
    // A failure in the last step is waited for.
    let (_, _, ended) = run(true, Some(5));
    assert!(matches!(ended, Err(Error::BlowUp { step: 5, .. })), "{ended:?}");
}
