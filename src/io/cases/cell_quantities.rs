//! Quantities of the cells that rates name: water, humidity, concentrations, and what the model sets that the
//! mechanism was written for.

use crate::chemistry::coupling::{NITROGEN, OXYGEN, PPM};
use crate::chemistry::kinetics::Kinetics;
use crate::chemistry::mechanism::Mechanism;
use crate::chemistry::mechanism::expression::Input;
use crate::chemistry::mechanism::quantity::{Origin, Quantity};
use crate::error::{Advice, Result};
use crate::io::read::reader::{Reader, nearest};
use crate::units;

/// The dimension of all variables.
pub(super) const CELL: &str = "cell";

/// Number densities of a species, molecules cm⁻³, from those of the file or from mixing ratios in air of known `density`.
pub(super) fn number_density(
    reader: &Reader,
    name: &str,
    density: Option<&[f64]>,
) -> Result<Vec<f64>> {
    let stated = reader.units(name).unwrap_or_default();
    let Err(refusal) = units::Quantity::NUMBER_DENSITY.conversion(&stated) else {
        return reader.row(name, CELL, units::Quantity::NUMBER_DENSITY);
    };
    if units::Quantity::GAS_RATIO.conversion(&stated).is_err() {
        let needed = format!("{}; mixing ratios by volume are, too", refusal.needed);
        return Err(reader.other_units(name, &units::Refusal { needed, ..refusal }));
    }
    let Some(density) = density else {
        return Err(reader.error(format!(
            "variable {name} has the units {stated:?}, which need the air of the cell; give cfactor or c_m, or \
             convert {name} to molecules cm-3"
        )));
    };
    let ratios = reader.row(name, CELL, units::Quantity::GAS_RATIO)?;
    Ok(ratios.iter().zip(density).map(|(ppmv, air)| PPM * ppmv * air).collect())
}

/// The cells of a file whose quantities are read.
pub(super) struct CellQuantities<'a> {
    pub(super) reader: &'a Reader,
    pub(super) mechanism: &'a Mechanism,
    pub(super) kinetics: &'a Kinetics,
    /// Number density of air, molecules cm-3.
    pub(super) air: &'a [f64],
    /// Concentrations of a species, molecules cm-3.
    pub(super) of_species: &'a dyn Fn(usize) -> Option<Vec<f64>>,
}

impl CellQuantities<'_> {
    /// All quantities, cell by cell; 0 for those that no rate uses.
    pub(super) fn read(&self, notes: &mut Vec<String>) -> Result<Vec<f64>> {
        let count = self.air.len();
        let mut columns = Vec::new();
        for (number, quantity) in self.mechanism.quantities.iter().enumerate() {
            columns.push(if self.kinetics.rates.uses(Input::Quantity(number)) {
                self.column((number, quantity), notes)?
            } else {
                vec![0.0; count]
            });
        }
        Ok((0..count).flat_map(|cell| columns.iter().map(move |column| column[cell])).collect())
    }

    fn column(
        &self,
        (number, quantity): (usize, &Quantity),
        notes: &mut Vec<String>,
    ) -> Result<Vec<f64>> {
        let part = |fraction: f64| self.air.iter().map(|m| fraction * m).collect::<Vec<f64>>();
        let name = &quantity.name;
        let found = match quantity.origin {
            Origin::Air => return Ok(part(1.0)),
            Origin::Oxygen | Origin::Nitrogen => {
                let fraction = if quantity.origin == Origin::Oxygen { OXYGEN } else { NITROGEN };
                if let Some(variable) = self.variable(name) {
                    return self.density(&variable);
                }
                notes.push(format!("{name} is {fraction} of the air"));
                return Ok(part(fraction));
            }
            Origin::Water => match self.variable("c_h2o") {
                Some(variable) => Some(self.density(&variable)?),
                None => match self.variable("H2O") {
                    Some(variable) => {
                        notes.push(format!("{name} is the concentration of H2O"));
                        Some(self.density(&variable)?)
                    }
                    None => None,
                },
            },
            Origin::Humidity => match self.variable("rh") {
                Some(variable) => {
                    Some(self.reader.row(&variable, CELL, units::Quantity::FRACTION)?)
                }
                None => None,
            },
            Origin::Species(species) => (self.of_species)(species),
            Origin::Host(element) => match (self.variable(name), element) {
                (None, _) => None,
                (Some(variable), None) => {
                    Some(self.reader.row(&variable, CELL, units::Quantity::UNASKED)?)
                }
                (Some(variable), Some(element)) => Some(self.element(&variable, element)?),
            },
        };
        found.map_or_else(|| Err(self.missing(number, quantity)), Ok)
    }

    /// Number densities, molecules cm-3.
    fn density(&self, variable: &str) -> Result<Vec<f64>> {
        number_density(self.reader, variable, Some(self.air))
    }

    /// An element of an array `(cell, any)`.
    fn element(&self, variable: &str, element: usize) -> Result<Vec<f64>> {
        let dimensions = self.reader.dimensions_of(variable)?;
        let [(first, _), (second, extent)] = &dimensions[..] else {
            let message = format!(
                "variable {variable} has {} dimensions; (cell, elements) is needed, as it is an \
                 array in the mechanism",
                dimensions.len()
            );
            return Err(self.reader.error(message));
        };
        if element >= *extent {
            return Err(self.reader.error(format!(
                "variable {variable} has {extent} elements; the rates need at least {}",
                element + 1
            )));
        }
        debug_assert_eq!(first, CELL);
        let values =
            self.reader.array::<f64>(variable, &[CELL, second], units::Quantity::UNASKED)?;
        Ok(values.into_iter().skip(element).step_by(*extent).collect())
    }

    /// The variable with a name, else the only one that differs in case.
    fn variable(&self, name: &str) -> Option<String> {
        let names = self.reader.variable_names();
        if names.iter().any(|known| known == name) {
            return Some(name.to_owned());
        }
        let mut alike = names.into_iter().filter(|known| known.eq_ignore_ascii_case(name));
        let first = alike.next();
        first.filter(|_| alike.next().is_none())
    }

    fn missing(&self, number: usize, quantity: &Quantity) -> crate::error::Error {
        let user = self.kinetics.rates.first_user(Input::Quantity(number)).unwrap_or(0);
        let names = self.reader.variable_names();
        let (wanted, shape) = match quantity.origin {
            Origin::Water => ("c_h2o".to_owned(), "cell"),
            Origin::Humidity => ("rh".to_owned(), "cell"),
            Origin::Host(Some(_)) => (quantity.name.clone(), "cell, elements"),
            _ => (quantity.name.clone(), "cell"),
        };
        let near = nearest(&wanted, names.iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!(" (the nearest is {near})"));
        let error = self.reader.error(format!(
            "has no variable {wanted} ({shape}){near}, which the rate of {} needs: {}",
            self.mechanism.reaction_name(user),
            self.mechanism.reactions[user].rate_text
        ));
        match quantity.origin {
            Origin::Host(_) => error.advise(Advice::GiveRateConstant),
            _ => error,
        }
    }
}
