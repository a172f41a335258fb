//! Comparison of two files, variable by variable.

use std::ops::Range;

use serde::Serialize;

use crate::diagnostics::difference::{Band, Difference, Worst};
use crate::diagnostics::tolerance::{Limits, Tolerances};
use crate::diagnostics::totals::{self, Total};
use crate::diagnostics::unit_pair::UnitPair;
use crate::error::Result;
use crate::io::read::reader::Reader;
use crate::io::read::variables::{Description, Extent, Values};
use crate::units::Conversion;

/// Values read at a time, if the first dimension can be cut that fine.
const PART: usize = 1 << 22;

/// Verdict on a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum VariableVerdict {
    /// Bitwise identical.
    Identical,
    /// Different, but within the limits.
    Within,
    /// Beyond the limits.
    Different,
    /// Only in the first file.
    OnlyInA,
    /// Only in the second file.
    OnlyInB,
    /// Of another type in the second file.
    OtherType,
    /// Of other dimensions in the second file.
    OtherDimensions,
    /// In units of another quantity in the second file.
    OtherUnits,
    /// Of a type that this program cannot read.
    NotComparable,
}

impl VariableVerdict {
    /// Returns `true` if the variable passes.
    pub(crate) fn passes(self) -> bool {
        matches!(self, Self::Identical | Self::Within)
    }
}

/// A position in a variable and the values of both files there, in its units; values are `None` for text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct DifferenceAt {
    /// Index along every dimension.
    pub at: Vec<usize>,
    /// Value in the first file.
    pub a: Option<f64>,
    /// Value in the second file.
    pub b: Option<f64>,
}

/// Error measures of a variable, in its units. Numeric measures are `None` for text, and if they are infinite.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Number of values compared.
    pub values: u64,
    /// Values that differ in any bit.
    pub differing: u64,
    /// Values beyond `atol + rtol |a|`.
    pub beyond: Option<u64>,
    /// Values that are finite in one file only, or different infinities.
    pub unmatched: Option<u64>,
    /// Smallest finite value in each file.
    pub min: [Option<f64>; 2],
    /// Largest finite value in each file.
    pub max: [Option<f64>; 2],
    /// Largest error.
    pub max_abs: Option<f64>,
    /// Position of the largest difference, or else of the first value that differs.
    pub worst: Option<DifferenceAt>,
    /// The first unmatched value.
    pub first_unmatched: Option<Vec<usize>>,
    /// Mean of the errors.
    pub mean_abs: Option<f64>,
    /// Root mean square of the errors.
    pub rms: Option<f64>,
    /// Root mean square of the errors in per cent of that of the first file.
    pub relative_percent: Option<f64>,
    /// Largest error in ULP; only for floating point of one precision.
    pub max_ulp: Option<u64>,
    /// NaNs in each file.
    pub nan: [u64; 2],
    /// Infinite values in each file.
    pub inf: [u64; 2],
}

/// Comparison of a variable of the two files.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct VariableReport {
    /// Its name.
    pub name: String,
    /// Its type in each file, as in CDL.
    pub types: [Option<&'static str>; 2],
    /// Its dimensions in the first file that has it.
    pub dimensions: Vec<String>,
    /// Their lengths, the shorter one for unlimited dimensions.
    pub shape: Vec<usize>,
    /// Its units in each file, if stated.
    pub units: [Option<String>; 2],
    /// `true` if the units of the two files differ, other than in spelling.
    pub units_differ: bool,
    /// Verdict.
    pub verdict: VariableVerdict,
    /// `true` if it passes.
    pub pass: bool,
    /// Difference of the structure, in words.
    pub note: Option<String>,
    /// Error measures, if the values could be compared.
    pub figures: Option<Figures>,
    /// Limits of the comparison; `None` if no difference is allowed.
    pub limits: Option<Limits>,
}

/// Comparison of two files.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Comparison {
    /// Variables in the order of the first file, then those of the second file only.
    pub variables: Vec<VariableReport>,
    /// Precipitation and water of the whole domain.
    pub totals: Vec<Total>,
}

impl Comparison {
    /// Names of the variables that fail.
    pub(crate) fn failures(&self) -> Vec<String> {
        let variables = self.variables.iter().filter(|v| !v.pass).map(|v| v.name.clone());
        let totals = self.totals.iter().filter(|t| !t.pass).map(|t| format!("total {}", t.name));
        variables.chain(totals).collect()
    }

    /// Names of the variables that cannot be read, if nothing else fails.
    pub(crate) fn all_that_fails_is_unread(&self) -> Option<Vec<String>> {
        let is_unread = |v: &&VariableReport| v.verdict == VariableVerdict::NotComparable;
        let unread: Vec<String> =
            self.variables.iter().filter(is_unread).map(|v| v.name.clone()).collect();
        (!unread.is_empty() && unread.len() == self.failures().len()).then_some(unread)
    }
}

/// Compares two files; without tolerances every difference counts.
///
/// Groups, attributes other than units and unused dimensions are not compared; the values of the second file are
/// converted to the units of the first. Packed values are unpacked before the comparison, and may
/// differ by half of their step. A floating-point value is missing if the file marks it so or if it is the fill value
/// of the NetCDF library.
pub(crate) fn compare(
    a: &Reader,
    b: &Reader,
    tolerances: Option<&Tolerances>,
) -> Result<Comparison> {
    for reader in [a, b] {
        let groups = reader.group_names()?;
        if !groups.is_empty() {
            return Err(reader.error(format!(
                "has the groups {}; only files without groups can be compared",
                groups.join(", ")
            )));
        }
    }
    let (in_a, in_b) = (a.descriptions()?, b.descriptions()?);
    if in_a.is_empty() && in_b.is_empty() {
        return Err(a.error("has no variables, nor has the other file; nothing can be compared"));
    }
    let mut variables = Vec::new();
    for of_a in &in_a {
        variables.push(match in_b.iter().find(|of_b| of_b.name == of_a.name) {
            Some(of_b) => compare_variable([a, b], [of_a, of_b], tolerances)?,
            None => one_sided(of_a, VariableVerdict::OnlyInA),
        });
    }
    let only_in_b = in_b.iter().filter(|of_b| in_a.iter().all(|of_a| of_a.name != of_b.name));
    variables.extend(only_in_b.map(|of_b| one_sided(of_b, VariableVerdict::OnlyInB)));
    let limit = |name: &str| tolerances?.of_total(name);
    Ok(Comparison { variables, totals: totals::compare(a, b, limit)? })
}

fn one_sided(of: &Description, verdict: VariableVerdict) -> VariableReport {
    let kind = Some(of.kind.name());
    let (types, place) = match verdict {
        VariableVerdict::OnlyInA => ([kind, None], "A"),
        _ => ([None, kind], "B"),
    };
    VariableReport { types, note: Some(format!("only in {place}")), ..blank(of, verdict) }
}

/// A report on a variable whose values are not compared yet.
fn blank(of: &Description, verdict: VariableVerdict) -> VariableReport {
    VariableReport {
        name: of.name.clone(),
        types: [None; 2],
        dimensions: of.extents.iter().map(|e| e.name.clone()).collect(),
        shape: of.extents.iter().map(|e| e.length).collect(),
        units: [None, None],
        units_differ: false,
        verdict,
        pass: false,
        note: None,
        figures: None,
        limits: None,
    }
}

fn compare_variable(
    readers: [&Reader; 2],
    [a, b]: [&Description; 2],
    tolerances: Option<&Tolerances>,
) -> Result<VariableReport> {
    let packed = packed([a, b]);
    let units = UnitPair::of(readers, [a, b])?;
    let mut limits = limits_of(tolerances.map(|t| t.of(&a.name)), packed);
    if let Some(room) = units.rounding([a, b]) {
        limits = Some(limits.unwrap_or_default().widened(room));
    }
    let limits = limits.as_ref();
    let mut report = VariableReport {
        types: [Some(a.kind.name()), Some(b.kind.name())],
        units: [a.units.clone(), b.units.clone()],
        units_differ: units != UnitPair::Same,
        limits: limits.cloned(),
        ..blank(a, VariableVerdict::NotComparable)
    };
    if let Some(shape) = common_shape(&a.extents, &b.extents) {
        report.shape = shape;
        let conversion = units.conversion();
        if let Some(difference) = differences(readers, [a, b], &report.shape, (limits, conversion))?
        {
            report.verdict = match limits {
                _ if matches!(units, UnitPair::Other(_)) => VariableVerdict::OtherUnits,
                _ if difference.differing == 0 => VariableVerdict::Identical,
                Some(limits) if is_float([a, b]) && limits.admit(&difference) => {
                    VariableVerdict::Within
                }
                _ => VariableVerdict::Different,
            };
            let mut figures = figures(&difference, [a, b], &report.shape);
            // Converted values have no last places in common.
            figures.max_ulp = figures.max_ulp.filter(|_| conversion.is_identity());
            report.figures = Some(figures);
        }
    }
    if let (Some(half), VariableVerdict::Within) = (packed, report.verdict) {
        report.note = Some(format!("packed: the same within half a step, {half:.3e}"));
    }
    // A difference of structure outweighs one of values; packing is not part of the structure.
    if a.kind != b.kind && !(packed.is_some() && is_float([a, b])) {
        report.verdict = VariableVerdict::OtherType;
        report.note = Some(format!("{} in A, {} in B", a.kind.name(), b.kind.name()));
    } else if a.extents.iter().map(shape_of).ne(b.extents.iter().map(shape_of)) {
        report.verdict = VariableVerdict::OtherDimensions;
        report.note = Some(format!("{} in A, {} in B", words(&a.extents), words(&b.extents)));
    } else if report.figures.is_none() {
        report.note = Some(format!("values of type {} cannot be read", a.kind.name()));
    }
    if let Some(note) = units.note() {
        let other = report.note.take().map_or_else(String::new, |other| format!("; {other}"));
        report.note = Some(format!("units {note}{other}"));
    }
    report.pass = report.verdict.passes();
    Ok(report)
}

fn shape_of(extent: &Extent) -> (&str, usize) {
    (&extent.name, extent.length)
}

/// An index as text, such as (Time=2, level=8).
fn words(extents: &[Extent]) -> String {
    let words: Vec<String> = extents.iter().map(|e| format!("{}={}", e.name, e.length)).collect();
    format!("({})", words.join(", "))
}

/// The common shape; `None` unless the names agree, and the lengths too except those of unlimited dimensions.
fn common_shape(a: &[Extent], b: &[Extent]) -> Option<Vec<usize>> {
    let common = |(a, b): (&Extent, &Extent)| {
        let may_differ = a.unlimited && b.unlimited;
        (a.name == b.name && (a.length == b.length || may_differ)).then(|| a.length.min(b.length))
    };
    if a.len() == b.len() { a.iter().zip(b).map(common).collect() } else { None }
}

fn is_float(pair: [&Description; 2]) -> bool {
    pair.iter().all(|of| of.packed.is_some() || of.kind.is_real())
}

/// Error of values by packing, in units of the variable; 0 if neither is packed.
fn packed(pair: [&Description; 2]) -> Option<f64> {
    pair.iter().filter_map(|of| of.packed).reduce(|a, b| a + b)
}

/// Allowance for the rounding of `scale_factor` to single precision, largest at the largest of 65,535 steps, as a
/// fraction of half a step.
const SCALE_ROUNDING: f64 = 0.01;

/// The limits of a variable, widened if it is packed.
fn limits_of(limits: Option<&Limits>, packed: Option<f64>) -> Option<Limits> {
    let Some(half) = packed else { return limits.cloned() };
    let room = Band {
        atol: (1.0 + SCALE_ROUNDING) * half,
        // Unpacked values and add_offset are rounded to single precision.
        rtol: f64::from(f32::EPSILON),
    };
    Some(limits.cloned().unwrap_or_default().widened(room))
}

/// Reads the variable part by part; `None` if the types cannot be compared.
fn differences(
    [reader_a, reader_b]: [&Reader; 2],
    [a, b]: [&Description; 2],
    shape: &[usize],
    (limits, conversion): (Option<&Limits>, Conversion),
) -> Result<Option<Difference>> {
    let band = limits.map(Limits::band).unwrap_or_default();
    let mut difference = Difference::default();
    for part in parts(shape) {
        match (reader_a.part(&a.name, &part)?, reader_b.part(&b.name, &part)?) {
            (a, b) if !conversion.is_identity() => match (a.wide(), b.wide()) {
                (Some(a), Some(mut b)) => {
                    for x in &mut b {
                        *x = conversion.of(*x);
                    }
                    difference.add(band, &a, &b);
                }
                _ => return Ok(None),
            },
            (Values::Single(a), Values::Single(b)) => difference.add(band, &a, &b),
            (Values::Double(a), Values::Double(b)) => difference.add(band, &a, &b),
            (Values::Signed(a), Values::Signed(b)) => difference.add(band, &a, &b),
            (Values::Unsigned(a), Values::Unsigned(b)) => difference.add(band, &a, &b),
            (Values::Text(a), Values::Text(b)) => difference.add_equality(&a, &b),
            (Values::Strings(a), Values::Strings(b)) => difference.add_equality(&a, &b),
            // Single against double precision: the values are still compared.
            (a, b) => match (a.wide(), b.wide()) {
                (Some(a), Some(b)) => difference.add(band, &a, &b),
                _ => return Ok(None),
            },
        }
    }
    Ok(Some(difference))
}

/// Cuts a shape along its first dimension.
fn parts(shape: &[usize]) -> Vec<Vec<Range<usize>>> {
    let Some((&first, rest)) = shape.split_first() else { return vec![Vec::new()] };
    let plane: usize = rest.iter().product();
    if plane == 0 {
        return Vec::new();
    }
    let step = (PART / plane).max(1);
    let part = |start: usize| {
        let rest = rest.iter().map(|&length| 0..length);
        std::iter::once(start..(start + step).min(first)).chain(rest).collect()
    };
    (0..first).step_by(step).map(part).collect()
}

fn figures(difference: &Difference, pair: [&Description; 2], shape: &[usize]) -> Figures {
    let is_text = pair[0].kind.is_text();
    let number = |x: f64| Some(x).filter(|x| x.is_finite() && !is_text);
    let count = |n: u64| Some(n).filter(|_| !is_text);
    let first = difference.first_differing.filter(|_| difference.unmatched == 0);
    let worst = match difference.worst {
        Some(Worst { index, values: [a, b] }) => {
            Some(DifferenceAt { at: place(index, shape), a: number(a), b: number(b) })
        }
        None => first.map(|index| DifferenceAt { at: place(index, shape), a: None, b: None }),
    };
    let of_range = |end: usize| difference.range.map(|range| range.map(|range| range[end]));
    Figures {
        values: difference.values,
        differing: difference.differing,
        beyond: count(difference.beyond),
        unmatched: count(difference.unmatched),
        min: of_range(0),
        max: of_range(1),
        max_abs: number(difference.max_abs),
        worst,
        first_unmatched: difference.first_unmatched.map(|index| place(index, shape)),
        mean_abs: number(difference.mean_abs()),
        rms: number(difference.rms()),
        relative_percent: difference.relative_percent().and_then(number),
        max_ulp: Some(difference.max_ulp)
            .filter(|_| is_float(pair) && pair[0].kind == pair[1].kind && packed(pair).is_none()),
        nan: difference.nan,
        inf: difference.infinite,
    }
}

/// The index along every dimension of a value counted through the whole field.
fn place(index: u64, shape: &[usize]) -> Vec<usize> {
    let mut left = index as usize;
    let mut at = vec![0; shape.len()];
    for (index, &length) in at.iter_mut().zip(shape).rev() {
        (*index, left) = (left % length, left / length);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_a_shape_once() {
        assert_eq!(parts(&[]), [Vec::<Range<usize>>::new()]);
        assert!(parts(&[0, 4]).is_empty() && parts(&[4, 0]).is_empty());
        let shape = [5, PART / 2];
        let covered: Vec<_> = parts(&shape).into_iter().flat_map(|part| part[0].clone()).collect();
        assert_eq!(covered, [0, 1, 2, 3, 4]);
        assert_eq!(parts(&shape).len(), 3);
        assert_eq!(parts(&[2, 2 * PART]).len(), 2);
    }

    #[test]
    fn places_count_from_the_last_dimension() {
        assert_eq!(place(23, &[2, 3, 4]), [1, 2, 3]);
        assert_eq!(place(4, &[2, 3, 4]), [0, 1, 0]);
        assert!(place(0, &[]).is_empty());
    }
}
