//! NetCDF input, with errors that name the file, the variable, the value found and the value expected.

use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ndarray::ArrayD;
use netcdf::types::{FloatType, NcVariableType};
use netcdf::{AttributeValue, Extent, Extents, Variable};
use tracing::debug;

use crate::error::{Error, Result};
use crate::io::read::damage_guard::lengths;
use crate::io::read::missing_values::Masked;
use crate::io::read::packing::{Packing, text};
use crate::io::read::{classic_header, damage_guard, filters, hdf5_heap, inflate, missing_values};
use crate::io::store::chunks::File;
use crate::io::store::hdf5_lock;
use crate::os_text::Shown;
use crate::real::{Precision, Real};
use crate::units::{Conversion, Quantity, Refusal, is_absent};

/// Global attribute that marks a restart file; it holds the number of its format.
pub(crate) const RESTART_MARK: &str = "nwp_mini_restart";

/// An open NetCDF file.
#[derive(Debug)]
pub(crate) struct Reader {
    path: PathBuf,
    /// The same file opened by HDF5, if chunks have been read; closed first.
    chunks: OnceLock<Option<File>>,
    file: netcdf::File,
    /// Most bytes that the values of a variable can take.
    most_bytes: u64,
    is_hdf5: bool,
}

impl Reader {
    /// Opens a NetCDF file for reading.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let length = damage_guard::regular_file(path, "a NetCDF file")?;
        let mut signature = Vec::new();
        let open = || fs::File::open(path).map_err(|e| Error::io(path, "read", e));
        open()?.take(8).read_to_end(&mut signature).map_err(|e| Error::io(path, "read", e))?;
        classic_header::check(open()?, length).map_err(|why| Error::input(path, why))?;
        if damage_guard::is_hdf5(&signature) {
            hdf5_heap::check(open()?).map_err(|why| Error::input(path, why))?;
        }
        let file = netcdf::open(path).map_err(|e| {
            let locked =
                damage_guard::is_hdf5(&signature).then(|| hdf5_lock::refusal_to_read(path));
            let message = locked.flatten().unwrap_or_else(|| {
                format!(
                    "is not a readable NetCDF file ({e}); is it complete, and not being written to?"
                )
            });
            Error::input(path, message)
        })?;
        damage_guard::check_metadata(path, &file)?;
        let most_bytes = damage_guard::most_bytes(length, &signature);
        let (path, is_hdf5) = (path.to_owned(), damage_guard::is_hdf5(&signature));
        Ok(Self { path, file, most_bytes, is_hdf5, chunks: OnceLock::new() })
    }

    /// The file's name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// An [`Error::Input`] about this file.
    pub(crate) fn error(&self, message: impl Into<String>) -> Error {
        Error::input(&self.path, message)
    }

    /// Returns `true` if there is a variable of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.file.variable(name).is_some()
    }

    /// Names of all variables.
    pub(crate) fn variable_names(&self) -> Vec<String> {
        self.file.variables().map(|v| v.name()).collect()
    }

    /// Names of all groups.
    pub(crate) fn group_names(&self) -> Result<Vec<String>> {
        let groups = self.file.groups().map_err(|e| self.error(format!("is broken ({e})")))?;
        Ok(groups.map(|group| group.name()).collect())
    }

    /// Length of a dimension.
    pub(crate) fn dimension(&self, name: &str) -> Result<usize> {
        match self.file.dimension_len(name) {
            None => {
                let found: Vec<String> = self.file.dimensions().map(|d| d.name()).collect();
                let message =
                    format!("has no dimension {name}; its dimensions are {}", listed(&found));
                Err(self.error(message))
            }
            Some(0) => Err(self.error(format!("dimension {name} has length 0"))),
            Some(length) => Ok(length),
        }
    }

    /// Length of a dimension that may be missing.
    pub(crate) fn optional_dimension(&self, name: &str) -> Option<usize> {
        self.file.dimension_len(name)
    }

    /// Names and lengths of the dimensions of a variable.
    pub(crate) fn dimensions_of(&self, name: &str) -> Result<Vec<(String, usize)>> {
        Ok(self.variable(name)?.dimensions().iter().map(|d| (d.name(), d.len())).collect())
    }

    /// All values of a variable, which must have exactly these dimensions and finite values only, in the shape of the
    /// dimensions and in the units of the quantity. Values of type double keep their digits if `R` has them.
    pub(crate) fn array<R: Real>(
        &self,
        name: &str,
        dimensions: &[&str],
        quantity: Quantity,
    ) -> Result<ArrayD<R>> {
        let variable = self.shaped(name, dimensions)?;
        let conversion = self.conversion(name, quantity)?;
        let values = self.values(&variable, Extents::All)?;
        if R::PRECISION == Precision::F32 || !self.is_double(name) {
            return Ok(values.mapv(|x| R::of(conversion.of(x.into()))));
        }
        let packing = self.packing(&variable)?;
        Ok(self.all(&variable)?.mapv(|x| R::of(conversion.of(packing.value(x)))))
    }

    /// The map from the values of a variable to those of a quantity, by the attribute `units` of the variable; without
    /// one the values are those of the quantity.
    pub(crate) fn conversion(&self, name: &str, quantity: Quantity) -> Result<Conversion> {
        let stated = self.units(name).unwrap_or_default();
        let conversion =
            quantity.conversion(&stated).map_err(|refusal| self.other_units(name, &refusal))?;
        if is_absent(&stated) {
            debug!(
                "{}: variable {name} states no units and is taken in {:?}",
                self.path.shown(),
                quantity.units
            );
        } else if !conversion.is_identity() {
            debug!(
                "{}: variable {name} is converted from {stated:?} to {:?}",
                self.path.shown(),
                quantity.units
            );
        }
        Ok(conversion)
    }

    /// Message about a variable in units of which no conversion is known.
    pub(crate) fn other_units(&self, name: &str, Refusal { found, needed }: &Refusal) -> Error {
        self.error(format!(
            "variable {name} has the units {found:?}; {needed}; convert it, or correct the attribute"
        ))
    }

    /// All values of a double-precision variable, which must have exactly these dimensions and finite values only, in
    /// the order of the file.
    pub(crate) fn doubles(&self, name: &str, dimensions: &[&str]) -> Result<Vec<f64>> {
        let variable = self.shaped(name, dimensions)?;
        let values = self.all(&variable)?;
        if let Some((at, x)) = values.indexed_iter().find(|(_, x)| !x.is_finite()) {
            let at = missing_values::position(&variable, &at);
            let message = format!("variable {name} is {x} at {at}; every value must be finite");
            return Err(self.error(message));
        }
        Ok(values.into_iter().collect())
    }

    /// The value of a scalar variable.
    pub(crate) fn scalar(&self, name: &str) -> Result<f64> {
        let values = self.doubles(name, &[])?;
        values.first().copied().ok_or_else(|| self.error(format!("variable {name} is empty")))
    }

    /// The unpacked values of a variable within `extents`; none may be missing.
    pub(in crate::io) fn values(
        &self,
        variable: &Variable<'_>,
        extents: Extents,
    ) -> Result<ArrayD<f32>> {
        let Masked { values, hole } = self.masked(variable, extents)?;
        hole.map_or(Ok(values), |hole| Err(self.error(hole.to_string())))
    }

    /// The same, with NaN for values that are infinite, missing, or never written, and the first of these.
    pub(in crate::io) fn masked(
        &self,
        variable: &Variable<'_>,
        extents: Extents,
    ) -> Result<Masked> {
        self.check_size(variable)?;
        let packing = self.packing(variable)?;
        let failed =
            |e: netcdf::Error| self.unreadable(&variable.name(), "cannot be read as numbers", &e);
        if packing.is_single() {
            let values = match self.inflated(variable, &extents) {
                Some(values) => values,
                None => variable.get(extents).map_err(failed)?,
            };
            return Ok(Masked::of_single(variable, &packing, values));
        }
        let stored = variable.get(extents).map_err(failed)?;
        Ok(Masked::unpacked(variable, &packing, &stored))
    }

    /// The values of a large variable, inflated on all threads; `None` if its layout does not allow it.
    fn inflated(&self, variable: &Variable<'_>, extents: &Extents) -> Option<ArrayD<f32>> {
        let lengths = lengths(variable);
        let mut shape = Vec::new();
        let ranges: Vec<Range<usize>> = match extents {
            Extents::All => {
                shape.clone_from(&lengths);
                lengths.iter().map(|length| 0..*length).collect()
            }
            Extents::Extent(parts) => parts
                .iter()
                .map(|part| match part {
                    Extent::Index(at) => Some(*at..at + 1),
                    Extent::SliceCount { start, count, stride: 1 } => {
                        shape.push(*count);
                        Some(*start..start + count)
                    }
                    _ => None,
                })
                .collect::<Option<_>>()?,
        };
        let chunks = self
            .chunks
            .get_or_init(|| self.is_hdf5.then(|| File::open_to_read(&self.path).ok()).flatten());
        let values = inflate::values(chunks.as_ref()?, &variable.name(), &ranges)?;
        ArrayD::from_shape_vec(shape, values).ok()
    }

    /// The unpacked values of a one-dimensional variable in double precision, in the units of the quantity; NaN where
    /// they are missing or infinite.
    pub(crate) fn row(&self, name: &str, dimension: &str, quantity: Quantity) -> Result<Vec<f64>> {
        let variable = self.shaped(name, &[dimension])?;
        let packing = self.packing(&variable)?;
        let conversion = self.conversion(name, quantity)?;
        let value = |x| conversion.of(packing.value_or_nan(x));
        Ok(self.all(&variable)?.into_iter().map(value).collect())
    }

    /// A variable, which must have exactly these dimensions.
    fn shaped(&self, name: &str, dimensions: &[&str]) -> Result<Variable<'_>> {
        let variable = self.variable(name)?;
        let found: Vec<String> =
            variable.dimensions().iter().map(netcdf::Dimension::name).collect();
        if found == dimensions {
            return Ok(variable);
        }
        let (found, needed) = (found.join(", "), dimensions.join(", "));
        let message = format!("variable {name} has the dimensions ({found}); ({needed}) is needed");
        Err(self.error(message))
    }

    /// All stored values of a variable, in double precision.
    fn all(&self, variable: &Variable<'_>) -> Result<ArrayD<f64>> {
        self.check_size(variable)?;
        variable.get(..).map_err(|e| {
            let name = variable.name();
            self.error(format!("variable {name} cannot be read as numbers ({e}); is it complete?"))
        })
    }

    /// Message about a variable that cannot be read, with the remedy.
    pub(in crate::io) fn unreadable(&self, name: &str, what: &str, error: &netcdf::Error) -> Error {
        let explained = filters::explained(&self.path, name, &error.to_string());
        self.error(
            explained.unwrap_or_else(|| {
                format!("variable {name} {what} ({error}); is the file complete?")
            }),
        )
    }

    /// Packing and missing values of a variable, by its attributes.
    pub(in crate::io) fn packing(&self, variable: &Variable<'_>) -> Result<Packing> {
        Packing::of(variable).map_err(|why| self.error(why))
    }

    /// Fails if a variable is larger than the file can hold.
    pub(in crate::io) fn check_size(&self, variable: &Variable<'_>) -> Result<()> {
        damage_guard::excess(variable, self.most_bytes)
            .map_or(Ok(()), |excess| Err(self.error(excess)))
    }

    /// The texts of a variable of characters, whose last dimension is the length, or of strings; one text if there is
    /// no other dimension.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>> {
        let variable = self.variable(name)?;
        self.check_size(&variable)?;
        let failed = |e| self.unreadable(name, "cannot be read", &e);
        let lengths = lengths(&variable);
        match (variable.vartype(), &*lengths) {
            (NcVariableType::Char, [.., characters]) if lengths.len() <= 2 && *characters > 0 => {
                let bytes = variable.get_raw_values(..).map_err(failed)?;
                let texts = bytes.chunks_exact(*characters);
                Ok(texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect())
            }
            (NcVariableType::String, []) => Ok(vec![variable.get_string(..).map_err(failed)?]),
            (NcVariableType::String, [rows]) => {
                (0..*rows).map(|row| variable.get_string([row]).map_err(failed)).collect()
            }
            _ => Err(self.error(format!(
                "variable {name} is not text of one line for each time, of characters or of strings"
            ))),
        }
    }

    /// All values of a one-dimensional variable in double precision; none may be missing or infinite.
    pub(in crate::io) fn line(&self, name: &str) -> Result<Vec<f64>> {
        if self.dimensions_of(name)?.len() > 1 {
            return Err(self.error(format!("variable {name} has more than one dimension")));
        }
        self.flat(name)
    }

    /// All values of a variable of any shape in double precision; none may be missing or infinite.
    pub(in crate::io) fn flat(&self, name: &str) -> Result<Vec<f64>> {
        let ranges: Vec<_> = self.dimensions_of(name)?.into_iter().map(|(_, n)| 0..n).collect();
        let values = self.part(name, &ranges)?.wide().ok_or_else(|| {
            self.error(format!("variable {name} is not numeric; numbers are needed"))
        })?;
        match values.iter().position(|x| !x.is_finite()) {
            None => Ok(values),
            Some(at) => Err(self.error(format!(
                "variable {name} is {} at place {}; every value must be finite",
                values[at],
                at + 1
            ))),
        }
    }

    /// Returns `true` if there is a variable of this name, of type double.
    pub(in crate::io) fn is_double(&self, name: &str) -> bool {
        let double = NcVariableType::Float(FloatType::F64);
        self.file.variable(name).is_some_and(|variable| variable.vartype() == double)
    }

    /// A text attribute of a variable, if it exists and is text.
    pub(in crate::io) fn text_of(&self, name: &str, attribute: &str) -> Option<String> {
        text(self.file.variable(name)?.attribute(attribute)?.value().ok()?)
    }

    /// The units of a variable, if it has any. A number, as in `units = 1`, is read as its digits.
    pub(crate) fn units(&self, name: &str) -> Option<String> {
        let value = self.file.variable(name)?.attribute("units")?.value().ok()?;
        text(value.clone()).or_else(|| f64::try_from(value).ok().map(|number| number.to_string()))
    }

    /// A variable.
    pub(in crate::io) fn variable(&self, name: &str) -> Result<Variable<'_>> {
        self.file.variable(name).ok_or_else(|| {
            let names = self.variable_names();
            // Short names are a letter apart (q, qc, qr), and all of them are meant.
            let candidates = names.iter().map(String::as_str).filter(|_| name.len() > 3);
            let hint = nearest(name, candidates)
                .map_or_else(String::new, |near| format!("; the nearest existing name is {near}"));
            self.error(format!("has no variable {name}{hint}"))
        })
    }

    /// A global attribute as a number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>> {
        let Some(attribute) = self.file.attribute(name) else { return Ok(None) };
        let value = attribute
            .value()
            .map_err(|e| self.error(format!("attribute {name} cannot be read: {e}")))?;
        match f64::try_from(value.clone()) {
            Ok(x) if x.is_finite() => Ok(Some(x)),
            _ => Err(self.not_numeric(name, &value, "a number is")),
        }
    }

    /// A global attribute as a number.
    pub(crate) fn required_number(&self, name: &str) -> Result<f64> {
        self.number(name)?.ok_or_else(|| self.error(format!("has no global attribute {name}")))
    }

    /// A global attribute as numbers in double precision.
    pub(crate) fn numbers(&self, name: &str) -> Result<Vec<f64>> {
        match self.file.attribute(name).map(|attribute| attribute.value()) {
            Some(Ok(AttributeValue::Doubles(numbers))) => Ok(numbers),
            Some(Ok(value)) => {
                Err(self.not_numeric(name, &value, "numbers in double precision are"))
            }
            Some(Err(e)) => Err(self.error(format!("attribute {name} cannot be read: {e}"))),
            None => Err(self.error(format!("has no global attribute {name}"))),
        }
    }

    /// Message about a global attribute that is not as `needed`.
    fn not_numeric(&self, name: &str, value: &AttributeValue, needed: &str) -> Error {
        // `Float(NaN)`, without the name of the type.
        let debug = format!("{value:?}");
        let found = debug.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
        let found = found.unwrap_or(&debug);
        self.error(format!("attribute {name} is {found}; {needed} needed"))
    }

    /// Reads all metadata of the file.
    pub(in crate::io) fn with_file<T>(&self, look: impl FnOnce(&netcdf::File) -> T) -> T {
        look(&self.file)
    }

    /// A global attribute as text, if it exists and is text.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        text(self.file.attribute(name)?.value().ok()?)
    }
}

/// The candidate with the smallest edit distance from `name`, if it is small.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .map(|candidate| {
            (strsim::levenshtein(&name.to_lowercase(), &candidate.to_lowercase()), candidate)
        })
        .filter(|(distance, _)| *distance <= name.len().div_ceil(2))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The results of a function, or its first error.
pub(in crate::io) fn try_map<T, U, const N: usize>(
    items: [T; N],
    of: impl FnMut(T) -> Result<U>,
) -> Result<[U; N]> {
    let results = items.into_iter().map(of).collect::<Result<Vec<U>>>()?;
    Ok(results.try_into().unwrap_or_else(|_| unreachable!("one result for each item")))
}
