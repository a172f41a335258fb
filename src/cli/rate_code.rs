//! `--rate-functions` and `--rate-constant`: code and constants that the rates of a mechanism need and its files do not
//! hold.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::chemistry::kinetics::Kinetics;
use crate::chemistry::mechanism::expression::Input;
use crate::chemistry::mechanism::quantity::Origin;
use crate::chemistry::mechanism::{Mechanism, RateCode};
use crate::error::{Error, Result};

/// Options of the rates of a mechanism.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct RateOptions {
    /// File with functions and variables of the rates that the mechanism does not hold itself, in Fortran, or in C if its
    /// name ends in .c; repeatable
    #[arg(long, value_name = "FILE")]
    pub(super) rate_functions: Vec<PathBuf>,
    /// Value of a quantity of the rates that the model of the mechanism sets, the same in all cells and in the units of the
    /// mechanism; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = constant)]
    pub(super) rate_constant: Vec<(String, f64)>,
}

/// A name and its value.
fn constant(text: &str) -> std::result::Result<(String, f64), String> {
    let parts = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let Some((name, value)) = parts.filter(|(name, _)| is_name(name)) else {
        return Err("expected a name and its value, as in RO2=5e8".to_owned());
    };
    match value.replace(['d', 'D'], "e").parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((name.to_owned(), value)),
        _ => Err(format!("{value} is not a finite number; expected a value, as in RO2=5e8")),
    }
}

/// Files as text, which is empty without files.
pub(super) fn text_of_files(files: &[(PathBuf, String)]) -> String {
    let names = files.iter().map(|(path, text)| (path.to_string_lossy(), text));
    let all: Vec<_> = names.collect();
    if all.is_empty() { String::new() } else { serde_json::json!(all).to_string() }
}

/// Files of such a text; `None` if it is damaged.
pub(super) fn files_of(text: &str) -> Option<Vec<(PathBuf, String)>> {
    if text.is_empty() { Some(Vec::new()) } else { serde_json::from_str(text).ok() }
}

/// Constants as text: `RO2=5e8 nume=1`.
pub(super) fn text_of_constants(constants: &[(String, f64)]) -> String {
    let texts: Vec<String> =
        constants.iter().map(|(name, value)| format!("{name}={value:e}")).collect();
    texts.join(" ")
}

/// Constants of such a text; `None` if it is damaged.
pub(super) fn constants_of(text: &str) -> Option<Vec<(String, f64)>> {
    text.split_whitespace().map(|word| constant(word).ok()).collect()
}

impl RateOptions {
    /// True without an option.
    pub(super) fn is_empty(&self) -> bool {
        self.rate_functions.is_empty() && self.rate_constant.is_empty()
    }

    /// The code and the constants.
    pub(super) fn read(&self) -> Result<RateCode> {
        let mut code = RateCode { constants: self.rate_constant.clone(), ..RateCode::default() };
        for (place, (name, _)) in self.rate_constant.iter().enumerate() {
            let same = |(other, _): &(String, f64)| other.eq_ignore_ascii_case(name);
            if self.rate_constant[..place].iter().any(same) {
                return Err(Error::Usage(format!("--rate-constant {name} is given twice")));
            }
        }
        for path in &self.rate_functions {
            code.add_file(path).map_err(|reason| unreadable(path, reason))?;
        }
        Ok(code)
    }
}

/// The error of a file that could not be read.
pub(super) fn unreadable(path: &Path, reason: String) -> Error {
    match path.metadata() {
        Err(e) => Error::cannot_read(path, &e),
        Ok(_) => Error::input(path, reason),
    }
}

/// Fails if rates need what neither the air nor the species give.
pub(super) fn refuse_quantities_of_host(
    path: &Path,
    mechanism: &Mechanism,
    kinetics: &Kinetics,
) -> Result<()> {
    for (number, quantity) in mechanism.quantities.iter().enumerate() {
        let user = kinetics.rates.first_user(Input::Quantity(number));
        if let (Origin::Host(_), Some(reaction)) = (quantity.origin, user) {
            return Err(Error::input(
                path,
                format!(
                    "the rate of {} needs {}, which the model sets that the mechanism was written \
                     for: {}; give its value by --rate-constant {}=VALUE, or code that sets it by \
                     --rate-functions",
                    mechanism.reaction_name(reaction),
                    quantity.label(),
                    mechanism.reactions[reaction].rate_text,
                    quantity.name
                ),
            ));
        }
    }
    Ok(())
}
