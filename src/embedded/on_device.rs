//! Calls on a device: with arrays of the host, which are copied there and back, and with arrays that are there.

use std::fmt::{self, Debug};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use ndarray::{ArrayView3, ArrayViewMut2, ArrayViewMut3};
use tracing::{Level, debug};

use super::{Embeddable, Microphysics, Place};
use crate::device::{self, Branch, Buffer, Element, Gpu, PinnedTransfer, Stream};
use crate::error::{Advice, Error, Result};
use crate::grid::Shape;
use crate::physics::device::{ColumnLayout, DeviceArrays, Launcher, SeparateArrays};
use crate::physics::scheme::Scheme;
use crate::physics::{Block, check_length};
use crate::real::Real;

/// Most shapes of blocks whose kernels and memory are kept: tiles of a patch have few.
const KEPT: usize = 16;

/// A device.
pub(super) struct OnDevice(Gpu);

impl Debug for OnDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the GPU {}", self.0.device().name)
    }
}

/// Kernels and memory for shapes of blocks; the one that was used last is the last.
pub(super) struct Prepared<R: Element> {
    of_host: Vec<(Shape, OfHost<R>)>,
    in_place: Vec<([usize; 5], Box<dyn Launcher<R>>)>,
}

impl<R: Element> Default for Prepared<R> {
    fn default() -> Self {
        Self { of_host: Vec::new(), in_place: Vec::new() }
    }
}

impl<R: Element> Debug for Prepared<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} shapes", self.of_host.len() + self.in_place.len())
    }
}

/// Kernels and memory for blocks of one shape of the host.
struct OfHost<R: Element> {
    launcher: Box<dyn Launcher<R>>,
    /// Tracers, air and planes on the device.
    there: [Buffer<R>; 3],
    /// The same in pinned memory of the host.
    here: [PinnedTransfer<R>; 3],
}

/// Columns in arrays on the device. Fields begin with the column i = j = k = 0.
#[derive(Clone, Copy, Debug)]
pub struct DeviceBlock<'a, R> {
    /// Numbers of levels, rows, and columns of a row.
    pub dim: [usize; 3],
    /// Elements from row to row, in fields and planes.
    pub pitch: usize,
    /// Elements from level to level.
    pub level: usize,
    /// Tracers in the order of the scheme; the first is the full potential temperature.
    pub tracers: &'a [Buffer<R>],
    /// Fields of the air.
    pub air: &'a [Buffer<R>],
    /// Planes at the ground.
    pub surface: &'a [Buffer<R>],
}

impl OnDevice {
    pub(super) fn open(options: &device::Options) -> Result<Self> {
        Gpu::open(options).map(Self)
    }

    /// One call on arrays of the host. Calls of several threads wait for each other.
    pub(super) fn step<R: Embeddable>(
        &self,
        scheme: &dyn Scheme,
        prepared: &Mutex<Prepared<R>>,
        dt: f64,
        block: Block<'_, R>,
    ) -> Result<()> {
        let (nz, ny, nx) = block.dim();
        let shape = Shape { nx, ny, nz };
        let mut prepared = prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let of_host =
            latest(&mut prepared.of_host, &shape, || OfHost::new(&self.0, scheme, shape))?;
        let Block { mut tracers, air, mut surface, .. } = block;
        let start = Instant::now();
        of_host.gather(&tracers, &air, &surface)?;
        let gathered = start.elapsed();
        for (here, there) in of_host.here.iter_mut().zip(&of_host.there) {
            here.send(there)?;
        }
        let sent = finished(&self.0, start)?;
        let [of_tracers, of_air, of_surface] = &of_host.there;
        let memory = DeviceArrays { tracers: of_tracers, air: of_air, surface: of_surface };
        of_host.launcher.call(&memory, dt)?;
        let called = finished(&self.0, start)?;
        let [here_tracers, _, here_surface] = &mut of_host.here;
        here_tracers.fetch(of_tracers)?;
        here_surface.fetch(of_surface)?;
        let fetched = finished(&self.0, start)?;
        of_host.scatter(&mut tracers, &mut surface)?;
        if let (Some(sent), Some(called), Some(fetched)) = (sent, called, fetched) {
            let ms = |from: f64, to: f64| 1e3 * (to - from);
            let (gathered, end) = (gathered.as_secs_f64(), start.elapsed().as_secs_f64());
            debug!(
                "{} on {shape}: gather {:.3} ms, to the device {:.3} ms, kernel {:.3} ms, back {:.3} ms, scatter \
                 {:.3} ms",
                scheme.about().title,
                1e3 * gathered,
                ms(gathered, sent),
                ms(sent, called),
                ms(called, fetched),
                ms(fetched, end)
            );
        }
        Ok(())
    }
}

impl Microphysics {
    /// Queues a call on arrays of the device in a stream: `dt` seconds.
    ///
    /// # Errors
    ///
    /// As [`Microphysics::step`], and without a device, and for arrays that the kernels cannot take in place.
    pub fn step_on_device<R: Embeddable>(
        &self,
        dt: f64,
        block: &DeviceBlock<'_, R>,
        stream: &Stream,
    ) -> Result<()> {
        check_length(R::of(dt))?;
        let gpu = self.gpu()?;
        let about = self.about();
        let DeviceBlock { dim: [nz, rows, width], pitch, level, tracers, air, surface } = *block;
        for (kind, fields, found) in [
            ("tracers", about.tracers, tracers.len()),
            ("fields of the air", about.air, air.len()),
            ("planes at the ground", about.surface, surface.len()),
        ] {
            super::fields::count(about, kind, fields, found)?;
        }
        if width * rows == 0 {
            return Ok(());
        }
        let levels = &about.device_levels;
        if !levels.contains(&nz) {
            let ([least, most], title) = ([levels.start(), levels.end()], about.title);
            let message = format!("{nz} levels; {title} takes {least} to {most} on the device");
            return Err(Error::Gpu(message).advise(Advice::UseCpu));
        }
        if width > pitch || !level.is_multiple_of(pitch) || rows > level / pitch {
            return Err(Error::Usage(format!(
                "{rows} rows of {width} columns, {pitch} elements from row to row and {level} from level to \
                 level: a level is a whole number of rows on the device, and holds all of them"
            )));
        }
        let places = ColumnLayout { width, rows, first: 0, pitch, level };
        let prepared = &R::columns(self).on_device;
        let mut prepared = prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let key = [width, rows, nz, pitch, level];
        let launcher = latest(&mut prepared.in_place, &key, || {
            R::of_scheme(self.scheme()).launcher(gpu, nz, places, None)
        })?;
        let fields = SeparateArrays { tracers, air, surface };
        launcher.call_in_place(Branch::of(stream), &fields, dt)
    }

    /// The device of the calls.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if they are made on the CPU.
    pub fn gpu(&self) -> Result<&Gpu> {
        match &self.place {
            Place::Device(OnDevice(gpu)) => Ok(gpu),
            place => Err(Error::Usage(format!(
                "arrays on a device, but calls are made in {place:?}; use backend=gpu"
            ))),
        }
    }
}

/// The entry of a key, made if there is none, in the last place.
fn latest<'a, K: PartialEq + Clone, T>(
    all: &'a mut Vec<(K, T)>,
    key: &K,
    make: impl FnOnce() -> Result<T>,
) -> Result<&'a mut T> {
    let entry = match all.iter().position(|(known, _)| known == key) {
        Some(at) => all.remove(at),
        None => (key.clone(), make()?),
    };
    if all.len() >= KEPT {
        all.remove(0);
    }
    all.push(entry);
    Ok(&mut all.last_mut().expect("it was added").1)
}

impl<R: Embeddable> OfHost<R> {
    fn new(gpu: &Gpu, scheme: &dyn Scheme, shape: Shape) -> Result<Self> {
        let about = scheme.about();
        let launcher =
            R::of_scheme(scheme).launcher(gpu, shape.nz, ColumnLayout::all(shape), None)?;
        let lengths = [
            about.tracers.len() * shape.cells(),
            about.air.len() * shape.cells(),
            about.surface.len() * shape.columns(),
        ];
        let [a, b, c] = lengths;
        let there = [gpu.zeros(a)?, gpu.zeros(b)?, gpu.zeros(c)?];
        let here = [
            PinnedTransfer::new(gpu, a)?,
            PinnedTransfer::new(gpu, b)?,
            PinnedTransfer::new(gpu, c)?,
        ];
        Ok(Self { launcher, there, here })
    }

    /// Copies the fields of the host to pinned memory, field by field.
    fn gather(
        &mut self,
        tracers: &[ArrayViewMut3<'_, R>],
        air: &[ArrayView3<'_, R>],
        surface: &[ArrayViewMut2<'_, R>],
    ) -> Result<()> {
        let [to_tracers, to_air, to_surface] = &mut self.here;
        for (field, part) in tracers.iter().zip(parts(to_tracers.values()?, tracers.len())) {
            of_field(part, field.dim()).assign(field);
        }
        for (field, part) in air.iter().zip(parts(to_air.values()?, air.len())) {
            of_field(part, field.dim()).assign(field);
        }
        for (plane, part) in surface.iter().zip(parts(to_surface.values()?, surface.len())) {
            of_plane(part, plane.dim()).assign(plane);
        }
        Ok(())
    }

    /// Copies what a call changes back to the host.
    fn scatter(
        &mut self,
        tracers: &mut [ArrayViewMut3<'_, R>],
        surface: &mut [ArrayViewMut2<'_, R>],
    ) -> Result<()> {
        let [from_tracers, _, from_surface] = &mut self.here;
        let count = tracers.len();
        for (field, part) in tracers.iter_mut().zip(parts(from_tracers.values()?, count)) {
            let dim = field.dim();
            field.assign(&of_field(part, dim));
        }
        let count = surface.len();
        for (plane, part) in surface.iter_mut().zip(parts(from_surface.values()?, count)) {
            let dim = plane.dim();
            plane.assign(&of_plane(part, dim));
        }
        Ok(())
    }
}

/// If somebody wants to know the times, waits for the device, and returns the time since `start`, s.
fn finished(gpu: &Gpu, start: Instant) -> Result<Option<f64>> {
    if !tracing::enabled!(Level::DEBUG) {
        return Ok(None);
    }
    gpu.synchronize()?;
    Ok(Some(start.elapsed().as_secs_f64()))
}

/// Equal parts of an array.
fn parts<R>(values: &mut [R], count: usize) -> impl Iterator<Item = &mut [R]> {
    let length = values.len() / count.max(1);
    values.chunks_exact_mut(length.max(1))
}

fn of_field<R: Real>(part: &mut [R], dim: (usize, usize, usize)) -> ArrayViewMut3<'_, R> {
    ArrayViewMut3::from_shape(dim, part).expect("a part for every field")
}

fn of_plane<R: Real>(part: &mut [R], dim: (usize, usize)) -> ArrayViewMut2<'_, R> {
    ArrayViewMut2::from_shape(dim, part).expect("a part for every plane")
}
