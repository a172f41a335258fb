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
        let field = self.any::<R>(name)?;
        let first = |is_bad: &dyn Fn(f64) -> bool| {
            let ((k, _, i), x) = field.indexed_iter().find(|(_, x)| is_bad(x.f64()))?;
            Some(format!("variable {name} is {x} at level={k} column={i}"))
        };
        let range = match name {
            "th" | "pii" | "p" => 0.0..=f64::INFINITY,
            "den" => DENSITY,
            "delz" => DEPTH,
            _ => return Ok(field),
        };
        if let Some(found) = first(&|x| x <= 0.0) {
            return Err(self.reader.error(format!("{found}; it must be positive")));
        }
        if let Some(found) = first(&|x| !range.contains(&x)) {
            return Err(self.reader.error(format!(
                "{found}; {:e} to {:e} is expected; check its units",
                range.start(),
                range.end()
            )));
        }
        Ok(field)
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
}

/// Values in working precision, in one row of columns.
fn promoted<R: Stored>(values: &ArrayD<f32>, shape: Shape) -> Array3<R> {
    values
        .mapv(|x| R::of(x.into()))
        .into_shape_with_order(shape.centre())
        .expect("(level, column) has as many values as (nz, 1, nx)")
}
