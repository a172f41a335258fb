//! A small file as WRF would write it, for a test to run or to break.
//!
//! Moist air at rest above a hill, in hydrostatic balance except for a wave in the pressure, with sheared winds,
//! varying map factors, and all five water species up to the outermost rows.

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::path::Path;

use ndarray::{ArrayD, IxDyn};
use netcdf::types::NcVariableType;
use nwp_mini::io::store::netcdf::nc_char::NcChar;

/// One field: its dimensions after Time, and its values.
#[derive(Clone, Debug)]
pub struct Field {
    pub axes: Vec<&'static str>,
    pub values: ArrayD<f32>,
    pub units: Option<&'static str>,
}

/// A WRF file in the making.
#[derive(Clone, Debug)]
pub struct Small {
    pub lengths: BTreeMap<&'static str, usize>,
    attributes: BTreeMap<&'static str, f32>,
    pub fields: BTreeMap<&'static str, Field>,
    /// Number of times; the fields are the same at all times.
    pub frames: usize,
    pub stamp: &'static str,
}

const X: &str = "west_east";
const Y: &str = "south_north";
const Z: &str = "bottom_top";
const XS: &str = "west_east_stag";
const YS: &str = "south_north_stag";
const ZS: &str = "bottom_top_stag";

/// Pressure at the lid, Pa.
const P_TOP: f64 = 5000.0;
/// Pressure at sea level, Pa.
const P_SEA: f64 = 1e5;
const GRAVITY: f64 = 9.81;
const R_DRY: f64 = 287.0;
const CP_DRY: f64 = 1004.5;
const R_VAPOUR: f64 = 461.6;

/// The air at every place, from which the fields are taken.
struct Air {
    shape: [usize; 3],
    hybrid: bool,
}

impl Air {
    /// Eta of z-face k: thin layers at the ground, thick ones above.
    fn eta(&self, k: usize) -> f64 {
        (1.0 - k as f64 / self.shape[2] as f64).powf(1.3)
    }

    /// Remaining fraction of the terrain at z-face k.
    fn b(&self, k: usize) -> f64 {
        if self.hybrid { self.eta(k).powi(2) } else { self.eta(k) }
    }

    fn thickness(&self, k: usize) -> f64 {
        self.eta(k) - self.eta(k + 1)
    }

    fn c1(&self, k: usize) -> f64 {
        (self.b(k) - self.b(k + 1)) / self.thickness(k)
    }

    fn c2(&self, k: usize) -> f64 {
        (1.0 - self.c1(k)) * (P_SEA - P_TOP)
    }

    fn middle(&self, k: usize) -> f64 {
        0.5 * (self.eta(k) + self.eta(k + 1))
    }

    /// A wave over the whole grid in either direction, between -1 and 1.
    fn wave(&self, j: usize, i: usize, waves: f64) -> f64 {
        let [nx, ny, _] = self.shape;
        (TAU * waves * i as f64 / nx as f64).sin() * (TAU * j as f64 / ny as f64).cos()
    }

    fn height(&self, j: usize, i: usize) -> f64 {
        200.0 * (1.0 + self.wave(j, i, 1.0))
    }

    fn mu(&self, j: usize, i: usize) -> f64 {
        P_SEA * (-self.height(j, i) / 8400.0).exp() - P_TOP
    }

    fn face_pressure(&self, [k, j, i]: [usize; 3]) -> f64 {
        self.b(k) * self.mu(j, i) + (self.eta(k) - self.b(k)) * (P_SEA - P_TOP) + P_TOP
    }

    fn balanced_pressure(&self, [k, j, i]: [usize; 3]) -> f64 {
        0.5 * (self.face_pressure([k, j, i]) + self.face_pressure([k + 1, j, i]))
    }

    fn theta(&self, [k, j, i]: [usize; 3]) -> f64 {
        let up = 1.0 - self.middle(k);
        298.0 + 30.0 * up + 60.0 * up * up + self.wave(j, i, 2.0)
    }

    /// Vapour: below saturation everywhere.
    fn qv(&self, [k, j, i]: [usize; 3]) -> f64 {
        0.012 * self.middle(k).powi(3) * (1.0 + 0.3 * self.wave(j, i, 1.0))
    }

    /// A species that has most at a level and varies around it.
    fn cloud(&self, [k, j, i]: [usize; 3], most: f64, eta: f64) -> f64 {
        let away = (self.middle(k) - eta) / 0.2;
        most * (-away * away).exp() * (1.0 + 0.9 * self.wave(j, i, 2.0))
    }

    /// Depth of a layer times gravity, m² s⁻².
    fn lift(&self, at: [usize; 3]) -> f64 {
        let [k, j, i] = at;
        let mass = (self.c1(k) * self.mu(j, i) + self.c2(k)) * self.thickness(k);
        let moist = self.theta(at) * (1.0 + R_VAPOUR / R_DRY * self.qv(at));
        let exponent = (R_DRY - CP_DRY) / CP_DRY;
        R_DRY / P_SEA * moist * (self.balanced_pressure(at) / P_SEA).powf(exponent) * mass
    }
}

impl Small {
    /// The classic coordinate on 12x10x8 cells.
    #[allow(clippy::new_without_default, reason = "tests name what they make")]
    pub fn new() -> Self {
        Self::of([12, 10, 8], false)
    }

    /// The hybrid coordinate on 12x10x8 cells.
    pub fn hybrid() -> Self {
        Self::of([12, 10, 8], true)
    }

    /// A file of [nx, ny, nz] cells.
    pub fn of(shape: [usize; 3], hybrid: bool) -> Self {
        let [nx, ny, nz] = shape;
        let lengths = [(X, nx), (Y, ny), (Z, nz), (XS, nx + 1), (YS, ny + 1), (ZS, nz + 1)];
        let attributes = [
            ("DX", 20_000.0),
            ("DY", 18_000.0),
            ("DT", 60.0),
            ("MAP_PROJ", 1.0),
            ("CEN_LAT", 45.0),
            ("CEN_LON", 9.0),
            ("TRUELAT1", 30.0),
            ("TRUELAT2", 60.0),
            ("STAND_LON", 9.0),
        ];
        let mut small = Self {
            lengths: lengths.into(),
            attributes: attributes.into(),
            fields: BTreeMap::new(),
            frames: 1,
            stamp: "2005-08-28_18:00:00",
        };
        small.add_air(&Air { shape, hybrid });
        small.add_profiles(&Air { shape, hybrid });
        small.add_map(&Air { shape, hybrid });
        small
    }

    /// The file without clouds and precipitation, so that the microphysics changes nothing.
    pub fn clear() -> Self {
        let mut small = Self::new();
        for name in ["QCLOUD", "QRAIN", "QICE", "QSNOW"] {
            small.values(name).fill(0.0);
        }
        small
    }

    fn volume(
        &mut self,
        name: &'static str,
        axes: [&'static str; 3],
        at: impl Fn([usize; 3]) -> f64,
    ) {
        self.add(name, &axes, |n| at([n[0], n[1], n[2]]));
    }

    fn plane(
        &mut self,
        name: &'static str,
        axes: [&'static str; 2],
        at: impl Fn(usize, usize) -> f64,
    ) {
        self.add(name, &axes, |n| at(n[0], n[1]));
    }

    fn add(&mut self, name: &'static str, axes: &[&'static str], at: impl Fn(&IxDyn) -> f64) {
        let lengths: Vec<usize> = axes.iter().map(|axis| self.lengths[axis]).collect();
        let values = ArrayD::from_shape_fn(lengths, |n| at(&n) as f32);
        self.fields.insert(name, Field { axes: axes.to_vec(), values, units: None });
    }

    fn add_air(&mut self, air: &Air) {
        let centre = [Z, Y, X];
        self.volume("T", centre, |at| air.theta(at) - 300.0);
        self.volume("QVAPOR", centre, |at| air.qv(at));
        self.volume("QCLOUD", centre, |at| air.cloud(at, 5e-4, 0.7));
        self.volume("QRAIN", centre, |at| air.cloud(at, 1e-3, 0.9));
        self.volume("QICE", centre, |at| air.cloud(at, 5e-5, 0.2));
        self.volume("QSNOW", centre, |at| air.cloud(at, 6e-4, 0.4));
        let base = |k: usize| air.middle(k) * (P_SEA - P_TOP) + P_TOP;
        self.volume("PB", centre, |[k, ..]| base(k));
        self.volume("P", centre, |at| {
            let [k, j, i] = at;
            air.balanced_pressure(at) * (1.0 + 2e-3 * air.wave(j, i, 1.0)) - base(k)
        });
        let faces = [ZS, Y, X];
        let base = |k: usize| GRAVITY * 8000.0 * (1.0 - air.eta(k));
        self.volume("PHB", faces, |[k, ..]| base(k));
        self.volume("PH", faces, |[k, j, i]| {
            let below: f64 = (0..k).map(|k| air.lift([k, j, i])).sum();
            GRAVITY * air.height(j, i) + below - base(k)
        });
        self.plane("MUB", [Y, X], |_, _| P_SEA - P_TOP);
        self.plane("MU", [Y, X], |j, i| air.mu(j, i) - (P_SEA - P_TOP));
        self.plane("HGT", [Y, X], |j, i| air.height(j, i));
        self.volume("U", [Z, Y, XS], |[k, j, i]| 4.0 + 3.0 * k as f64 + 6.0 * air.wave(j, i, 1.0));
        self.volume("V", [Z, YS, X], |[k, j, i]| 5.0 * air.wave(i, j, 1.0) - k as f64);
    }

    fn add_profiles(&mut self, air: &Air) {
        self.add("P_TOP", &[], |_| P_TOP);
        self.add("ZNW", &[ZS], |n| air.eta(n[0]));
        self.add("ZNU", &[Z], |n| air.middle(n[0]));
        self.add("DNW", &[Z], |n| -air.thickness(n[0]));
        self.add("RDNW", &[Z], |n| -1.0 / air.thickness(n[0]));
        self.add("C1H", &[Z], |n| air.c1(n[0]));
        self.add("C2H", &[Z], |n| air.c2(n[0]));
        // WRF's weights: half a layer's thickness over the distance of the layers.
        let weight = |k: usize, layer: usize| match k {
            0 => 0.0,
            k => air.thickness(layer) / (air.thickness(k) + air.thickness(k - 1)),
        };
        self.add("FNM", &[Z], |n| weight(n[0], n[0].saturating_sub(1)));
        self.add("FNP", &[Z], |n| weight(n[0], n[0]));
    }

    fn add_map(&mut self, air: &Air) {
        let factor = |j, i, by: f64| 1.0 + by * air.wave(j, i, 1.0);
        self.plane("MAPFAC_MX", [Y, X], |j, i| factor(j, i, 0.03));
        self.plane("MAPFAC_MY", [Y, X], |j, i| factor(j, i, 0.02));
        self.plane("MAPFAC_UX", [Y, XS], |j, i| factor(j, i, 0.03));
        self.plane("MAPFAC_UY", [Y, XS], |j, i| factor(j, i, 0.02));
        self.plane("MAPFAC_VX", [YS, X], |j, i| factor(j, i, 0.03));
        self.plane("MAPFAC_VY", [YS, X], |j, i| factor(j, i, 0.02));
        self.plane("XLAT", [Y, X], |j, _| 45.0 + 0.2 * j as f64);
        self.plane("XLONG", [Y, X], |_, i| 9.0 + 0.2 * i as f64);
    }

    /// The values of a variable, to be changed.
    pub fn values(&mut self, name: &str) -> &mut ArrayD<f32> {
        &mut self.fields.get_mut(name).unwrap_or_else(|| panic!("no {name}")).values
    }

    /// Gives a global attribute another value.
    pub fn set(&mut self, name: &'static str, value: f32) {
        self.attributes.insert(name, value);
    }

    /// Takes a global attribute out.
    pub fn unset(&mut self, name: &str) {
        assert!(self.attributes.remove(name).is_some(), "no {name}");
    }

    /// Takes a variable out.
    pub fn remove(&mut self, name: &str) {
        assert!(self.fields.remove(name).is_some(), "no {name}");
    }

    /// Adds a variable with the axes and units of another one.
    pub fn add_like(&mut self, name: &'static str, other: &str, values: ArrayD<f32>) {
        let field = Field { values, ..self.fields[other].clone() };
        self.fields.insert(name, field);
    }

    /// Writes the file.
    pub fn write(&self, path: &Path) {
        self.put(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }

    fn put(&self, path: &Path) -> netcdf::Result<()> {
        let mut file = netcdf::create(path)?;
        file.add_unlimited_dimension("Time")?;
        file.add_dimension("DateStrLen", self.stamp.len())?;
        for (name, length) in &self.lengths {
            file.add_dimension(name, *length)?;
        }
        for (name, value) in &self.attributes {
            file.add_attribute(name, *value)?;
        }
        file.add_variable_with_type("Times", &["Time", "DateStrLen"], &NcVariableType::Char)?;
        for (name, field) in &self.fields {
            let axes: Vec<&str> =
                std::iter::once("Time").chain(field.axes.iter().copied()).collect();
            let mut variable = file.add_variable::<f32>(name, &axes)?;
            if let Some(units) = field.units {
                variable.put_attribute("units", units)?;
            }
            let values: Vec<f32> = field.values.iter().copied().collect();
            for time in 0..self.frames {
                let whole = field.values.shape().iter().map(|&n| 0..n);
                let extents: Vec<_> = std::iter::once(time..time + 1).chain(whole).collect();
                variable.put_values(&values, extents)?;
            }
        }
        for time in 0..self.frames {
            let mut variable = file.variable_mut("Times").expect("added above");
            variable.put_values(&NcChar::of(self.stamp), [time..time + 1, 0..self.stamp.len()])?;
        }
        file.close()
    }
}
