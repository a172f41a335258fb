//! Passive tracers beside the water: with transport only, a copy of the vapour has its bits.

use std::path::Path;
use std::sync::Arc;

use nwp_mini::advection::Limiter;
use nwp_mini::advection::flux::FluxConstants;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::io::wrf;
use nwp_mini::io::wrf::series::{Overlap, Series};
use nwp_mini::model::{RunInput, RunPrecision};
use nwp_mini::passive::PassiveTracers;
use nwp_mini::physics::registry::usual_set;
use nwp_mini::physics::wsm5::Wsm5;

const COPY: &str = r#"
[[tracer]]
name = "vapour"
units = "kg kg-1"
initial = { kind = "field", variable = "QVAPOR" }

[[tracer]]
name = "one"
units = "1"
initial = { kind = "constant", value = 1.0 }
limiter = "none"
"#;

fn compare<R: RunPrecision + FluxConstants>(limiter: Limiter, constant: f64) {
    let path = nwp_mini_support::project().join("data/soc.nc");
    let recipe =
        PassiveTracers::parse(&usual_set(), Path::new("t.toml"), COPY).expect("two tracers");
    let (domain, frame) = wrf::read(&path, None).expect("the storm");
    let series = Series::open(&[path], &domain, (Overlap::Refuse, &usual_set())).expect("one time");
    let series = series.carrying(Arc::new(recipe));
    let frame = series.with_sources(frame).expect("the vapour");
    let frame = series.complete(frame, &domain);
    let mut case = RunInput::<R>::new(domain, frame).expect("the winds of the storm");
    let state = case.take_state();
    let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
    let scheme = Wsm5::default();
    let mut cpu = Cpu::new(grid, coordinate, limiter, &scheme, &case.forcing, state);
    let before = cpu.state().qv().clone();
    for _ in 0..4 {
        cpu.transport(100.0);
    }
    let state = cpu.state();
    let [vapour, one] = state.passive() else { panic!("two tracers") };
    assert_eq!(state.qv(), vapour, "{limiter:?}");
    assert_ne!(state.qv(), &before);
    let off = one.iter().map(|x| (x.f64() - 1.0).abs()).fold(0.0, f64::max);
    assert!(off < constant, "{limiter:?}: a constant is off by {off:e}");
}

#[test]
fn a_copy_of_the_vapour_has_its_bits_and_a_constant_stays() {
    for limiter in [Limiter::PositiveDefinite, Limiter::Monotonic, Limiter::None] {
        compare::<f32>(limiter, 1e-5);
        // The projection leaves 1e-9 of the divergence.
        compare::<f64>(limiter, 1e-8);
    }
}
