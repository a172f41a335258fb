//! The fields of a run on another grid, in a CF file.

use std::borrow::Cow;

use tracing::warn;

use crate::error::Result;
use crate::frame::PointSample;
use crate::grid::Shape;
use crate::io::layout::{self, Variable};
use crate::io::out::append_file::{AppendFile, MISSING, VariableInfo};
use crate::io::out::output::Header;
use crate::io::out::sampled_wind::SampledWind;
use crate::io::out::samples::AuxOutput;
use crate::io::store::format::{BlockStore, Values};
use crate::io::store::writer::Stored;
use crate::io::weights::{Arrangement, Coordinates, Normalisation, Target, WeightFile};
use crate::os_text::Shown;

/// Bounds of a cell along an axis.
const ENDS: &str = "bnds";
/// Corners of a cell.
const CORNERS: &str = "nv";

/// A file of the fields on another grid, being written.
#[derive(Debug)]
pub(crate) struct Regridded {
    file: AppendFile,
    shape: Shape,
    arrangement: Arrangement,
    /// Number of the operator that interpolates to the grid.
    operator: usize,
    /// `true` if a cell of the run contributes to the cell.
    is_reached: Vec<bool>,
    wind: SampledWind,
    /// The sampled fields.
    sampled: Vec<Variable>,
    /// The passive tracers.
    passive: Vec<Variable>,
}

/// Fraction of a cell that the run covers, for weights that spread the content of that part over the whole cell.
const COVERED: &str = "covered_fraction";
/// Fraction of a cell below which its values are diluted: 1 less the rounding of single precision.
const WHOLE: f64 = 1.0 - 1e-6;

impl Regridded {
    /// Starts the file.
    pub(crate) fn create<R: Stored>(
        file: Box<dyn BlockStore>,
        header: &Header,
        (weights, operator): (&WeightFile, usize),
    ) -> Result<Self> {
        let title = "tracer advection and cloud microphysics, taken to another grid";
        let mut file = AppendFile::create(file, header, title)?;
        let shape = header.domain.grid.shape;
        let matrix = &weights.weights.matrix;
        let grid = &weights.weights.target;
        let is_reached: Vec<bool> =
            matrix.starts().windows(2).map(|pair| pair[0] < pair[1]).collect();
        let name = weights.path.shown_name().into_owned();
        let method = weights.weights.method.clone();
        let normalisation = weights.weights.normalisation.name();
        file.define(|file| {
            file.attribute(None, "weights_file", name.into())?;
            file.attribute(None, "map_method", method.into())?;
            file.attribute(None, "normalization", normalisation.into())?;
            file.dimension("bottom_top", Some(shape.nz))?;
            file.dimension("bottom_top_stag", Some(shape.nz + 1))
        })?;
        let vertical = &header.domain.vertical;
        for (name, dimension, long_name, values) in [
            ("ZNU", "bottom_top", "eta in the middle of the layers", &vertical.znu),
            ("ZNW", "bottom_top_stag", "eta at the faces of the layers", &vertical.znw),
        ] {
            let attributes = [("units", "1"), ("long_name", long_name)];
            file.fixed(name, &[dimension], &attributes, values)?;
        }
        let horizontal = define_grid(&mut file, grid)?;
        let names: Vec<&str> = horizontal.dimensions.clone();
        let wind = SampledWind::on_grid(&header.domain, grid, matrix);
        let passive = Variable::passive(&header.tracers);
        let sampled = layout::sampled(&header.tracers);
        for variable in sampled.iter().chain(&passive) {
            let [levels @ .., _, _] = variable.axes.names() else {
                unreachable!("samples have planes")
            };
            let dimensions = [&["time"], levels, &names].concat();
            let mut about = VariableInfo::of(variable, &dimensions, horizontal.coordinates);
            about.has_gaps = true;
            wind.describe(&mut about);
            file.variable::<R>(&about)?;
            if variable.cell_methods.is_some() {
                file.attribute(variable.name, "cell_methods", "time: sum")?;
            }
        }
        let terrain: Vec<f64> = header.domain.terrain.iter().map(|x| f64::from(*x)).collect();
        let mut ground = vec![0.0; matrix.rows()];
        matrix.multiply(&terrain, &mut ground);
        let about = VariableInfo {
            name: "HGT",
            dimensions: &names,
            units: "m",
            long_name: "terrain height".into(),
            standard_name: Some("surface_altitude"),
            coordinates: horizontal.coordinates,
            has_gaps: true,
            ..VariableInfo::default()
        };
        file.variable::<f64>(&about)?;
        for (value, is_reached) in ground.iter_mut().zip(&is_reached) {
            *value = if *is_reached { *value } else { MISSING };
        }
        file.define(|file| file.fill("HGT", Values::Double(&ground)))?;
        if weights.weights.normalisation == Normalisation::DestArea {
            define_covered(
                &mut file,
                weights,
                (&names, &sampled, &passive),
                horizontal.coordinates,
            )?;
        }
        let arrangement = grid.arrangement;
        Ok(Self { file, shape, arrangement, operator, is_reached, wind, sampled, passive })
    }
}

impl<R: Stored> AuxOutput<R> for Regridded {
    fn sample(&mut self, operator: usize, sample: &PointSample<R>) -> Result<()> {
        if operator != self.operator {
            return Ok(());
        }
        self.file.begin(sample.seconds)?;
        let missing = R::of(MISSING);
        let fields = self.sampled.iter().zip(self.wind.fields(sample));
        let passive = sample.passive.iter().map(|field| Cow::Borrowed(&**field));
        for (variable, field) in fields.chain(self.passive.iter().zip(passive)) {
            let mut values = field.into_owned();
            for level in values.chunks_mut(self.is_reached.len()) {
                for (value, is_reached) in level.iter_mut().zip(&self.is_reached) {
                    *value = if *is_reached { *value } else { missing };
                }
            }
            let horizontal = match self.arrangement {
                Arrangement::Rows { nx, ny } => vec![ny, nx],
                Arrangement::List(cells) => vec![cells],
            };
            let lengths = variable.axes.lengths(self.shape);
            let [levels @ .., _, _] = &lengths[..] else { unreachable!("samples have planes") };
            self.file.now(variable.name, 0, &[levels, &horizontal].concat(), &values)?;
        }
        Ok(())
    }

    fn publish(&mut self) -> Result<()> {
        self.file.publish()
    }

    fn commit(self: Box<Self>) -> Result<()> {
        self.file.commit()
    }
}

/// Adds the fraction of each cell that the run covers, and warns of partly covered cells.
fn define_covered(
    file: &mut AppendFile,
    weights: &WeightFile,
    (names, sampled, passive): (&[&str], &[Variable], &[Variable]),
    coordinates: &str,
) -> Result<()> {
    let matrix = &weights.weights.matrix;
    // Values of a cell are divided by the sum of its weights.
    let covered: Vec<f64> = matrix
        .starts()
        .windows(2)
        .map(|ends| 0.0 + matrix.values()[ends[0]..ends[1]].iter().sum::<f64>())
        .collect();
    let reached = covered.iter().filter(|part| **part > 0.0).count();
    let diluted = covered.iter().filter(|part| **part > 0.0 && **part < WHOLE).count();
    if diluted > 0 {
        warn!(
            "{}: with normalization destarea {diluted} of {reached} cells, at the rim of the run, hold \
             their value times the part of them that the run covers; divide by {COVERED}, or make \
             weights with normalization fracarea",
            weights.path.shown()
        );
    }
    file.variable::<f64>(&VariableInfo {
        name: COVERED,
        dimensions: names,
        units: "1",
        long_name: "part of the cell that the grid of the run covers".into(),
        coordinates,
        ..VariableInfo::default()
    })?;
    let note = "the variables on the cells hold their values times this part";
    file.attribute(COVERED, "comment", note)?;
    for variable in sampled.iter().chain(passive) {
        file.attribute(variable.name, "ancillary_variables", COVERED)?;
    }
    file.attribute("HGT", "ancillary_variables", COVERED)?;
    file.define(|file| file.fill(COVERED, Values::Double(&covered)))
}

/// The horizontal part of a variable's dimensions, and the names of its coordinates.
struct Horizontal {
    dimensions: Vec<&'static str>,
    coordinates: &'static str,
}

/// Adds dimensions, coordinates and bounds of the grid.
fn define_grid(file: &mut AppendFile, grid: &Target) -> Result<Horizontal> {
    let about = grid.coordinates.axes();
    let names = about.map(|(name, _)| name);
    let dimension = |file: &mut AppendFile, name: &str, length: usize| {
        file.define(|file| file.dimension(name, Some(length)))
    };
    let add_bounds = |file: &mut AppendFile, axis: usize, along: &[&str], values: &[f64]| {
        let name_of_bounds = format!("{}_bnds", names[axis]);
        file.fixed(&name_of_bounds, along, &[], values)?;
        file.attribute(names[axis], "bounds", name_of_bounds)
    };
    if let (Arrangement::Rows { nx, ny }, Some(axes)) = (grid.arrangement, grid.axes()) {
        for (n, (name, attributes)) in about.into_iter().enumerate() {
            dimension(file, name, axes[n].len())?;
            file.fixed(name, &[name], &attributes, &axes[n])?;
            file.attribute(name, "axis", ["X", "Y"][n])?;
        }
        if let Some(bounds) = grid.corners.as_ref().and_then(|corners| ends(corners, nx, ny)) {
            dimension(file, ENDS, 2)?;
            for (n, values) in bounds.iter().enumerate() {
                add_bounds(file, n, &[names[n], ENDS], values)?;
            }
        }
        return Ok(Horizontal { dimensions: vec![names[1], names[0]], coordinates: "" });
    }
    let lengths = match grid.arrangement {
        Arrangement::Rows { nx, ny } => vec![("row", ny), ("column", nx)],
        Arrangement::List(cells) => vec![("cell", cells)],
    };
    for (name, length) in &lengths {
        dimension(file, name, *length)?;
    }
    let dimensions: Vec<&str> = lengths.iter().map(|(name, _)| *name).collect();
    for ((name, attributes), values) in about.into_iter().zip([&grid.x, &grid.y]) {
        file.fixed(name, &dimensions, &attributes, values)?;
    }
    if let Some(corners) = &grid.corners {
        dimension(file, CORNERS, corners[0].len() / grid.arrangement.cells())?;
        for (n, values) in corners.iter().enumerate() {
            add_bounds(file, n, &[&dimensions[..], &[CORNERS]].concat(), values)?;
        }
    }
    let coordinates = match grid.coordinates {
        Coordinates::Degrees => "lat lon",
        Coordinates::Metres => "y x",
    };
    Ok(Horizontal { dimensions, coordinates })
}

/// Bounds of the cells along both axes, from the corners of the first row and column; `None` if these cross the
/// meridian at which longitudes jump.
fn ends([x, y]: &[Vec<f64>; 2], nx: usize, ny: usize) -> Option<[Vec<f64>; 2]> {
    let each = x.len() / (nx * ny);
    let of = |values: &[f64], cell: usize| {
        let corners = &values[cell * each..(cell + 1) * each];
        let fold = |f: fn(f64, f64) -> f64| corners.iter().copied().fold(corners[0], f);
        [fold(f64::min), fold(f64::max)]
    };
    let along_x: Vec<[f64; 2]> = (0..nx).map(|i| of(x, i)).collect();
    let along_y: Vec<[f64; 2]> = (0..ny).map(|j| of(y, j * nx)).collect();
    let touch = |cells: &[[f64; 2]]| {
        let step = |[low, high]: &[f64; 2]| high - low;
        let (least, most) = cells
            .iter()
            .map(step)
            .fold((f64::MAX, 0.0), |(a, b), x| (f64::min(a, x), f64::max(b, x)));
        // A cell across that meridian seems to reach around the Earth.
        least > 0.0 && most < 180.0_f64.max(2.0 * least)
    };
    (touch(&along_x) && touch(&along_y)).then(|| [along_x.concat(), along_y.concat()])
}
