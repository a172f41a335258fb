//! Fields of a WRF file for pictures: every available field, also of files that cannot be input of a run.

use std::path::Path;

use ndarray::{Array2, Array3, Ix2, Ix3, Zip, s};
use time::PrimitiveDateTime;

use super::source::{Stagger, TimeReader};
use super::theta::{self, Origin};
use super::times::{self, TimeSource, Times};
use super::{Attribute, Domain, air, grid, projection, spacing};
use crate::constants::Constants;
use crate::error::Result;
use crate::grid::Shape;
use crate::io::grid_north::Rotation;
use crate::io::reader::Reader;
use crate::thermo;

/// An open file for pictures.
#[derive(Debug)]
pub struct PlotInput {
    reader: Reader,
    shape: Shape,
    cell: [f64; 2],
    times: Vec<PrimitiveDateTime>,
    has_times: bool,
}

/// Variables of one kind of precipitation, and the variable with its bucket counts.
const PRECIPITATION: [[&str; 2]; 3] =
    [["RAINNC", "I_RAINNC"], ["RAINC", "I_RAINC"], ["RAINSH", ""]];

impl PlotInput {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Io`] or [`crate::error::Error::Input`] when it cannot be read, is not NetCDF, or has no
    /// WRF grid.
    pub fn open(path: &Path) -> Result<Self> {
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
        Ok(Self { reader, shape, cell, times, has_times })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.reader.path()
    }

    /// Shape of its grid.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Width and height of a cell on the map, m.
    pub fn cell(&self) -> [f64; 2] {
        self.cell
    }

    /// Its times; without any, the first day of the calendar.
    pub fn times(&self) -> &[PrimitiveDateTime] {
        &self.times
    }

    /// Returns `true` if the file states its times.
    pub fn has_times(&self) -> bool {
        self.has_times
    }

    /// The given variables that the file lacks; `A|B` means either.
    pub fn missing<'a>(&self, names: &[&'a str]) -> Vec<&'a str> {
        let source = self.at(0);
        let has = |name: &str| source.shows(name);
        names.iter().copied().filter(|names| !names.split('|').any(has)).collect()
    }

    /// The grid at a time, as a single layer without air.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Input`] where its coordinates cannot be those of a grid.
    pub fn grid(&self, time: usize) -> Result<Domain> {
        grid::at(&self.at(time)).map(|(domain, _)| domain)
    }

    fn at(&self, time: usize) -> TimeReader<'_> {
        TimeReader::new(&self.reader, self.shape, time)
    }

    /// The units of a variable in the file.
    pub fn units(&self, name: &str) -> Option<String> {
        Reader::units(&self.reader.variable(name).ok()?)
    }

    /// A field of a plane; non-finite values are NaN. Shape: (ny, nx).
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Input`] when it is missing, or has other dimensions or units.
    #[expect(clippy::missing_panics_doc, reason = "two dimensions are read")]
    pub fn plane(&self, name: &str, time: usize) -> Result<Array2<f64>> {
        let values = self.at(time).incomplete(name, Stagger::Centre, true)?;
        let plane = values.into_dimensionality::<Ix2>().expect("two dimensions were read");
        Ok(plane.mapv(f64::from))
    }

    /// A field of the cells; non-finite values are NaN. Shape: (nz, ny, nx).
    ///
    /// # Errors
    ///
    /// As [`PlotInput::plane`].
    pub fn volume(&self, name: &str, time: usize) -> Result<Array3<f32>> {
        self.staggered(name, time, Stagger::Centre)
    }

    fn staggered(&self, name: &str, time: usize, place: Stagger) -> Result<Array3<f32>> {
        let values = self.at(time).incomplete(name, place, false)?;
        Ok(values.into_dimensionality::<Ix3>().expect("three dimensions were read"))
    }

    fn sum(&self, names: [&str; 2], time: usize, place: Stagger) -> Result<Array3<f32>> {
        let mut sum = self.staggered(names[0], time, place)?;
        let other = self.staggered(names[1], time, place)?;
        // In double precision, since it is a large base and a small perturbation.
        Zip::from(&mut sum)
            .and(&other)
            .for_each(|a, &b| *a = (f64::from(*a) + f64::from(b)) as f32);
        Ok(sum)
    }

    /// Pressure, Pa. Shape: (nz, ny, nx).
    ///
    /// # Errors
    ///
    /// As [`PlotInput::plane`], of P and PB.
    pub fn pressure(&self, time: usize) -> Result<Array3<f32>> {
        self.sum(["P", "PB"], time, Stagger::Centre)
    }

    /// Height of the interfaces of the layers, m. Shape: (nz + 1, ny, nx).
    ///
    /// # Errors
    ///
    /// As [`PlotInput::plane`], of PH and PHB.
    pub fn heights(&self, time: usize) -> Result<Array3<f32>> {
        let gravity = <f64 as Constants>::GRAVITY as f32;
        Ok(self.sum(["PH", "PHB"], time, Stagger::FaceZ)?.mapv_into(|x| x / gravity))
    }

    /// Potential temperature, K. Shape: (nz, ny, nx).
    ///
    /// # Errors
    ///
    /// As [`PlotInput::plane`], of T, or of THM and QVAPOR.
    pub fn theta(&self, time: usize) -> Result<Array3<f32>> {
        let base = <f64 as Constants>::THETA_BASE as f32;
        let (theta, origin) = theta::choose(&self.reader, |name| {
            if self.at(time).shows(name) { self.volume(name, time).map(Some) } else { Ok(None) }
        })?;
        let theta = match origin {
            Origin::Thm { is_moist: true, .. } => {
                air::dry_theta(theta, &self.volume("QVAPOR", time)?)
            }
            _ => theta,
        };
        Ok(theta.mapv_into(|x| x + base))
    }

    /// Temperature, K. Shape: (nz, ny, nx).
    ///
    /// # Errors
    ///
    /// Those of [`PlotInput::theta`] and [`PlotInput::pressure`].
    pub fn temperature(&self, time: usize) -> Result<Array3<f32>> {
        let mut t = self.theta(time)?;
        Zip::from(&mut t)
            .and(&self.pressure(time)?)
            .for_each(|t, &p| *t *= thermo::exner(f64::from(p)) as f32);
        Ok(t)
    }

    /// Wind along x and y in the middle of the cells, m s⁻¹. Shape of each: (nz, ny, nx).
    ///
    /// # Errors
    ///
    /// As [`PlotInput::plane`], of U and V.
    pub fn wind(&self, time: usize) -> Result<[Array3<f32>; 2]> {
        let u = self.staggered("U", time, Stagger::FaceX)?;
        let v = self.staggered("V", time, Stagger::FaceY)?;
        let middle = |a: &f32, b: &f32| f32::midpoint(*a, *b);
        Ok([
            Zip::from(u.slice(s![.., .., ..-1])).and(u.slice(s![.., .., 1..])).map_collect(middle),
            Zip::from(v.slice(s![.., ..-1, ..])).and(v.slice(s![.., 1.., ..])).map_collect(middle),
        ])
    }

    /// Upward wind at the interfaces of the layers, m s⁻¹. Shape: (nz + 1, ny, nx).
    ///
    /// # Errors
    ///
    /// As [`PlotInput::plane`], of W.
    pub fn upward_wind(&self, time: usize) -> Result<Array3<f32>> {
        self.staggered("W", time, Stagger::FaceZ)
    }

    /// Density of the dry air, kg m⁻³. Shape: (nz, ny, nx).
    ///
    /// # Errors
    ///
    /// Those of [`PlotInput::theta`] and [`PlotInput::pressure`].
    pub fn density(&self, time: usize) -> Result<Array3<f32>> {
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
    ///
    /// # Errors
    ///
    /// As [`PlotInput::plane`], of RAINNC.
    pub fn precipitation(&self, time: usize) -> Result<(Array2<f64>, String)> {
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
    ///
    /// # Errors
    ///
    /// As [`PlotInput::plane`].
    pub fn rotation(&self, time: usize) -> Result<Option<Rotation>> {
        /// Tolerance of sin² + cos² - 1, for single precision and packing.
        const NEAR: f64 = 1e-2;
        let names = ["SINALPHA", "COSALPHA"];
        if !self.missing(&names).is_empty() {
            return Ok(None);
        }
        let [sine, cosine] = [self.plane(names[0], time)?, self.plane(names[1], time)?];
        let is_angle = sine.iter().zip(&cosine).all(|(s, c)| (s * s + c * c - 1.0).abs() < NEAR);
        Ok(is_angle.then_some([sine, cosine]))
    }

    /// The attributes that place the grid on Earth.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Input`] where one is not a finite number.
    pub fn projection(&self) -> Result<Vec<(String, Attribute)>> {
        projection(&self.reader)
    }

    /// Latitude and longitude of the cells at a time, degrees; `None` on a plane, where they are all zero, if a value
    /// is NaN, and if they cannot be those of this grid on the globe. Shape of each: (ny, nx).
    ///
    /// # Errors
    ///
    /// As [`PlotInput::plane`].
    pub fn earth(&self, time: usize) -> Result<Option<[Array2<f64>; 2]>> {
        if !self.missing(&["XLAT", "XLONG"]).is_empty() {
            return Ok(None);
        }
        let [latitude, longitude] = ["XLAT", "XLONG"].map(|name| self.plane(name, time));
        let (latitude, longitude) = (latitude?, longitude?);
        let is_somewhere = latitude.iter().chain(&longitude).any(|&x| x != 0.0);
        if !is_somewhere {
            return Ok(None);
        }
        let Ok(domain) = self.grid(time) else { return Ok(None) };
        let is_earth = domain.latitude.is_some() && domain.longitude.is_some();
        Ok(is_earth.then_some([latitude, longitude]))
    }
}
