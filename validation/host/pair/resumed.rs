//! A pair that continues from the checkpoint of a run.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::frame::{Saved, Snapshot};
use nwp_mini::io::wrf;
use nwp_mini::model::backend_comparison::{self, Pair};
use nwp_mini::model::{self, Frames, OutputSink, PastTotals, RunInput};
use nwp_mini::physics::wsm5::Wsm5;
use nwp_mini::time_steps::{Past, Plan};
use rayon::ThreadPoolBuilder;

use super::stand_in::Pooled;

/// Collects the frames, and the checkpoint after every third step.
#[derive(Default)]
struct Taken {
    frames: Vec<Snapshot<f32>>,
    saved: Vec<Saved<f32>>,
}

impl OutputSink<f32> for Taken {
    fn frame(&mut self, _step: usize, frame: Snapshot<f32>) -> bool {
        self.frames.push(frame);
        true
    }

    fn restarts(&self) -> Option<Frames> {
        Some(Frames { interval: Some(180.0), ..Frames::default() })
    }

    fn take_restart(&mut self, saved: Saved<f32>) -> bool {
        self.saved.push(saved);
        true
    }
}

/// Both backends have the accumulated precipitation, and the frames are those of a whole run.
#[test]
fn a_pair_goes_on_with_what_had_fallen() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/soc.nc");
    let (domain, frame) = wrf::read(&path, None).expect("the storm");
    let mut case = RunInput::<f32>::new(domain, frame).expect("the storm's winds");
    let state = case.take_state();
    let (limiter, scheme) = (Limiter::PositiveDefinite, Wsm5::default());
    let place = case.domain.clone();
    let forcing = case.forcing.clone();
    let cpu = |state| Cpu::new(&place.grid, &place.coordinate, limiter, &scheme, &forcing, state);
    let (stop, frames) = (AtomicBool::new(false), Frames::default());
    let whole = Plan { dt: 60.0, steps: 6, last_dt: 60.0, max_dt: 200.0, past: Past::default() };
    let (mut alone, mut first) = (cpu(state.clone()), Taken::default());
    let outcome = model::run(&mut case, &whole, frames, &mut alone, &stop, &mut first, &mut |_| ());
    let outcome = outcome.expect("a run");
    let ends: Vec<bool> = first.saved.iter().map(|saved| saved.is_last).collect();
    assert_eq!(ends, [false, true]);

    let Saved { checkpoint, past, water_start, passive_start, .. } = first.saved.swap_remove(0);
    assert_eq!(past.steps, 3);
    let gathered = checkpoint.gathered.clone();
    case.history = Some(PastTotals { gathered, water_start, passive_start });
    let pool = ThreadPoolBuilder::new().num_threads(3).build().expect("three threads");
    let mut other = Pooled { pool, cpu: cpu(checkpoint.state.clone()) };
    let (case, start, plan) = (&mut case, &checkpoint.state, Plan { steps: 3, past, ..whole });
    let pair = Pair { case, start, plan, frames, limiter, scheme: &scheme, stop: &stop };
    let mut second = Taken::default();
    let report =
        backend_comparison::run(pair, &mut other, &mut second, &mut |_| ()).expect("two runs");
    for verdict in &report.verdicts {
        assert!(verdict.pass && verdict.max_abs == 0.0, "{}: {}", verdict.field, verdict.max_abs);
    }
    assert_eq!(report.outcome.water, outcome.water);
    let (a, b) = (first.frames.last().expect("frames"), second.frames.last().expect("frames"));
    assert_eq!(a.seconds, b.seconds);
    assert_eq!(a.surface.named("rain"), b.surface.named("rain"));
    assert_eq!(a.state.fields(), b.state.fields());
    // The rain of three steps is on the ground at the start of the pair.
    assert_eq!(second.frames[0].surface.named("rain"), checkpoint.gathered.surface.named("rain"));
    assert!(second.frames[0].surface.named("rain").iter().any(|rain| *rain > 0.0));
}
