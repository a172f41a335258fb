//! The microphysics inside another model: a scheme of the registry with its options, called on arrays of the host.
//!
//! A [`Microphysics`] is made from a text of options. Calls take a [`Block`] of views of any strides, and read and write
//! them in place; several threads may call at a time, each with columns of its own. Bindings to other languages stand
//! on this module.
//!
//! ```
//! use ndarray::{Array2, Array3};
//! use nwp_mini::embedded::Microphysics;
//! use nwp_mini::physics::Block;
//!
//! let microphysics: Microphysics = "physics=kessler,threads=1".parse()?;
//! let about = microphysics.about();
//! // Fields in the order of the scheme, here (k, j, i): 300 K, no water but vapour, layers of 500 m of light air.
//! let field = |value: f32| Array3::from_elem((20, 3, 4), value);
//! let mut tracers: Vec<_> =
//!     about.tracers.iter().map(|tracer| field(if tracer.name == "th" { 300.0 } else { 1e-3 })).collect();
//! let air = [field(1.0), field(0.95), field(500.0)];
//! let mut surface = vec![Array2::<f32>::zeros((3, 4)); about.surface.len()];
//! microphysics.step(60.0, Block {
//!     theta_base: 0.0,
//!     tracers: tracers.iter_mut().map(|field| field.view_mut()).collect(),
//!     air: air.iter().map(|field| field.view()).collect(),
//!     surface: surface.iter_mut().map(|plane| plane.view_mut()).collect(),
//!     budget: None,
//! })?;
//! assert!(surface[0].iter().all(|rain| *rain > 0.0));
//! # Ok::<(), nwp_mini::error::Error>(())
//! ```
//!
//! # Decisions
//!
//! **Threads are the host's.** By default a call stays in the thread that makes it, and no thread is made: hosts have
//! their own, each with a tile. With `threads=N` a [`Microphysics`] has a pool of its own, which ends with it.
//!
//! **Options are a text**, with the names of the command line and of the parameters of the scheme: an interface to a
//! language then does not grow with them, and a host can pass on an environment variable.

pub mod chemistry;
mod fields;
#[cfg(feature = "gpu")]
mod on_device;
mod options;

use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use ndarray::{Array3, ArrayView3, ArrayViewMut3};

#[cfg(feature = "gpu")]
pub use on_device::DeviceBlock;

use crate::constants::Constants;
use crate::error::{Error, Result};
use crate::physics::scheme::{About, CpuColumns, PhysicsPrecision, Scheme};
use crate::physics::{Block, check_length};
use crate::simd::LANES;
use crate::threads;
#[cfg(feature = "gpu")]
use on_device::{OnDevice, Prepared};
use options::{Backend, Options};

/// Physical constants by their names in WRF, so that a host can compare its own.
const CONSTANTS: [(&str, f64); 18] = [
    ("g", f64::GRAVITY),
    ("cp", f64::CP_DRY),
    ("cpv", f64::CP_VAPOUR),
    ("r_d", f64::R_DRY),
    ("r_v", f64::R_VAPOUR),
    ("ep_1", f64::R_VAPOUR / f64::R_DRY - 1.0),
    ("ep_2", <f64 as Constants>::EPSILON),
    ("epsilon", f64::Q_MIN),
    ("xls", f64::L_SUBLIMATION),
    ("xlv", f64::L_VAPORISATION),
    ("xlf", f64::L_FUSION),
    ("svpt0", f64::FREEZING),
    ("psat", f64::TRIPLE_POINT_PRESSURE),
    ("cliq", f64::C_LIQUID),
    ("cice", f64::C_ICE),
    ("rhoair0", f64::RHO_REFERENCE),
    ("rhowater", f64::RHO_WATER),
    ("rhosnow", f64::RHO_SNOW),
];

/// Most columns of a call that stays in the calling thread although there are others: a thread takes as many at a time,
/// and waking one costs more than it could save.
const FEW_COLUMNS: usize = 5 * LANES;

/// A scheme of the registry, ready for calls on arrays of a host.
#[derive(Debug)]
pub struct Microphysics {
    scheme: Box<dyn Scheme>,
    place: Place,
    single: Columns<f32>,
    double: Columns<f64>,
}

/// Place of the calls.
enum Place {
    /// In the calling thread.
    Caller,
    /// In threads of its own.
    Pool(rayon::ThreadPool),
    /// On a device.
    #[cfg(feature = "gpu")]
    Device(OnDevice),
}

impl Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caller => f.write_str("the calling thread"),
            Self::Pool(pool) => write!(f, "{} threads", pool.current_num_threads()),
            #[cfg(feature = "gpu")]
            Self::Device(device) => Debug::fmt(device, f),
        }
    }
}

/// Columns in one precision: those of each number of levels on the CPU, and of each shape on a device.
#[derive(Debug)]
pub struct Columns<R: PhysicsPrecision> {
    on_cpu: Mutex<HashMap<usize, Arc<dyn CpuColumns<R>>>>,
    #[cfg(feature = "gpu")]
    on_device: Mutex<Prepared<R>>,
}

impl<R: PhysicsPrecision> Default for Columns<R> {
    fn default() -> Self {
        Self {
            on_cpu: Mutex::default(),
            #[cfg(feature = "gpu")]
            on_device: Mutex::default(),
        }
    }
}

/// A precision of calls.
pub trait Embeddable: PhysicsPrecision {
    #[doc(hidden)]
    fn columns(microphysics: &Microphysics) -> &Columns<Self>;
}

impl Embeddable for f32 {
    fn columns(microphysics: &Microphysics) -> &Columns<Self> {
        &microphysics.single
    }
}

impl Embeddable for f64 {
    fn columns(microphysics: &Microphysics) -> &Columns<Self> {
        &microphysics.double
    }
}

/// From a text: `name=value` pairs with commas between them. Names are `physics` (a key of the registry), `variant` or the
/// scheme's own name for it (`fallout`, `graupel`), `backend` (`cpu`, `gpu` or `auto`), `threads` (on the CPU), `device`,
/// `nvrtc-lib`, `fast-math` and `tuning` (on the GPU), and the parameters of the scheme.
impl FromStr for Microphysics {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let Options {
            scheme,
            backend,
            pool,
            #[cfg(feature = "gpu")]
            device,
            ..
        } = text.parse()?;
        let on_cpu = || pool.map_or(Place::Caller, Place::Pool);
        let place = match backend {
            Backend::Cpu => on_cpu(),
            #[cfg(feature = "gpu")]
            Backend::Gpu => Place::Device(OnDevice::open(&device)?),
            #[cfg(feature = "gpu")]
            Backend::Auto => match OnDevice::open(&device) {
                Ok(device) => Place::Device(device),
                Err(error) => {
                    tracing::info!("computing on the CPU: {error}");
                    on_cpu()
                }
            },
            #[cfg(not(feature = "gpu"))]
            Backend::Auto | Backend::Gpu => on_cpu(),
        };
        Ok(Self { scheme, place, single: Columns::default(), double: Columns::default() })
    }
}

impl Microphysics {
    /// Description of the scheme.
    pub fn about(&self) -> &'static About {
        self.scheme.about()
    }

    /// The scheme.
    pub fn scheme(&self) -> &dyn Scheme {
        &*self.scheme
    }

    /// Place of the calls, in words.
    pub fn place(&self) -> String {
        format!("{:?}", self.place)
    }

    /// The value of a parameter of the scheme, or of a physical constant by its name in WRF.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for an unknown name.
    pub fn parameter(&self, name: &str) -> Result<f64> {
        let constant =
            || CONSTANTS.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        self.scheme.get(name).or_else(constant).ok_or_else(|| {
            let constants: Vec<&str> = CONSTANTS.iter().map(|(name, _)| *name).collect();
            let (title, constants) = (self.about().title, constants.join(" "));
            Error::Usage(format!(
                "{title} has no parameter {name}, and it is none of the constants {constants}"
            ))
        })
    }

    /// One call on the columns of a block: `dt` seconds. The first tracer is the full potential temperature.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for fields, shapes, numbers of levels or a length of the call that are not those of the scheme;
    /// [`Error::Gpu`] when the device fails.
    pub fn step<R: Embeddable>(&self, dt: f64, block: Block<'_, R>) -> Result<()> {
        check_length(R::of(dt))?;
        let nz = fields::check(self.about(), &block)?;
        if block.tracers[0].is_empty() {
            return Ok(());
        }
        let block = Block { theta_base: R::ZERO, ..block };
        let (_, rows, row) = block.dim();
        match &self.place {
            Place::Pool(pool) if rows * row > FEW_COLUMNS => {
                let columns = self.columns::<R>(nz);
                pool.install(|| columns.call(R::of(dt), block));
            }
            Place::Caller | Place::Pool(_) => {
                let columns = self.columns::<R>(nz);
                threads::alone(|| columns.call(R::of(dt), block));
            }
            #[cfg(feature = "gpu")]
            Place::Device(device) => {
                return device.step(&*self.scheme, &R::columns(self).on_device, dt, block);
            }
        }
        Ok(())
    }

    /// Sets the fields that the scheme diagnoses, in its order; `None` for those that nobody wants. The first tracer is
    /// the full potential temperature.
    ///
    /// # Errors
    ///
    /// As [`Microphysics::step`]. The calculation is on the CPU.
    pub fn diagnose<R: Embeddable>(
        &self,
        tracers: &[ArrayView3<'_, R>],
        air: &[ArrayView3<'_, R>],
        out: Vec<Option<ArrayViewMut3<'_, R>>>,
    ) -> Result<()> {
        let nz = fields::check_diagnosis(self.about(), [tracers, air], &out)?;
        if tracers[0].is_empty() || out.iter().all(Option::is_none) {
            return Ok(());
        }
        let own = |fields: &[ArrayView3<'_, R>]| -> Vec<Array3<R>> {
            // In the order of the library, whatever that of the host is.
            let copy = |field: &ArrayView3<'_, R>| {
                let mut own = Array3::zeros(field.dim());
                own.assign(field);
                own
            };
            fields.iter().map(copy).collect()
        };
        let columns = self.columns::<R>(nz);
        let work = || columns.diagnose(&own(tracers), &own(air));
        let diagnosed = if let Place::Pool(pool) = &self.place {
            pool.install(work)
        } else {
            threads::alone(work)
        };
        for (mut to, from) in
            out.into_iter().zip(&diagnosed).filter_map(|(to, from)| Some((to?, from)))
        {
            to.assign(from);
        }
        Ok(())
    }

    /// Columns of `nz` levels on the CPU, made at the first call.
    fn columns<R: Embeddable>(&self, nz: usize) -> Arc<dyn CpuColumns<R>> {
        let all = &R::columns(self).on_cpu;
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::from(R::of_scheme(&*self.scheme).on_cpu(nz, None));
        Arc::clone(all.entry(nz).or_insert_with(make))
    }
}
