//! The microphysics inside another model on the GPU: arrays of the host and of the device, in the host's stream.

use ndarray::{Array2, Array3, Axis, s};

use nwp_mini::device::{Buffer, Element, Stream};
use nwp_mini::embedded::{DeviceBlock, Embeddable, Microphysics};
use nwp_mini::grid::Shape;
use nwp_mini::physics::device::{ColumnLayout, DeviceArrays};
use nwp_mini::physics::{Block, Field};
use nwp_mini::real::Real;

use crate::gpu;
use crate::support::wsm5::case::INPUTS;
use crate::support::wsm5::columns::columns;

const SHAPE: Shape = Shape { nx: 11, ny: 4, nz: 20 };
/// So many columns that kernels are compiled for them, if their fields lie in one array.
const LARGE: Shape = Shape { nx: 71, ny: 58, nz: 20 };
/// Cells around those of the block.
const HALO: usize = 3;
const DT: f64 = 60.0;
/// A number that no field has.
const OUTSIDE: f64 = -12345.0;

/// Fields of a scheme in the order of the library.
#[derive(Clone)]
struct Fields<R> {
    tracers: Vec<Array3<R>>,
    air: Vec<Array3<R>>,
    surface: Vec<Array2<R>>,
}

impl<R: Real> Fields<R> {
    fn new(microphysics: &Microphysics, shape: Shape) -> Self {
        let about = microphysics.about();
        let weather = columns(shape.nz, shape.columns());
        let field = |field: &Field| {
            // As much graupel as snow.
            let known = if field.name == "qg" { "qs" } else { field.name };
            let at = INPUTS.iter().position(|name| *name == known).expect(known);
            let values = weather.fields[at].iter().map(|x| R::of(f64::from(*x))).collect();
            Array3::from_shape_vec(shape.centre(), values).unwrap()
        };
        Self {
            tracers: about.tracers.iter().map(field).collect(),
            air: about.air.iter().map(field).collect(),
            surface: about.surface.iter().map(|_| Array2::zeros((shape.ny, shape.nx))).collect(),
        }
    }

    fn block(&mut self) -> Block<'_, R> {
        Block {
            theta_base: R::ZERO,
            tracers: self.tracers.iter_mut().map(|field| field.view_mut()).collect(),
            air: self.air.iter().map(|field| field.view()).collect(),
            surface: self.surface.iter_mut().map(|plane| plane.view_mut()).collect(),
            budget: None,
        }
    }

    fn bits(&self) -> Vec<u64> {
        let fields = self.tracers.iter().flatten().chain(self.surface.iter().flatten());
        fields.map(|x| x.f64().to_bits()).collect()
    }
}

/// The same by the kernels as `nwp-mini columns` calls them.
fn launched<R: Embeddable + Element>(
    microphysics: &Microphysics,
    mut fields: Fields<R>,
) -> Fields<R> {
    let gpu = microphysics.gpu().unwrap();
    let (nz, ny, nx) = fields.tracers[0].dim();
    let places = ColumnLayout::all(Shape { nx, ny, nz });
    let launcher = R::of_scheme(microphysics.scheme()).launcher(gpu, nz, places, None).unwrap();
    let flat = |fields: &[Array3<R>]| -> Vec<R> { fields.iter().flatten().copied().collect() };
    let tracers = gpu.upload(&flat(&fields.tracers)).unwrap();
    let air = gpu.upload(&flat(&fields.air)).unwrap();
    let planes: Vec<R> = fields.surface.iter().flatten().copied().collect();
    let surface = gpu.upload(&planes).unwrap();
    launcher.call(&DeviceArrays { tracers: &tracers, air: &air, surface: &surface }, DT).unwrap();
    let tracers = tracers.to_vec().unwrap();
    fields.tracers.iter_mut().flatten().zip(tracers).for_each(|(to, from)| *to = from);
    let surface = surface.to_vec().unwrap();
    fields.surface.iter_mut().flatten().zip(surface).for_each(|(to, from)| *to = from);
    fields
}

fn for_all(test: impl Fn(&Microphysics)) {
    if gpu(true).is_none() {
        return;
    }
    for scheme in ["wsm5", "kessler", "wsm6"] {
        let options = format!("physics={scheme},backend=gpu");
        test(&options.parse().expect("a device was found before"));
    }
}

#[test]
fn arrays_of_the_host_have_the_bits_of_columns() {
    for_all(|microphysics| {
        of_host::<f32>(microphysics);
        of_host::<f64>(microphysics);
    });
}

fn of_host<R: Embeddable + Element>(microphysics: &Microphysics) {
    let start = Fields::<R>::new(microphysics, SHAPE);
    let right = launched(microphysics, start.clone()).bits();
    let mut fields = start.clone();
    microphysics.step(DT, fields.block()).unwrap();
    assert!(fields.bits() == right, "{} (k, j, i)", R::NAME);
    // WRF's order of axes, (j, k, i) with i fastest, and levels fastest: the same memory for all calls of a shape.
    for axes in [[0, 1, 2], [1, 0, 2], [1, 2, 0]] {
        let mut fields = start.clone();
        for field in fields.tracers.iter_mut().chain(&mut fields.air) {
            let other = field.view().permuted_axes(axes).as_standard_layout().into_owned();
            let mut back = [0; 3];
            axes.iter().enumerate().for_each(|(place, axis)| back[*axis] = place);
            *field = other.permuted_axes(back);
        }
        microphysics.step(DT, fields.block()).unwrap();
        assert!(fields.bits() == right, "{} {axes:?}", R::NAME);
    }
}

#[test]
fn arrays_of_the_device_are_changed_in_place_and_in_the_stream() {
    for_all(|microphysics| {
        for shape in [SHAPE, LARGE] {
            in_place::<f32>(microphysics, shape);
            in_place::<f64>(microphysics, shape);
        }
    });
}

/// A field with halos, and one plane more above and below.
fn widened<R: Real>(field: &Array3<R>) -> Array3<R> {
    let (nz, ny, nx) = field.dim();
    let mut wide = Array3::from_elem((nz, ny + 2 * HALO, nx + 2 * HALO), R::of(OUTSIDE));
    wide.slice_mut(s![.., HALO..HALO + ny, HALO..HALO + nx]).assign(field);
    wide
}

fn in_place<R: Embeddable + Element>(microphysics: &Microphysics, shape: Shape) {
    let gpu = microphysics.gpu().unwrap();
    let start = Fields::<R>::new(microphysics, shape);
    let right = launched(microphysics, start.clone());
    let Shape { nx, ny, nz } = shape;
    let (pitch, rows) = (nx + 2 * HALO, ny + 2 * HALO);
    let (level, first) = (pitch * rows, HALO * pitch + HALO);
    let upload = |field: &Array3<R>| {
        let wide = widened(field);
        gpu.upload(wide.as_slice().expect("standard layout")).unwrap()
    };
    let plane = |plane: &Array2<R>| upload(&plane.clone().insert_axis(Axis(0)));
    let theirs: [Vec<Buffer<R>>; 3] = [
        start.tracers.iter().map(upload).collect(),
        start.air.iter().map(upload).collect(),
        start.surface.iter().map(plane).collect(),
    ];
    let of_plane = (ny - 1) * pitch + nx;
    let of_field = (nz - 1) * level + of_plane;
    let borrowed = |arrays: &[Buffer<R>], len: usize| -> Vec<Buffer<R>> {
        let at = |array: &Buffer<R>| array.pointer().offset(first).address();
        // The arrays live until the end of the test.
        #[allow(unsafe_code, reason = "the test is the host whose memory this is")]
        arrays.iter().map(|array| unsafe { gpu.borrow(at(array), len) }).collect()
    };
    let (tracers, air) = (borrowed(&theirs[0], of_field), borrowed(&theirs[1], of_field));
    let surface = borrowed(&theirs[2], of_plane);
    let block = DeviceBlock {
        dim: [nz, ny, nx],
        pitch,
        level,
        tracers: &tracers,
        air: &air,
        surface: &surface,
    };
    let own = Stream::new(gpu).unwrap();
    #[allow(unsafe_code, reason = "the stream lives until the end of the test")]
    let stream = unsafe { Stream::borrowed(gpu, own.handle()) };
    microphysics.step_on_device(DT, &block, &stream).unwrap();
    drop(stream);
    own.synchronize().unwrap();
    let mut found = start.clone();
    for (field, array) in found.tracers.iter_mut().zip(&theirs[0]) {
        let wide = Array3::from_shape_vec((nz, rows, pitch), array.to_vec().unwrap()).unwrap();
        let inside = wide.slice(s![.., HALO..HALO + ny, HALO..HALO + nx]);
        field.assign(&inside);
        assert!(wide == widened(field), "{}: a halo was touched", R::NAME);
    }
    for (plane, array) in found.surface.iter_mut().zip(&theirs[2]) {
        let wide = Array2::from_shape_vec((rows, pitch), array.to_vec().unwrap()).unwrap();
        plane.assign(&wide.slice(s![HALO..HALO + ny, HALO..HALO + nx]));
    }
    assert!(found.bits() == right.bits(), "{} in place, {shape}", R::NAME);
    // Rows that the kernels cannot take in place.
    let narrow = DeviceBlock { pitch: nx - 1, ..block };
    assert!(microphysics.step_on_device(DT, &narrow, &own).is_err());
    let cpu: Microphysics = "physics=wsm5".parse().unwrap();
    let refused = cpu.step_on_device(DT, &block, &own).unwrap_err().to_string();
    assert!(refused.contains("backend=gpu"), "{refused}");
}
