//! NetCDF input, with errors that name the file, the variable, the value found and the value expected.

use std::ops::Range;
use std::path::{Path, PathBuf};

use ndarray::ArrayD;
use tracing::debug;

use crate::error::{Error, Result};
use crate::io::attribute::AttributeValue;
use crate::io::kind::Kind;
use crate::io::read::dataset::{Dataset, Variable};
use crate::io::read::missing_values;
use crate::io::read::missing_values::Masked;
use crate::io::read::netcdf::NetcdfFile;
use crate::io::read::packing::Packing;
use crate::os_text::Shown;
use crate::real::{Precision, Real};
use crate::units::{Conversion, Quantity, Refusal, is_absent};

/// Global attribute that marks a restart file; it holds the number of its format.
pub(crate) const RESTART_MARK: &str = "nwp_mini_restart";

/// An open NetCDF file or Zarr store.
#[derive(Debug)]
pub(crate) struct Reader {
    path: PathBuf,
    body: Body,
}

/// The formats.
#[derive(Debug)]
enum Body {
    Netcdf(NetcdfFile),
    #[cfg(feature = "zarr")]
    Zarr(crate::io::read::zarr::ZarrFolder),
}

/// Part of a variable: ranges along its dimensions, and the shape of the array of its values.
#[derive(Clone, Debug)]
pub(in crate::io) struct Slab {
    pub(in crate::io) ranges: Vec<Range<usize>>,
    pub(in crate::io) shape: Vec<usize>,
}

impl Slab {
    /// All of a variable.
    fn all(variable: &Variable) -> Self {
        Self { ranges: variable.all(), shape: variable.lengths() }
    }
}

impl Reader {
    /// Opens a NetCDF file, or the folder of a Zarr store, for reading.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let body = match path.is_dir() {
            #[cfg(feature = "zarr")]
            true => Body::Zarr(crate::io::read::zarr::ZarrFolder::open(path)?),
            #[cfg(not(feature = "zarr"))]
            true if crate::io::store::is_zarr(path) => {
                return Err(Error::input(path, crate::io::store::WITHOUT_ZARR));
            }
            _ => Body::Netcdf(NetcdfFile::open(path)?),
        };
        Ok(Self { path: path.to_owned(), body })
    }

    /// What the file holds.
    pub(in crate::io) fn dataset(&self) -> &dyn Dataset {
        match &self.body {
            Body::Netcdf(file) => file,
            #[cfg(feature = "zarr")]
            Body::Zarr(folder) => folder,
        }
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
        self.dataset().variable(name).is_some()
    }

    /// Names of all variables.
    pub(crate) fn variable_names(&self) -> Vec<String> {
        self.dataset().names()
    }

    /// Names of all groups.
    pub(crate) fn group_names(&self) -> Result<Vec<String>> {
        self.dataset().groups().map_err(|e| self.error(format!("is broken ({e})")))
    }

    /// Length of a dimension.
    pub(crate) fn dimension(&self, name: &str) -> Result<usize> {
        match self.optional_dimension(name) {
            None => {
                let found: Vec<String> =
                    self.dataset().dimensions().into_iter().map(|(name, _)| name).collect();
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
        let all = self.dataset().dimensions();
        all.into_iter().find(|(other, _)| other == name).map(|(_, length)| length)
    }

    /// Names and lengths of the dimensions of a variable.
    pub(crate) fn dimensions_of(&self, name: &str) -> Result<Vec<(String, usize)>> {
        Ok(self.variable(name)?.extents.into_iter().map(|d| (d.name, d.length)).collect())
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
        let values = self.values(&variable, &Slab::all(&variable))?;
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

    /// The unpacked values of a variable within a slab; none may be missing.
    pub(in crate::io) fn values(&self, variable: &Variable, slab: &Slab) -> Result<ArrayD<f32>> {
        let Masked { values, hole } = self.masked(variable, slab)?;
        hole.map_or(Ok(values), |hole| Err(self.error(hole.to_string())))
    }

    /// The same, with NaN for values that are infinite, missing, or never written, and the first of these.
    pub(in crate::io) fn masked(&self, variable: &Variable, slab: &Slab) -> Result<Masked> {
        self.check_size(variable)?;
        let packing = self.packing(variable)?;
        let failed = |e: String| self.unreadable(&variable.name, "cannot be read as numbers", &e);
        let (name, of) = (&variable.name, self.dataset());
        if packing.is_single() {
            let values = of.singles(name, &slab.ranges).map_err(failed)?;
            return Ok(Masked::of_single(variable, &packing, self.in_shape(name, slab, values)?));
        }
        let stored = of.doubles(name, &slab.ranges).map_err(failed)?;
        Ok(Masked::unpacked(variable, &packing, &self.in_shape(name, slab, stored)?))
    }

    /// Values in the shape of a slab.
    fn in_shape<T>(&self, name: &str, slab: &Slab, values: Vec<T>) -> Result<ArrayD<T>> {
        ArrayD::from_shape_vec(slab.shape.clone(), values).map_err(|e| {
            self.error(format!("variable {name} does not have the shape that it states ({e})"))
        })
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
    fn shaped(&self, name: &str, dimensions: &[&str]) -> Result<Variable> {
        let variable = self.variable(name)?;
        let found: Vec<String> =
            variable.extents.iter().map(|extent| extent.name.clone()).collect();
        if found == dimensions {
            return Ok(variable);
        }
        let (found, needed) = (found.join(", "), dimensions.join(", "));
        let message = format!("variable {name} has the dimensions ({found}); ({needed}) is needed");
        Err(self.error(message))
    }

    /// All stored values of a variable, in double precision.
    fn all(&self, variable: &Variable) -> Result<ArrayD<f64>> {
        self.check_size(variable)?;
        let slab = Slab::all(variable);
        let values = self.dataset().doubles(&variable.name, &slab.ranges).map_err(|e| {
            let name = &variable.name;
            self.error(format!("variable {name} cannot be read as numbers ({e}); is it complete?"))
        })?;
        self.in_shape(&variable.name, &slab, values)
    }

    /// Message about a variable that cannot be read, with the remedy.
    pub(in crate::io) fn unreadable(&self, name: &str, what: &str, error: &str) -> Error {
        // A format that knows better says it about the variable.
        if error.starts_with("variable ") {
            return self.error(error);
        }
        self.error(format!("variable {name} {what} ({error}); is the file complete?"))
    }

    /// Packing and missing values of a variable, by its attributes.
    pub(in crate::io) fn packing(&self, variable: &Variable) -> Result<Packing> {
        Packing::of(variable).map_err(|why| self.error(why))
    }

    /// Fails if a variable is larger than the file can hold.
    pub(in crate::io) fn check_size(&self, variable: &Variable) -> Result<()> {
        self.dataset().excess(variable).map_or(Ok(()), |excess| Err(self.error(excess)))
    }

    /// The texts of a variable of characters, whose last dimension is the length, or of strings; one text if there is
    /// no other dimension.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>> {
        let variable = self.variable(name)?;
        self.check_size(&variable)?;
        let failed = |e: String| self.unreadable(name, "cannot be read", &e);
        let (lengths, all) = (variable.lengths(), variable.all());
        match (variable.kind, &*lengths) {
            (Kind::Char, [.., characters]) if lengths.len() <= 2 && *characters > 0 => {
                let bytes = self.dataset().characters(name, &all).map_err(failed)?;
                let texts = bytes.chunks_exact(*characters);
                Ok(texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect())
            }
            (Kind::String, [] | [_]) => self.dataset().strings(name, &all).map_err(failed),
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
        self.dataset().variable(name).is_some_and(|variable| variable.kind == Kind::Double)
    }

    /// A text attribute of a variable, if it exists and is text.
    pub(in crate::io) fn text_of(&self, name: &str, attribute: &str) -> Option<String> {
        self.dataset().variable(name)?.attribute(attribute)?.as_ref().ok()?.text()
    }

    /// The units of a variable, if it has any. A number, as in `units = 1`, is read as its digits.
    pub(crate) fn units(&self, name: &str) -> Option<String> {
        let value = self.dataset().variable(name)?.attribute("units")?.clone().ok()?;
        value.text().or_else(|| value.number().map(|number| number.to_string()))
    }

    /// A variable.
    pub(in crate::io) fn variable(&self, name: &str) -> Result<Variable> {
        self.dataset().variable(name).ok_or_else(|| {
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
        let Some(attribute) = self.dataset().attribute(name) else { return Ok(None) };
        let value =
            attribute.map_err(|e| self.error(format!("attribute {name} cannot be read: {e}")))?;
        match value.number() {
            Some(x) if x.is_finite() => Ok(Some(x)),
            _ => Err(self.not_numeric(name, &value, "a number is")),
        }
    }

    /// A global attribute as a number.
    pub(crate) fn required_number(&self, name: &str) -> Result<f64> {
        self.number(name)?.ok_or_else(|| self.error(format!("has no global attribute {name}")))
    }

    /// A global attribute as numbers in double precision.
    pub(crate) fn numbers(&self, name: &str) -> Result<Vec<f64>> {
        match self.dataset().attribute(name) {
            Some(Ok(AttributeValue::Numbers(Kind::Double, numbers))) => Ok(numbers),
            Some(Ok(value)) => {
                Err(self.not_numeric(name, &value, "numbers in double precision are"))
            }
            Some(Err(e)) => Err(self.error(format!("attribute {name} cannot be read: {e}"))),
            None => Err(self.error(format!("has no global attribute {name}"))),
        }
    }

    /// Message about a global attribute that is not as `needed`.
    fn not_numeric(&self, name: &str, value: &AttributeValue, needed: &str) -> Error {
        self.error(format!("attribute {name} is {value}; {needed} needed"))
    }

    /// A global attribute as text, if it exists and is text.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.dataset().attribute(name)?.ok()?.text()
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
