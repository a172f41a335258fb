//! The pictures of a file.

use ndarray::Array2;

use super::Drawn;
use super::scene::{REFLECTIVITY, Scene, TimeAxis, hydrometeors};
use crate::constants::Constants;
use crate::constituents::known;
use crate::diagnostics::column_ops;
use crate::diagnostics::section::CrossSection;
use crate::error::Result;
use crate::plot::axes::round_step;
use crate::plot::canvas::{Picture, Stroke};
use crate::plot::colour::{Colour, INK, SERIES, Scale, hex, series, short};
use crate::plot::curves::{Curve, Layout, Panel};
use crate::plot::map::Map;
use crate::plot::section::{Lines, Section, Wind};
use crate::plot::{curves, map, section};

/// Grams in a kilogram.
const GRAMS: f64 = 1e3;
/// Colours of the hydrometeors, in the order of [`hydrometeors`]; repeated if there are more.
const COLOURS: [Colour; 5] = [SERIES[0], SERIES[1], SERIES[4], SERIES[5], SERIES[3]];
/// Points along a section, and heights.
pub(super) const CUT: [usize; 2] = [350, 150];

/// Text form of a point.
pub(super) fn place_name([i, j]: [f64; 2]) -> String {
    let digits = |x: f64| format!("{x:.1}").trim_end_matches(".0").to_owned();
    format!("i={} j={}", digits(i), digits(j))
}

/// Number of values that are NaN, if there are any.
pub(super) fn gaps(field: &Array2<f64>) -> String {
    match field.iter().filter(|x| x.is_nan()).count() {
        0 => String::new(),
        1 => "; one cell (grey) holds no number".to_owned(),
        count => format!("; {count} cells (grey) hold no number"),
    }
}

/// Note on a field without values.
pub(super) const NO_VALUES: &str = "no values at this time";

impl Scene<'_> {
    /// Map of the accumulated precipitation.
    pub(super) fn precipitation(&self) -> Drawn {
        let (field, names) = self.input.precipitation(self.time)?;
        let (most, [j, i]) = column_ops::largest(&field).unwrap_or((0.0, [0, 0]));
        let scale = Scale::amounts("precipitation, mm", most);
        let mean = column_ops::mean(field.iter().copied());
        let kinds = if names == "RAINNC" { String::new() } else { format!(" ({names})") };
        let about = format!(
            "since the start of the simulation{kinds}; mean {} mm over all cells, largest {} mm at {}{}",
            short(mean),
            short(most),
            place_name([i as f64, j as f64]),
            gaps(&field)
        );
        let note = (most <= 0.0).then(|| "nothing has fallen".to_owned());
        self.map("Accumulated precipitation", about, &field, &scale, note)
    }

    /// The largest reflectivity of each column.
    pub(super) fn reflectivity(&self) -> Drawn {
        let field = self.reflectivity.as_ref().expect("the file has it");
        let (most, [j, i]) = column_ops::largest(field).unwrap_or((f64::NAN, [0, 0]));
        let at = place_name([i as f64, j as f64]);
        let scale = Scale::radar();
        let about = format!("largest {} dBZ at {at}{}", short(most), gaps(field));
        let least = scale.bounds[0];
        let note = (most < least).then(|| format!("no echo of {least:.0} dBZ or more"));
        self.map("Largest reflectivity of each column", about, field, &scale, note)
    }

    /// A map with a line about it, and a note if it is empty.
    pub(super) fn map(
        &self,
        title: &str,
        mut about: String,
        field: &Array2<f64>,
        scale: &Scale,
        mut note: Option<String>,
    ) -> Drawn {
        if column_ops::largest(field).is_none() {
            NO_VALUES.clone_into(&mut about);
            note = Some(NO_VALUES.to_owned());
        }
        let earth = self.input.earth(self.time)?;
        let has_line = self.input.missing(&["PH", "PHB"]).is_empty();
        Ok(map::draw(&Map {
            title: title.to_owned(),
            below: vec![self.when(), about],
            field,
            cell: self.cell(),
            scale,
            earth: earth.as_ref().map(|[latitude, longitude]| [latitude, longitude]),
            line: has_line.then_some([self.line.from, self.line.to]),
            note,
        }))
    }

    /// A vertical section.
    pub(super) fn section(&self) -> Drawn {
        let names: Vec<&str> = hydrometeors().map(|(name, _)| name).collect();
        let either = format!("{REFLECTIVITY}|{}", names.join("|"));
        self.require(&[&either])?;
        let faces = self.input.heights(self.time)?;
        let top = self.upper_side(&faces)?;
        let cut = CrossSection::new(self.line, &faces, CUT, top);
        let parts = SectionFields::cut(self, &cut)?;
        Ok(self.cut_open("Vertical section".to_owned(), &cut, top, parts.panels()))
    }

    /// A vertical section with these panels.
    pub(super) fn cut_open(
        &self,
        title: String,
        cut: &CrossSection,
        top: f64,
        panels: Vec<section::Panel<'_>>,
    ) -> Picture {
        let length = self.line.length(self.cell());
        let [from, to] = [self.line.from, self.line.to].map(place_name);
        let through = self.through.map_or(String::new(), |what| format!(", through {what}"));
        let about = format!("from A at {from} to B at {to}, {} km{through}", short(length));
        section::draw(&Section {
            title,
            below: vec![self.when(), about],
            length,
            top: top / 1e3,
            ground: cut.ground().iter().map(|height| height / 1e3).collect(),
            panels,
        })
    }

    /// Height slightly above the highest cloud, m.
    fn upper_side(&self, faces: &ndarray::Array3<f32>) -> Result<f64> {
        /// Least mixing ratio of a cloud, kg kg⁻¹.
        const CLOUD: f32 = 1e-6;
        /// Lowest upper edge, m.
        const LOWEST: f64 = 10_000.0;
        let means = column_ops::level_means(faces);
        let lid = means.last().copied().unwrap_or(LOWEST);
        let mut highest = 0;
        for (name, _) in self.hydrometeors() {
            let field = self.input.volume(name, self.time)?;
            let levels = field.outer_iter().enumerate();
            let cloudy = levels.filter(|(_, level)| level.iter().any(|q| *q > CLOUD));
            highest = highest.max(cloudy.map(|(k, _)| k + 1).max().unwrap_or(0));
        }
        Ok((1.15 * means[highest]).max(LOWEST).min(lid))
    }

    /// The hydrometeors that the file has.
    fn hydrometeors(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let has = |name: &str| self.input.missing(&[name]).is_empty();
        let words = |name, words| self.input.words_of_all_phases(name).unwrap_or(words);
        let all = hydrometeors().filter(move |(name, _)| has(name));
        all.map(move |(name, usual)| (name, words(name, usual)))
    }

    /// Means of the levels.
    pub(super) fn profiles(&self) -> Drawn {
        let panels = profile_panels(&[(self, Stroke::solid(INK, 2.2), None)])?;
        let below = [self.when(), "means over all cells of a level".to_owned()];
        let layout = Layout { columns: 2, size: [330.0, 470.0] };
        Ok(curves::draw("Mean profiles of water", &below, &panels, layout))
    }

    /// Water and precipitation in time.
    pub(super) fn series(&self) -> Drawn {
        let panels = self.series_panels(self.time_axis()?)?;
        let below = [self.period(), "means over all cells".to_owned()];
        let layout = Layout { columns: 1, size: [700.0, 200.0] };
        Ok(curves::draw("Water and precipitation in time", &below, &panels, layout))
    }

    fn series_panels(&self, axis: TimeAxis) -> Result<Vec<Panel>> {
        let TimeAxis { minutes, unit, name: axis } = axis;
        let count = minutes.len();
        let at: Vec<f64> = minutes.iter().map(|minute| minute / unit).collect();
        let mut fallen = Vec::new();
        let mut most = Vec::new();
        for time in 0..count {
            let (field, _) = self.input.precipitation(time)?;
            fallen.push(column_ops::mean(field.iter().copied()));
            most.push(column_ops::largest(&field).map_or(f64::NAN, |(most, _)| most));
        }
        let curve = |name: &str, values: &[f64], colour: Colour| Curve {
            name: name.to_owned(),
            points: at.iter().zip(values).map(|(&x, &y)| [x, y]).collect(),
            stroke: Stroke::solid(colour, 2.2),
            has_dots: count <= 40,
        };
        let panel = |title: &str, name: &str, curves: Vec<Curve>| Panel {
            title: title.to_owned(),
            names: [axis.to_owned(), name.to_owned()],
            curves,
            zero_on: Some(1),
            x_range: Some([at[0], at[count - 1]]),
        };
        let rate = (1..count).flat_map(|n| {
            let rate = (fallen[n] - fallen[n - 1]) / (minutes[n] - minutes[n - 1]) * 60.0;
            [[at[n - 1], rate], [at[n], rate]]
        });
        let rate = Curve {
            points: rate.collect(),
            has_dots: false,
            ..curve("rain rate between the times", &[], series(2))
        };
        let largest = curve("largest of a cell", &most, series(1));
        let water = match self.contents()? {
            None => panel("Precipitation", "mm", vec![curve("fallen", &fallen, series(2))]),
            Some([vapour, condensate]) => {
                let since = |values: &Vec<f64>| -> Vec<f64> {
                    values.iter().map(|x| x - values[0]).collect()
                };
                let [vapour, condensate, fallen] = [&vapour, &condensate, &fallen].map(since);
                let rest: Vec<f64> =
                    (0..count).map(|n| vapour[n] + condensate[n] + fallen[n]).collect();
                let sum = Curve {
                    stroke: Stroke::dashed(series(0), 2.0, &[6.0, 3.0]),
                    has_dots: false,
                    ..curve("sum: through the sides, and errors", &rest, series(0))
                };
                let curves = vec![
                    curve("vapour", &vapour, series(3)),
                    curve("hydrometeors", &condensate, series(4)),
                    curve("fallen", &fallen, series(2)),
                    sum,
                ];
                let title = "Water in the air and on the ground, change since the first time";
                panel(title, "kg m⁻²", curves)
            }
        };
        Ok(vec![
            water,
            panel("Rain rate", "mm h⁻¹", vec![rate]),
            panel("Largest precipitation of a cell", "mm", vec![largest]),
        ])
    }

    /// Vapour and condensate column content at every time, kg m⁻², if known.
    fn contents(&self) -> Result<Option<[Vec<f64>; 2]>> {
        let has = |names: &[&str]| self.input.missing(names).is_empty();
        // Vapour, then the hydrometeors.
        let water =
            || std::iter::once(known::VAPOUR.variable).chain(hydrometeors().map(|(name, _)| name));
        let paths: Vec<String> = water()
            .map(|name| format!("{name}_PATH"))
            .filter(|path| has(&[path.as_str()]))
            .collect();
        let has_paths =
            paths.first().is_some_and(|first| first.starts_with(known::VAPOUR.variable))
                && water().all(|name| !has(&[name]) || paths.contains(&format!("{name}_PATH")));
        if !has_paths && !has(&[known::VAPOUR.variable, "T|THM", "P", "PB", "PH", "PHB"]) {
            return Ok(None);
        }
        let mut contents = [Vec::new(), Vec::new()];
        for time in 0..self.input.times().len() {
            let air = if has_paths {
                None
            } else {
                Some((self.input.density(time)?, self.input.heights(time)?))
            };
            let mut sums = [0.0, 0.0];
            let mut add = |number: usize, content: Array2<f64>| {
                sums[number.min(1)] += column_ops::mean(content.iter().copied());
            };
            match &air {
                None => {
                    for (number, path) in paths.iter().enumerate() {
                        add(number, self.input.plane(path, time)?);
                    }
                }
                Some((rho, faces)) => {
                    for (number, name) in water().enumerate().filter(|(_, name)| has(&[name])) {
                        let ratio = self.input.volume(name, time)?;
                        add(number, column_ops::content(rho, &ratio, faces));
                    }
                }
            }
            contents.iter_mut().zip(sums).for_each(|(series, sum)| series.push(sum));
        }
        Ok(Some(contents))
    }
}

/// Panels of vapour and of hydrometeors, of one file or of several with their names and strokes.
pub(super) fn profile_panels(scenes: &[(&Scene<'_>, Stroke, Option<&str>)]) -> Result<Vec<Panel>> {
    let panel = |title: &str, name: &str| Panel {
        title: title.to_owned(),
        names: [name.to_owned(), "height, km".to_owned()],
        curves: Vec::new(),
        zero_on: Some(0),
        x_range: None,
    };
    let mut vapour = panel("Vapour", "mixing ratio, g kg⁻¹");
    let mut condensate = panel("Hydrometeors", "mixing ratio, g kg⁻¹");
    for (scene, stroke, _) in scenes {
        let faces = column_ops::level_means(&scene.input.heights(scene.time)?);
        let heights: Vec<f64> =
            faces.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]) / 1e3).collect();
        let curve = |name: &str, words: &str, colour: Colour| -> Result<Curve> {
            let means = column_ops::level_means(&scene.input.volume(name, scene.time)?);
            Ok(Curve {
                name: words.to_owned(),
                points: means.iter().zip(&heights).map(|(q, &z)| [q * GRAMS, z]).collect(),
                stroke: Stroke { colour, ..*stroke },
                has_dots: false,
            })
        };
        vapour.curves.push(curve("QVAPOR", "vapour", series(2))?);
        for (name, words) in scene.hydrometeors() {
            let number = hydrometeors().position(|(other, _)| other == name);
            condensate.curves.push(curve(
                name,
                words,
                COLOURS[number.unwrap_or(0) % COLOURS.len()],
            )?);
        }
    }
    // A line without points adds a legend entry for each file.
    for (_, stroke, file) in scenes {
        let stroke = Stroke { colour: INK, ..*stroke };
        vapour.curves.extend(file.map(|file| Curve {
            name: file.to_owned(),
            points: Vec::new(),
            stroke,
            has_dots: false,
        }));
    }
    let both = if condensate.curves.is_empty() { vec![vapour] } else { vec![vapour, condensate] };
    Ok(both)
}

/// The fields of a section.
struct SectionFields {
    reflectivity: Option<Array2<f64>>,
    condensate: Option<Array2<f64>>,
    hydrometeors: Vec<(&'static str, Array2<f64>)>,
    theta: Option<Array2<f64>>,
    celsius: Option<Array2<f64>>,
    wind: Option<[Array2<f64>; 2]>,
}

/// Colours of the contour lines of potential temperature and of freezing.
const THETA: Colour = hex(0x55_5555);
const FREEZING: Colour = hex(0xD5_1E8A);

impl SectionFields {
    fn cut(scene: &Scene<'_>, cut: &CrossSection) -> Result<Self> {
        let (input, time) = (scene.input, scene.time);
        let has = |names: &[&str]| input.missing(names).is_empty();
        let volume = |name: &str| -> Result<Array2<f64>> { Ok(cut.of(&input.volume(name, time)?)) };
        let mut hydrometeors = Vec::new();
        for (name, words) in scene.hydrometeors() {
            hydrometeors.push((words, volume(name)?.mapv_into(|q| q * GRAMS)));
        }
        let condensate = hydrometeors.iter().map(|(_, field)| field.clone()).reduce(|a, b| a + b);
        let wind = if has(&["U", "V", "W"]) {
            let [u, v] = input.wind(time)?;
            let [x, y] = scene.line.direction(scene.cell());
            let along = cut.of(&u) * x + cut.of(&v) * y;
            Some([along, cut.of(&input.upward_wind(time)?)])
        } else {
            None
        };
        let has_theta = has(&["T"]) || has(&["THM", "QVAPOR"]);
        let theta = has_theta.then(|| input.theta(time)).transpose()?;
        let celsius = if has_theta && has(&["P", "PB"]) {
            let freezing = <f64 as Constants>::FREEZING;
            Some(cut.of(&input.temperature(time)?).mapv_into(|t| t - freezing))
        } else {
            None
        };
        Ok(Self {
            reflectivity: has(&[REFLECTIVITY]).then(|| volume(REFLECTIVITY)).transpose()?,
            condensate,
            hydrometeors,
            theta: theta.map(|theta| cut.of(&theta)),
            celsius,
            wind,
        })
    }

    fn panels(&self) -> Vec<section::Panel<'_>> {
        let mut panels = Vec::new();
        if let Some(field) = &self.reflectivity {
            panels.push(section::Panel {
                title: "Reflectivity, potential temperature, wind".to_owned(),
                field,
                scale: Scale::radar(),
                lines: self.lines_of_air(),
                wind: self.arrows(),
                note: None,
            });
        }
        if let Some(field) = &self.condensate {
            let finite = || field.iter().copied().filter(|q| q.is_finite());
            let most = finite().fold(0.0, f64::max);
            let nothing = if finite().next().is_some() { "no hydrometeors" } else { "no numbers" };
            let mut lines: Vec<Lines<'_>> =
                self.hydrometeors.iter().zip(COLOURS).map(lines_of).collect();
            let mut wind = None;
            if panels.is_empty() {
                lines.extend(self.lines_of_air());
                wind = self.arrows();
            } else {
                lines.extend(self.freezing());
            }
            panels.push(section::Panel {
                title: "Hydrometeors; lines at 0.01, 0.1 and 1 g kg⁻¹".to_owned(),
                field,
                scale: Scale::amounts("all hydrometeors, g kg⁻¹", most),
                lines,
                wind,
                note: (most <= 0.0).then(|| nothing.to_owned()),
            });
        }
        panels
    }

    fn arrows(&self) -> Option<Wind<'_>> {
        self.wind.as_ref().map(|[along, upward]| Wind { along, upward })
    }

    fn freezing(&self) -> Option<Lines<'_>> {
        Some(Lines {
            name: "0 °C".to_owned(),
            field: self.celsius.as_ref()?,
            values: vec![(0.0, 2.0)],
            stroke: Stroke::dashed(FREEZING, 2.0, &[8.0, 3.0, 2.0, 3.0]),
            has_numbers: false,
        })
    }

    /// Contour lines of potential temperature and of freezing.
    fn lines_of_air(&self) -> Vec<Lines<'_>> {
        let theta = self.theta.as_ref().map(|field| {
            let finite = || field.iter().copied().filter(|x| x.is_finite());
            let [low, high] =
                finite().fold([f64::INFINITY, 0.0_f64], |[a, b], x| [a.min(x), b.max(x)]);
            let step = if high > low { round_step(high - low, 20).max(1.0) } else { 5.0 };
            let values = crate::plot::axes::multiples([low.min(high), high], step);
            Lines {
                name: format!("potential temperature, every {} K", short(step)),
                field,
                values: values.into_iter().map(|value| (value, 1.0)).collect(),
                stroke: Stroke::solid(THETA, 1.0),
                has_numbers: true,
            }
        });
        theta.into_iter().chain(self.freezing()).collect()
    }
}

/// Contour lines of a hydrometeor, wider for larger values.
fn lines_of<'a>(((name, field), colour): (&'a (&'static str, Array2<f64>), Colour)) -> Lines<'a> {
    Lines {
        name: (*name).to_owned(),
        field,
        values: vec![(0.01, 1.0), (0.1, 1.8), (1.0, 2.8)],
        stroke: Stroke::solid(colour, 1.8),
        has_numbers: false,
    }
}
