//! Members of an ensemble on the GPU: computed together they have the bits of single runs.

use std::ops::Range;
use std::sync::Arc;
use std::thread;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::gpu::{GpuBackend, GpuConfig, GpuPrecision};
use nwp_mini::backend::ranks::{Ranked, members_of};
use nwp_mini::backend::{
    Backend, CapturedFrame, CollectedOutput, FRAMES_IN_FLIGHT, Output, WaterChange,
};
use nwp_mini::device::Gpu;
use nwp_mini::forcing::TimeInterpolant;
use nwp_mini::io::wrf;
use nwp_mini::model::{RunInput, RunPrecision};
use nwp_mini::physics::kessler::Kessler;
use nwp_mini::physics::registry::usual_set;
use nwp_mini::physics::scheme::Scheme;
use nwp_mini::physics::wsm5::{Sedimentation, Wsm5};
use nwp_mini::ranks::Ranks;
use nwp_mini::ranks::of_threads::threads;
use nwp_mini::state::State;

use crate::{gpu, support};

const DT: f64 = 60.0;

fn steps() -> usize {
    crate::sized(12, 4)
}

fn members() -> usize {
    crate::sized(5, 3)
}

/// Values of a frame, as bits.
#[derive(Debug, PartialEq)]
struct Bits {
    fields: Vec<u64>,
    changes: WaterChange,
    water: u64,
}

fn bits<R: RunPrecision>(frame: &CapturedFrame<R>) -> Bits {
    let CapturedFrame { state, diagnostics, surface, summary } = frame;
    let fields = state.fields().iter().chain(diagnostics.iter().map(|(_, field)| field));
    let all = fields.flatten().chain(surface.planes().iter().flatten()).chain(&summary.contents);
    Bits {
        fields: all.map(|x| x.f64().to_bits()).collect(),
        changes: summary.changes,
        water: summary.water.to_bits(),
    }
}

/// Member 0 has the unperturbed scheme and state; the others differ in both.
fn scheme(member: usize, of_run: &dyn Scheme) -> Box<dyn Scheme> {
    let share = 1.0 + 0.3 * member as f64;
    let mut scheme = of_run.boxed();
    if !scheme.about().parameters.is_empty() {
        scheme.set("n0r", 8e6 * share).unwrap();
        scheme.set("alpha", 0.12 / share).unwrap();
    }
    scheme
}

fn start<R: RunPrecision>(state: &State<R>, member: usize) -> State<R> {
    let mut state = state.clone();
    state.qv_mut().mapv_inplace(|q| q * R::of(1.0 - 0.02 * member as f64));
    state
}

/// Steps with frames on the way; the last frames.
fn run<R: RunPrecision>(members: &mut dyn Backend<R>, moment: &TimeInterpolant<R>) -> Vec<Bits> {
    let mut last = Vec::new();
    let count = members.info().unwrap().members;
    members.drive(moment).unwrap();
    for step in 1..=steps() {
        members.step(DT).unwrap();
        members.check(step, false).unwrap();
        if step % 4 == 0 {
            last.clear();
            // As many under way as may be.
            for member in 0..count + FRAMES_IN_FLIGHT {
                if let Some(oldest) = member.checked_sub(FRAMES_IN_FLIGHT).filter(|x| *x < count) {
                    let frame = members.collect(Output::Frame(oldest), true).unwrap();
                    last.push(bits(&frame.and_then(CollectedOutput::frame).expect("a frame")));
                }
                if member < count {
                    members.capture(Output::Frame(member), moment).unwrap();
                }
            }
        }
    }
    members.check(steps(), true).unwrap();
    last
}

fn check<R: RunPrecision + GpuPrecision>(
    gpu: &Gpu,
    limiter: Limiter,
    of_run: &dyn Scheme,
    is_moving: bool,
) {
    let set = of_run.about().set();
    let path = crate::storm_file();
    let (domain, frame) = wrf::read_for(&path, None, &set).unwrap();
    let mut case = RunInput::<R>::new(domain, frame).unwrap();
    let state = case.take_state();
    let mut moment = case.drive(0.0, DT).unwrap();
    if is_moving {
        // Half-way to faster winds.
        let mut after = (*moment.before).clone();
        after.flux.x.mapv_inplace(|x| x * R::of(1.02));
        let after = Some(Arc::new(after));
        moment = TimeInterpolant { after, flux_weight: 0.5, air_weight: 0.5, ..moment };
    }
    let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
    let setting = GpuConfig {
        grid,
        coordinate,
        limiter,
        scheme: of_run,
        mapping: None,
        tracers: &set,
        has_sequence: is_moving,
        chemistry: None,
    };
    let schemes: Vec<Box<dyn Scheme>> =
        (0..members()).map(|member| scheme(member, of_run)).collect();
    let mut side_by_side =
        GpuBackend::of_members(gpu, &setting, &schemes, |member| start(&state, member)).unwrap();
    let found = run(&mut side_by_side, &moment);
    assert_eq!(found.len(), members());
    let about = format!("{limiter:?} {of_run:?} {is_moving}");
    for (member, found) in found.iter().enumerate() {
        let scheme = [schemes[member].boxed()];
        let mut alone =
            GpuBackend::of_members(gpu, &setting, &scheme, |_| start(&state, member)).unwrap();
        assert!(
            run(&mut alone, &moment).first() == Some(found),
            "{about}: member {member} differs"
        );
    }
    assert!(found[1] != found[2], "{about}: the comparison cannot tell members apart");
    let mut one = GpuBackend::new(gpu, &setting, &state).unwrap();
    one.drive(&moment).unwrap();
    (0..steps()).for_each(|_| one.step(DT).unwrap());
    one.capture(Output::Frame(0), &moment).unwrap();
    let frame = one.collect(Output::Frame(0), true).unwrap().and_then(CollectedOutput::frame);
    let frame = frame.expect("a frame");
    assert!(bits(&frame) == found[0], "{about}: the control differs from a run");
}

#[test]
fn members_have_the_bits_of_runs_by_themselves() {
    let Some(gpu) = gpu(true) else { return };
    check::<f32>(
        &gpu,
        Limiter::PositiveDefinite,
        &Wsm5::from(Sedimentation::SemiLagrangian),
        false,
    );
    check::<f64>(&gpu, Limiter::Monotonic, &Kessler::default(), true);
    if support::device::is_emulated() {
        return;
    }
    check::<f32>(&gpu, Limiter::PositiveDefinite, &Wsm5::from(Sedimentation::SemiLagrangian), true);
    check::<f32>(&gpu, Limiter::Monotonic, &Wsm5::from(Sedimentation::Substepped), false);
    check::<f64>(&gpu, Limiter::None, &Wsm5::from(Sedimentation::SemiLagrangian), true);
    check::<f32>(&gpu, Limiter::PositiveDefinite, &Kessler::default(), false);
}

/// Members shared out among two devices, each with a rank of its own.
#[test]
fn members_on_several_gpus_have_the_bits_of_one() {
    let Some(one) = gpu(true) else { return };
    let of_run = Kessler::default();
    let set = of_run.about().set();
    let (domain, frame) = wrf::read_for(&crate::storm_file(), None, &set).unwrap();
    let mut case = RunInput::<f32>::new(domain, frame).unwrap();
    let state = case.take_state();
    let moment = case.drive(0.0, DT).unwrap();
    let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
    let setting = GpuConfig {
        grid,
        coordinate,
        limiter: Limiter::PositiveDefinite,
        scheme: &of_run,
        mapping: None,
        tracers: &set,
        has_sequence: false,
        chemistry: None,
    };
    let of_members = |gpu: &Gpu, own: Range<usize>| {
        let schemes: Vec<_> = own.clone().map(|member| scheme(member, &of_run)).collect();
        GpuBackend::of_members(gpu, &setting, &schemes, |n| start(&state, own.start + n)).unwrap()
    };
    let expected = run(&mut of_members(&one, 0..members()), &moment);
    let found = thread::scope(|scope| {
        let start_rank = |ranks: Arc<dyn Ranks>| {
            let (of_members, moment) = (&of_members, &moment);
            scope.spawn(move || {
                let gpu = gpu(true).expect("the GPU of all members");
                let own = members_of(ranks.rank(), ranks.size(), members());
                let own = (of_members(&gpu, own), members());
                run(&mut Ranked::of_members_on_gpu(&ranks, own, grid, coordinate), moment)
            })
        };
        let runs: Vec<_> = threads(2).into_iter().map(start_rank).collect();
        let frames = runs.into_iter().map(|run| run.join().expect("no panic"));
        frames.collect::<Vec<_>>().swap_remove(0)
    });
    assert_eq!(found.len(), members());
    for (member, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert!(found == expected, "member {member} differs");
    }
}

#[test]
fn a_member_that_blows_up_is_named() {
    let Some(gpu) = gpu(true) else { return };
    let path = crate::storm_file();
    let (domain, frame) = wrf::read(&path, None).unwrap();
    let mut case = RunInput::<f32>::new(domain, frame).unwrap();
    let state = case.take_state();
    let moment = case.drive(0.0, DT).unwrap();
    let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
    let (limiter, fallout) = (Limiter::PositiveDefinite, Sedimentation::SemiLagrangian);
    let setting = GpuConfig {
        grid,
        coordinate,
        limiter,
        scheme: &Wsm5::from(fallout),
        mapping: None,
        tracers: &usual_set(),
        has_sequence: false,
        chemistry: None,
    };
    let schemes: [Box<dyn Scheme>; 4] = std::array::from_fn(|_| Wsm5::from(fallout).boxed());
    let spoilt = |member: usize| {
        let mut state = state.clone();
        if member == 2 {
            state.theta_mut()[[5, 10, 12]] = f32::NAN;
        }
        state
    };
    let mut members = GpuBackend::of_members(&gpu, &setting, &schemes, spoilt).unwrap();
    members.drive(&moment).unwrap();
    members.step(DT).unwrap();
    let text = members.check(1, true).unwrap_err().to_string();
    assert!(text.starts_with("member 2: ") && text.contains("at step 1"), "{text}");
}
