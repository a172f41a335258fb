//! A run from arrays: air, winds, a tracer and the chemistry of RADM2 in memory, without any format of files.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ndarray::{Array2, Array3};
use nwp_mini::advection::Limiter;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::calendar;
use nwp_mini::chemistry::coupled::{Coupled, Degrees, Light};
use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::mechanism;
use nwp_mini::domain::{Domain, Vertical};
use nwp_mini::frame::{Frame, Snapshot};
use nwp_mini::grid::{Grid, Shape, Side, Sides};
use nwp_mini::model::{self, Frames, RunInput};
use nwp_mini::passive::{Background, CellPositions, PassiveTracers};
use nwp_mini::physics::registry;
use nwp_mini::physics::registry::usual_set;
use nwp_mini::state::State;
use nwp_mini::time_steps::{Length, Plan};

/// The grid, the distance of its columns and the depth of its layers, m.
const SHAPE: Shape = Shape { nx: 8, ny: 6, nz: 12 };
const SPACING: f64 = 4.0e3;
const DEPTH: f64 = 800.0;
/// Steps of the run, and their length, s.
const STEPS: usize = 6;
const DT: f64 = 20.0;

const TRACERS: &str = "[[tracer]]\nname = \"smoke\"\nunits = \"1\"\n\
                       initial = { kind = \"layer\", bottom = 0.0, top = 2000.0, value = 1.0 }\n";
const MECHANISM: &str = include_str!("../../../data/chemistry/radm2.kpp");
const BACKGROUND: &str = include_str!("../../../data/chemistry/radm2.background.toml");

/// Pressure, Pa, and temperature, K, of an atmosphere with a constant lapse rate.
fn air(z: f64) -> [f64; 2] {
    let t = 298.0 - 6.5e-3 * z;
    [1.0e5 * (t / 298.0).powf(5.26), t]
}

/// The air at a time, with a uniform wind along x, m s-1.
fn frame(time: &str, wind: f32) -> Frame {
    let volume = |value: &dyn Fn(f64) -> f64| {
        Array3::from_shape_fn(SHAPE.centre(), |(k, ..)| value(DEPTH * (k as f64 + 0.5)) as f32)
    };
    let nothing = || volume(&|_| 0.0);
    let theta = volume(&|z| air(z)[1] * (1.0e5 / air(z)[0]).powf(0.2857) - 300.0);
    let vapour = volume(&|z| 1.4e-2 * (-z / 2.5e3).exp());
    let cloud = volume(&|z| if z < 4.0e3 { 1.5e-3 } else { 0.0 });
    let faces = |(k, _, _): (usize, usize, usize)| (9.81 * DEPTH * k as f64) as f32;
    let column = (SHAPE.ny, SHAPE.nx);
    let mass = air(0.0)[0] - air(DEPTH * SHAPE.nz as f64)[0];
    Frame {
        time: calendar::parse(time).expect("a date"),
        state: State::new(usual_set(), vec![theta, vapour, cloud, nothing(), nothing(), nothing()]),
        u: Array3::from_elem(SHAPE.x_face(), wind),
        v: Array3::zeros(SHAPE.y_face()),
        pressure: [nothing(), volume(&|z| air(z)[0])],
        geopotential: [Array3::zeros(SHAPE.z_face()), Array3::from_shape_fn(SHAPE.z_face(), faces)],
        column_mass: [Array2::zeros(column), Array2::from_elem(column, mass as f32)],
        sources: Vec::new(),
        photolysis: Vec::new(),
    }
}

/// Some steps of transport, microphysics and chemistry, with a frame of output at their end.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let frames = [frame("2005-06-21_12:00:00", 8.0), frame("2005-06-21_12:10:00", 12.0)];
    let (p_top, p_ground) = (air(DEPTH * SHAPE.nz as f64)[0], air(0.0)[0]);
    let eta = (0..=SHAPE.nz).map(|k| (air(DEPTH * k as f64)[0] - p_top) / (p_ground - p_top));
    let grid = Grid::whole(SHAPE, [SPACING; 2], Sides::all(Side::Periodic));
    let vertical = Vertical::classic(eta.collect(), p_top);
    let domain = Domain::plane(grid, vertical, frames[0].mu(), frames[0].time);

    // The species of the mechanism are tracers, after the tracers of the user.
    let (mechanism, _) = mechanism::parse("radm2", MECHANISM).mechanism()?;
    let kinetics = Kinetics::new(&mechanism)?;
    let tracers = PassiveTracers::parse(&usual_set(), Path::new("tracers"), TRACERS)?;
    let background = Background::parse(Path::new("background"), BACKGROUND)?;
    let carried =
        PassiveTracers::with_species(&tracers, &mechanism, &background, &|_| false, &|_| false)?;
    let complete = |frame: Frame| {
        let heights = frame.heights();
        let place = CellPositions { grid: &domain.grid, heights: &heights };
        Frame { state: carried.recipe.complete(frame.state, &place, &[]), ..frame }
    };
    let frames: Vec<Frame> = frames.into_iter().map(complete).collect();

    let length = Length::Steps(STEPS);
    let start = frames[0].clone();
    let mut input = RunInput::<f64>::new(domain.clone(), start)?;
    input = input.follow(frames, length.seconds(Some(DT), None))?;
    let (light, _) = Light::clear_sky(&mechanism).map_err(|unknown| unknown.join(", "))?;
    let field = |name: Option<&'static str>| name.and_then(|name| input.tracers.position(name));
    let chemistry = Arc::new(Coupled {
        fields: carried.names.iter().copied().map(field).collect(),
        mechanism,
        kinetics,
        light,
        place: [Degrees::One(45.0), Degrees::One(0.0)],
        date: domain.start,
        interval: 0.0,
        keeps_steps: true,
    });
    input.chemistry = Some(Arc::clone(&chemistry));
    let plan = Plan::new(length, Some(DT), None, input.max_dt)?;
    let state = input.take_state();
    let (grid, coordinate) = (&domain.grid, &domain.coordinate);
    let (limiter, scheme) = (Limiter::PositiveDefinite, registry::usual());
    let cpu = Cpu::new(grid, coordinate, limiter, &*scheme, &input.forcing, state);
    let mut cpu = cpu.with_chemistry(Some(&chemistry));
    let mut last = None;
    let mut sink = |_: usize, snapshot: Snapshot<f64>| {
        last = Some(snapshot);
        true
    };
    let (stop, times) = (AtomicBool::new(false), Frames::default());
    let outcome = model::run(&mut input, &plan, times, &mut cpu, &stop, &mut sink, &mut |_| ())?;

    let last = last.ok_or("no frame of output")?;
    let [smoke, ozone] = ["smoke", "o3"].map(|name| {
        let found = outcome.tracers.iter().find(|tracer| tracer.name == name);
        found.unwrap_or_else(|| panic!("{name} is not carried"))
    });
    println!("after {} s: {:?}\n{smoke:?}\n{ozone:?}", last.seconds, outcome.water);
    assert_eq!((outcome.steps, last.seconds), (STEPS, STEPS as f64 * DT));
    assert!(last.state.fields().iter().flatten().all(|x| x.is_finite()));
    assert!(outcome.water.closure_rel.abs() < 1e-9 && outcome.water.fallen > 0.0);
    assert!((smoke.end / smoke.start - 1.0).abs() < 1e-9 && smoke.start > 0.0);
    assert!(ozone.closure_rel.abs() < 1e-9 && ozone.reacted.abs() > 1e-9 * ozone.start);
    Ok(())
}
