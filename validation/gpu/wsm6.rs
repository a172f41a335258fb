//! WSM6 on the device: whole calls compared with those of WRF, with the limits of the CPU version.

use ndarray::{Array, Array2, Array3, Axis, Dimension, s};

use nwp_mini::device::{Element, Gpu};
use nwp_mini::grid::Shape;
use nwp_mini::physics::device::{ColumnLayout, DeviceArrays, Launcher};
use nwp_mini::physics::scheme::PhysicsPrecision;
use nwp_mini::physics::wsm5::gpu::column_physics::MicrophysicsLauncher;
use nwp_mini::physics::wsm5::gpu::{Mapping, Tile};
use nwp_mini::physics::wsm6::gpu::CONTENTS;
use nwp_mini::physics::wsm6::params::RimedIce;
use nwp_mini::physics::wsm6::scheme::Scheme;
use nwp_mini::physics::wsm6::{Vectorised, Wsm6};

use crate::support::column_reference::Run;
use crate::support::wsm6::case::{CASES, Columns, HAIL_CASES, OnCpu, State, TRACERS, Wsm6Columns};
use crate::support::wsm6::judge::{Wsm6Limits, reference, smooth};
use crate::{IT_IS_FAST_MATH, gpu, real_gpu};

/// The kernels with a kind of rimed ice.
struct OnDevice {
    gpu: Gpu,
    kind: RimedIce,
    /// Columns for which tiles are chosen: wide ones for many.
    columns: usize,
}

/// Columns with narrow tiles, and with wide ones.
const FEW: usize = 1;
/// See [`FEW`].
const MANY: usize = 1 << 20;

/// A precision in which the kernels run.
trait Precision: Vectorised + PhysicsPrecision + Element {}

impl<R: Vectorised + PhysicsPrecision + Element> Precision for R {}

fn values<R: Copy, D: Dimension>(fields: &[Array<R, D>]) -> Vec<R> {
    fields.iter().flatten().copied().collect()
}

fn take<R: Copy, D: Dimension>(fields: &mut [Array<R, D>], found: &[R]) {
    let mut found = found.iter();
    for value in fields.iter_mut().flatten() {
        *value = *found.next().expect("as many values");
    }
    assert!(found.next().is_none(), "no more values");
}

impl OnDevice {
    fn new(gpu: &Gpu, kind: RimedIce, columns: usize) -> Self {
        Self { gpu: gpu.clone(), kind, columns }
    }

    fn launcher<R: Precision>(&self, shape: Shape) -> Box<dyn Launcher<R>> {
        let (scheme, places) = (Wsm6::from(self.kind), ColumnLayout::all(shape));
        if self.columns == FEW {
            // As a command has it.
            return R::of_scheme(&scheme)
                .launcher(&self.gpu, shape.nz, places, None)
                .expect("kernels");
        }
        let tile = Tile::choose(self.columns, R::PRECISION, CONTENTS, shape.nz);
        assert!(!tile.is_narrow(), "{tile:?}");
        let (scheme, at) = (scheme.scheme(), (shape.nz, places));
        let tile = Some(Mapping::Tile(tile));
        let made = MicrophysicsLauncher::new(&self.gpu, scheme, at, R::ZERO, tile);
        Box::new(made.expect("kernels"))
    }

    /// The columns after `calls` calls, and what is diagnosed of them.
    fn run<R: Precision>(
        &self,
        columns: &Columns,
        dt: f64,
        calls: usize,
    ) -> (State<R>, Vec<Array3<R>>) {
        let mut state = State::of(columns);
        let (nz, _, nx) = state.tracers[0].dim();
        let shape = Shape { nx, ny: 1, nz };
        let launcher = self.launcher::<R>(shape);
        let gpu = &self.gpu;
        let air = gpu.upload(&values(&state.air)).unwrap();
        let surface = gpu.upload(&values(&state.surface)).unwrap();
        let tracers = gpu.zeros::<R>(TRACERS * shape.cells()).unwrap();
        let memory = DeviceArrays { tracers: &tracers, air: &air, surface: &surface };
        let call = |dt: R, state: &mut State<R>| {
            tracers.upload_to(0, &values(&state.tracers)).unwrap();
            launcher.call(&memory, dt.f64()).unwrap();
            take(&mut state.tracers, &tracers.to_vec().unwrap());
        };
        columns.force(dt, calls, &mut state, |state| &mut state.tracers, call);
        take(&mut state.surface, &surface.to_vec().unwrap());
        assert!(air.to_vec().unwrap() == values(&state.air), "a call changes the air");
        let mut diagnosed = vec![Array3::zeros((nz, 1, nx)); 4];
        let out = gpu.zeros::<R>(4 * shape.cells()).unwrap();
        launcher.diagnose(&memory, &out).unwrap();
        take(&mut diagnosed, &out.to_vec().unwrap());
        assert!(tracers.to_vec().unwrap() == values(&state.tracers), "diagnosis changes a cell");
        (state, diagnosed)
    }
}

impl<R: Precision> Run<Wsm6Columns, R> for OnDevice {
    fn outputs(&self, columns: &Columns, dt: f64, calls: usize) -> Vec<Array2<R>> {
        let (state, diagnosed) = self.run::<R>(columns, dt, calls);
        let State { tracers, surface, .. } = state;
        let levels = tracers.into_iter().chain(diagnosed);
        levels.map(|field| field.remove_axis(Axis(1))).chain(surface).collect()
    }
}

/// The cases of each kind of rimed ice.
const KINDS: [(RimedIce, &[&str]); 2] =
    [(RimedIce::Graupel, &CASES), (RimedIce::Hail, &HAIL_CASES)];

fn check<R: Precision>(gpu: &Gpu) {
    for (kind, cases) in KINDS {
        println!("{kind:?}, {}, fast math {}", R::NAME, gpu.compiler().fast_math);
        reference(cases).judge::<R>(&OnDevice::new(gpu, kind, FEW), &Wsm6Limits).finish();
    }
}

#[test]
fn single_precision_with_fast_math() {
    let Some(gpu) = real_gpu(true, IT_IS_FAST_MATH) else { return };
    check::<f32>(&gpu);
}

#[test]
fn single_precision() {
    let Some(gpu) = gpu(false) else { return };
    check::<f32>(&gpu);
}

#[test]
fn double_precision() {
    let Some(gpu) = gpu(true) else { return };
    check::<f64>(&gpu);
}

/// Wide tiles, in which half a warp has a species of a column, have the same limits.
#[test]
fn wide_tiles_are_within_the_limits() {
    let Some(gpu) = gpu(true) else { return };
    let engine = OnDevice::new(&gpu, RimedIce::Graupel, MANY);
    let cases = smooth(&["deep", "melt"]);
    cases.judge::<f32>(&engine, &Wsm6Limits).finish();
}

/// The bits of a column depend neither on its place nor on its neighbours, with graupel or without.
#[test]
fn neighbours_change_no_bit() {
    let Some(gpu) = gpu(true) else { return };
    let all = Columns::of("deep").unforced();
    let picked: Vec<usize> = (0..all.dim().1).rev().step_by(5).collect();
    for columns in [FEW, MANY] {
        let engine = OnDevice::new(&gpu, RimedIce::Graupel, columns);
        let (whole, _) = engine.run::<f32>(&all, 300.0, 1);
        let (part, _) = engine.run::<f32>(&all.select(&picked), 300.0, 1);
        for (part, whole) in part.tracers.iter().zip(&whole.tracers) {
            for (at, &column) in picked.iter().enumerate() {
                let of = |field: &Array3<f32>, i: usize| field.slice(s![.., 0, i]).to_vec();
                assert_eq!(of(part, at), of(whole, column), "column {column}");
            }
        }
    }
}

/// A kernel for a region, which grids of a thousand columns have, has the bits of the others.
#[test]
fn kernels_for_regions_have_the_same_bits() {
    const COPIES: usize = 22;
    let Some(gpu) = gpu(true) else { return };
    let columns = Columns::of("deep").unforced();
    let count = columns.dim().1;
    let repeated: Vec<usize> = (0..COPIES).flat_map(|_| 0..count).collect();
    let engine = OnDevice::new(&gpu, RimedIce::Graupel, FEW);
    let (few, _) = engine.run::<f32>(&columns, 60.0, 1);
    let (many, _) = engine.run::<f32>(&columns.select(&repeated), 60.0, 1);
    for (few, many) in few.tracers.iter().zip(&many.tracers) {
        for copy in many.axis_chunks_iter(Axis(2), count) {
            assert_eq!(copy, few.view(), "a copy of the columns");
        }
    }
}

/// In double precision without fast-math the kernels are the CPU version but for the order of sums.
#[test]
fn calls_are_those_of_the_cpu() {
    const LIMIT: f64 = 1e-10;
    let Some(gpu) = gpu(false) else { return };
    for (kind, cases) in KINDS {
        for case in cases.iter().filter(|case| **case != "edge") {
            let columns = Columns::of(case).unforced();
            let (found, _) = OnDevice::new(&gpu, kind, FEW).run::<f64>(&columns, 60.0, 1);
            let alone = OnCpu::<f64> { scheme: Scheme::from(kind), instructions: None };
            let expected = alone.run(&columns, 60.0, 1);
            for (n, (a, b)) in found.tracers.iter().zip(&expected.tracers).enumerate() {
                let scale = b.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                let off = a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
                assert!(off <= LIMIT * scale, "{case}, tracer {n}: {off:e} of {scale:e}");
            }
        }
    }
}
