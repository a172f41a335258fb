//! Definition and writing of the variables of the output.

use std::ops::Range;

use netcdf::{FileMut, VariableMut};

use crate::grid::Shape;
use crate::io::layout::Variable;
use crate::io::mapping;
use crate::io::storage::{Blocks, Compression};
use crate::io::writer::Stored;

/// Deflate level: higher ones take longer and gain little on such fields.
pub(super) const DEFLATE: i32 = 1;

/// WRF's codes of variable types.
const FIELD_TYPE: [(&str, i32); 2] = [("f32", 104), ("f64", 105)];

pub(super) fn field_type<R: Stored>() -> i32 {
    let named = FIELD_TYPE.iter().find(|(name, _)| *name == R::NAME);
    named.map_or(FIELD_TYPE[0].1, |(_, code)| *code)
}

/// A variable in the form of a file.
#[derive(Clone, Debug)]
pub(super) struct StoredVariable<'a> {
    /// The variable that it is a form of.
    pub(super) about: &'a Variable,
    /// Its name.
    pub(super) name: String,
    /// Its description.
    pub(super) description: String,
    /// A dimension between time and space, whose entries are stored in separate chunks.
    pub(super) between: Option<&'static str>,
    /// Attribute `cell_methods`, in addition to that of the variable itself.
    pub(super) cell_methods: Option<&'static str>,
}

impl<'a> StoredVariable<'a> {
    /// A variable without changes.
    pub(super) fn plain(about: &'a Variable) -> Self {
        let (name, description) = (about.name.to_owned(), about.description.to_owned());
        Self { about, name, description, between: None, cell_methods: None }
    }
}

/// Defines a variable without changes; volumes and planes have the chunks of [`Blocks`] and the requested compression.
pub(super) fn define_variable<R: Stored>(
    file: &mut FileMut,
    about: &Variable,
    is_mapped: bool,
    (shape, compression): (Shape, Compression),
) -> netcdf::Result<()> {
    define_with::<R>(file, &StoredVariable::plain(about), is_mapped, compression)?;
    let Some(blocks) = Blocks::of(about.axes, shape, size_of::<R>()) else { return Ok(()) };
    let mut variable = existing(file, about.name)?;
    if let Some(level) = compression.deflate().filter(|_| !blocks.is_volume()) {
        variable.set_compression(level, true)?;
    }
    variable.set_chunking(&blocks.extents())
}

/// Defines a variable; volumes have fast compression.
pub(super) fn define<R: Stored>(
    file: &mut FileMut,
    form: &StoredVariable<'_>,
    is_mapped: bool,
) -> netcdf::Result<()> {
    define_with::<R>(file, form, is_mapped, Compression::Fast)
}

/// True if a coordinate along the grid has this CF name: CF lets one variable of a grid mapping have it.
fn has_axis(file: &FileMut, standard_name: &str) -> bool {
    let named = netcdf::AttributeValue::Str(standard_name.to_owned());
    ["west_east", "south_north"].iter().filter_map(|axis| file.variable(axis)).any(|axis| {
        axis.attribute_value("standard_name").and_then(Result::ok).as_ref() == Some(&named)
    })
}

fn define_with<R: Stored>(
    file: &mut FileMut,
    form: &StoredVariable<'_>,
    is_mapped: bool,
    compression: Compression,
) -> netcdf::Result<()> {
    let StoredVariable { about, name, description, between, .. } = form;
    let space = about.axes.names();
    let dimensions: Vec<&str> =
        std::iter::once("Time").chain(*between).chain(space.iter().copied()).collect();
    let lengths: Vec<usize> =
        space.iter().filter_map(|name| Some(file.dimension_len(name)?.max(1))).collect();
    let is_of_axis = about.standard_name.is_some_and(|name| has_axis(file, name));
    let mut variable = file.add_variable::<R>(name, &dimensions)?;
    if between.is_some() {
        variable.set_chunking(&[&[1, 1], &lengths[..]].concat())?;
    }
    if let Some(level) = compression.deflate().filter(|_| space.len() == 3) {
        variable.set_compression(level, true)?;
    }
    variable.put_attribute("FieldType", field_type::<R>())?;
    variable.put_attribute("MemoryOrder", about.axes.memory_order())?;
    variable.put_attribute("description", description.as_str())?;
    variable.put_attribute("long_name", description.to_lowercase())?;
    variable.put_attribute("units", about.units)?;
    variable.put_attribute("stagger", about.axes.stagger())?;
    if let Some(name) = about.standard_name.filter(|_| !is_of_axis) {
        variable.put_attribute("standard_name", name)?;
    }
    let methods: Vec<&str> = about.cell_methods.into_iter().chain(form.cell_methods).collect();
    if !methods.is_empty() {
        variable.put_attribute("cell_methods", methods.join(" "))?;
    }
    if matches!(about.name, "MU" | "MUB") {
        let comment = "the mass of the run, which keeps that of its first input frame";
        variable.put_attribute("comment", comment)?;
    }
    if about.axes.have_positions() && !matches!(about.name, "XLAT" | "XLONG") {
        variable.put_attribute("coordinates", "XLONG XLAT XTIME")?;
        if is_mapped {
            variable.put_attribute("grid_mapping", mapping::NAME)?;
        }
    }
    Ok(())
}

/// A variable that must exist.
pub(super) fn existing<'f>(file: &'f mut FileMut, name: &str) -> netcdf::Result<VariableMut<'f>> {
    file.variable_mut(name).ok_or_else(|| format!("no variable {name}").into())
}

/// Writes the values of a variable at a frame.
pub(super) fn put<R: Stored>(
    file: &mut FileMut,
    shape: Shape,
    frame: usize,
    about: &Variable,
    values: &[R],
) -> netcdf::Result<()> {
    put_at(file, shape, &StoredVariable::plain(about), &[frame], values)
}

/// Writes the values of a variable at a frame and, for a dimension between time and space, at an index along it.
pub(super) fn put_at<R: Stored>(
    file: &mut FileMut,
    shape: Shape,
    form: &StoredVariable<'_>,
    at: &[usize],
    values: &[R],
) -> netcdf::Result<()> {
    let space = form.about.axes.lengths(shape).into_iter().map(|length| 0..length);
    let extents: Vec<Range<usize>> = at.iter().map(|at| *at..at + 1).chain(space).collect();
    existing(file, &form.name)?.put_values(values, extents)
}
