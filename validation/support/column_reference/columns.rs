//! Columns as input of a scheme, from a group of the reference file or synthetic.

use ndarray::{Array2, Array3, Axis};
use netcdf::Group;
use nwp_mini::real::Real;

use super::ColumnScheme;
use super::truth::{group, on_levels, values};

/// Input of a scheme. Shape of each field: (level, column).
#[derive(Clone, Debug)]
pub struct Columns<S: ColumnScheme> {
    /// The fields of [`ColumnScheme::INPUTS`].
    pub fields: Vec<Array2<S::Number>>,
    /// Tendencies of `th` and `q`.
    pub tendencies: Option<[Array2<S::Number>; 2]>,
}

impl<S: ColumnScheme> Columns<S> {
    /// The input of a case of the reference file.
    pub fn of(case: &str) -> Self {
        Self::read(&group(&crate::reference(S::NAME), case))
    }

    /// The input of a case.
    pub fn read(group: &Group<'_>) -> Self {
        let field = |name: &str| on_levels(values(group, name, ..));
        // Cases of a single call have no tendencies.
        let is_forced = group.variable("th_tend").is_some();
        Self {
            fields: S::INPUTS.iter().map(|name| field(name)).collect(),
            tendencies: is_forced.then(|| ["th_tend", "q_tend"].map(field)),
        }
    }

    /// A field of the input by its name.
    pub fn field(&self, name: &str) -> &Array2<S::Number> {
        &self.fields[Self::index(name)]
    }

    /// A field of the input by its name, to be changed.
    pub fn field_mut(&mut self, name: &str) -> &mut Array2<S::Number> {
        &mut self.fields[Self::index(name)]
    }

    fn index(name: &str) -> usize {
        let index = S::INPUTS.iter().position(|input| *input == name);
        index.unwrap_or_else(|| panic!("no input {name}"))
    }

    /// Number of levels and of columns.
    pub fn dim(&self) -> (usize, usize) {
        self.fields[0].dim()
    }

    /// A field in `ny` rows of columns, as far as they fill them. Shape: (level, row, column).
    pub fn grid<R: Real>(&self, name: &str, ny: usize) -> Array3<R> {
        let (nz, count) = self.dim();
        let (field, nx) = (self.field(name), count / ny);
        Array3::from_shape_fn((nz, ny, nx), |(k, j, i)| R::of(field[[k, j * nx + i]].into()))
    }

    /// The columns of the given indices, in their order.
    pub fn select(&self, columns: &[usize]) -> Self {
        self.map(|field| field.select(Axis(1), columns))
    }

    fn map(&self, f: impl Fn(&Array2<S::Number>) -> Array2<S::Number>) -> Self {
        Self {
            fields: self.fields.iter().map(&f).collect(),
            tendencies: self.tendencies.as_ref().map(|fields| fields.each_ref().map(&f)),
        }
    }

    /// The same columns without tendencies.
    pub fn unforced(self) -> Self {
        Self { tendencies: None, ..self }
    }

    /// Calls a scheme `calls` times on a state of one row; tendencies act only when there are several calls, as in the
    /// reference. Potential temperature and vapour are the first of the state's tracers.
    pub fn force<R: Real, State>(
        &self,
        dt: f64,
        calls: usize,
        state: &mut State,
        tracers: fn(&mut State) -> &mut [Array3<R>],
        call: impl Fn(R, &mut State),
    ) {
        let promote = |field: &Array2<S::Number>| -> Array3<R> {
            field.mapv(|x| R::of(x.into())).insert_axis(Axis(1))
        };
        let tendencies = self.tendencies.as_ref().filter(|_| calls > 1);
        let tendencies = tendencies.map(|fields| fields.each_ref().map(promote));
        let dt = R::of(dt);
        for _ in 0..calls {
            if let (Some([heating, moistening]), [theta, qv, ..]) = (&tendencies, tracers(state)) {
                theta.zip_mut_with(heating, |x, &tendency| *x += dt * tendency);
                qv.zip_mut_with(moistening, |x, &tendency| {
                    *x = (*x + dt * tendency).larger(R::ZERO);
                });
            }
            call(dt, state);
        }
    }
}

impl<S: ColumnScheme<Number = f32>> Columns<S> {
    /// The columns on another number of levels: values at the middles of equal parts.
    pub fn resampled(&self, nz: usize) -> Self {
        let levels = self.dim().0;
        let ratio = levels as f32 / nz as f32;
        let mut result = self.map(|field| {
            Array2::from_shape_fn((nz, field.len_of(Axis(1))), |(k, column)| {
                let place = ((k as f32 + 0.5) * ratio - 0.5).clamp(0.0, (levels - 1) as f32);
                let below = (place.floor() as usize).min(levels - 2);
                let part = place - below as f32;
                field[[below, column]] * (1.0 - part) + field[[below + 1, column]] * part
            })
        });
        // With more layers each is thinner.
        *result.field_mut("delz") *= ratio;
        result
    }
}
