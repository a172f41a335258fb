//! Test fixture of the timings: a grid on the device, and the data of the kernels of a knob.

use crate::advection::Limiter;
use crate::advection::gpu::transport::Transport;
use crate::advection::gpu::{March, TransportSettings};
use crate::backend::gpu::OnDevice;
use crate::cli::bench::gpu::{Columns, Tracers, transport_on};
use crate::cli::bench::gpu_times::call_times;
use crate::cli::bench::measurement::median;
use crate::device::Gpu;
use crate::error::Result;
use crate::gpu::tuning::{Knob, Setting};
use crate::grid::Shape;
use crate::model::Working;
use crate::model::replicated_grid::{Tile, Tiled};
use crate::real::Real;
use crate::state::STATE_FIELDS;
use crate::wsm5::gpu::clouds::{Clouds, Inside};
use crate::wsm5::scheme::Scheme;

/// A grid of repeated columns, for one knob.
pub(super) struct Ground<R> {
    gpu: Gpu,
    knob: Knob,
    tile: Tile,
    bed: Tiled<R>,
    material: Material<R>,
}

/// Data of the kernels.
enum Material<R> {
    Columns(Columns<R>),
    /// One for each layout of the rows that a launch configuration may need.
    Tracers(Vec<Tracers<R>>),
}

/// The kernels of one setting.
pub(super) enum Contestant<'a, R> {
    Clouds(&'a Gpu, &'a Columns<R>, Box<Clouds<R>>),
    Transport(&'a Gpu, &'a Tracers<R>, Box<Transport<R>>),
}

impl<R: Working + OnDevice> Ground<R> {
    /// Columns of a source, repeated to a grid of this size.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::error::Error::Gpu), as all below: when the memory is not sufficient.
    pub(super) fn new(gpu: &Gpu, source: &Tiled<R>, tile: Tile, knob: Knob) -> Result<Self> {
        let bed = source.repeated(tile);
        let material = match knob {
            Knob::Clouds(_) => Material::Columns(Columns::new(gpu, &bed, 0)?),
            Knob::Transport => {
                let march = March::choose(tile.nx * tile.ny, <R as Real>::PRECISION);
                let mut all: Vec<Tracers<R>> = Vec::new();
                for cells in March::CELLS {
                    let settings = settings(March { cells, ..march }, gpu, &bed);
                    let layout = settings.layout(&bed.grid);
                    if all.iter().all(|tracers| tracers.layout() != layout) {
                        all.push(Tracers::new(gpu, &bed, settings)?);
                    }
                }
                Material::Tracers(all)
            }
        };
        Ok(Self { gpu: gpu.clone(), knob, tile, bed, material })
    }

    /// Its columns.
    pub(super) fn tile(&self) -> Tile {
        self.tile
    }

    /// Its shape.
    pub(super) fn shape(&self) -> Shape {
        self.bed.grid.shape
    }

    /// Compiles the kernels of a setting of the knob.
    ///
    /// # Errors
    ///
    /// As [`Ground::new`].
    ///
    /// # Panics
    ///
    /// For a setting of another knob.
    pub(super) fn contestant(&self, setting: Setting) -> Result<Contestant<'_, R>> {
        let Self { gpu, bed, .. } = self;
        let shape = self.shape();
        match (&self.material, self.knob, setting) {
            (Material::Columns(columns), Knob::Clouds(fallout), Setting::Clouds(mapping)) => {
                let scheme = Scheme::default().with_fallout(fallout);
                let inside = Inside::all(shape);
                let clouds =
                    Clouds::new(gpu, columns.layout(), inside, scheme, mapping, R::THETA_BASE)?;
                Ok(Contestant::Clouds(gpu, columns, Box::new(clouds)))
            }
            (Material::Tracers(all), Knob::Transport, Setting::Transport(march)) => {
                let transport = transport_on(gpu, bed, settings(march, gpu, bed))?;
                let layout = transport.layout();
                let tracers = all.iter().find(|tracers| tracers.layout() == layout);
                let tracers = tracers.expect("tracers for every number of cells of a march");
                Ok(Contestant::Transport(gpu, tracers, Box::new(transport)))
            }
            _ => panic!("{setting} is none of {:?}", self.knob),
        }
    }
}

impl<R: Working + OnDevice> Contestant<'_, R> {
    /// The fields after one call of `dt` seconds.
    ///
    /// # Errors
    ///
    /// As [`Ground::new`].
    pub(super) fn result(&self, dt: f64) -> Result<Vec<R>> {
        self.restore()?;
        self.call(dt)?;
        match self {
            Self::Clouds(_, columns, _) => columns.state().to_vec(),
            Self::Transport(_, tracers, _) => tracers.end(),
        }
    }

    /// Time of a call, s: the median of several.
    ///
    /// # Errors
    ///
    /// As [`Ground::new`].
    pub(super) fn time(&self, runs: u32, dt: f64) -> Result<f64> {
        let (Self::Clouds(gpu, ..) | Self::Transport(gpu, ..)) = self;
        let (_, times) = call_times(gpu, runs, || self.restore(), || self.call(dt))?;
        Ok(median(times))
    }

    fn restore(&self) -> Result<()> {
        match self {
            Self::Clouds(_, columns, _) => columns.restore(),
            // A step does not change its initial values.
            Self::Transport(..) => Ok(()),
        }
    }

    fn call(&self, dt: f64) -> Result<()> {
        match self {
            Self::Clouds(_, columns, clouds) => clouds.call(&columns.place(), dt),
            Self::Transport(_, tracers, transport) => tracers.step(transport, dt),
        }
    }
}

/// The transport of a step: all fields of the state, the first without limiter.
fn settings<R: Working>(march: March, gpu: &Gpu, bed: &Tiled<R>) -> TransportSettings {
    let tracers = [STATE_FIELDS, 1];
    let precision = <R as Real>::PRECISION;
    TransportSettings::marching(
        march,
        gpu,
        &bed.grid,
        precision,
        tracers,
        Limiter::PositiveDefinite,
    )
}
