//! Errors of callers are reported: arrays that do not fit, invalid lengths of time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ndarray::{Array2, Array3};
use nwp_mini::advection::{self, Limiter, Wind, Workspace};
use nwp_mini::backend::Backend;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::chemistry::cells::{Cells, RateUpdate, Settings, integrate};
use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::mechanism;
use nwp_mini::chemistry::rosenbrock::{Tolerances, methods};
use nwp_mini::dry_mass::{AirMass, MassCoordinate, MassFlux};
use nwp_mini::error::Error;
use nwp_mini::forcing::Forcing;
use nwp_mini::grid::{Grid, Shape, Side, Sides};
use nwp_mini::physics::registry::usual_set;
use nwp_mini::physics::wsm5::reflectivity::Bins;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::physics::wsm5::{self, Column, DiagnosticFields, Sedimentation, Work, Wsm5};
use nwp_mini::physics::{self, Scratch};
use nwp_mini::simd::Instructions;
use nwp_mini::state::{BoundaryValues, CloudDiagnostics, Environment, State, Surface};
use nwp_mini::time_steps::{Length, Plan};

const SHAPE: Shape = Shape { nx: 9, ny: 8, nz: 6 };
const OTHER: Shape = Shape { nx: 9, ny: 7, nz: 6 };

/// The message of the panic that a call ends in.
fn refusal<T>(call: impl FnOnce() -> T) -> String {
    let payload = catch_unwind(AssertUnwindSafe(call)).err().expect("it was not refused");
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|&text| text.to_owned())).unwrap()
}

fn expect<T>(part: &str, call: impl FnOnce() -> T) {
    let message = refusal(call);
    assert!(message.contains(part), "{part:?} is not in: {message}");
}

fn air(shape: Shape) -> Environment<f32> {
    let of = |value: f32| Array3::from_elem(shape.centre(), value);
    Environment { rho: of(1.0), exner: of(0.95), p: of(8.0e4), dz: of(500.0), w: None }
}

fn state(shape: Shape) -> State<f32> {
    let mut state = State::zeros(&usual_set(), shape);
    state.theta_mut().fill(-5.0);
    state.qv_mut().fill(5.0e-3);
    state
}

const WRONG_LENGTHS: [f32; 5] = [0.0, -60.0, f32::NAN, f32::INFINITY, 1e30];

#[test]
fn columns_that_do_not_fit_are_refused() {
    let scheme = Scheme::<f32>::default();
    expect("without layers", || Column::new(0).call(&scheme, 60.0));
    let mut column = Column::new(5);
    column.air.pop();
    expect("[5, 4]", || column.call(&scheme, 60.0));
    for dt in WRONG_LENGTHS {
        let mut column = Column::new(5);
        expect("give a number of seconds", || column.call(&scheme, dt));
    }
}

#[test]
fn fields_that_do_not_fit_are_refused() {
    for fallout in Sedimentation::ALL {
        let scheme = Scheme::<f32>::default().with_fallout(fallout);
        let call = |scratch: &Scratch<Work<f32>>,
                    dt,
                    mut state: State<f32>,
                    air: Environment<f32>| {
            let mut ground = Surface::zeros(&usual_set(), SHAPE);
            physics::call(&scheme, dt, scratch, wsm5::block(300.0, &mut state, &air, &mut ground));
        };
        let scratch = Scratch::new(&scheme, SHAPE.nz);
        call(&scratch, 60.0, state(SHAPE), air(SHAPE));
        expect("layers", || call(&Scratch::new(&scheme, 5), 60.0, state(SHAPE), air(SHAPE)));
        expect("shape of den", || call(&scratch, 60.0, state(SHAPE), air(OTHER)));
        for number in 1..6 {
            let mut state = state(SHAPE);
            state.fields_mut()[number] = Array3::zeros(OTHER.centre());
            expect("beside the first", || call(&scratch, 60.0, state, air(SHAPE)));
        }
        for dt in WRONG_LENGTHS {
            expect("give a number", || call(&scratch, dt, state(SHAPE), air(SHAPE)));
        }
        expect("at the ground", || {
            let (mut state, air, mut ground) =
                (state(SHAPE), air(SHAPE), Surface::zeros(&usual_set(), OTHER));
            let block = wsm5::block(300.0, &mut state, &air, &mut ground);
            physics::call(&scheme, 60.0, &scratch, block);
        });
        expect("diagnosed", || {
            let (state, air) = (state(SHAPE), air(SHAPE));
            let mut out = CloudDiagnostics::zeros(&usual_set(), OTHER);
            let fields = DiagnosticFields::new(300.0, &state, &air, &mut out);
            wsm5::diagnose(&scheme, &Bins::default(), Instructions::best(), fields);
        });
        // No columns are no fault.
        let none = Shape { ny: 0, ..SHAPE };
        let (mut state, air, mut ground) =
            (state(none), air(none), Surface::zeros(&usual_set(), none));
        let block = wsm5::block(300.0, &mut state, &air, &mut ground);
        physics::call(&scheme, 60.0, &scratch, block);
    }
}

fn grid(shape: Shape) -> Grid {
    Grid::whole(shape, [1.0e3; 2], Sides::all(Side::Specified))
}

fn coordinate(shape: Shape) -> MassCoordinate {
    let ones = Array2::ones((shape.ny, shape.nx));
    MassCoordinate {
        mu: 1.0e4 * &ones,
        map_x: ones.clone(),
        map_y: ones,
        c1: vec![1.0; shape.nz],
        c2: vec![0.0; shape.nz],
        rdnw: vec![-(shape.nz as f64); shape.nz],
        fnm: vec![0.5; shape.nz],
        fnp: vec![0.5; shape.nz],
        unit: 1.0e5,
    }
}

fn flux(shape: Shape) -> MassFlux<f32> {
    MassFlux {
        x: Array3::zeros(shape.x_face()),
        y: Array3::zeros(shape.y_face()),
        z: Array3::zeros(shape.z_face()),
    }
}

#[test]
fn masses_that_do_not_fit_are_refused() {
    let new = |shape, coordinate: MassCoordinate| AirMass::<f32>::new(&grid(shape), &coordinate);
    new(SHAPE, coordinate(SHAPE));
    expect("map factors", || new(OTHER, coordinate(SHAPE)));
    let short = MassCoordinate { fnp: vec![0.5; 5], ..coordinate(SHAPE) };
    expect("layers of c1", || new(SHAPE, short));
    let none = Shape { nx: 0, ..SHAPE };
    expect("a grid of", || new(none, coordinate(none)));
}

#[test]
fn tracers_that_do_not_fit_are_refused() {
    let step = |of_grid: Shape, of_air, of_flux, of_inflow, of_tracer: Shape| {
        let (grid, flux) = (grid(of_grid), flux(of_flux));
        let air = AirMass::new(&self::grid(of_air), &coordinate(of_air));
        let wind = Wind { grid: &grid, air: &air, flux: &flux, dt: 10.0 };
        let mut q = Array3::<f32>::zeros(of_tracer.centre());
        let inflow = BoundaryValues::of(&Array3::zeros(of_inflow));
        let mut work = Workspace::new(SHAPE);
        let limiter = Limiter::PositiveDefinite;
        advection::step(&wind, limiter, Some(&inflow).into(), &mut q, &mut work);
    };
    step(SHAPE, SHAPE, SHAPE, SHAPE.centre(), SHAPE);
    expect("workspace", || step(OTHER, OTHER, OTHER, OTHER.centre(), OTHER));
    expect("masses", || step(SHAPE, OTHER, SHAPE, SHAPE.centre(), SHAPE));
    expect("fluxes", || step(SHAPE, SHAPE, OTHER, SHAPE.centre(), SHAPE));
    expect("inflow", || step(SHAPE, SHAPE, SHAPE, OTHER.centre(), SHAPE));
    expect("tracer", || step(SHAPE, SHAPE, SHAPE, SHAPE.centre(), OTHER));
}

/// A backend returns an error, and its state is unchanged.
#[test]
fn a_backend_refuses_steps_of_no_length() {
    let values = || Some(BoundaryValues::of(&Array3::zeros(SHAPE.centre())));
    let inflow = (0..usual_set().carried()).map(|_| values()).collect();
    let forcing =
        Forcing { flux: flux(SHAPE), environment: air(SHAPE), inflow, photolysis: Vec::new() };
    let (grid, coordinate, limiter) = (grid(SHAPE), coordinate(SHAPE), Limiter::PositiveDefinite);
    let scheme = Wsm5::default();
    let mut cpu = Cpu::new(&grid, &coordinate, limiter, &scheme, &Arc::new(forcing), state(SHAPE));
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = cpu.step(dt).unwrap_err();
        assert!(matches!(refused, Error::Usage(_)), "{refused}");
    }
    for (found, before) in cpu.state().fields().iter().zip(state(SHAPE).fields()) {
        assert_eq!(*found, before);
    }
    cpu.step(10.0).unwrap();
}

#[test]
fn plans_of_no_length_are_refused() {
    let [nan, inf] = [f64::NAN, f64::INFINITY];
    for (length, dt, max_dt) in [
        (Length::Steps(3), Some(nan), 100.0),
        (Length::Steps(3), Some(inf), inf),
        (Length::Steps(3), Some(60.0), nan),
        (Length::Steps(3), None, nan),
        (Length::Seconds(nan), Some(60.0), 100.0),
        (Length::Seconds(inf), Some(60.0), 100.0),
    ] {
        let plan = Plan::new(length, dt, None, max_dt);
        let is_usage = plan.as_ref().is_err_and(|error| error.exit_code() == 2);
        assert!(is_usage, "{length:?}, {dt:?}, {max_dt}: {plan:?}");
    }
    assert!(Plan::new(Length::Steps(3), None, Some(nan), 100.0).is_err());
    assert!(Plan::new(Length::Steps(3), Some(60.0), None, inf).is_ok());
}

#[test]
fn cells_of_other_mechanisms_are_refused() {
    let text = "#DEFVAR A = IGNORE; B = IGNORE; #EQUATIONS A = B : 0.1; B = A : 0.3;";
    let (mechanism, _) = mechanism::parse("pair", text).mechanism().unwrap();
    let kinetics = Kinetics::new(&mechanism).unwrap();
    let settings = Settings {
        method: methods::RODAS4,
        tolerances: Tolerances { relative: 1e-6, absolute: 1e-6 },
        interval: 100.0,
        first_step: 0.0,
        rates: RateUpdate::Frozen,
    };
    let cells = |variable: usize, photolysis: usize| Cells {
        variable: vec![4e6; variable],
        temperature: vec![298.0; 3],
        air_factor: vec![2.46e13; 3],
        air_density: vec![2.46e19; 3],
        hydrolysis: vec![0.0; 3],
        start: vec![0.0; 3],
        first_step: Vec::new(),
        photolysis: vec![0.0; photolysis],
        ..Cells::default()
    };
    let run = |settings: &Settings, mut cells: Cells| integrate(&kinetics, settings, &mut cells);
    assert!(run(&settings, cells(6, 0)).iter().all(|outcome| outcome.status.is_success()));
    for variable in [0, 5, 7] {
        expect("variable", || run(&settings, cells(variable, 0)));
    }
    expect("air_density", || run(&settings, Cells { air_density: vec![], ..cells(6, 0) }));
    expect("photolysis", || run(&settings, cells(6, 4)));
    for interval in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let settings = Settings { interval, ..settings };
        expect("an interval", || run(&settings, cells(6, 0)));
    }
    // Tolerances that no step can keep end in a reason.
    for relative in [0.0, f64::NAN] {
        let settings = Settings { tolerances: Tolerances { relative, absolute: 0.0 }, ..settings };
        assert!(run(&settings, cells(6, 0)).iter().all(|outcome| !outcome.status.is_success()));
    }
}
