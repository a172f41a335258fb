//! Definition and writing of the variables of the output.

use std::ops::Range;

use crate::grid::Shape;
use crate::io::attribute::AttributeValue;
use crate::io::layout::{GRID_MAPPING, Variable};
use crate::io::store::format::{BlockStore, Definition, Done, Schema};
use crate::io::store::storage::{Blocks, Compression};
use crate::io::store::writer::Stored;

/// WRF's codes of variable types.
const FIELD_TYPE: [(&str, i32); 2] = [("f32", 104), ("f64", 105)];

/// Attributes of a coordinate of time, besides its units and its description.
pub(in crate::io) const OF_TIME: [(&str, &str); 4] = [
    ("standard_name", "time"),
    ("calendar", "proleptic_gregorian"),
    ("units_metadata", "leap_seconds: none"),
    ("axis", "T"),
];

pub(in crate::io) fn field_type<R: Stored>() -> i32 {
    let named = FIELD_TYPE.iter().find(|(name, _)| *name == R::NAME);
    named.map_or(FIELD_TYPE[0].1, |(_, code)| *code)
}

/// Adds the global attributes that all output has.
pub(in crate::io) fn describe_file(file: &mut dyn Schema, title: &str) -> Done {
    for (name, text) in [
        ("Conventions", "CF-1.11"),
        ("title", title),
        ("institution", "not stated"),
        ("source", concat!("nwp-mini ", env!("CARGO_PKG_VERSION"))),
        ("references", "Skamarock and others, ARW Technical Note, version 4"),
    ] {
        file.attribute(None, name, text.into())?;
    }
    Ok(())
}

/// Adds the texts that are not empty as attributes of a variable.
pub(in crate::io) fn describe(
    file: &mut dyn Schema,
    variable: &str,
    attributes: &[(&str, &str)],
) -> Done {
    for (name, text) in attributes.iter().filter(|(_, text)| !text.is_empty()) {
        file.attribute(Some(variable), name, (*text).into())?;
    }
    Ok(())
}

/// A variable in the form of a file.
#[derive(Clone, Debug)]
pub(in crate::io) struct StoredVariable<'a> {
    /// The variable that it is a form of.
    pub(in crate::io) about: &'a Variable,
    /// Its name.
    pub(in crate::io) name: String,
    /// Its description.
    pub(in crate::io) description: String,
    /// A dimension between time and space, whose entries are stored in separate chunks.
    pub(in crate::io) between: Option<&'static str>,
    /// Attribute `cell_methods`, in addition to that of the variable itself.
    pub(in crate::io) cell_methods: Option<&'static str>,
    /// Chunks of volumes and planes, all of them compressed; `None` for chunks that the library chooses, and
    /// compression of volumes only.
    pub(in crate::io) blocks: Option<Blocks>,
}

impl<'a> StoredVariable<'a> {
    /// A variable without changes.
    pub(in crate::io) fn plain(about: &'a Variable) -> Self {
        let (name, description) = (about.name.to_owned(), about.description.to_owned());
        Self { about, name, description, between: None, cell_methods: None, blocks: None }
    }

    /// A variable without changes in the chunks of [`Blocks`].
    pub(in crate::io) fn in_blocks<R: Stored>(about: &'a Variable, shape: Shape) -> Self {
        let blocks = Blocks::of(about.axes, shape, size_of::<R>());
        Self { blocks, ..Self::plain(about) }
    }
}

/// True if a coordinate along the grid has this CF name: CF lets one variable of a grid mapping have it.
fn has_axis(file: &dyn Schema, standard_name: &str) -> bool {
    ["west_east", "south_north"]
        .iter()
        .any(|axis| file.text_of(axis, "standard_name").as_deref() == Some(standard_name))
}

/// Defines a variable, with the grid mapping if the file has one.
pub(in crate::io) fn define<R: Stored>(
    file: &mut dyn Schema,
    form: &StoredVariable<'_>,
    compression: Compression,
) -> Done {
    let StoredVariable { about, name, description, between, blocks, .. } = form;
    let space = about.axes.names();
    let dimensions: Vec<&str> =
        std::iter::once("Time").chain(*between).chain(space.iter().copied()).collect();
    let lengths = space.iter().filter_map(|name| Some(file.length_of(name)?.max(1)));
    let one_member = between.map(|_| [1, 1].into_iter().chain(lengths).collect());
    let is_mapped = file.has(GRID_MAPPING);
    let is_of_axis = about.standard_name.is_some_and(|name| has_axis(file, name));
    let is_compressed = space.len() == 3 || blocks.is_some();
    file.variable(&Definition {
        name,
        kind: R::KIND,
        dimensions: &dimensions,
        chunks: blocks.map(Blocks::extents).or(one_member),
        compression: if is_compressed { compression } else { Compression::None },
        fill: None,
    })?;
    let mut put =
        |attribute: &str, value: AttributeValue| file.attribute(Some(name), attribute, value);
    put("FieldType", field_type::<R>().into())?;
    put("MemoryOrder", about.axes.memory_order().into())?;
    put("description", description.as_str().into())?;
    put("long_name", description.to_lowercase().into())?;
    put("units", about.units.into())?;
    put("stagger", about.axes.stagger().into())?;
    let standard_name = about.standard_name.filter(|_| !is_of_axis).unwrap_or_default();
    let methods: Vec<&str> = about.cell_methods.into_iter().chain(form.cell_methods).collect();
    let is_mass = matches!(about.name, "MU" | "MUB");
    let has_position = about.axes.have_positions() && !matches!(about.name, "XLAT" | "XLONG");
    let given = |is_given: bool, text| if is_given { text } else { "" };
    let comment = "the mass of the run, which keeps that of its first input frame";
    let attributes = [
        ("standard_name", standard_name),
        ("cell_methods", &methods.join(" ")),
        ("comment", given(is_mass, comment)),
        ("coordinates", given(has_position, "XLONG XLAT XTIME")),
        ("grid_mapping", given(has_position && is_mapped, GRID_MAPPING)),
    ];
    describe(file, name, &attributes)
}

/// Writes the values of a variable at a frame and, for a dimension between time and space, at an index along it.
pub(in crate::io) fn put<R: Stored>(
    file: &mut dyn BlockStore,
    shape: Shape,
    form: &StoredVariable<'_>,
    at: &[usize],
    values: &[R],
) -> Done {
    let space = form.about.axes.lengths(shape).into_iter().map(|length| 0..length);
    let extents: Vec<Range<usize>> = at.iter().map(|at| *at..at + 1).chain(space).collect();
    file.put(&form.name, &extents, R::of_kind(values))
}
