//! `nwp-mini transport`: one tracer in a steady wind, from a file to a file.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ndarray::Array3;

use super::device::GpuChoice;
use super::distinct_files::refuse_one_file_twice;
use super::{BackendChoice, ONE_PER_CENT_MORE, Precision};
use crate::advection::flux::FluxConstants;
use crate::advection::gpu::TransportSettings;
use crate::advection::gpu::transport::{Transport as GpuBackend, Wind as DeviceWind};
use crate::advection::perturbation::{Perturbation, Term};
use crate::advection::{self, InflowValues, Limiter, Wind, Workspace};
use crate::device::{Element, Gpu};
use crate::dry_mass::{AirMass, MassFlux, longest_time_step};
use crate::error::{Error, Result};
use crate::io::cases::transport;
use crate::io::cases::transport::{TracerExtent, TransportCase};
use crate::io::store::writer::{Stored, Writer};
use crate::os_text::Shown;

/// Carry one tracer in a steady wind: WRF's advection alone, one case a file.
///
/// The file has the dimensions x xs y ys z zs, of which xs, ys and zs count the faces; the mass-coupled
/// winds ru (y, z, xs), rv (ys, z, x) and rom (y, zs, x) and the tracer q0 (y, z, x); mub and mu_old, or
/// mut, msftx and msfty (y, x); c1h c2h rdnw fnm fnp (z); and the attributes rdx rdy (1/m), dt (s),
/// nsteps, and 1 or 0 for periodic_x, periodic_y, specified, open_xs, open_xe, open_ys and open_ye.
///
/// Example: nwp-mini transport --input case.nc --output case.out.nc --scheme monotonic
#[derive(Debug, Args)]
pub(super) struct Transport {
    /// NetCDF file with the wind ru rv rom, the tracer q0 and the metrics of the grid
    #[arg(long, value_name = "FILE")]
    input: PathBuf,
    /// NetCDF file to write: q after the last step; mass, min and max after every step
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Limiter of the fluxes of the last stage
    #[arg(long, default_value = "pd")]
    scheme: Scheme,
    /// Processor to compute on
    #[arg(long, default_value = "auto")]
    backend: BackendChoice,
    #[command(flatten)]
    gpu: GpuChoice,
    /// Floating-point precision
    #[arg(long, default_value = "f32")]
    precision: Precision,
    /// Overwrite the output file
    #[arg(long)]
    force: bool,
    /// Multiply a term of the scheme by 1.01, to test whether checks detect it
    #[arg(long, hide = true, value_name = "TERM", value_parser = Term::ALL.map(Term::name))]
    perturb: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Scheme {
    /// No limiter
    Plain,
    /// Positive definite
    Pd,
    /// Monotonic
    Monotonic,
}

impl Scheme {
    /// The limiter, and its name in the report.
    fn limiter(self) -> (Limiter, &'static str) {
        match self {
            Self::Plain => (Limiter::None, "plain"),
            Self::Pd => (Limiter::PositiveDefinite, "positive definite"),
            Self::Monotonic => (Limiter::Monotonic, "monotonic"),
        }
    }
}

impl Transport {
    pub(super) fn run(&self) -> Result<()> {
        refuse_one_file_twice(
            &[("--output", Some(&self.output))],
            &[("the input file", &self.input)],
        )?;
        let case = TransportCase::read(&self.input)?;
        let device = self.device()?;
        let output = Writer::create(&self.output, self.force)?;
        let history = match self.precision {
            Precision::F32 => self.carry::<f32>(&case, device.as_ref(), output)?,
            Precision::F64 => self.carry::<f64>(&case, device.as_ref(), output)?,
        };
        self.report(&case, &history)
    }

    /// The GPU to use; `None` for the CPU.
    fn device(&self) -> Result<Option<Gpu>> {
        if self.backend == BackendChoice::Both {
            return Err(Error::Usage(
                "--backend both: transport runs on one backend only; use cpu or gpu, and compare \
                 the two output files with nwp-mini diff"
                    .to_owned(),
            ));
        }
        if self.perturb.is_none() {
            return self.backend.open(&self.gpu);
        }
        if self.backend == BackendChoice::Gpu {
            return Err(Error::Usage("--perturb applies to the CPU only".to_owned()));
        }
        Ok(None)
    }

    fn carry<R: Stored + FluxConstants + Element>(
        &self,
        case: &TransportCase,
        device: Option<&Gpu>,
        output: Writer,
    ) -> Result<Vec<TracerExtent>> {
        let air = case.air::<R>();
        let flux = case.flux::<R>();
        let longest = longest_time_step(case.grid.shape, &air, &flux);
        if case.dt > longest {
            tracing::warn!(
                "the step of {} s is longer than {longest:.4} s, at which outflow would empty a \
                 cell; the result may be negative or unstable",
                case.dt
            );
        }
        let q: Array3<R> = case.q.mapv(R::of);
        let mut history = vec![case.census(&q, 0)?];
        let mut count = |q: &Array3<R>, step: usize| -> Result<()> {
            let census = case.census(q, step)?;
            tracing::debug!(step, mass = census.mass, min = census.min, max = census.max);
            history.push(census);
            Ok(())
        };
        let q = match device {
            None => self.on_cpu(case, (&air, &flux), q, &mut count)?,
            Some(gpu) => self.on_gpu(gpu, case, (&air, &flux), q, &mut count)?,
        };
        transport::write(output, &q, &history)?;
        tracing::info!("wrote {}", self.output.shown());
        Ok(history)
    }

    fn on_cpu<R: Stored + FluxConstants>(
        &self,
        case: &TransportCase,
        (air, flux): (&AirMass<R>, &MassFlux<R>),
        mut q: Array3<R>,
        count: &mut impl FnMut(&Array3<R>, usize) -> Result<()>,
    ) -> Result<Array3<R>> {
        let wind = Wind { grid: &case.grid, air, flux, dt: case.dt };
        let (limiter, _) = self.scheme.limiter();
        let mut work = Workspace::new(case.grid.shape);
        let wrong = Term::ALL.into_iter().find(|term| self.perturb.as_deref() == Some(term.name()));
        work.perturbation = wrong.map(|term| Perturbation { term, factor: ONE_PER_CENT_MORE });
        for step in 1..=case.steps {
            advection::step(&wind, limiter, InflowValues::Nothing, &mut q, &mut work);
            count(&q, step)?;
        }
        Ok(q)
    }

    fn on_gpu<R: Stored + Element>(
        &self,
        gpu: &Gpu,
        case: &TransportCase,
        (air, flux): (&AirMass<R>, &MassFlux<R>),
        mut q: Array3<R>,
        count: &mut impl FnMut(&Array3<R>, usize) -> Result<()>,
    ) -> Result<Array3<R>> {
        let (grid, (limiter, _)) = (&case.grid, self.scheme.limiter());
        let settings = TransportSettings::for_device(gpu, grid, R::PRECISION, [1, 0], limiter);
        let transport = GpuBackend::new(gpu, grid, air, settings)?;
        let layout = transport.layout();
        let whole = "fields are in standard layout";
        let upload = |field: &Array3<R>| gpu.upload(&layout.padded(field.as_slice().expect(whole)));
        let x = gpu.upload(&layout.padded_x_faces(flux.x.as_slice().expect(whole)))?;
        let [y, z] = [upload(&flux.y)?, upload(&flux.z)?];
        let wind = DeviceWind { flux: [&x, &y, &z], inflow: None };
        let mut start = upload(&q)?;
        let mut end = gpu.zeros(start.len())?;
        for step in 1..=case.steps {
            transport.step(&wind, &start, &end, case.dt)?;
            std::mem::swap(&mut start, &mut end);
            q.as_slice_mut().expect(whole).copy_from_slice(&layout.unpadded(&start.to_vec()?));
            count(&q, step)?;
        }
        Ok(q)
    }

    fn report(&self, case: &TransportCase, history: &[TracerExtent]) -> Result<()> {
        let (first, last) = (history[0], history[case.steps]);
        // A tracer without mass has no relative change.
        let change = match first.mass {
            0.0 => format!("{:.3e} Pa", last.mass),
            mass => format!("{:.3e} of the start", (last.mass - mass) / mass.abs()),
        };
        writeln!(
            crate::cli::summary_output(),
            "{} cells, {}, {}, {} steps of {} s: mass changed by {change}, min {:.6e}, max {:.6e}",
            case.grid.shape,
            self.scheme.limiter().1,
            self.precision.name(),
            case.steps,
            case.dt,
            last.min,
            last.max,
        )?;
        Ok(())
    }
}
