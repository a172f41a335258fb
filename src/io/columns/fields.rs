//! Fields of a file of columns, each with its own bounds.

use std::ops::RangeInclusive;

use ndarray::{Array3, ArrayD};

use crate::error::{Advice, Result};
use crate::grid::Shape;
use crate::io::reader::Reader;
use crate::io::writer::Stored;

/// Depth of a layer, m, and density of dry air, kg m⁻³: wide bounds for any atmosphere. Beyond them sedimentation would
/// need too many sub-steps.
const DEPTH: RangeInclusive<f64> = 0.1..=1e5;
/// See [`DEPTH`].
const DENSITY: RangeInclusive<f64> = 1e-6..=100.0;

/// The variables of a file of columns, or of a group of it.
pub(super) struct Fields<'a> {
    reader: &'a Reader,
    group: &'a str,
    dimensions: [&'a str; 2],
    /// `nx` columns in one row, `nz` levels.
    pub(super) shape: Shape,
}

impl<'a> Fields<'a> {
    /// Checks the form of a file; `dimensions` are those of levels and of columns.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Input`] when it has another form, or an unsupported number of levels.
    pub(super) fn new(
        reader: &'a Reader,
        group: &'a str,
        dimensions: [&'a str; 2],
        levels: &RangeInclusive<usize>,
    ) -> Result<Self> {
        if reader.has("ZNW") && reader.has("QVAPOR") && group.is_empty() {
            return Err(reader
                .error("is a WRF file, the input of a run; columns have their own format")
                .advise(Advice::GiveColumns));
        }
        let [nz, nx] = dimensions.map(|name| reader.dimension(&format!("{group}{name}")));
        let (nz, nx) = (nz?, nx?);
        if !levels.contains(&nz) {
            let (least, most) = (levels.start(), levels.end());
            let message = format!("has {nz} levels; the scheme takes {least} to {most}");
            return Err(reader.error(message));
        }
        Ok(Self { reader, group, dimensions, shape: Shape { nx, ny: 1, nz } })
    }

    /// The field of this name; must be positive or within bounds if the physics needs that.
    pub(super) fn read<R: Stored>(&self, name: &str) -> Result<Array3<R>> {
        match name {
            "th" | "pii" | "p" => self.positive(name),
            "den" => self.within(name, &DENSITY),
            "delz" => self.within(name, &DEPTH),
            _ => self.any(name),
        }
    }

    /// The field of this name, if the file has it.
    pub(super) fn optional<R: Stored>(&self, name: &str) -> Result<Option<Array3<R>>> {
        if self.reader.has(&self.inside(name)) { self.any(name).map(Some) } else { Ok(None) }
    }

    /// The attribute of this name, if the file has it.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>> {
        self.reader.number(&self.inside(name))
    }

    fn inside(&self, name: &str) -> String {
        format!("{}{name}", self.group)
    }

    fn any<R: Stored>(&self, name: &str) -> Result<Array3<R>> {
        Ok(promoted(&self.reader.array(&self.inside(name), &self.dimensions)?, self.shape))
    }

    fn positive<R: Stored>(&self, name: &str) -> Result<Array3<R>> {
        let field = self.any(name)?;
        if let Some(((k, _, i), value)) = field.indexed_iter().find(|(_, x)| **x <= R::ZERO) {
            return Err(self.reader.error(format!(
                "variable {name} is {value} at level={k} column={i}; it must be positive"
            )));
        }
        Ok(field)
    }

    fn within<R: Stored>(&self, name: &str, range: &RangeInclusive<f64>) -> Result<Array3<R>> {
        let field = self.positive::<R>(name)?;
        let outside = |(_, x): &(_, &R)| !range.contains(&x.f64());
        let Some(((k, _, i), value)) = field.indexed_iter().find(outside) else {
            return Ok(field);
        };
        Err(self.reader.error(format!(
            "variable {name} is {value} at level={k} column={i}; {:e} to {:e} is expected; check \
             its units",
            range.start(),
            range.end()
        )))
    }
}

/// Values in working precision, in one row of columns.
fn promoted<R: Stored>(values: &ArrayD<f32>, shape: Shape) -> Array3<R> {
    values
        .mapv(|x| R::of(x.into()))
        .into_shape_with_order(shape.centre())
        .expect("(level, column) has as many values as (nz, 1, nx)")
}
