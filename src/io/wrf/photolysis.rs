//! Photolysis frequencies of a WRF file: fields under the names that a mechanism gives to them, or WRF-Chem's.
//!
//! WRF-Chem keeps frequencies per minute in variables that are numbered (`PHOTR4` is that of NO2); its mechanisms know
//! them under other names (`Pj_no2`), per second. Names and numbers are those of its `Registry/registry.chem`.

use ndarray::Array3;

use super::air;
use super::source::{TimeReader, convert};
use crate::bounds;
use crate::constituents::interned;
use crate::error::Result;
use crate::units::{Quantity, is_absent};

/// Beginning of the name that a mechanism of WRF-Chem gives to a frequency.
const OF_MECHANISM: &str = "Pj_";
/// Beginning of the name of WRF-Chem's variable.
const OF_VARIABLE: &str = "PHOTR";
/// Units of these variables where they state none.
const PER_MINUTE: &str = "min-1";

/// Numbers of WRF-Chem's variables, each the first of a row of consecutive ones, with the rest of their names in its
/// mechanisms.
const NUMBERS: [(u32, &str); 5] = [
    (
        1,
        "macr o31d o33p no2 no3o2 no3o hno2 hno3 hno4 h2o2 ch2or ch2om ch3cho ch3coch3 ch3coc2h5 \
         hcocho ch3cocho hcochest ch3o2h ch3coo2h ch3ono2 hcochob n2o5 o2",
    ),
    (101, "pan acet mglo hno4_2"),
    (114, "n2o"),
    (
        118,
        "pooh mpan etooh prooh onitr acetol glyald mek open gly acetp xooh isooh alkooh mekooh \
         tolooh terpooh mvk",
    ),
    (140, "hyac"),
];

/// Numbers and names of [`NUMBERS`], one by one.
fn numbered() -> impl Iterator<Item = (u32, &'static str)> {
    NUMBERS.into_iter().flat_map(|(first, names)| (first..).zip(names.split(' ')))
}

/// A photolysis frequency and the variable that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frequency {
    /// Name in restart files.
    pub(super) kept: &'static str,
    /// Variable of the input.
    variable: String,
}

/// WRF-Chem's variable of a frequency, by the name in its mechanisms in any case.
pub(crate) fn of_wrf_chem(name: &str) -> Option<String> {
    let (start, rest) = name.split_at_checked(OF_MECHANISM.len())?;
    let is_named =
        |other: &str| start.eq_ignore_ascii_case(OF_MECHANISM) && rest.eq_ignore_ascii_case(other);
    let (number, _) = numbered().find(|(_, other)| is_named(other))?;
    Some(format!("{OF_VARIABLE}{number}"))
}

impl Frequency {
    /// That of a name of a mechanism among the fields of a file: the field of that name, else WRF-Chem's.
    pub fn among(fields: &[String], name: &str) -> Option<Self> {
        let names = [Some(name.to_owned()), of_wrf_chem(name)];
        let variable = names.into_iter().flatten().find(|name| fields.contains(name))?;
        Some(Self { variable, ..Self::kept(name) })
    }

    /// That of a name of a mechanism in a restart file.
    pub fn kept(name: &str) -> Self {
        Self { kept: interned(&format!("photolysis_{name}")), variable: String::new() }
    }

    /// The variable of the input.
    pub fn variable(&self) -> &str {
        &self.variable
    }

    /// Values, s⁻¹, by the units that the variable tells; without any, WRF-Chem's variables are per minute.
    pub(super) fn read(&self, source: &TimeReader<'_>) -> Result<Array3<f32>> {
        let name = &self.variable;
        let mut values = source.volume_as_stored(name)?;
        let is_stated = source.reader.units(name).is_some_and(|units| !is_absent(&units));
        let conversion = if !is_stated && name.starts_with(OF_VARIABLE) {
            Quantity::FREQUENCY.conversion(PER_MINUTE).expect("a frequency")
        } else {
            source.reader.conversion(name, Quantity::FREQUENCY)?
        };
        convert(&mut values, conversion);
        air::within(
            source.reader,
            (&values, source.window),
            bounds::PHOTOLYSIS,
            &format!("{name} (s-1)"),
        )?;
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_under_either_name() {
        let fields = ["PHOTR4", "Pj_o31d", "PHOTR2", "Pj_odd"].map(str::to_owned);
        let found = |name: &str| Some(Frequency::among(&fields, name)?.variable);
        assert_eq!(found("Pj_no2").as_deref(), Some("PHOTR4"));
        assert_eq!(found("pj_NO2").as_deref(), Some("PHOTR4"));
        // The name of the mechanism counts first, whatever it is.
        assert_eq!(found("Pj_o31d").as_deref(), Some("Pj_o31d"));
        assert_eq!(found("Pj_odd").as_deref(), Some("Pj_odd"));
        for name in ["Pj_hno3", "no2", "PHOTR2x", "J", "Pj_\u{e4}"] {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn every_number_stands_once() {
        let all: Vec<(u32, &str)> = numbered().collect();
        assert_eq!(all.len(), 48);
        for (place, (number, name)) in all.iter().enumerate() {
            let is_other = |(n, other): &(u32, &str)| n != number && other != name;
            assert!(all[..place].iter().all(is_other), "{number} {name}");
        }
    }
}
