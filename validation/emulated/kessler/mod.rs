//! The kernel of the Kessler scheme, run on the host thread by thread: it gives the bits of the CPU version with one
//! column at a time.

mod budget;

use ndarray::{Array2, Array3, ArrayView1, Axis, s};

use nwp_mini::cuda_abi::{Bytes, DevicePointer, ReadPointer};
use nwp_mini::dry_mass::gpu::LayeredPointers;
use nwp_mini::physics::device::ColumnLayout;
use nwp_mini::physics::kessler::gpu::{KesslerArgs, blocks, source};
use nwp_mini::physics::kessler::params::KesslerFactors;
use nwp_mini::physics::kessler::{Kessler, Vectorised};
use nwp_mini::real::Real;

use nwp_mini_support::emulator::{Element, Program, Records};
use nwp_mini_support::kessler::case::{
    Columns, Engine, INPUTS, OUTPUTS, OnCpu, State, TRACERS, group,
};
use nwp_mini_support::reference;
use nwp_mini_support::wsm5::difference::expect_same_bits;

/// No fused products, as in Rust, and every access to an array and every conversion looked at.
const OPTIONS: [&str; 4] = [
    "-ffp-contract=off",
    "-fsanitize=undefined,float-cast-overflow",
    "-fno-sanitize-recover=all",
    "-ftrivial-auto-var-init=pattern",
];

/// Number of the vapour among the fields of all states.
const WATER: usize = 3;

/// The kernel, compiled for the host.
struct OnHost<R> {
    program: Program,
    factors: KesslerFactors<R>,
}

impl<R: Vectorised + Element + Bytes> OnHost<R> {
    /// Each test has its own program, by name, since tests run concurrently.
    fn compile(test: &str, nz: usize) -> Self {
        let name = format!("kessler_{test}_{}_{nz}", R::NAME);
        let prelude = source(R::PRECISION, nz).prelude;
        let program = Program::compile(&name, "emulated/kessler/program.cpp", &prelude, &OPTIONS);
        Self { program, factors: KesslerFactors::default() }
    }

    /// One call on some columns of a state whose planes are whole.
    fn call_on(&self, dt: R, state: &mut State<R>, places: ColumnLayout, seed: u64) {
        let records = self.records(dt, state, places);
        let found = self.program.run(&records, seed);
        take_state(&found, state);
    }

    /// Input of the program for a call without a water budget.
    fn records(&self, dt: R, state: &State<R>, places: ColumnLayout) -> Records {
        let to = DevicePointer::default();
        let from = ReadPointer::default();
        let ColumnLayout { width, first, pitch, level, .. } = places;
        let args = KesslerArgs {
            marks: DevicePointer::default(),
            notes: DevicePointer::default(),
            theta: to,
            qv: to,
            qc: to,
            qr: to,
            rho: from,
            exner: from,
            dz: from,
            rain: to,
            rainncv: to,
            fallen: to,
            fall_residual: to,
            clipped: to,
            mass_mismatch: to,
            mass: LayeredPointers::default(),
            per_area: from,
            factors: self.factors,
            theta_base: state.theta_base,
            dt,
            filler: R::ZERO,
            columns: places.columns() as i32,
            width: width as i32,
            first: first as i32,
            pitch: pitch as i32,
            level: level as i32,
            step: 1,
            theta_number: 0,
            water_number: WATER as i32,
        };
        let mut bytes = Vec::new();
        args.write(&mut bytes);
        let mut records = Records::default();
        records.put_bytes("args", bytes);
        let [blocks, threads] = blocks(places.columns()).map(|count| count as i32);
        records.put("launch", &[blocks, threads, 0]);
        let values = |field: &Array3<R>| field.iter().copied().collect::<Vec<R>>();
        for (name, field) in INPUTS.iter().zip(state.tracers.iter().chain(&state.air)) {
            records.put(name, &values(field));
        }
        for (name, plane) in OUTPUTS[TRACERS..].iter().zip(&state.surface) {
            records.put(name, &plane.iter().copied().collect::<Vec<R>>());
        }
        records
    }
}

/// Takes the fields and the values at the ground from the results of a call.
fn take_state<R: Real + Element>(found: &Records, state: &mut State<R>) {
    for (name, field) in OUTPUTS.iter().zip(&mut state.tracers) {
        let shape = field.dim();
        field.assign(&taken(found, name).into_shape_with_order(shape).expect("all"));
    }
    for (name, plane) in OUTPUTS[TRACERS..].iter().zip(&mut state.surface) {
        let shape = plane.dim();
        plane.assign(&taken(found, name).into_shape_with_order(shape).expect("all"));
    }
}

fn taken<R: Element>(records: &Records, name: &str) -> ndarray::Array1<R> {
    ArrayView1::from(&records.take::<R>(name)).to_owned()
}

impl<R: Vectorised + Element + Bytes> Engine<R> for OnHost<R> {
    fn call(&self, dt: R, state: &mut State<R>) {
        let (nz, ny, nx) = state.tracers[0].dim();
        let places = ColumnLayout::all(nwp_mini::grid::Shape { nx, ny, nz });
        self.call_on(dt, state, places, 1);
    }
}

/// Columns of several cases, of which only the lowest levels are taken.
fn columns(nz: usize) -> Columns {
    let file = reference("kessler");
    let names: &[&str] = match nz {
        0..=27 => &["edge", "warm", "mixed", "cold", "storm"],
        28..=40 => &["warm_nk40"],
        _ => &["mixed_nk51"],
    };
    let cases = names.iter().map(|name| Columns::read(&group(&file, name)).unforced());
    let cases: Vec<Columns> = cases
        .map(|case| {
            let chosen: Vec<usize> = (0..case.dim().1).step_by(3).collect();
            case.select(&chosen)
        })
        .collect();
    let fields = (0..INPUTS.len()).map(|at| {
        let parts: Vec<_> = cases.iter().map(|case| case.fields[at].slice(s![..nz, ..])).collect();
        ndarray::concatenate(Axis(1), &parts).expect("as many levels")
    });
    Columns { fields: fields.collect::<Vec<Array2<f32>>>(), tendencies: None }
}

fn check<R: Vectorised + Element + Bytes>(nz: usize) {
    let kernel = OnHost::<R>::compile("bits", nz);
    let columns = columns(nz);
    for (dt, theta_base) in [(60.0, 300.0), (300.0, 0.0)] {
        let before = State::of(&columns, 2, theta_base);
        let (mut found, mut expected) = (before.clone(), before);
        kernel.call(R::of(dt), &mut found);
        OnCpu::alone().call(R::of(dt), &mut expected);
        let about = format!("{nz} levels, {dt} s, {}", R::NAME);
        expect_same_bits(&about, found.named(), expected.named());
    }
}

#[test]
fn a_thread_for_a_column_gives_the_bits_of_the_cpu() {
    for nz in [2, 3, 27, 40, 51] {
        check::<f32>(nz);
        check::<f64>(nz);
    }
}

/// The factors of the processes reach the kernel, each its own process.
#[test]
fn factors_are_those_of_the_cpu() {
    let mut kernel = OnHost::<f64>::compile("factors", 27);
    let columns = columns(27);
    for &name in KesslerFactors::<f64>::NAMES {
        let mut scheme = Kessler::<f64>::default();
        *scheme.factors.of(name).expect("a process") = 1.01;
        kernel.factors = scheme.factors;
        let before = State::of(&columns, 1, 0.0);
        let (mut found, mut expected, mut unchanged) = (before.clone(), before.clone(), before);
        kernel.call(60.0, &mut found);
        OnCpu { scheme, instructions: None }.call(60.0, &mut expected);
        OnCpu::alone().call(60.0, &mut unchanged);
        expect_same_bits(name, found.named(), expected.named());
        assert!(unchanged.named() != expected.named(), "{name} acts nowhere");
    }
}

/// Columns of a part of a grid with padded rows; all other elements are unchanged.
#[test]
fn only_the_columns_of_a_part_are_changed() {
    let kernel = OnHost::<f32>::compile("part", 27);
    let before = State::<f32>::of(&columns(27), 5, 0.0);
    let (_, ny, nx) = before.tracers[0].dim();
    let (rows, columns) = (1..ny - 1, 3..nx - 2);
    let places = ColumnLayout {
        width: columns.len(),
        rows: rows.len(),
        first: nx + 3,
        pitch: nx,
        level: nx * ny,
    };
    let (mut found, mut whole) = (before.clone(), before.clone());
    kernel.call_on(120.0, &mut found, places, 7);
    OnCpu::alone().call(120.0, &mut whole);
    let mut expected = before;
    for (field, whole) in expected.tracers.iter_mut().zip(&whole.tracers) {
        let part = s![.., rows.clone(), columns.clone()];
        field.slice_mut(part).assign(&whole.slice(part));
    }
    for (plane, whole) in expected.surface.iter_mut().zip(&whole.surface) {
        let part = s![rows.clone(), columns.clone()];
        plane.slice_mut(part).assign(&whole.slice(part));
    }
    expect_same_bits("a part", found.named(), expected.named());
}

/// Rain that needs more sub-steps than possible in any weather is NaN after the call, on the CPU and in the kernel, and
/// so are values that were NaN before; other columns are not affected.
#[test]
fn rain_beyond_all_measure_is_reported() {
    let kernel = OnHost::<f32>::compile("beyond", 27);
    let good = State::<f32>::of(&columns(27), 1, 0.0);
    let mut bad = good.clone();
    bad.tracers[3][[5, 0, 1]] = f32::INFINITY;
    bad.tracers[1][[7, 0, 2]] = f32::NAN;
    bad.tracers[2][[7, 0, 3]] = f32::NAN;
    bad.tracers[0][[7, 0, 4]] = f32::NAN;
    let (mut found, mut expected, mut side_by_side, mut whole) =
        (bad.clone(), bad.clone(), bad, good);
    kernel.call(60.0, &mut found);
    OnCpu::alone().call(60.0, &mut expected);
    OnCpu::best().call(60.0, &mut side_by_side);
    OnCpu::best().call(60.0, &mut whole);
    expect_same_bits("bad columns", found.named(), expected.named());
    for state in [&found, &side_by_side] {
        assert!(state.tracers[3][[5, 0, 1]].is_nan(), "infinite rain");
        assert!(state.tracers[1][[7, 0, 2]].is_nan(), "vapour");
        assert!(state.tracers[2][[7, 0, 3]].is_nan(), "cloud water");
        assert!(state.tracers[0][[7, 0, 4]].is_nan(), "potential temperature");
    }
    for (field, good) in side_by_side.tracers.iter().zip(&whole.tracers) {
        assert_eq!(field.slice(s![.., .., 5..]), good.slice(s![.., .., 5..]));
    }
}
