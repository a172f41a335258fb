//! The microphysics of a run: the scheme on the columns inside the specified rows, and nothing else.

use std::path::Path;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::io::wrf;
use nwp_mini::model::{RunInput, RunPrecision};
use nwp_mini::physics::kessler::{ABOUT, Kessler, Vectorised};
use nwp_mini::physics::{Block, Scratch, call};
use nwp_mini::state::Surface;

fn check<R: RunPrecision + Vectorised>() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/soc.nc");
    let (domain, frame) = wrf::read_for(&path, None, &ABOUT.set()).expect("the storm");
    let mut case = RunInput::<R>::new(domain, frame).expect("winds");
    let before = case.take_state();
    let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
    let limiter = Limiter::PositiveDefinite;
    let mut cpu =
        Cpu::new(grid, coordinate, limiter, &Kessler::default(), &case.forcing, before.clone());
    cpu.microphysics(90.0);

    let mut expected = before.clone();
    let mut surface = Surface::<R>::zeros(&ABOUT.set(), grid.shape);
    let air = &case.forcing.environment;
    let scheme = Kessler::<R>::default();
    let tracers = expected.of_scheme_mut().iter_mut().map(|q| q.view_mut()).collect();
    let block = Block {
        theta_base: R::THETA_BASE,
        tracers,
        air: vec![air.rho.view(), air.exner.view(), air.dz.view()],
        surface: surface.planes_mut()[..2].iter_mut().map(|plane| plane.view_mut()).collect(),
        budget: None,
    };
    let (ny, nx) = (grid.shape.ny, grid.shape.nx);
    let block = block.within(1..ny - 1, 1..nx - 1);
    call(&scheme, R::of(90.0), &Scratch::new(&scheme, grid.shape.nz), block);
    let names: Vec<_> = ABOUT.set().iter().map(|own| own.name).collect();
    assert_eq!(names, ["theta", "qv", "qc", "qr"]);
    let fields = names.iter().zip(cpu.state().fields()).zip(expected.fields());
    for (n, ((name, found), expected)) in fields.enumerate() {
        assert_eq!(found, expected, "{name}");
        // The storm holds something of all, and the specified rows stay as they are.
        let first = &before.fields()[n];
        assert_ne!(found, first, "{name}");
        assert!(first.iter().any(|q| *q != R::ZERO), "{name}");
        for row in [0, ny - 1] {
            let row = ndarray::s![.., row, ..];
            assert_eq!(found.slice(row), first.slice(row), "{name}");
        }
    }
}

#[test]
fn a_run_calls_the_scheme_inside_its_sides() {
    check::<f32>();
    check::<f64>();
}
