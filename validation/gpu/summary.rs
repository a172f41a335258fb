//! Summaries of output frames on the device, compared with the fields of the frames.

use std::sync::Arc;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::gpu::{GpuBackend, GpuConfig, GpuPrecision};
use nwp_mini::backend::{
    Account, Backend, BudgetDomain, CollectedOutput, Output, Summary, WaterChange,
};
use nwp_mini::device::Gpu;
use nwp_mini::dry_mass::AirMass;
use nwp_mini::forcing::{Continuity, TimeInterpolant};
use nwp_mini::io::wrf;
use nwp_mini::model::{RunInput, RunPrecision};
use nwp_mini::physics::registry::usual_set;
use nwp_mini::physics::wsm5::Wsm5;
use nwp_mini::real::Real;

use crate::gpu;

const DT: f64 = 60.0;

/// Sums of some thousand values in another order: several ULP of double precision, relative to the sum of their
/// absolute values.
const ANOTHER_ORDER: f64 = 1e-13;

/// Negative water from transport, which cancels positive water elsewhere in the column, kg m⁻².
const CANCELLED: f64 = 1e-12;

/// A frame after some steps, with the storm's winds, or between two equal frames.
fn check<R: RunPrecision + GpuPrecision>(gpu: &Gpu, has_sequence: bool) {
    let is_single = size_of::<R>() == size_of::<f32>();
    // A mass is a sum of two products, of which the device rounds one less; in double precision so
    // is each term of the sum over the levels.
    let of_masses = if is_single { 3.0 * f64::from(f32::EPSILON) } else { 32.0 * f64::EPSILON };
    let path = crate::storm_file();
    let (domain, frame) = wrf::read(&path, None).unwrap();
    let mut case = RunInput::<R>::new(domain, frame).unwrap();
    let state = case.take_state();
    let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
    let limiter = Limiter::PositiveDefinite;
    let setting = GpuConfig {
        grid,
        coordinate,
        limiter,
        scheme: &Wsm5::default(),
        mapping: None,
        tracers: &usual_set(),
        has_sequence,
        chemistry: None,
    };
    let columns = (grid.shape.nx * grid.shape.ny) as f64;
    let mut on_gpu = GpuBackend::new(gpu, &setting, &state).unwrap();
    let mut moment = TimeInterpolant::lasting(&case.forcing);
    if has_sequence {
        moment.after = Some(Arc::clone(&case.forcing));
        (moment.flux_weight, moment.air_weight) = (0.25, 0.5);
    }
    let air = AirMass::<R>::new(grid, coordinate);
    let region = BudgetDomain::new(grid, coordinate);
    let mut flux = case.forcing.flux.clone();
    if has_sequence {
        Continuity::new(coordinate).close(&mut flux);
    }
    for steps in 0..3 {
        if steps == 2 {
            // As on a large grid.
            on_gpu.leave_frames_on_device().unwrap();
        }
        on_gpu.capture(Output::Frame(0), &moment).unwrap();
        let Account { water, changes, .. } = on_gpu.account(0).unwrap();
        // What comes after has to leave the frame alone.
        on_gpu.drive(&moment).unwrap();
        on_gpu.step(DT).unwrap();
        if steps == 2 {
            on_gpu.capture(Output::Frame(0), &moment).unwrap();
        }
        let frame =
            on_gpu.collect(Output::Frame(0), true).unwrap().and_then(CollectedOutput::frame);
        let frame = frame.expect("a frame");
        let found = &frame.summary;
        let about = format!("{} {has_sequence} after {steps} steps", <R as Real>::NAME);
        assert_eq!(found.changes, changes, "{about}");
        assert!(found.water == water, "{about}: {} kg of water, not {water}", found.water);
        assert!(steps == 0 || changes != WaterChange::default(), "{about}: nothing happens");
        let expected = Summary::of(&region, &air, &frame.state, &flux, changes);
        assert_eq!(found.levels.len(), expected.levels.len());
        for (n, (found, expected)) in found.levels.iter().zip(&expected.levels).enumerate() {
            assert_eq!(found.extrema, expected.extrema, "{about}: level {n}");
            assert_eq!(found.nans, 0);
            let [squares, sum] = [expected.squares, (expected.squares * columns).sqrt()];
            assert!((found.squares - squares).abs() <= ANOTHER_ORDER * squares, "{about}: {n}");
            assert!((found.sum - expected.sum).abs() <= ANOTHER_ORDER * sum, "{about}: {n}");
        }
        for (found, expected) in found.contents.iter().zip(&expected.contents) {
            let off = (found.f64() - expected.f64()).abs();
            let limit = of_masses * expected.f64().abs() + CANCELLED;
            assert!(off <= limit, "{about}: {found} not {expected}");
        }
        let rates = [&found.outflow, &expected.outflow].map(|outflow| f64::from(outflow.rate));
        let off = (rates[0] - rates[1]).abs();
        assert!(off <= 8.0 * f64::from(f32::EPSILON) * rates[1], "{about}: {rates:?}");
        assert_eq!(found.outflow.cell, expected.outflow.cell, "{about}");
    }
    let last = on_gpu.collect(Output::Frame(0), true).unwrap().and_then(CollectedOutput::frame);
    let last = last.expect("the frame that was begun before the one before it was collected");
    assert!(last.state.fields() == on_gpu.state().unwrap().fields());
}

#[test]
fn frames_are_summed_up_as_on_the_cpu() {
    let Some(gpu) = gpu(true) else { return };
    for has_sequence in [false, true] {
        check::<f32>(&gpu, has_sequence);
        check::<f64>(&gpu, has_sequence);
    }
}

/// Time of a frame on the device, including its summary.
#[test]
#[ignore = "measures time"]
fn times_of_summaries() {
    use nwp_mini::primitives::gpu::reduce::{Operation, Reducer};
    use nwp_mini::primitives::reduce::Segments;
    let Some(gpu) = gpu(true) else { return };
    println!("statistics of 6 fields of 27 levels on {}", gpu.device().name);
    let reducer = Reducer::<f32>::new(&gpu).unwrap();
    for size in [[71, 58], [256, 256], [1024, 1024]] {
        let levels = Segments::adjacent(6 * 27, size[0] * size[1]);
        let state = gpu.zeros::<f32>(levels.end()).unwrap();
        let words = gpu.zeros::<u64>(levels.count * Operation::Statistics.words()).unwrap();
        let work = || reducer.reduce(Operation::Statistics, &state, levels, &words);
        let mut graph = gpu.capture(work).unwrap();
        let mut times: Vec<f64> =
            (0..25).map(|_| gpu.elapsed(|| graph.launch()).unwrap()).collect();
        times.sort_by(f64::total_cmp);
        let bytes = 4.0 * levels.end() as f64;
        let seconds = times[times.len() / 2];
        println!(
            "{}x{}: {:.1} us, {:.0} GB/s",
            size[0],
            size[1],
            1e6 * seconds,
            bytes / seconds / 1e9
        );
    }
}
