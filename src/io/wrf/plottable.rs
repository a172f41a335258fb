//! Fields of a WRF file for pictures: every available field, also of files that cannot be input of a run.

use std::path::Path;

use ndarray::{Array2, Array3, Ix2, Ix3, Zip, s};
use time::PrimitiveDateTime;
use tracing::warn;

use super::source::TimeReader;
use super::theta::{self, Origin};
use super::times::{self, TimeSource, Times};
use super::{Attribute, Domain, air, grid, projection, spacing, species};
use crate::constants::Constants;
use crate::error::Result;
use crate::grid::Shape;
use crate::io::grid_north::Rotation;
use crate::io::layout::Axes;
use crate::io::read::reader::{Reader, try_map};
use crate::os_text::Shown;
use crate::thermo;

/// An open file for pictures.
#[derive(Debug)]
pub(crate) struct PlotInput {
    reader: Reader,
    shape: Shape,
    cell: [f64; 2],
    times: Vec<PrimitiveDateTime>,
    has_times: bool,
    /// `true` for a file of WSM3, whose cloud water and rain are ice and snow where it is cold.
    is_wsm3: bool,
}

/// Variables of one kind of precipitation, and the variable with its bucket counts.
const PRECIPITATION: [[&str; 2]; 3] =
    [["RAINNC", "I_RAINNC"], ["RAINC", "I_RAINC"], ["RAINSH", ""]];

/// Any of the hydrometeors that this program knows.
pub(crate) const ANY_HYDROMETEOR: &str = "QCLOUD|QRAIN|QICE|QSNOW|QGRAUP";

impl PlotInput {
    /// Opens a file.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let reader = Reader::open(path)?;
        let shape = Shape {
            nx: reader.dimension("west_east")?,
            ny: reader.dimension("south_north")?,
            // Files of surface fields have no levels.
            nz: reader.optional_dimension("bottom_top").unwrap_or(1),
        };
        let cell = spacing(&reader)?;
        let Times { moments: times, time_source } = times::read(&reader)?;
        let has_times = !matches!(time_source, TimeSource::Nothing | TimeSource::XtimeAlone);
        let is_wsm3 = species::is_wsm3(&reader)?;
        let input = Self { reader, shape, cell, times, has_times, is_wsm3 };
        if is_wsm3 {
            let split = if input.has_temperature() { species::SPLIT } else { species::UNSPLIT };
            warn!("{}: {split}", path.shown());
        }
        Ok(input)
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        self.reader.path()
    }

    /// Shape of its grid.
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Width and height of a cell on the map, m.
    pub(crate) fn cell(&self) -> [f64; 2] {
        self.cell
    }

    /// Its times; without any, the first day of the calendar.
    pub(crate) fn times(&self) -> &[PrimitiveDateTime] {
        &self.times
    }

    /// Returns `true` if the file states its times.
    pub(crate) fn has_times(&self) -> bool {
        self.has_times
    }

    /// The given variables that the file lacks; `A|B` means either.
    pub(crate) fn missing<'a>(&self, names: &[&'a str]) -> Vec<&'a str> {
        let has = |name: &str| self.shows(name) || self.split_of(name).is_some();
        names.iter().copied().filter(|names| !names.split('|').any(has)).collect()
    }

    fn shows(&self, name: &str) -> bool {
        self.at(0).shows(name)
    }

    /// Name in words of a variable that contains all phases, for want of the temperature to tell them apart.
    pub(crate) fn words_of_all_phases(&self, name: &str) -> Option<&'static str> {
        let words = ["cloud water and ice", "rain and snow"];
        let all = species::ONE_OF_WSM3.into_iter().zip(words);
        let mut all = all.filter(|_| self.is_wsm3 && !self.has_temperature());
        all.find(|([liquid, _], _)| *liquid == name).map(|(_, words)| words)
    }

    fn has_temperature(&self) -> bool {
        (self.shows("T") || self.shows("THM")) && self.shows("P") && self.shows("PB")
    }

    /// The variable of WSM3 with both phases, and whether the frozen one is asked for; `None` if the variable of this
    /// name is as it is in the file.
    fn split_of(&self, name: &str) -> Option<(&'static str, bool)> {
        if !self.is_wsm3 || !self.has_temperature() {
            return None;
        }
        let [both, frozen] = species::ONE_OF_WSM3.into_iter().find(|pair| pair.contains(&name))?;
        self.shows(both).then_some((both, name == frozen))
    }

    /// Returns `true` if the file has ice or snow in variables of their own.
    fn has_frozen(&self, time: usize) -> Result<bool> {
        for [_, frozen] in species::ONE_OF_WSM3 {
            if self.shows(frozen)
                && self.staggered(frozen, time, Axes::Volume)?.iter().any(|q| *q != 0.0)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The grid at a time, as a single layer without air.
    pub(crate) fn grid(&self, time: usize) -> Result<Domain> {
        grid::at(&self.at(time)).map(|(domain, _)| domain)
    }

    fn at(&self, time: usize) -> TimeReader<'_> {
        TimeReader::new(&self.reader, self.shape, time)
    }

    /// The units of a variable in the file, or of the one that it is split from.
    pub(crate) fn units(&self, name: &str) -> Option<String> {
        let both = self.split_of(name).map(|(both, _)| both);
        self.reader.units(name).or_else(|| self.reader.units(both?))
    }

    /// A field of a plane; non-finite values are NaN. Shape: (ny, nx).
    pub(crate) fn plane(&self, name: &str, time: usize) -> Result<Array2<f64>> {
        let values = self.at(time).incomplete(name, Axes::Plane)?;
        let plane = values.into_dimensionality::<Ix2>().expect("two dimensions were read");
        Ok(plane.mapv(f64::from))
    }

    /// A field of the cells; non-finite values are NaN. Water of WSM3 is split as for a run: what is colder than 273.15 K
    /// is ice and snow. Shape: (nz, ny, nx).
    pub(crate) fn volume(&self, name: &str, time: usize) -> Result<Array3<f32>> {
        let Some((both, is_frozen)) = self.split_of(name) else {
            return self.staggered(name, time, Axes::Volume);
        };
        if self.has_frozen(time)? {
            return if self.shows(name) {
                self.staggered(name, time, Axes::Volume)
            } else {
                Ok(Array3::zeros(self.shape.centre()))
            };
        }
        let mut water = self.staggered(both, time, Axes::Volume)?;
        let pressure = try_map(["P", "PB"], |name| self.staggered(name, time, Axes::Volume))?;
        let cold = species::below_freezing(&self.theta_less_base(time)?, &pressure);
        Zip::from(&mut water).and(&cold).for_each(|q, &is_cold| {
            if is_cold != is_frozen {
                *q = 0.0;
            }
        });
        Ok(water)
    }

    fn staggered(&self, name: &str, time: usize, axes: Axes) -> Result<Array3<f32>> {
        let values = self.at(time).incomplete(name, axes)?;
        Ok(values.into_dimensionality::<Ix3>().expect("three dimensions were read"))
    }

    fn sum(&self, names: [&str; 2], time: usize, axes: Axes) -> Result<Array3<f32>> {
        let mut sum = self.staggered(names[0], time, axes)?;
        let other = self.staggered(names[1], time, axes)?;
        // In double precision, since it is a large base and a small perturbation.
        Zip::from(&mut sum)
            .and(&other)
            .for_each(|a, &b| *a = (f64::from(*a) + f64::from(b)) as f32);
        Ok(sum)
    }

    /// Pressure, Pa. Shape: (nz, ny, nx).
    pub(crate) fn pressure(&self, time: usize) -> Result<Array3<f32>> {
        self.sum(["P", "PB"], time, Axes::Volume)
    }

    /// Height of the interfaces of the layers, m. Shape: (nz + 1, ny, nx).
    pub(crate) fn heights(&self, time: usize) -> Result<Array3<f32>> {
        let gravity = <f64 as Constants>::GRAVITY as f32;
        Ok(self.sum(["PH", "PHB"], time, Axes::VolumeZ)?.mapv_into(|x| x / gravity))
    }

    /// Potential temperature, K. Shape: (nz, ny, nx).
    pub(crate) fn theta(&self, time: usize) -> Result<Array3<f32>> {
        let base = <f64 as Constants>::THETA_BASE as f32;
        Ok(self.theta_less_base(time)?.mapv_into(|x| x + base))
    }

    /// The same less 300 K.
    fn theta_less_base(&self, time: usize) -> Result<Array3<f32>> {
        let (theta, origin) = theta::choose(&self.reader, |name| {
            if self.at(time).shows(name) { self.volume(name, time).map(Some) } else { Ok(None) }
        })?;
        Ok(match origin {
            Origin::Thm { is_moist: true, .. } => {
                air::dry_theta(theta, &self.volume("QVAPOR", time)?)
            }
            _ => theta,
        })
    }

    /// Temperature, K. Shape: (nz, ny, nx).
    pub(crate) fn temperature(&self, time: usize) -> Result<Array3<f32>> {
        let mut t = self.theta(time)?;
        Zip::from(&mut t)
            .and(&self.pressure(time)?)
            .for_each(|t, &p| *t *= thermo::exner(f64::from(p)) as f32);
        Ok(t)
    }

    /// Wind along x and y in the middle of the cells, m s⁻¹. Shape of each: (nz, ny, nx).
    pub(crate) fn wind(&self, time: usize) -> Result<[Array3<f32>; 2]> {
        let u = self.staggered("U", time, Axes::VolumeX)?;
        let v = self.staggered("V", time, Axes::VolumeY)?;
        let middle = |a: &f32, b: &f32| f32::midpoint(*a, *b);
        Ok([
            Zip::from(u.slice(s![.., .., ..-1])).and(u.slice(s![.., .., 1..])).map_collect(middle),
            Zip::from(v.slice(s![.., ..-1, ..])).and(v.slice(s![.., 1.., ..])).map_collect(middle),
        ])
    }

    /// Upward wind at the interfaces of the layers, m s⁻¹. Shape: (nz + 1, ny, nx).
    pub(crate) fn upward_wind(&self, time: usize) -> Result<Array3<f32>> {
        self.staggered("W", time, Axes::VolumeZ)
    }

    /// Density of the dry air, kg m⁻³. Shape: (nz, ny, nx).
    pub(crate) fn density(&self, time: usize) -> Result<Array3<f32>> {
        let mut rho = self.theta(time)?;
        let (qv, p) = (self.volume("QVAPOR", time)?, self.pressure(time)?);
        Zip::from(&mut rho).and(&qv).and(&p).for_each(|rho, &qv, &p| {
            let volume = thermo::specific_volume(f64::from(*rho), f64::from(qv), f64::from(p));
            *rho = (1.0 / volume) as f32;
        });
        Ok(rho)
    }

    /// Precipitation since the start of the simulation, mm, of all kinds in the file, and the names of their variables.
    /// Shape: (ny, nx).
    pub(crate) fn precipitation(&self, time: usize) -> Result<(Array2<f64>, String)> {
        let bucket = self.reader.number("BUCKET_MM")?.filter(|bucket| *bucket > 0.0);
        let mut sum = Array2::zeros((self.shape.ny, self.shape.nx));
        let mut names = Vec::new();
        let has = |name: &str| !name.is_empty() && self.at(time).shows(name);
        for [name, buckets] in PRECIPITATION {
            // Without the first kind there is nothing to show, and an error names it.
            if names.is_empty() || has(name) {
                sum += &self.plane(name, time)?;
                names.push(name);
            }
            if let Some(bucket) = bucket.filter(|_| has(buckets)) {
                sum += &(self.plane(buckets, time)? * bucket);
            }
        }
        Ok((sum, names.join(" + ")))
    }

    /// Sine and cosine of the angle from true east to the x axis in the file; `None` if they are missing, or are not a
    /// sine and cosine. Shape of each: (ny, nx).
    pub(crate) fn rotation(&self, time: usize) -> Result<Option<Rotation>> {
        /// Tolerance of sin² + cos² - 1, for single precision and packing.
        const NEAR: f64 = 1e-2;
        let names = ["SINALPHA", "COSALPHA"];
        if !self.missing(&names).is_empty() {
            return Ok(None);
        }
        let [sine, cosine] = try_map(names, |name| self.plane(name, time))?;
        let is_angle = sine.iter().zip(&cosine).all(|(s, c)| (s * s + c * c - 1.0).abs() < NEAR);
        Ok(is_angle.then_some([sine, cosine]))
    }

    /// The attributes that place the grid on Earth.
    pub(crate) fn projection(&self) -> Result<Vec<(String, Attribute)>> {
        projection(&self.reader)
    }

    /// Latitude and longitude of the cells at a time, degrees; `None` on a plane, where they are all zero, if a value
    /// is NaN, and if they cannot be those of this grid on the globe. Shape of each: (ny, nx).
    pub(crate) fn earth(&self, time: usize) -> Result<Option<[Array2<f64>; 2]>> {
        if !self.missing(&["XLAT", "XLONG"]).is_empty() {
            return Ok(None);
        }
        let places = try_map(["XLAT", "XLONG"], |name| self.plane(name, time))?;
        if places.iter().flatten().all(|&x| x == 0.0) {
            return Ok(None);
        }
        let is_on_earth = |domain: Domain| domain.latitude.is_some() && domain.longitude.is_some();
        Ok(Some(places).filter(|_| self.grid(time).is_ok_and(is_on_earth)))
    }
}
