//! `nwp-mini plot`: pictures of a file.

mod compare;
mod line;
pub(super) mod pictures;
pub(super) mod scene;
mod soundings;
mod tracer;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use tracing::{info, warn};

use crate::constituents::interned;
use crate::error::{Error, Result};
use crate::io::store::atomic_file::AtomicFile;
use crate::io::store::destination::{refuse_existing, resolve};
use crate::io::wrf::plottable::PlotInput;
use crate::os_text::Shown;
use crate::plot::canvas::Picture;
use line::PointNumbers;
use scene::Scene;

/// Draw pictures of a WRF file or of the output of a run.
///
/// Maps of the precipitation and of the reflectivity, a vertical section, mean profiles, the sounding
/// of a place and time series; pictures without variables in the file are skipped, with a message. The section
/// goes through the largest reflectivity, and the sounding stands there, where nothing else is asked
/// for.
///
/// Places are cells as 20,10, the first of which is 0,0, or, with xy: or latlon: before them, metres
/// on the map or degrees.
///
/// Example: nwp-mini plot soc.out.nc --only precipitation,section --section 10,5,60,40
///
/// Example: nwp-mini plot wrfout_d01 --output pictures --point latlon:46.5,7.9 --time 2005-08-28_06:00:00
///
/// Example: nwp-mini plot --compare cpu.nc gpu.nc --format svg
#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(super) struct Plot {
    /// The file; with --compare two files
    #[arg(value_name = "FILE.nc", required = true, num_args = 1..=2)]
    files: Vec<PathBuf>,
    /// Folder for the pictures, created if it is missing [default: <file>.plots in the current folder]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Format of the pictures
    #[arg(long, value_name = "FORMAT", default_value = "png")]
    format: Format,
    /// Pictures to draw, separated by commas: precipitation, reflectivity, section, profiles, sounding, series, or
    /// of a tracer tracer:NAME, a map of the lowest layer, tracer-section:NAME and tracer-series:NAME [default: all
    /// that the file has variables for, but tracers]
    #[arg(long, value_name = "PICTURE", value_delimiter = ',', value_parser = kind)]
    only: Vec<Kind>,
    /// Time to show: its number, the first of which is 0, or its date as in 2005-08-28_06:00:00
    /// [default: the last]
    #[arg(long, value_name = "TIME")]
    time: Option<String>,
    /// Both ends of the section, as i0,j0,i1,j1 or xy:x0,y0,x1,y1 or latlon:lat0,lon0,lat1,lon1
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    section: Option<PointNumbers<4>>,
    /// Place of the sounding, as i,j or xy:x,y or latlon:lat,lon
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true)]
    point: Option<PointNumbers<2>>,
    /// Draw the differences between two files
    #[arg(long)]
    compare: bool,
    /// Overwrite pictures
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Png,
    Svg,
}

impl Format {
    fn ending(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Svg => "svg",
        }
    }
}

/// Pixels of a PNG for each px of a picture, so that letters are sharp.
const PIXELS: f64 = 2.0;

/// The picture of a name.
fn kind(text: &str) -> Result<Kind, String> {
    for (prefix, kind) in OF_TRACER {
        if let Some(name) = text.strip_prefix(prefix).filter(|name| !name.is_empty()) {
            return Ok(kind(interned(name)));
        }
    }
    let found = Kind::ALL.into_iter().find(|kind| kind.name() == text);
    found.ok_or_else(|| {
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        format!("there is no such picture; these are: {}, tracer:NAME, tracer-section:NAME, tracer-series:NAME", names.join(", "))
    })
}

/// The picture of a tracer of a name.
type OfTracer = fn(&'static str) -> Kind;

/// Prefixes of the names of pictures of a tracer.
const OF_TRACER: [(&str, OfTracer); 3] = [
    ("tracer:", Kind::Tracer),
    ("tracer-section:", Kind::TracerSection),
    ("tracer-series:", Kind::TracerSeries),
];

/// Pictures that can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Map of the precipitation
    Precipitation,
    /// Map of the largest reflectivity of each column
    Reflectivity,
    /// Vertical section: reflectivity, hydrometeors, potential temperature, wind
    Section,
    /// Means of the levels: vapour and hydrometeors
    Profiles,
    /// Skew-T log-p diagram of a place
    Sounding,
    /// Water and precipitation in time
    Series,
    /// Map of a tracer of this name in the lowest layer
    Tracer(&'static str),
    /// Vertical section of a tracer of this name
    TracerSection(&'static str),
    /// A tracer of this name in the lowest layer in time
    TracerSeries(&'static str),
}

impl Kind {
    /// All of them, in the order of a page.
    pub(super) const ALL: [Self; 6] = [
        Self::Precipitation,
        Self::Reflectivity,
        Self::Section,
        Self::Profiles,
        Self::Sounding,
        Self::Series,
    ];

    /// Its name on the command line and on disk.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Precipitation => "precipitation",
            Self::Reflectivity => "reflectivity",
            Self::Section => "section",
            Self::Profiles => "profiles",
            Self::Sounding => "sounding",
            Self::Series => "series",
            Self::Tracer(name) => interned(&format!("tracer-{name}")),
            Self::TracerSection(name) => interned(&format!("tracer-section-{name}")),
            Self::TracerSeries(name) => interned(&format!("tracer-series-{name}")),
        }
    }

    /// Variables that the picture needs.
    fn needs(self) -> Vec<&'static str> {
        match self {
            Self::Precipitation | Self::Series => vec!["RAINNC"],
            Self::Reflectivity => vec![scene::REFLECTIVITY],
            Self::Section => vec!["PH", "PHB"],
            Self::Profiles => vec!["QVAPOR", "PH", "PHB"],
            Self::Sounding => vec!["T|THM", "P", "PB", "QVAPOR"],
            Self::Tracer(name) | Self::TracerSeries(name) => vec![name],
            Self::TracerSection(name) => vec![name, "PH", "PHB"],
        }
    }
}

/// Reason why there is no picture.
pub(super) enum NoPicture {
    /// The file lacks its variables, or times.
    LeftOut(String),
    Failed(Error),
}

impl From<Error> for NoPicture {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// A picture, or the reason why there is none.
type Drawn = Result<Picture, NoPicture>;

impl Plot {
    pub(super) fn run(&self) -> Result<()> {
        let folder = self.folder()?;
        match (&*self.files, self.compare) {
            ([a, b], true) => {
                if self.section.is_some() || self.point.is_some() {
                    let message = "--section and --point cannot be used with --compare, which \
                                   draws maps and profiles";
                    return Err(Error::Usage(message.to_owned()));
                }
                self.compare(&folder, a, b)
            }
            ([_], true) => Err(Error::Usage(
                "--compare: give two files, the second after the first".to_owned(),
            )),
            ([file], false) => self.draw(&folder, file),
            _ => Err(Error::Usage(
                "two files: add --compare to draw their differences, or give one file".to_owned(),
            )),
        }
    }

    fn draw(&self, folder: &Path, file: &Path) -> Result<()> {
        let kinds = if self.only.is_empty() { Kind::ALL.to_vec() } else { self.only.clone() };
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        self.refuse_existing(folder, &names)?;
        let input = PlotInput::open(file)?;
        let time = scene::time_of(&input, self.time.as_deref())?;
        let scene = Scene::new(&input, time, self.section.as_ref(), self.point.as_ref())?;
        let mut drawn = Vec::new();
        for kind in kinds {
            match scene.draw(kind) {
                Ok(picture) => drawn.push((kind.name(), picture)),
                Err(NoPicture::LeftOut(why)) if self.only.contains(&kind) => {
                    return Err(Error::input(file, format!("no {}: {why}", kind.name())));
                }
                Err(NoPicture::LeftOut(why)) => info!("{} is left out: {why}", kind.name()),
                Err(NoPicture::Failed(error)) => return Err(error),
            }
        }
        if drawn.is_empty() {
            let message = "has no variables that can be drawn; nwp-mini info lists its contents";
            return Err(Error::input(file, message));
        }
        self.write(folder, &drawn)
    }

    fn compare(&self, folder: &Path, a: &Path, b: &Path) -> Result<()> {
        let inputs = [PlotInput::open(a)?, PlotInput::open(b)?];
        let drawn = compare::draw(&inputs, self.time.as_deref(), &self.only)?;
        let names: Vec<&str> = drawn.iter().map(|(name, _)| *name).collect();
        self.refuse_existing(folder, &names)?;
        self.write(folder, &drawn)
    }

    /// The folder for the pictures.
    fn folder(&self) -> Result<PathBuf> {
        if let Some(folder) = &self.output {
            return Ok(folder.clone());
        }
        let stems: Vec<_> = self.files.iter().filter_map(|file| file.file_stem()).collect();
        if stems.len() < self.files.len() {
            return Err(Error::input(&self.files[0], "is not the name of a file"));
        }
        let mut name = stems.join(OsStr::new("-"));
        name.push(".plots");
        Ok(name.into())
    }

    fn target(&self, folder: &Path, name: &str) -> PathBuf {
        folder.join(format!("{name}.{}", self.format.ending()))
    }

    /// Rejects pictures that could not be written, before any file is read.
    fn refuse_existing(&self, folder: &Path, names: &[&str]) -> Result<()> {
        let mut targets = names.iter().map(|name| self.target(folder, name));
        targets.try_for_each(|target| refuse_existing(&target, self.force))
    }

    fn write(&self, folder: &Path, drawn: &[(&str, Picture)]) -> Result<()> {
        if folder.exists() && !folder.is_dir() {
            return Err(Error::input(folder, "is not a folder; choose another name with --output"));
        }
        // A link may refer to a folder that does not exist yet.
        fs::create_dir_all(resolve(folder)?)
            .map_err(|e| Error::io(folder, "make the folder", e))?;
        let mut out = crate::cli::summary_output();
        for (name, picture) in drawn {
            let target = self.target(folder, name);
            let file = AtomicFile::new(&target, self.force)?;
            match self.format {
                Format::Png => file.write_bytes(&picture.png(PIXELS))?,
                Format::Svg => file.write_text(&picture.svg(name))?,
            }
            writeln!(out, "{}", target.shown())?;
        }
        Ok(())
    }
}

/// Draws all pictures that a file has variables for. A failure is logged and skipped, so that a page is not lost
/// because of one picture.
pub(super) fn all_of(input: &PlotInput) -> Vec<(&'static str, Picture)> {
    let last = input.times().len() - 1;
    let scene = match Scene::new(input, last, None, None) {
        Ok(scene) => scene,
        Err(error) => {
            warn!("no pictures: {error}");
            return Vec::new();
        }
    };
    let mut drawn = Vec::new();
    for kind in Kind::ALL {
        match scene.draw(kind) {
            Ok(picture) => drawn.push((kind.name(), picture)),
            Err(NoPicture::LeftOut(why)) => info!("{} is left out: {why}", kind.name()),
            Err(NoPicture::Failed(error)) => warn!("{} is left out: {error}", kind.name()),
        }
    }
    drawn
}
