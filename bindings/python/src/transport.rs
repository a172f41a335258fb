//! Transport of tracers by mass fluxes.

use std::sync::{Arc, Mutex, PoisonError};

use ndarray::{Array2, Array3, ArrayViewMut3};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use nwp_mini::advection::flux::FluxConstants;
use nwp_mini::advection::{self, InflowValues, Limiter, Wind, Workspace};
use nwp_mini::constants::Constants;
use nwp_mini::dry_mass::{AirMass, MassCoordinate, MassFlux};
use nwp_mini::grid::{Grid, Shape, Sides};
use nwp_mini_host::guarded;
use pyo3::prelude::*;

use crate::errors::{Failure, Result};
use crate::memory::{Argument, Kind, Memory, Order, Place, check_argument, check_arguments};
use crate::process::OfProcess;

/// Names of the fluxes.
const FLUXES: [&str; 3] = ["flux_x", "flux_y", "flux_z"];

/// The limiters by their names in the command.
const LIMITERS: [(&str, Limiter); 3] =
    [("none", Limiter::None), ("pd", Limiter::PositiveDefinite), ("monotonic", Limiter::Monotonic)];

/// The mass of the air of a grid in one precision, and work space.
struct Prepared<R> {
    air: AirMass<R>,
    free: Mutex<Vec<Workspace<R>>>,
}

/// The transport on a grid.
struct Transport {
    grid: Grid,
    coordinate: MassCoordinate,
    limiter: Limiter,
    pool: rayon::ThreadPool,
    single: Mutex<Option<Arc<Prepared<f32>>>>,
    double: Mutex<Option<Arc<Prepared<f64>>>>,
}

/// The advection of tracers on a grid.
#[pyclass(module = "nwp_mini._core", frozen)]
pub(crate) struct Advection(OfProcess<Transport>);

#[pymethods]
impl Advection {
    /// A grid of (nz, ny, nx) cells with its spacing, sides, and the planes and profiles of its mass, a limiter, and a
    /// number of threads.
    #[new]
    fn new(
        grid: ([usize; 3], [f64; 2], String),
        planes: [PyReadonlyArray2<'_, f64>; 3],
        profiles: [PyReadonlyArray1<'_, f64>; 5],
        limiter: &str,
        threads: usize,
    ) -> Result<Self> {
        let (shape, spacing, boundary) = grid;
        let [nz, ny, nx] = shape;
        let shape = Shape { nx, ny, nz };
        let sides: Sides =
            boundary.parse().map_err(|text| Failure::Value(format!("boundary: {text}")))?;
        let found = LIMITERS.iter().find(|(name, _)| *name == limiter);
        let (_, limiter) = *found.ok_or_else(|| {
            let names = LIMITERS.map(|(name, _)| name).join(", ");
            Failure::Value(format!("limiter={limiter:?}: the limiters are {names}"))
        })?;
        let [mu, map_x, map_y] = planes.map(|plane| plane.as_array().to_owned());
        for (name, plane) in [("mu", &mu), ("map_x", &map_x), ("map_y", &map_y)] {
            check_plane(name, plane, (ny, nx))?;
        }
        let names = ["c1", "c2", "rdnw", "fnm", "fnp"];
        for (name, profile) in names.into_iter().zip(&profiles) {
            let found = profile.as_array().len();
            if found != nz {
                return Err(Failure::Value(format!(
                    "{name} has {found} values, the grid {nz} layers"
                )));
            }
        }
        let [c1, c2, rdnw, fnm, fnp] = profiles.map(|profile| profile.as_array().to_vec());
        let fewest = [("columns", nx, sides.periodic_x()), ("rows", ny, sides.periodic_y())];
        for (what, found, is_periodic) in fewest {
            if found < if is_periodic { 1 } else { 4 } {
                return Err(Failure::Value(format!(
                    "shape: {found} {what}; an axis that is not periodic has 4 or more"
                )));
            }
        }
        if nz < 2 {
            return Err(Failure::Value(format!("shape: {nz} layers; 2 or more are needed")));
        }
        let grid = Grid::whole(shape, spacing, sides);
        let unit = grid.dx * grid.dy / f64::GRAVITY;
        let coordinate = MassCoordinate { mu, map_x, map_y, c1, c2, rdnw, fnm, fnp, unit };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| Failure::Value(format!("threads={threads}: {error}")))?;
        let transport = Transport {
            grid,
            coordinate,
            limiter,
            pool,
            single: Mutex::default(),
            double: Mutex::default(),
        };
        Ok(Self(OfProcess::new(transport, "Advection", true)))
    }

    /// Advances tracers in place by `dt` seconds with three mass fluxes.
    fn step(
        &self,
        py: Python<'_>,
        tracers: Vec<Bound<'_, PyAny>>,
        fluxes: [Bound<'_, PyAny>; 3],
        dt: f64,
    ) -> Result<()> {
        let transport = self.0.get()?;
        let order = Order::parse("kji")?;
        let mut arguments = Vec::with_capacity(tracers.len());
        for object in &tracers {
            let memory = Memory::of("tracers", object, None)?;
            let name = "tracers";
            arguments.push(Argument { name, object, memory, is_changed: true, is_plane: false });
        }
        check_arguments(&arguments, &order)?;
        let Some(first) = arguments.first() else { return Ok(()) };
        if first.memory.place == Place::Device {
            return Err(Failure::Type(
                "tracers are on a GPU; Advection takes arrays of NumPy".to_owned(),
            ));
        }
        let shape = transport.grid.shape;
        let dims = [shape.centre(), shape.x_face(), shape.y_face(), shape.z_face()];
        check_argument("tracers", &first.memory, &order, dims[0])?;
        if !(dt > 0.0 && dt.is_finite()) {
            return Err(Failure::Value(format!("dt={dt}; a positive number of seconds is needed")));
        }
        let mut of_flux = Vec::with_capacity(fluxes.len());
        for ((name, object), dim) in FLUXES.into_iter().zip(&fluxes).zip(&dims[1..]) {
            let memory = Memory::of(name, object, None)?;
            check_argument(name, &memory, &order, *dim)?;
            if (memory.kind, memory.place) != (first.memory.kind, Place::Host) {
                return Err(Failure::Type(format!(
                    "{name} is {}, the tracers {}; all arrays of a call have one type, and none is converted",
                    memory.kind.name(),
                    first.memory.kind.name()
                )));
            }
            of_flux.push(memory);
        }
        let tracers: Vec<Memory> = arguments.iter().map(|argument| argument.memory).collect();
        match first.memory.kind {
            Kind::F4 => {
                transport.step::<f32>(py, &transport.single, (&tracers, &of_flux), order, dt)
            }
            Kind::F8 => {
                transport.step::<f64>(py, &transport.double, (&tracers, &of_flux), order, dt)
            }
        }
    }
}

impl Transport {
    fn step<R: FluxConstants>(
        &self,
        py: Python<'_>,
        prepared: &Mutex<Option<Arc<Prepared<R>>>>,
        (tracers, fluxes): (&[Memory], &[Memory]),
        order: Order,
        dt: f64,
    ) -> Result<()> {
        // SAFETY: arrays of this type that the caller holds; none of the tracers shares memory with another.
        let views: Vec<ArrayViewMut3<'_, R>> =
            tracers.iter().map(|tracer| unsafe { tracer.field_mut(&order) }).collect();
        // SAFETY: as above.
        let flux = |at: usize| unsafe { fluxes[at].field::<R>(&order) };
        let [x, y, z] = [0, 1, 2].map(flux);
        let work = || {
            self.pool.install(|| {
                let prepared = {
                    let mut kept = prepared.lock().unwrap_or_else(PoisonError::into_inner);
                    let make = || {
                        let air = AirMass::new(&self.grid, &self.coordinate);
                        Arc::new(Prepared { air, free: Mutex::default() })
                    };
                    Arc::clone(kept.get_or_insert_with(make))
                };
                let free = || prepared.free.lock().unwrap_or_else(PoisonError::into_inner);
                let found = free().pop();
                let mut work = found.unwrap_or_else(|| Workspace::new(self.grid.shape));
                let [x, y, z] = [x, y, z].map(|flux| flux.as_standard_layout().into_owned());
                let flux = MassFlux { x, y, z };
                let wind = Wind { grid: &self.grid, air: &prepared.air, flux: &flux, dt };
                let mut q = Array3::zeros(self.grid.shape.centre());
                for mut view in views {
                    q.assign(&view);
                    advection::step(&wind, self.limiter, InflowValues::Nothing, &mut q, &mut work);
                    view.assign(&q);
                }
                free().push(work);
            });
        };
        py.detach(|| guarded(work)).map_err(Failure::Fault)
    }
}

fn check_plane(name: &str, plane: &Array2<f64>, dim: (usize, usize)) -> Result<()> {
    if plane.dim() == dim {
        return Ok(());
    }
    let ((rows, columns), (ny, nx)) = (plane.dim(), dim);
    Err(Failure::Value(format!("{name} has the shape ({rows}, {columns}), the grid ({ny}, {nx})")))
}
