//! Gas-phase chemistry inside another model: a mechanism, and its integration in cells of the host.

use std::path::Path;
use std::str::FromStr;

use ndarray::{ArrayViewMut2, Axis};

use super::options::Pairs;
use crate::chemistry::cells::{Cells, Outcome, RateUpdate, Settings, integrate, rate_constants};
use crate::chemistry::kinetics::Kinetics;
use crate::chemistry::mechanism::diagnostics::Severity;
use crate::chemistry::mechanism::expression::Input;
use crate::chemistry::mechanism::{self, Mechanism, RateCode};
use crate::chemistry::rates::PER_AIR_FACTOR;
use crate::chemistry::rosenbrock::{METHODS, Method, Tolerances};
use crate::error::{Error, Result};
use crate::threads;

/// A mechanism with the settings of its integration, ready for cells of a host. Calls are made on the CPU.
#[derive(Debug)]
pub struct CellChemistry {
    mechanism: Mechanism,
    kinetics: Kinetics,
    settings: Settings,
    pool: Option<rayon::ThreadPool>,
}

/// Cells of a host. Species are numbered as [`CellChemistry::species`] lists them.
#[derive(Debug)]
pub struct HostCells<'a> {
    /// Concentrations, molecules cm⁻³, by species and cell.
    pub species: ArrayViewMut2<'a, f64>,
    /// Temperature, K.
    pub temperature: &'a [f64],
    /// Number density of air, molecules cm⁻³.
    pub air_density: &'a [f64],
    /// Hydrolysis of N2O5, s⁻¹; empty for none.
    pub hydrolysis: &'a [f64],
    /// Local solar time at the start, s; empty if no rate depends on it.
    pub start: &'a [f64],
    /// Photolysis frequencies, s⁻¹, those of a cell side by side.
    pub photolysis: &'a [f64],
    /// Quantities of the mechanism, those of a cell side by side.
    pub quantities: &'a [f64],
}

/// Usual tolerances: relative, and absolute in molecules cm⁻³.
const TOLERANCES: [f64; 2] = [1e-3, 1.0];

/// From a text of options: `mechanism` (a file of KPP), `rate-functions` (a file with code for its rates), `method`, `rtol`,
/// `atol`, `hstart`, `rates` (`frozen` or `updated`) and `threads`.
impl FromStr for CellChemistry {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut pairs = Pairs::of(text)?;
        let needed = || Error::Usage("no option mechanism; give mechanism=FILE".to_owned());
        let path = Path::new(pairs.take("mechanism").ok_or_else(needed)?);
        let mut code = RateCode::default();
        if let Some(file) = pairs.take("rate-functions") {
            let file = Path::new(file);
            code.add_file(file).map_err(|reason| Error::io(file, "read", reason))?;
        }
        let methods: Vec<(&str, Method)> =
            METHODS.iter().map(|method| (method.name, *method)).collect();
        let usual = METHODS.iter().find(|method| method.name == "rodas3").unwrap_or(&METHODS[0]);
        let method = pairs.one_of("method", &methods)?.unwrap_or(*usual);
        let updates = [("frozen", RateUpdate::Frozen), ("updated", RateUpdate::Updated)];
        let rates = pairs.one_of("rates", &updates)?.unwrap_or(RateUpdate::Frozen);
        // Below ten ULP rounding errors alone exceed the tolerance.
        let relative = pairs.real("rtol", [10.0 * f64::EPSILON, 1.0])?.unwrap_or(TOLERANCES[0]);
        let absolute = pairs.real("atol", [f64::MIN_POSITIVE, f64::MAX])?.unwrap_or(TOLERANCES[1]);
        let first_step = pairs.real("hstart", [0.0, f64::MAX])?.unwrap_or(0.0);
        let pool = pairs.pool()?;
        pairs.refuse_the_rest(
            "chemistry",
            &[
                "mechanism",
                "rate-functions",
                "method",
                "rtol",
                "atol",
                "hstart",
                "rates",
                "threads",
            ],
        )?;
        let read = mechanism::read_with(path, &code);
        let read = read.map_err(|reason| Error::io(path, "read", reason))?;
        let (mechanism, diagnostics) =
            read.mechanism().map_err(|message| Error::input(path, message))?;
        if diagnostics.warnings() > 0 {
            tracing::warn!("{}", diagnostics.text(Severity::Warning));
        }
        let kinetics = Kinetics::new(&mechanism).map_err(|message| Error::input(path, message))?;
        let tolerances = Tolerances { relative, absolute };
        // The interval is that of each call.
        let settings = Settings { method, tolerances, interval: 0.0, first_step, rates };
        Ok(Self { mechanism, kinetics, settings, pool })
    }
}

impl CellChemistry {
    /// Name of the mechanism.
    pub fn name(&self) -> &str {
        &self.mechanism.name
    }

    /// Names of the species in their order: those that reactions change, then the fixed ones.
    pub fn species(&self) -> impl Iterator<Item = &str> {
        let Kinetics { variable, fixed, .. } = &self.kinetics;
        variable.iter().chain(fixed).map(|species| self.mechanism.species[*species].name.as_str())
    }

    /// Number of species that reactions change.
    pub fn variable(&self) -> usize {
        self.kinetics.variables()
    }

    /// Number of reactions.
    pub fn reactions(&self) -> usize {
        self.kinetics.reactions()
    }

    /// Names of the photolysis frequencies.
    pub fn photolysis(&self) -> impl Iterator<Item = &str> {
        self.mechanism.photolysis.iter().map(String::as_str)
    }

    /// Names of the quantities that rates use beside temperature and air.
    pub fn quantities(&self) -> impl Iterator<Item = &str> {
        self.mechanism.quantities.iter().map(|quantity| quantity.name.as_str())
    }

    /// Integrates all cells over `dt` seconds. A cell that fails keeps its concentrations.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for arrays that do not fit, or an impossible interval.
    pub fn step(&self, dt: f64, cells: &mut HostCells<'_>) -> Result<Vec<Outcome>> {
        if !(dt > 0.0 && dt.is_finite()) {
            return Err(Error::Usage(format!(
                "a call of the chemistry of {dt} s; a positive number of seconds is needed"
            )));
        }
        let mut own = self.conditions(cells)?;
        let variable = self.variable();
        let (changing, fixed) = cells.species.view_mut().split_at(Axis(0), variable);
        own.variable = changing.t().iter().copied().collect();
        own.fixed = fixed.t().iter().copied().collect();
        let settings = Settings { interval: dt, ..self.settings };
        let outcomes = self.work(|| integrate(&self.kinetics, &settings, &mut own));
        let (changing, _) = cells.species.view_mut().split_at(Axis(0), variable);
        changing.reversed_axes().iter_mut().zip(&own.variable).for_each(|(to, from)| *to = *from);
        Ok(outcomes)
    }

    /// Rate constants of all reactions, those of a cell side by side; concentrations are not used.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for arrays that do not fit.
    pub fn rates(&self, cells: &HostCells<'_>) -> Result<Vec<f64>> {
        let own = self.conditions(cells)?;
        Ok(self.work(|| rate_constants(&self.kinetics, &own)))
    }

    fn work<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => threads::alone(work),
        }
    }

    /// Cells with their conditions and without species.
    fn conditions(&self, cells: &HostCells<'_>) -> Result<Cells> {
        let count = cells.temperature.len();
        let Kinetics { rates, .. } = &self.kinetics;
        let (species, columns) = cells.species.dim();
        if columns > 0 && count == 0 {
            return Err(Error::Usage("no temperature; that of all cells is needed".to_owned()));
        }
        if (species, columns) != (self.kinetics.species(), count) {
            return Err(Error::Usage(format!(
                "{species} species in {columns} cells; {} has {} in {count}",
                self.mechanism.name,
                self.kinetics.species()
            )));
        }
        let sized =
            |name: &str, values: &[f64], each: usize, is_optional: bool| -> Result<Vec<f64>> {
                match values.len() {
                    0 if is_optional => Ok(vec![0.0; each * count]),
                    found if found == each * count => Ok(values.to_vec()),
                    found => Err(Error::Usage(format!(
                        "{found} values of {name}; {count} cells of {} have {}",
                        self.mechanism.name,
                        each * count
                    ))),
                }
            };
        let air_density = sized("the density of air", cells.air_density, 1, false)?;
        Ok(Cells {
            temperature: cells.temperature.to_vec(),
            air_factor: air_density.iter().map(|density| density / PER_AIR_FACTOR).collect(),
            air_density,
            hydrolysis: sized("hydrolysis", cells.hydrolysis, 1, !rates.uses(Input::Hydrolysis))?,
            start: sized("the solar time", cells.start, 1, !self.uses_sun())?,
            photolysis: sized(
                "photolysis",
                cells.photolysis,
                self.mechanism.photolysis.len(),
                false,
            )?,
            quantities: sized(
                "quantities",
                cells.quantities,
                self.mechanism.quantities.len(),
                false,
            )?,
            ..Cells::default()
        })
    }

    fn uses_sun(&self) -> bool {
        self.settings.rates == RateUpdate::Updated || self.kinetics.rates.uses(Input::Sun)
    }
}
