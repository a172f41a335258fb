//! Columns as input of the scheme, from a group of the reference file or synthetic.

use ndarray::{Array2, Axis};
use netcdf::Group;

use crate::truth::{on_levels, values};

/// Input of a case, in the order of [`Columns::fields`].
pub const INPUTS: [&str; 10] = ["th", "q", "qc", "qr", "qi", "qs", "den", "pii", "p", "delz"];

/// Input of the scheme. Shape of each field: (level, column).
#[derive(Clone, Debug)]
pub struct Columns {
    /// The fields of [`INPUTS`].
    pub fields: Vec<Array2<f32>>,
    /// Tendencies of `th` and `q`.
    pub tendencies: Option<[Array2<f32>; 2]>,
}

impl Columns {
    /// The input of a case.
    pub fn read(group: &Group<'_>) -> Self {
        let field = |name: &str| on_levels(values(group, name, ..));
        Self {
            fields: INPUTS.map(field).to_vec(),
            tendencies: Some(["th_tend", "q_tend"].map(field)),
        }
    }

    /// A field of the input by its name.
    pub fn field(&self, name: &str) -> &Array2<f32> {
        &self.fields[input_index(name)]
    }

    /// A field of the input by its name, to be changed.
    pub fn field_mut(&mut self, name: &str) -> &mut Array2<f32> {
        &mut self.fields[input_index(name)]
    }

    /// Number of levels and of columns.
    pub fn dim(&self) -> (usize, usize) {
        self.fields[0].dim()
    }

    /// The columns of the given indices, in their order.
    pub fn select(&self, columns: &[usize]) -> Self {
        let select = |field: &Array2<f32>| field.select(Axis(1), columns);
        Self {
            fields: self.fields.iter().map(select).collect(),
            tendencies: self.tendencies.as_ref().map(|fields| fields.each_ref().map(select)),
        }
    }

    /// The columns on another number of levels: values at the middles of equal parts.
    pub fn resampled(&self, nz: usize) -> Self {
        let levels = self.dim().0;
        let ratio = levels as f32 / nz as f32;
        let resample = |field: &Array2<f32>| {
            Array2::from_shape_fn((nz, field.len_of(Axis(1))), |(k, column)| {
                let place = ((k as f32 + 0.5) * ratio - 0.5).clamp(0.0, (levels - 1) as f32);
                let below = (place.floor() as usize).min(levels - 2);
                let part = place - below as f32;
                field[[below, column]] * (1.0 - part) + field[[below + 1, column]] * part
            })
        };
        let mut result = Self {
            fields: self.fields.iter().map(resample).collect(),
            tendencies: self.tendencies.as_ref().map(|fields| fields.each_ref().map(resample)),
        };
        // With more layers each is thinner.
        *result.field_mut("delz") *= ratio;
        result
    }

    /// The same columns without tendencies.
    pub fn unforced(self) -> Self {
        Self { tendencies: None, ..self }
    }
}

fn input_index(name: &str) -> usize {
    INPUTS.iter().position(|input| *input == name).unwrap_or_else(|| panic!("no input {name}"))
}
