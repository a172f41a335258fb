//! A mechanism coupled to a weather model: which field each species has, what the air gives it, and the light.

use ndarray::{Array2, Array3};
use time::PrimitiveDateTime;

use super::cells::{Cells, RateUpdate, Settings};
use super::clear_sky::ClearSky;
use super::coupling::{
    NITROGEN, OXYGEN, air, hydrolysis, number_density, relative_humidity, water,
};
use super::kinetics::Kinetics;
use super::mechanism::quantity::{Origin, Quantity};
use super::mechanism::{Mechanism, Role};
use super::rates::PER_AIR_FACTOR;
use super::rosenbrock::{Tolerances, methods};
use super::zenith::Sun;
use crate::constants::Constants;
use crate::grid::Grid;
use crate::state::{Environment, State, memory};

/// Relative tolerance, as in WRF-Chem.
const RELATIVE: f64 = 1e-3;
/// Absolute tolerance, as in WRF-Chem, molecules cm⁻³.
const ABSOLUTE: f64 = 1.0;
/// First step as a part of the interval, as in WRF-Chem.
pub const FIRST_STEP: f64 = 0.01;

/// Origin of the concentration of a fixed species.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixedSource {
    /// All air.
    Air,
    /// Its oxygen.
    Oxygen,
    /// Its nitrogen.
    Nitrogen,
    /// Its water vapour.
    Water,
    /// Its relative humidity, 0 to 1; of a quantity that rates name.
    Humidity,
    /// A field of the state.
    Field(usize),
}

impl FixedSource {
    /// That of a fixed species which the air itself gives, by its name.
    pub fn of_air(name: &str) -> Option<Self> {
        let names: [(&[&str], Self); 4] = [
            (&["M", "AIR"], Self::Air),
            (&["O2"], Self::Oxygen),
            (&["N2"], Self::Nitrogen),
            (&["H2O"], Self::Water),
        ];
        let is_named = |names: &[&str]| names.iter().any(|other| other.eq_ignore_ascii_case(name));
        names.into_iter().find(|(names, _)| is_named(names)).map(|(_, given)| given)
    }
}

/// True of a species of the mechanism that a run carries as a tracer: all but the fixed ones that the air gives.
pub fn is_carried(mechanism: &Mechanism, species: usize) -> bool {
    let species = &mechanism.species[species];
    species.role == Role::Variable || FixedSource::of_air(&species.name).is_none()
}

/// Photolysis frequencies in the order of the mechanism.
#[derive(Clone, Debug, PartialEq)]
pub enum Light {
    /// None: it is dark.
    Dark,
    /// Those under a clear sky.
    ClearSky(Vec<ClearSky>),
    /// Fields of the input, which come with its frames.
    Prescribed,
}

impl Light {
    /// A clear sky for all frequencies of a mechanism, with the words for those that others stand in for.
    ///
    /// # Errors
    ///
    /// The names of those that nothing is known of.
    pub fn clear_sky(mechanism: &Mechanism) -> Result<(Self, Vec<&'static str>), Vec<String>> {
        let found: Vec<_> =
            mechanism.photolysis.iter().map(|name| (name, ClearSky::standing_for(name))).collect();
        let unknown: Vec<String> = found
            .iter()
            .filter(|(_, sky)| sky.is_none())
            .map(|(name, _)| (*name).clone())
            .collect();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let (skies, words): (Vec<_>, Vec<_>) = found.into_iter().filter_map(|(_, sky)| sky).unzip();
        Ok((Self::ClearSky(skies), words.into_iter().flatten().collect()))
    }

    /// The frequencies (s⁻¹) of a mechanism with so many, with the sun at a zenith angle of this cosine; none where cells
    /// have their own.
    pub fn frequencies(&self, count: usize, cosine: f64) -> Vec<f64> {
        match self {
            Self::Prescribed => Vec::new(),
            Self::Dark => vec![0.0; count],
            Self::ClearSky(skies) => skies.iter().map(|sky| sky.frequency(cosine)).collect(),
        }
    }
}

/// Latitude or longitude of the columns, degrees north or east.
#[derive(Clone, Debug, PartialEq)]
pub enum Degrees {
    /// The same of all.
    One(f64),
    /// Of each its own. Shape: (ny, nx).
    Each(Array2<f32>),
}

impl Degrees {
    /// That of a column `[j, i]`.
    pub fn of(&self, column: [usize; 2]) -> f64 {
        match self {
            Self::One(degrees) => *degrees,
            Self::Each(plane) => f64::from(plane[column]),
        }
    }
}

/// All that the chemistry of a run is given; the same on CPU and GPU.
#[derive(Clone, Debug)]
pub struct Coupled {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// Its tables.
    pub kinetics: Kinetics,
    /// Field of the state of each species of the mechanism; `None` where the air gives it.
    pub fields: Vec<Option<usize>>,
    /// The light.
    pub light: Light,
    /// Latitude and longitude of the columns.
    pub place: [Degrees; 2],
    /// The date (UTC) that times of the run count from.
    pub date: PrimitiveDateTime,
    /// Time between calls, s, of which each comes with the step that reaches it; 0 for every step.
    pub interval: f64,
    /// True if a call begins in every cell with the step that the cell's last call would have gone on with.
    pub keeps_steps: bool,
}

/// The light of all columns at a time.
#[derive(Clone, Debug)]
pub struct Daylight {
    /// Photolysis frequencies, column by column, s⁻¹; none where cells have their own.
    pub frequencies: Vec<f64>,
    /// True solar time of the columns, s.
    pub clock: Vec<f64>,
}

impl Coupled {
    /// The chemistry of a part of the grid.
    ///
    /// # Panics
    ///
    /// When this is not of the global grid of the part.
    #[must_use]
    pub(crate) fn part(&self, part: &Grid) -> Self {
        let place = self.place.each_ref().map(|degrees| match degrees {
            Degrees::Each(plane) => Degrees::Each(part.columns(plane)),
            Degrees::One(degrees) => Degrees::One(*degrees),
        });
        Self { place, ..self.clone() }
    }

    /// Settings of a call over `interval` seconds.
    pub fn settings(&self, interval: f64) -> Settings {
        Settings {
            method: methods::ROS3,
            tolerances: Tolerances { relative: RELATIVE, absolute: ABSOLUTE },
            interval,
            first_step: FIRST_STEP * interval,
            rates: RateUpdate::Frozen,
        }
    }

    /// Fields of the variable species in the order of the integration.
    ///
    /// # Panics
    ///
    /// When one of them has no field.
    pub fn variable(&self) -> Vec<usize> {
        let field = |&species: &usize| self.fields[species].expect("a variable species is carried");
        self.kinetics.variable.iter().map(field).collect()
    }

    /// Origins of the fixed species that occur, in the order of the integration.
    pub fn fixed(&self) -> Vec<FixedSource> {
        let given = |&species: &usize| match self.fields[species] {
            Some(field) => FixedSource::Field(field),
            None => FixedSource::of_air(&self.mechanism.species[species].name)
                .unwrap_or(FixedSource::Air),
        };
        self.kinetics.fixed.iter().map(given).collect()
    }

    /// Origins of the quantities that the rates name.
    pub fn quantities(&self) -> Vec<FixedSource> {
        let of_species = |species: usize| match self.fields[species] {
            Some(field) => FixedSource::Field(field),
            None => FixedSource::of_air(&self.mechanism.species[species].name)
                .unwrap_or(FixedSource::Air),
        };
        let one = |quantity: &Quantity| match quantity.origin {
            Origin::Water => FixedSource::Water,
            Origin::Humidity => FixedSource::Humidity,
            Origin::Oxygen => FixedSource::Oxygen,
            Origin::Nitrogen => FixedSource::Nitrogen,
            Origin::Species(species) => of_species(species),
            Origin::Air | Origin::Host(_) => FixedSource::Air,
        };
        self.mechanism.quantities.iter().map(one).collect()
    }

    /// The light of the columns of a grid of (ny, nx), `seconds` after the date.
    pub fn daylight(&self, [ny, nx]: [usize; 2], seconds: f64) -> Daylight {
        let sun = Sun::at(self.date, seconds);
        let count = self.mechanism.photolysis.len();
        let columns = (0..ny).flat_map(|j| (0..nx).map(move |i| [j, i]));
        let mut daylight = Daylight {
            frequencies: Vec::with_capacity(count * ny * nx),
            clock: Vec::with_capacity(ny * nx),
        };
        for column in columns {
            let [latitude, longitude] = self.place.each_ref().map(|degrees| degrees.of(column));
            let cosine = sun.cosine(latitude, longitude);
            daylight.frequencies.extend(self.light.frequencies(count, cosine));
            daylight.clock.push(sun.local(longitude));
        }
        daylight
    }

    /// Cells of a state by their numbers in its fields; `prescribed` are the photolysis frequencies (s⁻¹) of
    /// [`Light::Prescribed`] at the time of the daylight.
    ///
    /// # Panics
    ///
    /// When a field is not in standard layout or missing, or there is no such cell.
    pub fn cells<R: Constants>(
        &self,
        state: &State<R>,
        (environment, prescribed): (&Environment<R>, &[Array3<R>]),
        daylight: &Daylight,
        cells: &[usize],
    ) -> Cells {
        let columns = daylight.clock.len();
        let count = self.mechanism.photolysis.len();
        let [rho, exner, p] =
            [&environment.rho, &environment.exner, &environment.p].map(|field| memory(field));
        let [theta, qv] = [state.theta(), state.qv()].map(|field| memory(field));
        let value = |field: &[R], cell: usize| field[cell].f64();
        let of = |make: &dyn Fn(usize) -> f64| {
            cells.iter().map(|&cell| make(cell)).collect::<Vec<f64>>()
        };
        let temperature = |cell: usize| (value(theta, cell) + f64::THETA_BASE) * value(exner, cell);
        let density = of(&|cell| air(value(rho, cell)));
        let humidity =
            |cell: usize| relative_humidity(value(p, cell), temperature(cell), value(qv, cell));
        let is_prescribed = self.light == Light::Prescribed;
        let lights: Vec<&[R]> = if is_prescribed {
            assert_eq!(prescribed.len(), count, "a field for each photolysis frequency");
            prescribed.iter().map(memory).collect()
        } else {
            Vec::new()
        };
        let frequency = |cell: usize, number: usize| match lights.get(number) {
            Some(field) => field[cell].f64(),
            None => daylight.frequencies[cell % columns * count + number],
        };
        let variable = self.variable();
        let fields: Vec<&[R]> = variable.iter().map(|&n| memory(&state.fields()[n])).collect();
        let (fixed, quantities) = (self.fixed(), self.quantities());
        let given = |origin: &FixedSource, cell: usize, m: f64| match *origin {
            FixedSource::Air => m,
            FixedSource::Oxygen => OXYGEN * m,
            FixedSource::Nitrogen => NITROGEN * m,
            FixedSource::Water => water(value(qv, cell), value(rho, cell)),
            FixedSource::Humidity => humidity(cell),
            FixedSource::Field(n) => number_density(memory(&state.fields()[n])[cell].f64(), m),
        };
        let pairs = || cells.iter().zip(&density);
        Cells {
            variable: pairs()
                .flat_map(|(&cell, &m)| {
                    fields.iter().map(move |field| number_density(field[cell].f64(), m))
                })
                .collect(),
            fixed: pairs()
                .flat_map(|(&cell, &m)| fixed.iter().map(move |origin| given(origin, cell, m)))
                .collect(),
            quantities: pairs()
                .flat_map(|(&cell, &m)| quantities.iter().map(move |origin| given(origin, cell, m)))
                .collect(),
            temperature: of(&temperature),
            air_factor: density.iter().map(|m| m / PER_AIR_FACTOR).collect(),
            hydrolysis: of(&|cell| hydrolysis(humidity(cell))),
            photolysis: cells
                .iter()
                .flat_map(|&cell| (0..count).map(move |number| (cell, number)))
                .map(|(cell, number)| frequency(cell, number))
                .collect(),
            start: of(&|cell| daylight.clock[cell % columns]),
            first_step: Vec::new(),
            air_density: density,
        }
    }
}
