//! Files of `nwp-mini chemistry`. Input: cells with their conditions; output: concentrations, counters and states of
//! the integration.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::Path;

use crate::bounds;
use crate::chemistry::cells::{Cells, Outcome};
use crate::chemistry::coupling::{PPM, hydrolysis};
use crate::chemistry::kinetics::Kinetics;
use crate::chemistry::mechanism::expression::Input;
use crate::chemistry::mechanism::{Mechanism, Role};
use crate::chemistry::rates::PER_AIR_FACTOR;
use crate::chemistry::rosenbrock::{Counters, Status};
use crate::error::Result;
use crate::io::cases::cell_quantities::CellQuantities;
use crate::io::read::reader::Reader;
use crate::io::store::writer::Writer;
use crate::os_text::Shown;
use crate::units::{Quantity, Refusal};

/// The dimension of all variables.
pub(super) const CELL: &str = "cell";

/// Local solar time if the file has none: noon, s.
const NOON: f64 = 43_200.0;

/// Temperature if no rate depends on it, K.
const ANY_TEMPERATURE: f64 = 298.15;

/// Names of conditions, which cannot be species.
const CONDITIONS: [&str; 8] = ["temp", "cfactor", "c_m", "c_h2o", "rc_n2o5", "rh", "p", "tstart"];

/// Cells of a file.
#[derive(Debug)]
pub(crate) struct CellFile {
    /// The cells.
    pub cells: Cells,
    /// Variable species that occur in no reaction: index in the mechanism, and values.
    pub inert: Vec<(usize, Vec<f64>)>,
    /// Attribute `dt`, s.
    pub dt: Option<f64>,
    /// Assumptions about missing variables, one a line.
    pub notes: Vec<String>,
    /// Cells whose conditions or concentrations no air has, in ascending order.
    faults: Vec<CellFault>,
}

/// A cell that is not integrated.
#[derive(Debug)]
struct CellFault {
    cell: usize,
    /// The fault, for messages.
    words: String,
    /// Concentrations of the variable species, which the cell keeps.
    variable: Vec<f64>,
}

impl CellFile {
    /// Reads cells for a mechanism; with `follows_sun` the time of day must be known after the start too.
    pub(crate) fn read(
        path: &Path,
        mechanism: &Mechanism,
        kinetics: &Kinetics,
        follows_sun: bool,
    ) -> Result<Self> {
        let reader = Reader::open(path)?;
        let count = reader.dimension(CELL)?;
        let mut source =
            Conditions { reader: &reader, mechanism, kinetics, count, notes: Vec::new() };
        let names = reader.variable_names();
        let density = source.density()?;
        let mut faults = Faults::default();
        let mut absent = Vec::new();
        let mut read = |species: usize| -> Result<Vec<f64>> {
            let name = &mechanism.species[species].name;
            if let Some(name) = name_of_species(name, &names) {
                let values = number_density(&reader, name, density.as_deref())?;
                faults.check_gas(name, &values, density.as_deref());
                return Ok(values);
            }
            let value = mechanism.species[species].initial.unwrap_or(0.0);
            absent.push(format!("{name} {value:e}"));
            Ok(vec![value; count])
        };
        let mut columns = |species: &[usize]| -> Result<Vec<f64>> {
            let columns = species.iter().map(|number| read(*number)).collect::<Result<Vec<_>>>();
            Ok(by_cell(count, &columns?))
        };
        let variable = columns(&kinetics.variable)?;
        let fixed = columns(&kinetics.fixed)?;
        let takes_part: BTreeSet<usize> = kinetics.variable.iter().copied().collect();
        let mut inert = Vec::new();
        for (number, species) in mechanism.species.iter().enumerate() {
            if species.role == Role::Variable && !takes_part.contains(&number) {
                inert.push((number, read(number)?));
            }
        }
        if !absent.is_empty() {
            source.notes.push(format!(
                "{}: no variable of these species; taken from #INITVALUES, or 0 (molecules cm-3): {}",
                path.shown(),
                absent.join(", ")
            ));
        }
        let (air_factor, air_density) = source.air()?;
        let quantities = {
            let of_species = |wanted: usize| {
                let among = |list: &[usize], values: &[f64]| {
                    let place = list.iter().position(|species| *species == wanted)?;
                    Some(values.iter().skip(place).step_by(list.len()).copied().collect())
                };
                among(&kinetics.variable, &variable)
                    .or_else(|| among(&kinetics.fixed, &fixed))
                    .or_else(|| inert.iter().find(|(n, _)| *n == wanted).map(|x| x.1.clone()))
            };
            let cells = CellQuantities {
                reader: &reader,
                mechanism,
                kinetics,
                air: &air_density,
                of_species: &of_species,
            };
            cells.read(&mut source.notes)?
        };
        let mut cells = Cells {
            variable,
            fixed,
            temperature: source.temperature(&mut faults)?,
            air_factor,
            air_density,
            hydrolysis: source.hydrolysis(&mut faults)?,
            photolysis: source.photolysis(&mut faults)?,
            quantities,
            start: source.start(follows_sun)?,
            first_step: Vec::new(),
        };
        if let Some(density) = &density {
            faults.check("c_m", density, &bounds::AIR_NUMBER_DENSITY, "molecules cm-3");
        }
        let notes = source.notes;
        let faults = faults.set_aside(kinetics.variables(), &mut cells.variable);
        Ok(Self { cells, inert, dt: reader.number("dt")?, notes, faults })
    }

    /// Marks the cells that no air has as failed in `outcomes`, and gives them their concentrations back. Returns the
    /// first fault in words.
    pub(crate) fn restore(&mut self, outcomes: &mut [Outcome]) -> Option<&str> {
        for CellFault { cell, variable, .. } in &self.faults {
            outcomes[*cell] = Outcome::failed(Status::BAD_CONDITIONS);
            let n = variable.len();
            self.cells.variable[cell * n..][..n].copy_from_slice(variable);
        }
        self.faults.first().map(|fault| fault.words.as_str())
    }

    /// Writes the result and renames the file to its final name.
    pub(crate) fn write(
        &self,
        mut writer: Writer,
        mechanism: &Mechanism,
        kinetics: &Kinetics,
        outcomes: &[Outcome],
        attributes: &[(&str, String)],
    ) -> Result<()> {
        let count = outcomes.len();
        writer.dimension(CELL, count)?;
        writer.dimension("counter", Counters::NAMES.len())?;
        writer.text("mechanism", &mechanism.name)?;
        for (name, value) in attributes {
            writer.text(name, value)?;
        }
        let n = kinetics.variables();
        let mut place = vec![None; mechanism.species.len()];
        kinetics.variable.iter().enumerate().for_each(|(i, &species)| place[species] = Some(i));
        for (number, species) in mechanism.species.iter().enumerate() {
            let inert = || self.inert.iter().find(|(inert, _)| *inert == number);
            let values: Vec<f64> = match (place[number], inert()) {
                (Some(i), _) => (0..count).map(|cell| self.cells.variable[cell * n + i]).collect(),
                (None, Some((_, values))) => values.clone(),
                (None, None) => continue,
            };
            let about = ["molecules cm-3", &format!("number density of {}", species.name)];
            writer.variable(&species.name, &[CELL], about, &values)?;
        }
        let of =
            |value: &dyn Fn(&Outcome) -> f64| -> Vec<f64> { outcomes.iter().map(value).collect() };
        let counters: Vec<i32> = outcomes
            .iter()
            .flat_map(|outcome| outcome.counters.values().map(u32::cast_signed))
            .collect();
        let names = Counters::NAMES.join(" ");
        writer.variable("counters", &[CELL, "counter"], ["1", &names], &counters)?;
        let codes: Vec<i32> = outcomes.iter().map(|outcome| outcome.status.0).collect();
        let meaning = "1 solved, -6 too many steps, -7 step too small, -8 singular matrix, -9 not a \
                       finite number, -10 conditions out of range";
        writer.variable("ierr", &[CELL], ["1", meaning], &codes)?;
        let time = of(&|outcome| outcome.time);
        writer.variable("texit", &[CELL], ["s", "time reached"], &time)?;
        let last = of(&|outcome| outcome.last_step);
        writer.variable("hexit", &[CELL], ["s", "last accepted step"], &last)?;
        let next = of(&|outcome| outcome.next_step);
        writer.variable("hnew", &[CELL], ["s", "step that would come next"], &next)?;
        writer.commit()
    }
}

/// Values cell by cell, from columns of `count` cells.
fn by_cell(count: usize, columns: &[Vec<f64>]) -> Vec<f64> {
    (0..count).flat_map(|cell| columns.iter().map(move |column| column[cell])).collect()
}

/// The variable of a species: one of the same name, else one that differs in case only and is not a condition.
fn name_of_species<'a>(species: &str, names: &'a [String]) -> Option<&'a str> {
    let exact = names.iter().find(|name| *name == species && !CONDITIONS.contains(&name.as_str()));
    let alike = || {
        let mut alike = names.iter().filter(|name| {
            name.eq_ignore_ascii_case(species) && !CONDITIONS.contains(&name.as_str())
        });
        alike.next().filter(|_| alike.next().is_none())
    };
    exact.or_else(alike).map(String::as_str)
}

/// The first fault of each cell, in words.
#[derive(Debug, Default)]
struct Faults(BTreeMap<usize, String>);

impl Faults {
    /// Adds the values outside a range; what is missing or not a number is another fault.
    fn check(&mut self, name: &str, values: &[f64], range: &RangeInclusive<f64>, units: &str) {
        let known = |_: usize| range.clone();
        self.check_each(name, values, &known, units);
    }

    /// Adds the concentrations (molecules cm-3) that are below 0 or above those of all of the air.
    fn check_gas(&mut self, name: &str, values: &[f64], density: Option<&[f64]>) {
        let most = values.iter().copied().filter(|x| x.is_finite()).fold(0.0, f64::max);
        let range = |cell: usize| {
            let air = density.map_or(*bounds::AIR_NUMBER_DENSITY.end(), |density| density[cell]);
            bounds::gas(air, most.min(air))
        };
        self.check_each(name, values, &range, "molecules cm-3");
    }

    fn check_each(
        &mut self,
        name: &str,
        values: &[f64],
        range: &dyn Fn(usize) -> RangeInclusive<f64>,
        units: &str,
    ) {
        for (cell, x) in values.iter().enumerate().filter(|(_, x)| x.is_finite()) {
            let range = range(cell);
            if !range.contains(x) && !range.start().is_nan() && !range.end().is_nan() {
                let [low, high] = [range.start(), range.end()].map(|bound| {
                    // The rounding that a bound allows is of no interest.
                    if *bound < 0.0 { 0.0 } else { *bound }
                });
                self.0.entry(cell).or_insert_with(|| {
                    format!("{name} is {x:e} at cell={cell}; {low:.6e} to {high:.6e} {units} is expected")
                });
            }
        }
    }

    /// The faults, with the concentrations of their cells, which become 0, so that they are integrated at no cost.
    fn set_aside(self, species: usize, variable: &mut [f64]) -> Vec<CellFault> {
        let of_cell = |(cell, words): (usize, String)| {
            let values = &mut variable[cell * species..][..species];
            let fault = CellFault { cell, words, variable: values.to_vec() };
            values.fill(0.0);
            fault
        };
        self.0.into_iter().map(of_cell).collect()
    }
}

/// Number densities of a species, molecules cm⁻³, from those of the file or from mixing ratios in air of known `density`.
pub(super) fn number_density(
    reader: &Reader,
    name: &str,
    density: Option<&[f64]>,
) -> Result<Vec<f64>> {
    let stated = reader.units(name).unwrap_or_default();
    let refusal = match Quantity::NUMBER_DENSITY.conversion(&stated) {
        Ok(_) => return reader.row(name, CELL, Quantity::NUMBER_DENSITY),
        Err(refusal) => refusal,
    };
    if Quantity::GAS_RATIO.conversion(&stated).is_err() {
        let needed = format!("{}; mixing ratios by volume are, too", refusal.needed);
        return Err(reader.other_units(name, &Refusal { needed, ..refusal }));
    }
    let Some(density) = density else {
        return Err(reader.error(format!(
            "variable {name} has the units {stated:?}, which need the air of the cell; give cfactor or c_m, or \
             convert {name} to molecules cm-3"
        )));
    };
    let ratios = reader.row(name, CELL, Quantity::GAS_RATIO)?;
    Ok(ratios.iter().zip(density).map(|(ppmv, air)| PPM * ppmv * air).collect())
}

/// The conditions of a file that the rates need.
struct Conditions<'a> {
    reader: &'a Reader,
    mechanism: &'a Mechanism,
    kinetics: &'a Kinetics,
    count: usize,
    notes: Vec<String>,
}

impl Conditions<'_> {
    fn row(&self, name: &str, quantity: Quantity) -> Result<Option<Vec<f64>>> {
        if !self.reader.has(name) {
            return Ok(None);
        }
        self.reader.row(name, CELL, quantity).map(Some)
    }

    /// `CFACTOR`, which is a number density for each part per million.
    fn air_factor(&self) -> Result<Option<Vec<f64>>> {
        let name = "cfactor";
        let stated = self.reader.units(name).unwrap_or_default();
        let per_ppm = Quantity::in_units("cm-3 ppmv-1");
        let is_density = Quantity::NUMBER_DENSITY.conversion(&stated).is_ok();
        self.row(name, if is_density { Quantity::NUMBER_DENSITY } else { per_ppm })
    }

    /// Number density of the air, molecules cm⁻³, if the file tells it.
    fn density(&self) -> Result<Option<Vec<f64>>> {
        if let Some(density) = self.row("c_m", Quantity::NUMBER_DENSITY)? {
            return Ok(Some(density));
        }
        let factors = self.air_factor()?;
        Ok(factors.map(|factors| factors.iter().map(|x| x * PER_AIR_FACTOR).collect()))
    }

    /// The values of a condition, or an error that names it and the rate that needs it.
    fn needed(&self, found: Option<Vec<f64>>, input: Input, wanted: &str) -> Result<Vec<f64>> {
        let user = self.kinetics.rates.first_user(input);
        match (found, user) {
            (Some(values), _) => Ok(values),
            (None, None) => Ok(vec![0.0; self.count]),
            (None, Some(reaction)) => Err(self.reader.error(format!(
                "has no variable {wanted} (cell), which the rate of {} needs: {}",
                self.mechanism.reaction_name(reaction),
                self.mechanism.reactions[reaction].rate_text
            ))),
        }
    }

    fn temperature(&self, faults: &mut Faults) -> Result<Vec<f64>> {
        let found = self.row("temp", Quantity::TEMPERATURE)?;
        if let Some(values) = &found {
            faults.check("temp", values, &bounds::TEMPERATURE, "K");
        }
        if found.is_none() && !self.kinetics.rates.uses(Input::Temperature) {
            return Ok(vec![ANY_TEMPERATURE; self.count]);
        }
        self.needed(found, Input::Temperature, "temp")
    }

    /// `CFACTOR` and the number density of air; each can be derived from the other.
    fn air(&self) -> Result<(Vec<f64>, Vec<f64>)> {
        let (factor, density) = (self.air_factor()?, self.row("c_m", Quantity::NUMBER_DENSITY)?);
        let scaled = |values: &Option<Vec<f64>>, by: &dyn Fn(f64) -> f64| {
            values.as_ref().map(|values| values.iter().map(|&x| by(x)).collect::<Vec<f64>>())
        };
        let all_factors = factor.clone().or_else(|| scaled(&density, &|x| x / PER_AIR_FACTOR));
        let all_densities = density.or_else(|| scaled(&factor, &|x| x * PER_AIR_FACTOR));
        let wanted = "cfactor or c_m";
        let needs_none = |input| all_factors.is_none() && !self.kinetics.rates.uses(input);
        // Any value will do if no rate depends on the air.
        let filled = |values: Option<Vec<f64>>, input| {
            if needs_none(input) {
                Ok(vec![1.0; self.count])
            } else {
                self.needed(values, input, wanted)
            }
        };
        let factors = filled(all_factors.clone(), Input::AirFactor)?;
        Ok((factors, filled(all_densities, Input::AirDensity)?))
    }

    fn hydrolysis(&mut self, faults: &mut Faults) -> Result<Vec<f64>> {
        let mut found = self.row("rc_n2o5", Quantity::FREQUENCY)?;
        if found.is_none() && self.kinetics.rates.uses(Input::Hydrolysis) {
            let humidity = self.row("rh", Quantity::FRACTION)?;
            if let Some(humidity) = &humidity {
                faults.check("rh", humidity, &bounds::HUMIDITY, "");
            }
            found = humidity.map(|humidity| humidity.into_iter().map(hydrolysis).collect());
            if found.is_some() {
                self.notes.push("rc_n2o5 follows from rh".to_owned());
            }
        }
        self.needed(found, Input::Hydrolysis, "rc_n2o5 or rh")
    }

    fn photolysis(&self, faults: &mut Faults) -> Result<Vec<f64>> {
        let column = |(number, name): (usize, &String)| {
            let found = self.row(name, Quantity::FREQUENCY)?;
            if let Some(values) = &found {
                faults.check(name, values, &bounds::PHOTOLYSIS, "s-1");
            }
            self.needed(found, Input::Photolysis(number), name)
        };
        let columns = self.mechanism.photolysis.iter().enumerate().map(column);
        Ok(by_cell(self.count, &columns.collect::<Result<Vec<_>>>()?))
    }

    fn start(&mut self, follows_sun: bool) -> Result<Vec<f64>> {
        if let Some(start) = self.row("tstart", Quantity::TIME)? {
            return Ok(start);
        }
        if follows_sun || self.kinetics.rates.uses(Input::Sun) {
            self.notes.push("no variable tstart: the local solar time is 12 h".to_owned());
        }
        Ok(vec![NOON; self.count])
    }
}
