//! Column physics: a scheme of the registry, and its calls on arrays.

use ndarray::{Array2, ArrayView3, ArrayViewMut2};
use nwp_mini::device::{Buffer, Element, Stream};
use nwp_mini::embedded::{DeviceBlock, Embeddable, Microphysics};
use nwp_mini::physics::Block;
use nwp_mini::physics::Field;
use nwp_mini::physics::scheme::About;
use nwp_mini_host::guarded;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::device;
use crate::errors::{Failure, Result};
use crate::memory::{Argument, Kind, Memory, Order, Place, check_arguments};
use crate::names;
use crate::process::OfProcess;

/// A scheme with its options. The classes of the package stand on it, and check nothing themselves.
#[pyclass(module = "nwp_mini._core", frozen)]
pub(crate) struct Physics {
    microphysics: OfProcess<Microphysics>,
    about: &'static About,
}

#[pymethods]
impl Physics {
    /// A scheme from a text of options, as "physics=wsm5,n0r=8e6"; `is_bound` where they ask for threads or a GPU.
    #[new]
    fn new(py: Python<'_>, options: &str, is_bound: bool) -> Result<Self> {
        let make = || guarded(|| options.parse::<Microphysics>());
        let microphysics = py.detach(make).map_err(Failure::Fault)??;
        let about = microphysics.about();
        Ok(Self { microphysics: OfProcess::new(microphysics, about.title, is_bound), about })
    }

    /// Place of the calls, in words.
    #[getter]
    fn place(&self) -> Result<String> {
        Ok(self.microphysics.get()?.place())
    }

    /// The value of a parameter, or of a physical constant by its name in WRF.
    fn parameter(&self, name: &str) -> Result<f64> {
        Ok(self.microphysics.get()?.parameter(name)?)
    }

    /// One call of `dt` seconds: tracers and fields of the air in the order of the scheme, planes by name.
    #[pyo3(signature = (fields, dt, order, out, stream))]
    fn step(
        &self,
        py: Python<'_>,
        fields: &Bound<'_, PyTuple>,
        dt: f64,
        order: &str,
        out: Option<&Bound<'_, PyDict>>,
        stream: Option<&Bound<'_, PyAny>>,
    ) -> Result<()> {
        let microphysics = self.microphysics.get()?;
        let order = Order::parse(order)?;
        let objects: Vec<Bound<'_, PyAny>> = fields.iter().collect();
        let planes = self.planes(out)?;
        let number = stream.map(number_of_stream).transpose()?;
        let mut arguments = self.fields(&objects, number)?;
        for (field, plane) in self.about.surface.iter().zip(&planes) {
            if let Some(object) = plane {
                let memory = Memory::of(field.name, object, number)?;
                let name = field.name;
                arguments.push(Argument { name, object, memory, is_changed: true, is_plane: true });
            }
        }
        check_arguments(&arguments, &order)?;
        let fields: Vec<Memory> =
            arguments.iter().filter(|one| !one.is_plane).map(|one| one.memory).collect();
        let mut given = arguments.iter().filter(|one| one.is_plane).map(|one| one.memory);
        let planes: Vec<Option<Memory>> =
            planes.iter().map(|plane| plane.as_ref().and_then(|_| given.next())).collect();
        let call = Call { microphysics, about: self.about, order, fields, planes, dt };
        if call.fields[0].place == Place::Device {
            let number = match number {
                None => device::stream_of(&objects[0])?,
                given => given,
            };
            return match call.fields[0].kind {
                Kind::F4 => call.on_device::<f32>(py, number, stream.is_none()),
                Kind::F8 => call.on_device::<f64>(py, number, stream.is_none()),
            };
        }
        match call.fields[0].kind {
            Kind::F4 => call.on_host::<f32>(py),
            Kind::F8 => call.on_host::<f64>(py),
        }
    }

    /// Sets the arrays of `out`, by name, to the fields that the scheme diagnoses.
    fn diagnose(
        &self,
        py: Python<'_>,
        fields: &Bound<'_, PyTuple>,
        order: &str,
        out: &Bound<'_, PyDict>,
    ) -> Result<()> {
        let microphysics = self.microphysics.get()?;
        let order = Order::parse(order)?;
        let objects: Vec<Bound<'_, PyAny>> = fields.iter().collect();
        let mut arguments = self.fields(&objects, None)?;
        for argument in &mut arguments {
            argument.is_changed = false;
        }
        let wanted = by_name(out, self.about.diagnosed, "diagnosed")?;
        let mut found: Vec<Option<Memory>> = Vec::new();
        for (field, object) in self.about.diagnosed.iter().zip(&wanted) {
            let memory =
                object.as_ref().map(|object| Memory::of(field.name, object, None)).transpose()?;
            found.push(memory);
            if let (Some(object), Some(memory)) = (object, memory) {
                let name = field.name;
                arguments.push(Argument {
                    name,
                    object,
                    memory,
                    is_changed: true,
                    is_plane: false,
                });
            }
        }
        check_arguments(&arguments, &order)?;
        let count = self.about.tracers.len() + self.about.air.len();
        let fields: Vec<Memory> = arguments[..count].iter().map(|one| one.memory).collect();
        if fields[0].place == Place::Device {
            let text =
                "the fields are on a GPU; diagnose takes arrays of NumPy: copy them to the host";
            return Err(Failure::Type(text.to_owned()));
        }
        let call = Call { microphysics, about: self.about, order, fields, planes: found, dt: 0.0 };
        match call.fields[0].kind {
            Kind::F4 => call.diagnose::<f32>(py),
            Kind::F8 => call.diagnose::<f64>(py),
        }
    }
}

impl Physics {
    /// The fields of a call, in the order of the scheme.
    fn fields<'a, 'py>(
        &self,
        objects: &'a [Bound<'py, PyAny>],
        stream: Option<u64>,
    ) -> Result<Vec<Argument<'a, 'py>>> {
        let About { tracers, air, title, .. } = self.about;
        let all = || tracers.iter().chain(*air);
        if objects.len() != tracers.len() + air.len() {
            let names: Vec<&str> = all().map(names::of).collect();
            let (found, names) = (objects.len(), names.join(" "));
            return Err(Failure::Type(format!("{found} fields; {title} takes {names}")));
        }
        let argument =
            |(at, (field, object)): (usize, (&Field, &'a Bound<'py, PyAny>))| -> Result<_> {
                let name = names::of(field);
                let memory = Memory::of(name, object, stream)?;
                let is_changed = at < tracers.len();
                Ok(Argument { name, object, memory, is_changed, is_plane: false })
            };
        // Room for the planes, too.
        let mut arguments = Vec::with_capacity(objects.len() + self.about.surface.len());
        for found in all().zip(objects).enumerate().map(argument) {
            arguments.push(found?);
        }
        Ok(arguments)
    }

    /// The planes at the ground that are wanted, in the order of the scheme.
    fn planes<'py>(
        &self,
        out: Option<&Bound<'py, PyDict>>,
    ) -> Result<Vec<Option<Bound<'py, PyAny>>>> {
        let Some(out) = out else { return Ok(vec![None; self.about.surface.len()]) };
        by_name(out, self.about.surface, "plane at the ground")
    }
}

/// The entries of a dictionary in the order of some fields.
fn by_name<'py>(
    out: &Bound<'py, PyDict>,
    fields: &[Field],
    kind: &str,
) -> Result<Vec<Option<Bound<'py, PyAny>>>> {
    let mut found = Vec::with_capacity(fields.len());
    let mut count = 0;
    for field in fields {
        let entry = out.get_item(field.name)?.filter(|entry| !entry.is_none());
        count += usize::from(out.contains(field.name)?);
        found.push(entry);
    }
    if count < out.len() {
        for key in out.keys() {
            let key: String = key.extract()?;
            if !fields.iter().any(|field| field.name == key) {
                let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
                return Err(Failure::Value(format!(
                    "out has {key:?}, no {kind} of the scheme; these are {}",
                    names.join(", ")
                )));
            }
        }
    }
    Ok(found)
}

/// The number of a stream: an integer, or an object of CuPy or PyTorch that has one.
fn number_of_stream(stream: &Bound<'_, PyAny>) -> Result<u64> {
    for name in ["ptr", "cuda_stream"] {
        if stream.hasattr(name)? {
            return Ok(stream.getattr(name)?.extract()?);
        }
    }
    stream.extract().map_err(|_| {
        let text =
            "stream is neither a number nor a stream of CuPy (.ptr) or PyTorch (.cuda_stream)";
        Failure::Type(text.to_owned())
    })
}

/// A call whose arrays were checked.
struct Call<'a> {
    microphysics: &'a Microphysics,
    about: &'static About,
    order: Order,
    /// Tracers, then air.
    fields: Vec<Memory>,
    /// Planes, or diagnosed fields, in the order of the scheme.
    planes: Vec<Option<Memory>>,
    dt: f64,
}

impl Call<'_> {
    fn on_host<R: Embeddable>(&self, py: Python<'_>) -> Result<()> {
        let Self { microphysics, about, ref order, ref fields, ref planes, dt } = *self;
        let (tracers, air) = fields.split_at(about.tracers.len());
        let [_, rows, columns] = order.field(&fields[0]).map(|(length, _)| length);
        let unwanted = planes.iter().filter(|plane| plane.is_none()).count();
        let mut unwanted = vec![Array2::<R>::zeros((rows, columns)); unwanted];
        let mut unwanted = unwanted.iter_mut();
        let surface = |plane: &Option<Memory>| -> ArrayViewMut2<'_, R> {
            match plane {
                // SAFETY: an array of this type that the caller holds; no other argument shares its memory.
                Some(plane) => unsafe { plane.plane_mut(order) },
                None => unwanted.next().expect("one for every plane that is not wanted").view_mut(),
            }
        };
        let block = Block {
            theta_base: R::ZERO,
            // SAFETY: as above.
            tracers: tracers.iter().map(|field| unsafe { field.field_mut(order) }).collect(),
            // SAFETY: as above; none of those that change shares their memory.
            air: air.iter().map(|field| unsafe { field.field(order) }).collect(),
            surface: planes.iter().map(surface).collect(),
            budget: None,
        };
        let step = || guarded(|| microphysics.step(dt, block));
        Ok(py.detach(step).map_err(Failure::Fault)??)
    }

    fn diagnose<R: Embeddable>(&self, py: Python<'_>) -> Result<()> {
        let Self { microphysics, about, ref order, ref fields, ref planes, .. } = *self;
        let views: Vec<ArrayView3<'_, R>> =
            // SAFETY: arrays of this type that the caller holds; none that changes shares their memory.
            fields.iter().map(|field| unsafe { field.field(order) }).collect();
        let (tracers, air) = views.split_at(about.tracers.len());
        // SAFETY: as above.
        let out = planes.iter().map(|plane| plane.map(|plane| unsafe { plane.field_mut(order) }));
        let out = out.collect();
        let work = || guarded(|| microphysics.diagnose(tracers, air, out));
        Ok(py.detach(work).map_err(Failure::Fault)??)
    }

    /// Queues the call in a stream; waits for it where the caller has named none.
    fn on_device<R: Embeddable + Element>(
        &self,
        py: Python<'_>,
        stream: Option<u64>,
        waits: bool,
    ) -> Result<()> {
        let Self { microphysics, about, ref order, ref fields, ref planes, dt } = *self;
        let missing: Vec<&str> = about
            .surface
            .iter()
            .zip(planes)
            .filter(|(_, plane)| plane.is_none())
            .map(|(field, _)| field.name)
            .collect();
        if !missing.is_empty() {
            return Err(Failure::Value(format!(
                "out has no {}; on the GPU every plane needs an array, since the call may end after Python's",
                missing.join(", ")
            )));
        }
        let planes: Vec<Memory> = planes.iter().flatten().copied().collect();
        let [(nk, level), (nj, pitch), (ni, stride_i)] = order.field(&fields[0]);
        // The stride of an axis of one cell may be anything.
        let pitch = if nj > 1 { pitch } else { ni as i64 };
        let level = if nk > 1 { level } else { pitch * nj as i64 };
        let fits = |field: &Memory| {
            let [k, j, i] = order.field(field);
            (ni == 1 || i.1 == 1) && (nj == 1 || j.1 == pitch) && (nk == 1 || k.1 == level)
        };
        let plane_fits = |plane: &Memory| {
            let [j, i] = order.plane(plane);
            (ni == 1 || i.1 == 1) && (nj == 1 || j.1 == pitch)
        };
        let is_ours = (ni == 1 || stride_i == 1) && pitch > 0 && level > 0;
        if !is_ours || !fields.iter().all(fits) || !planes.iter().all(plane_fits) {
            return Err(Failure::Value(format!(
                "strides (k, j, i) of {level}, {pitch}, {stride_i} elements: on the GPU columns of a row are adjacent, and \
                 all fields and planes have the same rows, as C-contiguous arrays of order 'kji'"
            )));
        }
        if nk * nj * ni == 0 {
            return Ok(());
        }
        let (pitch, level) = (pitch as usize, level as usize);
        let plane = (nj - 1) * pitch + ni;
        let volume = (nk - 1) * level + plane;
        let work = || {
            let gpu = microphysics.gpu()?;
            let of = |all: &[Memory], length: usize| -> Vec<Buffer<R>> {
                // SAFETY: arrays of the caller's on the device, which stay until the work is done.
                all.iter().map(|one| unsafe { gpu.borrow(one.address as u64, length) }).collect()
            };
            let (tracers, air) = fields.split_at(about.tracers.len());
            let (tracers, air) = (of(tracers, volume), of(air, volume));
            let (surface, dim) = (of(&planes, plane), [nk, nj, ni]);
            let block =
                DeviceBlock { dim, pitch, level, tracers: &tracers, air: &air, surface: &surface };
            // SAFETY: a stream of the caller's, which lives during the call.
            let stream = unsafe { Stream::borrowed(gpu, stream.unwrap_or_default()) };
            microphysics.step_on_device(dt, &block, &stream)?;
            if waits { stream.synchronize() } else { Ok(()) }
        };
        Ok(py.detach(|| guarded(work)).map_err(Failure::Fault)??)
    }
}
