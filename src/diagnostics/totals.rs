//! Precipitation and water of the whole domain, at the last common time of two files.

use ndarray::{Array2, ArrayD};
use serde::Serialize;

use crate::constants::Constants;
use crate::constituents::{Kind, known};
use crate::dry_mass::{AirMass, Layered, MassCoordinate};
use crate::error::Result;
use crate::grid::{Grid, Shape, Side, Sides};
use crate::io::read::reader::Reader;
use crate::io::wrf::units;
use crate::units::Quantity;

/// Name of the total of all water.
const WATER: &str = "water";

/// Names of the planes of precipitation in output of runs, then of `nwp-mini columns`.
fn precipitation() -> impl Iterator<Item = &'static str> {
    let gathered = || known::DIAGNOSTICS.into_iter().filter(|plane| plane.gathers.is_some());
    gathered().filter_map(|plane| plane.variable).chain(gathered().map(|plane| plane.name))
}

/// Names of the totals.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    precipitation().chain([WATER])
}

/// Names of the species of water in output of runs and of `nwp-mini columns`; the first must be present.
fn species() -> [Vec<&'static str>; 2] {
    let all = known::CONSTITUENTS.iter().filter(|one| matches!(one.kind, Kind::Water(_)));
    let all: Vec<_> = all.collect();
    [all.iter().map(|one| one.variable).collect(), all.iter().map(|one| one.column).collect()]
}

/// A total of the two files, in the unit given in [`Total::what`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Total {
    /// Quantity that is summed.
    pub name: &'static str,
    /// Form of the sum, and the unit.
    pub what: String,
    /// Sum of the first file.
    pub a: f64,
    /// Sum of the second file.
    pub b: f64,
    /// Difference relative to the first; `None` if the first is zero and the second is not.
    pub relative: Option<f64>,
    /// Largest relative difference; `None` if the total is not judged.
    pub limit: Option<f64>,
    /// `true` if the difference is within the limit.
    pub pass: bool,
}

/// The totals that both files have; `limit` is the largest relative difference.
pub(crate) fn compare(
    a: &Reader,
    b: &Reader,
    limit: impl Fn(&str) -> Option<f64>,
) -> Result<Vec<Total>> {
    let sources = [FileTime::of(a, b)?, FileTime::of(b, a)?];
    let mut totals = Vec::new();
    let mut add = |name: &'static str, what: &str, [a, b]: [f64; 2]| {
        let relative = match (a, b) {
            (a, b) if a == b => Some(0.0),
            (0.0, _) => None,
            (a, b) => Some((b - a).abs() / a.abs()),
        };
        let limit = limit(name);
        let pass = limit.is_none_or(|limit| relative.is_some_and(|x| x <= limit));
        totals.push(Total { name, what: what.to_owned(), a, b, relative, limit, pass });
    };
    for name in precipitation() {
        if let [Some(a), Some(b)] = [sources[0].field(name)?, sources[1].field(name)?] {
            add(name, "mm, summed over the columns", [a.sum(), b.sum()]);
        }
    }
    for names in species() {
        let [Some(a), Some(b)] = [sources[0].water(&names)?, sources[1].water(&names)?] else {
            continue;
        };
        if let [Some(masses_a), Some(masses_b)] = [sources[0].masses(&a)?, sources[1].masses(&b)?] {
            add(WATER, "kg, weighted with the dry mass", [masses_a, masses_b]);
        } else {
            add(WATER, "kg/kg, summed over the cells without weight", [a.sum(), b.sum()]);
        }
    }
    Ok(totals)
}

/// The quantity of a variable of a total.
fn quantity(name: &str) -> Quantity {
    match name {
        name if known::diagnostic(name).is_some_and(|plane| plane.gathers.is_some()) => {
            Quantity::PRECIPITATION
        }
        _ => units::of(name).unwrap_or(Quantity::MASS_RATIO),
    }
}

/// A file at one time.
struct FileTime<'r> {
    reader: &'r Reader,
    /// The last time that both files have.
    time: usize,
}

impl<'r> FileTime<'r> {
    fn of(reader: &'r Reader, other: &Reader) -> Result<Self> {
        let mut times = usize::MAX;
        for reader in [reader, other] {
            let extents = reader.descriptions()?.into_iter().flat_map(|d| d.extents);
            let lengths = extents.filter(|e| e.name == "Time").map(|e| e.length);
            times = lengths.fold(times, usize::min);
        }
        Ok(Self { reader, time: times.saturating_sub(1) })
    }

    /// A numeric variable at the time; `None` if the file has none.
    fn field(&self, name: &str) -> Result<Option<ArrayD<f64>>> {
        if !self.reader.has(name) {
            return Ok(None);
        }
        let extents = self.reader.description(name)?.extents;
        if extents.iter().any(|e| e.length == 0) {
            return Ok(None);
        }
        let has_time = extents.first().is_some_and(|e| e.name == "Time");
        let mut ranges: Vec<_> = extents.iter().map(|e| 0..e.length).collect();
        if has_time {
            ranges[0] = self.time..self.time + 1;
        }
        // A total in units that are not known has no name.
        let Ok(conversion) = self.reader.conversion(name, quantity(name)) else { return Ok(None) };
        let Some(mut values) = self.reader.part(name, &ranges)?.wide() else { return Ok(None) };
        for x in &mut values {
            *x = conversion.of(*x);
        }
        let shape: Vec<usize> =
            ranges.iter().skip(usize::from(has_time)).map(ExactSizeIterator::len).collect();
        Ok(ArrayD::from_shape_vec(shape, values).ok())
    }

    /// The sum of the species in every cell; a species that is missing or of another shape counts as zero.
    fn water(&self, names: &[&str]) -> Result<Option<ArrayD<f64>>> {
        let [vapour, rest @ ..] = names else { return Ok(None) };
        let Some(mut sum) = self.field(vapour)? else { return Ok(None) };
        // A single tracer named q, as of `nwp-mini transport`, is not water.
        if !rest.iter().any(|name| self.reader.has(name)) {
            return Ok(None);
        }
        for name in rest {
            if let Some(field) = self.field(name)?.filter(|field| field.shape() == sum.shape()) {
                sum += &field;
            }
        }
        Ok(Some(sum))
    }

    /// Mass of water with the given mixing ratios, kg; `None` if the file lacks the air mass.
    fn masses(&self, ratios: &ArrayD<f64>) -> Result<Option<f64>> {
        let &[nz, ny, nx] = ratios.shape() else { return Ok(None) };
        let shape = Shape { nx, ny, nz };
        let Some(mass) = self.air(shape)? else { return Ok(None) };
        let cells = ratios.indexed_iter().map(|(at, q)| q * mass.at(at[0], at[1], at[2]));
        Ok(Some(cells.sum()))
    }

    fn air(&self, shape: Shape) -> Result<Option<Layered<f64>>> {
        let Shape { nx, ny, nz } = shape;
        let plane = |name: &str| -> Result<Option<Array2<f64>>> {
            Ok(self.field(name)?.and_then(|x| x.into_shape_with_order((ny, nx)).ok()))
        };
        let profile = |name: &str| -> Result<Option<Vec<f64>>> {
            let values = self.field(name)?.map(|x| x.into_iter().collect::<Vec<f64>>());
            Ok(values.filter(|x| x.len() == nz))
        };
        // Idealised cases fill the old names with zeros, which count as absent.
        let map = |names: [&str; 2]| -> Result<Array2<f64>> {
            for name in names {
                if let Some(map) = plane(name)?.filter(|map| map.iter().all(|&m| m > 0.0)) {
                    return Ok(map);
                }
            }
            Ok(Array2::ones((ny, nx)))
        };
        let attribute = |name| self.reader.number(name).ok().flatten().filter(|&x| x > 0.0);
        let (Some(mu), Some(mub), Some(dx), Some(dy)) =
            (plane("MU")?, plane("MUB")?, attribute("DX"), attribute("DY"))
        else {
            return Ok(None);
        };
        let reciprocal = |x: Vec<f64>| x.into_iter().map(|x| 1.0 / x).collect();
        let Some(rdnw) = profile("RDNW")?.or(profile("DNW")?.map(reciprocal)) else {
            return Ok(None);
        };
        let coordinate = MassCoordinate {
            mu: mu + mub,
            map_x: map(["MAPFAC_MX", "MAPFAC_M"])?,
            map_y: map(["MAPFAC_MY", "MAPFAC_M"])?,
            c1: profile("C1H")?.unwrap_or_else(|| vec![1.0; nz]),
            c2: profile("C2H")?.unwrap_or_else(|| vec![0.0; nz]),
            rdnw,
            fnm: vec![0.5; nz],
            fnp: vec![0.5; nz],
            unit: dx * dy / <f64 as Constants>::GRAVITY,
        };
        // Cell masses do not depend on the kind of sides.
        let grid = Grid::whole(shape, [dx, dy], Sides::all(Side::Open));
        Ok(Some(AirMass::new(&grid, &coordinate).cell))
    }
}
