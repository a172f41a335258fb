//! The Kessler scheme on the GPU: by the limits that hold for the CPU version, and as on the CPU.

mod budget;
mod same_bits;

use std::sync::LazyLock;

use ndarray::{Array, Dimension, s};

use nwp_mini::device::{Element, Gpu};
use nwp_mini::grid::Shape;
use nwp_mini::physics::device::{ColumnLayout, DeviceArrays, DevicePhysics, Launcher};
use nwp_mini::physics::kessler::params::KesslerFactors;
use nwp_mini::physics::kessler::{Kessler, Vectorised};

use crate::support::kessler::case::{CASES, Columns, Engine, OnCpu, Reference, State};
use crate::support::kessler::judge::KesslerLimits;
use crate::{IT_IS_FAST_MATH, gpu, real_gpu, sized};

/// All cases, read once; on the emulated device, which has the bits of the CPU version (`same_bits`), single calls.
static REFERENCE: LazyLock<Reference> =
    LazyLock::new(|| Reference::read(&CASES, |_, calls| sized(true, calls == 1)));

/// Guard elements after an array, which no kernel may change.
const GUARD: usize = 1000;

/// The kernel as something that runs the scheme.
struct GpuBackend<R> {
    gpu: Gpu,
    scheme: Kessler<R>,
    /// Columns that the scheme works on; by default all.
    places: Option<ColumnLayout>,
}

impl<R: Vectorised + Element> GpuBackend<R> {
    fn new(gpu: &Gpu, scheme: Kessler<R>) -> Self {
        Self { gpu: gpu.clone(), scheme, places: None }
    }
}

impl<R: Vectorised + Element> Engine<R> for GpuBackend<R> {
    fn call(&self, dt: R, state: &mut State<R>) {
        let (nz, ny, nx) = state.tracers[0].dim();
        let places = self.places.unwrap_or_else(|| ColumnLayout::all(Shape { nx, ny, nz }));
        let base = state.theta_base;
        let launcher = self.scheme.launcher(&self.gpu, nz, places, base, None).unwrap();
        let tracers = self.gpu.upload(&guarded(&state.tracers)).unwrap();
        let air = self.gpu.upload(&guarded(&state.air)).unwrap();
        let surface = self.gpu.upload(&guarded(&state.surface)).unwrap();
        let memory = DeviceArrays { tracers: &tracers, air: &air, surface: &surface };
        launcher.call(&memory, dt.f64()).unwrap();
        assign(&mut state.tracers, &tracers.to_vec().unwrap());
        assign(&mut state.surface, &surface.to_vec().unwrap());
    }
}

/// Fields in sequence.
fn values<R: Vectorised, D: Dimension>(fields: &[Array<R, D>]) -> Vec<R> {
    fields.iter().flat_map(|field| field.iter().copied()).collect()
}

/// The same, followed by NaN.
fn guarded<R: Vectorised, D: Dimension>(fields: &[Array<R, D>]) -> Vec<R> {
    [values(fields), vec![R::nan(); GUARD]].concat()
}

fn assign<R: Vectorised, D: Dimension>(fields: &mut [Array<R, D>], found: &[R]) {
    let (found, guard) = found.split_at(found.len() - GUARD);
    assert!(guard.iter().all(|x| x.is_nan()), "something is written behind the fields");
    take(fields, found);
}

/// Takes fields from their values in sequence.
fn take<R: Vectorised, D: Dimension>(fields: &mut [Array<R, D>], found: &[R]) {
    let size = fields[0].len();
    for (field, found) in fields.iter_mut().zip(found.chunks(size)) {
        field.iter_mut().zip(found).for_each(|(x, &found)| *x = found);
    }
}

fn check<R: Vectorised + Element>(fast_math: bool) {
    let Some(gpu) = gpu(fast_math) else { return };
    REFERENCE.judge(&GpuBackend::<R>::new(&gpu, Kessler::default()), &KesslerLimits).finish();
}

#[test]
fn single_precision_with_fast_math() {
    if real_gpu(true, IT_IS_FAST_MATH).is_some() {
        check::<f32>(true);
    }
}

#[test]
fn single_precision() {
    check::<f32>(false);
}

#[test]
fn double_precision() {
    check::<f64>(true);
}

/// The limits are narrow enough for the kernel too.
#[test]
fn one_per_cent_of_a_process_shows() {
    let has_bits = "there the kernel has the bits of the CPU version with any factors";
    let Some(gpu) = real_gpu(true, has_bits) else { return };
    let wrong = KesslerFactors::<f32>::NAMES.iter().map(|&name| {
        let mut scheme = Kessler::<f32>::default();
        *scheme.factors.of(name).expect("a process") = 1.01;
        (name, GpuBackend::new(&gpu, scheme))
    });
    REFERENCE.expect_noticed(wrong, &KesslerLimits);
}

/// Columns of a part of a grid have the results of the whole grid, and all others are unchanged.
#[test]
fn only_the_columns_of_a_part_are_changed() {
    let Some(gpu) = gpu(true) else { return };
    let columns = Columns::of("storm");
    let before = State::<f32>::of(&columns, 13, 300.0);
    let (_, ny, nx) = before.tracers[0].dim();
    let (rows, columns) = (2..ny - 1, 3..nx - 4);
    let (width, rows_of) = (columns.len(), rows.len());
    let places =
        ColumnLayout { width, rows: rows_of, first: 2 * nx + 3, pitch: nx, level: nx * ny };
    let mut engine = GpuBackend::new(&gpu, Kessler::default());
    let (mut whole, mut part) = (before.clone(), before.clone());
    engine.call(60.0, &mut whole);
    engine.places = Some(places);
    engine.call(60.0, &mut part);
    let mut expected = before;
    for (field, whole) in expected.tracers.iter_mut().zip(&whole.tracers) {
        let inside = s![.., rows.clone(), columns.clone()];
        field.slice_mut(inside).assign(&whole.slice(inside));
    }
    for (plane, whole) in expected.surface.iter_mut().zip(&whole.surface) {
        let inside = s![rows.clone(), columns.clone()];
        plane.slice_mut(inside).assign(&whole.slice(inside));
    }
    assert!(expected.tracers != whole.tracers, "the part is the whole");
    assert_eq!(part.tracers, expected.tracers);
    assert_eq!(part.surface, expected.surface);
}

/// Without rain, repeated calls create none, whatever reciprocal a device uses.
#[test]
fn no_rain_comes_of_nothing() {
    let Some(gpu) = gpu(true) else { return };
    let mut columns = Columns::of("warm");
    columns.field_mut("qr").fill(0.0);
    // Below the threshold of autoconversion.
    columns.field_mut("qc").mapv_inplace(|qc| qc.min(5.0e-4));
    columns.field_mut("q").mapv_inplace(|q| 0.5 * q);
    let columns = columns.unforced();
    let found = columns.run(&GpuBackend::<f32>::new(&gpu, Kessler::default()), 120.0, 30);
    let expected = columns.run(&OnCpu::<f32>::best(), 120.0, 30);
    assert!(expected.tracers[3].iter().all(|qr| *qr == 0.0), "there is rain on the CPU");
    assert!(found.tracers[3].iter().all(|qr| *qr == 0.0), "there is rain");
}
