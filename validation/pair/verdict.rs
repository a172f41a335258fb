//! Verdicts on whole pairs.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::Backend;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::diagnostics::difference::Value;
use nwp_mini::diagnostics::pair::Verdict;
use nwp_mini::forcing::Moment;
use nwp_mini::io::wrf;
use nwp_mini::model::pair::{self, Pair, Report};
use nwp_mini::model::{Case, Frames, Working};
use nwp_mini::plan::Plan;
use nwp_mini::state::State;
use nwp_mini::wsm5::Fallout;
use nwp_mini::wsm5::factors::Factors;
use rayon::ThreadPoolBuilder;

use crate::stand_in::{Pooled, Wide};

/// The storm, and the state that it starts from.
fn storm<R: Working>() -> (Case<R>, State<R>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/soc.nc");
    let (domain, frame) = wrf::read(&path, None).expect("the storm");
    let mut case = Case::new(domain, frame).expect("the storm's winds");
    let state = case.take_state();
    (case, state)
}

fn cpu<R: Working>(case: &Case<R>, state: &State<R>, fallout: Fallout) -> Cpu<R> {
    let domain = &case.domain;
    let limiter = Limiter::PositiveDefinite;
    let state = state.clone();
    Cpu::new(&domain.grid, &domain.coordinate, limiter, fallout, &case.forcing, state)
}

fn compare<R: Working + Value>(
    case: &mut Case<R>,
    start: &State<R>,
    fallout: Fallout,
    (steps, dt): (usize, f64),
    other: &mut dyn Backend<R>,
) -> Report {
    let stop = AtomicBool::new(false);
    let pair = Pair {
        case,
        start,
        plan: Plan { dt, steps, last_dt: dt, max_dt: 200.0 },
        frames: Frames::default(),
        limiter: Limiter::PositiveDefinite,
        fallout,
        stop: &stop,
    };
    let report = pair::run(pair, other, &mut |_| true, &mut |_| ()).expect("two runs");
    assert!(!report.interrupted);
    report
}

fn show(verdicts: &[Verdict]) {
    for v in verdicts {
        println!(
            "{:>3} {:<20} {:.2e} {:.2e} {:.2e} {:>10} {:?} {} {:.3e} of {:.3e} ({}) {}",
            v.steps,
            v.field,
            v.max_abs,
            v.rms_rel.unwrap_or(f64::NAN),
            v.p999.unwrap_or(f64::NAN),
            v.max_ulp.unwrap_or(0),
            v.worst,
            v.measure,
            v.found,
            v.limit,
            v.origin,
            if v.pass { "ok" } else { "BAD" }
        );
        for c in v.checks.iter() {
            println!(
                "      {:.3} {} {:.3e} of {:.3e} {} {:?}",
                c.found / c.limit,
                c.measure,
                c.found,
                c.limit,
                c.origin,
                c.cell
            );
        }
    }
}

#[test]
fn explore() {
    use nwp_mini::diagnostics::pair::{Apart, Sample, judge_later};
    let (mut case, start) = storm::<f32>();
    let wide = Moment::lasting(&case.forcing).widened();
    let domain = case.domain.clone();
    let stop = AtomicBool::new(false);
    for (steps, dt) in [(10, 60.0), (60, 60.0), (24, 150.0)] {
        for fallout in [Fallout::SemiLagrangian, Fallout::Substepped] {
            let plan = Plan { dt, steps, last_dt: dt, max_dt: 200.0 };
            let mut go = |b: &mut dyn Backend<f32>, s: &State<f32>| -> (Sample<f32>, [f64; 2]) {
                b.restore(s).unwrap();
                let mut last = None;
                nwp_mini::model::run(
                    &mut case,
                    &plan,
                    Frames::default(),
                    b,
                    &stop,
                    &mut |n, f| {
                        if n == steps {
                            last = Some(Sample {
                                state: f.state,
                                diagnostics: f.diagnostics,
                                rain: f.surface.rain,
                                snow: f.surface.snow,
                            });
                        }
                        true
                    },
                    &mut |_| (),
                )
                .unwrap();
                (last.unwrap(), [b.water().unwrap(), b.precipitation().unwrap().mean])
            };
            let (case_forcing, _) = (wide.clone(), 0);
            let mut make = || {
                Cpu::new(
                    &domain.grid,
                    &domain.coordinate,
                    Limiter::PositiveDefinite,
                    fallout,
                    &std::sync::Arc::new(storm::<f32>().0.forcing.as_ref().clone()),
                    start.clone(),
                )
            };
            let mut c = make();
            let a = go(&mut c, &start);
            let mut up = start.clone();
            nwp_mini::backend::Shift::Up(1).apply(&mut up);
            let once = go(&mut c, &up);
            c.disturb(Some(1));
            let each = go(&mut c, &start);
            c.disturb(Some(7777));
            let noisy = go(&mut c, &start);
            c.disturb(None);
            let mut f = make();
            for name in Factors::<f32>::NAMES {
                *f.scheme_mut().factors.of(name).unwrap() = 1.0 + f32::EPSILON;
            }
            let biased = go(&mut f, &start);
            let mut w = Wide(Cpu::new(
                &domain.grid,
                &domain.coordinate,
                Limiter::PositiveDefinite,
                fallout,
                &case_forcing.before,
                start.widened(),
            ));
            let widely = go(&mut w, &start);
            for (yard_name, yard) in [("once", &once), ("each", &each)] {
                let apart = Apart::of(&a.0, &yard.0, [a.1, yard.1]);
                for (name, b) in
                    [("noisy", &noisy), ("biased", &biased), ("wide", &widely), ("once", &once)]
                {
                    let v = judge_later(steps, [&a.0, &b.0], [a.1, b.1], &apart);
                    let text: Vec<String> = v
                        .iter()
                        .map(|v| {
                            format!(
                                "{}{}",
                                v.field,
                                v.checks
                                    .iter()
                                    .map(|c| format!(" {:.2}", c.found / c.limit))
                                    .collect::<String>()
                            )
                        })
                        .collect();
                    println!(
                        "ROW {steps} {dt} {fallout:?} yard {yard_name} b {name}: {}",
                        text.join("; ")
                    );
                }
            }
        }
    }
}
