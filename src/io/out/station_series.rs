//! Time series at stations: two CF files of discrete sampling geometry, one of precipitation and the largest
//! reflectivity, and one of profiles.

use std::borrow::Cow;

use crate::error::Result;
use crate::frame::PointSample;
use crate::grid::Shape;
use crate::io::kind::Kind;
use crate::io::layout::{self, Axes, Variable};
use crate::io::out::append_file::{AppendFile, STRONGEST, VariableInfo};
use crate::io::out::output::Header;
use crate::io::out::sampled_wind::SampledWind;
use crate::io::out::samples::AuxOutput;
use crate::io::store::fields::describe;
use crate::io::store::format::{BlockStore, Definition, Values};
use crate::io::store::writer::Stored;
use crate::io::weights::Coordinates;

/// A station and its coordinates.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlacedStation {
    /// Name of the station.
    pub name: String,
    /// Longitude and latitude, degrees.
    pub on_earth: Option<[f64; 2]>,
    /// x and y on the map, m.
    pub on_map: Option<[f64; 2]>,
    /// Sine and cosine of the angle from true east to the x axis of the run.
    pub angle: Option<[f64; 2]>,
    /// Terrain height of the model, m.
    pub altitude: f64,
}

/// Dimensions of a plane and of a profile.
const GROUND: [&str; 2] = ["station", "time"];
const PROFILE: [&str; 3] = ["station", "time", "z"];

/// The files of the time series, being written.
#[derive(Debug)]
pub(crate) struct Points {
    ground: AppendFile,
    profiles: AppendFile,
    shape: Shape,
    /// Number of the operator that interpolates to the stations.
    operator: usize,
    places: usize,
    wind: SampledWind,
    /// The sampled fields.
    sampled: Vec<Variable>,
    /// The passive tracers.
    passive: Vec<Variable>,
    /// Name of the variable of the reflectivity, if it is diagnosed.
    echo: Option<&'static str>,
}

impl Points {
    /// Starts the files of planes and of profiles.
    pub(crate) fn create<R: Stored>(
        [ground, profiles]: [Box<dyn BlockStore>; 2],
        header: &Header,
        (places, operator): (&[PlacedStation], usize),
    ) -> Result<Self> {
        let shape = header.domain.grid.shape;
        let title = "time series at places of interest";
        let mut ground = AppendFile::create(ground, header, title)?;
        let coordinates = define_places(&mut ground, places, "timeSeries")?;
        let chunks = [places.len(), times_together(places.len())];
        let sampled = layout::sampled(&header.tracers);
        let set = &header.tracers;
        let echo = set.reflectivity().and_then(|number| set.volumes()[number].variable);
        for variable in sampled.iter().filter(|variable| variable.axes == Axes::Plane) {
            let about = VariableInfo::of(variable, &GROUND, &coordinates);
            ground.variable::<R>(&VariableInfo { chunks: &chunks, ..about })?;
            if variable.cell_methods.is_some() {
                ground.attribute(variable.name, "cell_methods", "time: sum")?;
            }
        }
        if echo.is_some() {
            ground.variable::<R>(&VariableInfo {
                dimensions: &GROUND,
                coordinates: &coordinates,
                chunks: &chunks,
                ..STRONGEST
            })?;
        }

        let title = "time series of profiles above places of interest";
        let mut profiles = AppendFile::create(profiles, header, title)?;
        let coordinates = define_places(&mut profiles, places, "timeSeriesProfile")?;
        profiles.define(|file| file.dimension("z", Some(shape.nz)))?;
        let coordinates = format!("{coordinates} height");
        let chunks = [places.len(), times_together(places.len() * shape.nz), shape.nz];
        let passive = Variable::passive(&header.tracers);
        let angles: Option<Vec<[f64; 2]>> = places.iter().map(|place| place.angle).collect();
        let angles =
            angles.map(|angles| [0, 1].map(|n| angles.iter().map(|pair| pair[n]).collect()));
        let wind = SampledWind::at_places(angles.as_ref());
        let all = sampled.iter().chain(&passive);
        for variable in all.filter(|variable| variable.axes != Axes::Plane) {
            let mut about = VariableInfo::of(variable, &PROFILE, &coordinates);
            wind.describe(&mut about);
            about.chunks = &chunks;
            if variable.name == "height" {
                about.coordinates = "";
                about.long_name = "geopotential height of the middle of the layers".into();
            }
            profiles.variable::<R>(&about)?;
        }
        profiles.attribute("height", "positive", "up")?;
        profiles.attribute("height", "axis", "Z")?;
        Ok(Self {
            ground,
            profiles,
            shape,
            operator,
            places: places.len(),
            wind,
            sampled,
            passive,
            echo,
        })
    }
}

/// Values of a chunk: some hundred times of few stations, or one time of very many.
const VALUES_PER_CHUNK: usize = 1 << 15;

/// Times of a chunk, if each has `values` values.
fn times_together(values: usize) -> usize {
    (VALUES_PER_CHUNK / values.max(1)).clamp(1, 512)
}

/// Name of the variable with the names of the stations.
const NAME: &str = "station_name";

/// Adds the stations; returns the names of their coordinates.
fn define_places(file: &mut AppendFile, places: &[PlacedStation], feature: &str) -> Result<String> {
    let longest = places.iter().map(|place| place.name.len()).max().unwrap_or(1);
    file.define(|file| {
        file.attribute(None, "featureType", feature.into())?;
        file.dimension("station", Some(places.len()))?;
        file.dimension("name_strlen", Some(longest))?;
        file.variable(&Definition::small(NAME, Kind::Char, &["station", "name_strlen"]))?;
        // Without the encoding readers take each byte for a letter.
        let is_ascii = places.iter().all(|place| place.name.is_ascii());
        let encoding = ("_Encoding", if is_ascii { "" } else { "utf-8" });
        let long_name = ("long_name", "name of the place");
        describe(file, NAME, &[long_name, ("cf_role", "timeseries_id"), encoding])
    })?;
    for (n, place) in places.iter().enumerate() {
        file.put(NAME, &[n..n + 1, 0..place.name.len()], Values::Text(&place.name))?;
    }
    let mut names = Vec::new();
    let on_earth: Option<Vec<[f64; 2]>> = places.iter().map(|place| place.on_earth).collect();
    let on_map: Option<Vec<[f64; 2]>> = places.iter().map(|place| place.on_map).collect();
    let mut add = |name: &'static str, attributes: [(&str, &str); 3], values: Vec<f64>| {
        names.push(name);
        file.fixed(name, &["station"], &attributes, &values)
    };
    for (of, places) in [(Coordinates::Degrees, on_earth), (Coordinates::Metres, on_map)] {
        let Some(places) = places else { continue };
        let [x, y] = [0, 1].map(|axis| places.iter().map(|place| place[axis]).collect());
        let [along_x, along_y] = of.axes();
        // Latitude before longitude, but x before y.
        let mut both = [(along_x, x), (along_y, y)];
        if of == Coordinates::Degrees {
            both.reverse();
        }
        for ((name, attributes), values) in both {
            add(name, attributes, values)?;
        }
    }
    let long_name = "height of the ground of the model";
    let known = ("standard_name", "surface_altitude");
    let about = [("units", "m"), ("long_name", long_name), known];
    add("alt", about, places.iter().map(|place| place.altitude).collect())?;
    names.push(NAME);
    Ok(names.join(" "))
}

impl<R: Stored> AuxOutput<R> for Points {
    fn sample(&mut self, operator: usize, sample: &PointSample<R>) -> Result<()> {
        if operator != self.operator {
            return Ok(());
        }
        let Self { shape, places, .. } = *self;
        let passive = sample.passive.iter().map(|field| Cow::Borrowed(&**field));
        let passive = self.passive.iter().zip(passive);
        self.ground.begin(sample.seconds)?;
        self.profiles.begin(sample.seconds)?;
        for (variable, field) in self.sampled.iter().zip(self.wind.fields(sample)).chain(passive) {
            if variable.axes == Axes::Plane {
                self.ground.now(variable.name, 1, &[places], &field)?;
                continue;
            }
            // Levels of a station are made contiguous; values on faces are averaged to the layers.
            let at = |k: usize, place: usize| field[k * places + place];
            let on_faces = variable.axes == Axes::VolumeZ;
            let middle = |k: usize, place: usize| {
                if on_faces { R::HALF * (at(k, place) + at(k + 1, place)) } else { at(k, place) }
            };
            let profile = |place: usize| (0..shape.nz).map(move |k| middle(k, place));
            let values: Vec<R> = (0..places).flat_map(profile).collect();
            self.profiles.now(variable.name, 1, &[places, shape.nz], &values)?;
            if Some(variable.name) == self.echo {
                let strongest = |profile: &[R]| {
                    profile.iter().copied().fold(profile[0], |a, b| if b > a { b } else { a })
                };
                let values: Vec<R> = values.chunks(shape.nz).map(strongest).collect();
                self.ground.now(STRONGEST.name, 1, &[places], &values)?;
            }
        }
        Ok(())
    }

    fn publish(&mut self) -> Result<()> {
        self.ground.publish()?;
        self.profiles.publish()
    }

    fn commit(self: Box<Self>) -> Result<()> {
        self.ground.commit()?;
        self.profiles.commit()
    }
}
