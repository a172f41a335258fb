//! Variables of one time of a WRF file.

use std::ops::Range;

use ndarray::{Array, Array2, Array3, ArrayD, Dimension, Ix2, Ix3};

use super::units;
use super::window::InputWindow;
use crate::error::Result;
use crate::grid::Shape;
use crate::io::layout::{Axes, ENSEMBLE_MEAN};
use crate::io::read::dataset::Variable;
use crate::io::read::missing_values::{Masked, MissingValues};
use crate::io::read::reader::{Reader, Slab};
use crate::units::Conversion;

/// Names of the map factors, each with its older name.
pub(super) const MAPS: [[&str; 2]; 6] = [
    ["MAPFAC_MX", "MAPFAC_M"],
    ["MAPFAC_MY", "MAPFAC_M"],
    ["MAPFAC_UX", "MAPFAC_U"],
    ["MAPFAC_UY", "MAPFAC_U"],
    ["MAPFAC_VX", "MAPFAC_V"],
    ["MAPFAC_VY", "MAPFAC_V"],
];

/// One time of a WRF file.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeReader<'a> {
    pub(super) reader: &'a Reader,
    pub(super) shape: Shape,
    pub(super) time: usize,
    /// Collector of missing values; without one they are errors.
    pub(super) holes: Option<&'a MissingValues>,
    /// The window of volumes that is read, for a part of the grid.
    pub(super) window: Option<&'a InputWindow>,
}

impl<'a> TimeReader<'a> {
    /// A time of a file; missing values are errors.
    pub(super) fn new(reader: &'a Reader, shape: Shape, time: usize) -> Self {
        Self { reader, shape, time, holes: None, window: None }
    }
}

/// Name of a variable in a file: its own, or that of a time level.
///
/// Restart files hold both time levels of WRF's Runge-Kutta scheme, as in `U_1` and `U_2`; between two steps the second
/// is the current one. If a file has only the first level, that is used: the two are at most a step apart.
pub(super) fn stored_name(reader: &Reader, name: &str) -> Option<String> {
    let levels = [name.to_owned(), format!("{name}_2"), format!("{name}_1")];
    levels.into_iter().find(|name| reader.has(name))
}

impl TimeReader<'_> {
    /// Returns `true` if the file has a variable, under any of its names.
    pub(super) fn has(&self, name: &str) -> bool {
        stored_name(self.reader, name).is_some()
    }

    /// Name of a variable for pictures: in an ensemble file that of the ensemble mean.
    fn shown_name(&self, name: &str) -> Option<String> {
        let mean = format!("{name}{ENSEMBLE_MEAN}");
        if self.reader.has(&mean) { Some(mean) } else { stored_name(self.reader, name) }
    }

    /// Returns `true` if the file has a variable for pictures.
    pub(super) fn shows(&self, name: &str) -> bool {
        self.shown_name(name).is_some()
    }

    /// A three-dimensional field. Shape: that of its axes.
    pub(super) fn volume(&self, name: &str, axes: Axes) -> Result<Array3<f32>> {
        let values = self.values(name, axes)?;
        Ok(values.into_dimensionality::<Ix3>().expect("three dimensions were read"))
    }

    /// A field of a horizontal plane. Shape: (ny, nx) or with one more face.
    pub(super) fn plane(&self, name: &str, axes: Axes) -> Result<Array2<f32>> {
        let values = self.values(name, axes)?;
        Ok(values.into_dimensionality::<Ix2>().expect("two dimensions were read"))
    }

    /// A plane; `None` if the file lacks it.
    pub(super) fn optional_plane(&self, name: &str, axes: Axes) -> Result<Option<Array2<f32>>> {
        self.has(name).then(|| self.plane(name, axes)).transpose()
    }

    /// A field in the cells; `None` if the file lacks it.
    pub(super) fn optional_volume(&self, name: &str) -> Result<Option<Array3<f32>>> {
        self.has(name).then(|| self.volume(name, Axes::Volume)).transpose()
    }

    /// A profile, with or without a time; `None` if the file lacks it or it was never filled (all zeros).
    pub(super) fn profile(&self, name: &str, axes: Axes) -> Result<Option<Vec<f64>>> {
        if !self.has(name) {
            return Ok(None);
        }
        let values = self.values(name, axes)?;
        let is_filled = values.iter().any(|&x| x != 0.0);
        Ok(is_filled.then(|| values.iter().map(|&x| x.into()).collect()))
    }

    /// A number, with or without a time; `None` if the file lacks it.
    pub(super) fn scalar(&self, name: &str) -> Result<Option<f64>> {
        if !self.has(name) {
            return Ok(None);
        }
        let values = self.values(name, Axes::Scalar)?;
        Ok(values.first().map(|&x| x.into()))
    }

    /// A field of the cells in the units of the file. Shape: (nz, ny, nx).
    pub(super) fn volume_as_stored(&self, name: &str) -> Result<Array3<f32>> {
        let values = self.stored(name, Axes::Volume)?;
        Ok(values.into_dimensionality::<Ix3>().expect("three dimensions were read"))
    }

    /// Values at this time, which must have exactly these dimensions, with or without Time before them, in the units of
    /// their quantity.
    fn values(&self, name: &str, axes: Axes) -> Result<ArrayD<f32>> {
        let conversion = self.conversion(name, stored_name(self.reader, name).as_deref())?;
        let mut values = self.stored(name, axes)?;
        convert(&mut values, conversion);
        Ok(values)
    }

    fn stored(&self, name: &str, axes: Axes) -> Result<ArrayD<f32>> {
        let (variable, slab) = self.part(name, stored_name(self.reader, name).as_deref(), axes)?;
        let (Some(window), &[levels, _, _]) = (self.window, &slab.shape[..]) else {
            return self.checked(&variable, &slab);
        };
        let (before, _) = slab.ranges.split_at(slab.ranges.len() - 3);
        let field = window.volume((levels, axes.more()), |ranges| {
            let shape = ranges.iter().map(Range::len).collect();
            let slab = Slab { ranges: [before, &ranges].concat(), shape };
            Ok(self.checked(&variable, &slab)?.into_raw_vec_and_offset().0)
        })?;
        Ok(field.into_dyn())
    }

    /// The values of a slab, of which missing ones go to the collector, if there is one.
    fn checked(&self, variable: &Variable, slab: &Slab) -> Result<ArrayD<f32>> {
        let Some(holes) = self.holes else { return self.reader.values(variable, slab) };
        let Masked { values, hole } = self.reader.masked(variable, slab)?;
        if let Some(hole) = hole {
            holes.add(hole);
        }
        Ok(values)
    }

    /// Cells of the volumes that are read.
    pub(super) fn cells(&self) -> Shape {
        self.window.map_or(self.shape, |window| window.shape(self.shape.nz))
    }

    /// `true` if a condition holds for the values of all levels of a volume of the whole, level by level, in the units of
    /// the file; values may be missing.
    pub(super) fn all_levels(
        &self,
        name: &str,
        mut holds: impl FnMut(&ArrayD<f32>) -> bool,
    ) -> Result<bool> {
        let axes = Axes::Volume;
        let (variable, slab) = self.part(name, stored_name(self.reader, name).as_deref(), axes)?;
        let at = slab.ranges.len() - 3;
        for level in 0..slab.shape[0] {
            let mut of_level = slab.clone();
            of_level.ranges[at] = level..level + 1;
            of_level.shape[0] = 1;
            if !holds(&self.reader.masked(&variable, &of_level)?.values) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The same for pictures: values may be missing or infinite; of an ensemble, the mean.
    pub(super) fn incomplete(&self, name: &str, axes: Axes) -> Result<ArrayD<f32>> {
        let shown = self.shown_name(name);
        let conversion = self.conversion(name, shown.as_deref())?;
        let (variable, slab) = self.part(name, shown.as_deref(), axes)?;
        let mut values = self.reader.masked(&variable, &slab)?.values;
        convert(&mut values, conversion);
        Ok(values)
    }

    /// The map from the values of a variable to those of its quantity.
    pub(super) fn conversion(&self, name: &str, stored: Option<&str>) -> Result<Conversion> {
        let Some(quantity) = units::of(name) else { return Ok(Conversion::IDENTITY) };
        self.reader.conversion(stored.unwrap_or(name), quantity)
    }

    /// A variable by its exact name, and the ranges of these values in it.
    fn part(&self, name: &str, stored: Option<&str>, axes: Axes) -> Result<(Variable, Slab)> {
        let (names, lengths) = (axes.names(), axes.lengths(self.shape));
        let name = stored.unwrap_or(name);
        let variable = self.reader.variable(name)?;
        let found = self.reader.dimensions_of(name)?;
        let has_time = found.first().is_some_and(|(first, _)| first == "Time");
        let space = &found[usize::from(has_time)..];
        let fits = space.len() == names.len()
            && space.iter().zip(names).all(|((found, _), name)| found == name)
            && space.iter().zip(&lengths).all(|((_, found), length)| found == length);
        if !fits {
            let wanted: Vec<String> =
                names.iter().zip(&lengths).map(|(name, n)| format!("{name} = {n}")).collect();
            let space: Vec<String> =
                space.iter().map(|(name, n)| format!("{name} = {n}")).collect();
            return Err(self.reader.error(format!(
                "variable {name} has the dimensions ({}); ({}) is needed on a grid of {}",
                space.join(", "),
                wanted.join(", "),
                self.shape
            )));
        }
        let mut ranges: Vec<_> = lengths.iter().map(|length| 0..*length).collect();
        if has_time {
            if self.time >= found[0].1 {
                let message = format!("variable {name} has no values for time {}", self.time);
                return Err(self.reader.error(message));
            }
            ranges.insert(0, self.time..self.time + 1);
        }
        Ok((variable, Slab { ranges, shape: lengths }))
    }
}

/// Converts values in place, rounding each once.
pub(super) fn convert<D: Dimension>(values: &mut Array<f32, D>, conversion: Conversion) {
    if !conversion.is_identity() {
        values.mapv_inplace(|x| conversion.of(x.into()) as f32);
    }
}
