//! Columns of the reference files, and the scheme on them.

use ndarray::{Array2, ArrayD, Axis, Ix2};
use netcdf::{Extents, Group};
use nwp_mini::grid::Shape;
use nwp_mini::real::Real;
use nwp_mini::state::{Environment, State, Surface};
use nwp_mini::wsm5::params::SchemeConstants;
use nwp_mini::wsm5::scheme::Scheme;
use nwp_mini::wsm5::{Air, Cell, Column, Fallout, Fields, Scratch, call};

/// The cases of the reference files.
pub const CASES: [&str; 6] = ["warm", "mixed", "cold", "dry", "edge", "storm"];

/// What a case gives, in the order of [`Columns::fields`].
pub const INPUTS: [&str; 10] = ["th", "q", "qc", "qr", "qi", "qs", "den", "pii", "p", "delz"];

/// What is compared, in the order of [`Outcome::fields`]: six on levels, then at the ground.
pub const OUTPUTS: [&str; 11] =
    ["th", "q", "qc", "qr", "qi", "qs", "rain", "rainncv", "snow", "snowncv", "sr"];

/// How many of [`OUTPUTS`] are on levels.
pub const ON_LEVELS: usize = 6;

/// The parameters of the variant under test.
pub fn parameters<R: SchemeConstants>() -> Scheme<R> {
    Scheme::default().with_fallout(Fallout::Substepped)
}

/// Values of a variable.
pub fn values<E>(group: &Group<'_>, name: &str, extents: E) -> ArrayD<f32>
where
    E: TryInto<Extents>,
    E::Error: Into<netcdf::Error>,
{
    let variable = group.variable(name).unwrap_or_else(|| panic!("{}: {name}", group.name()));
    variable.get(extents).unwrap_or_else(|e| panic!("{} {name}: {e}", group.name()))
}

/// A group of a reference file.
pub fn group<'f>(file: &'f netcdf::File, name: &str) -> Group<'f> {
    file.group(name).expect("a NetCDF-4 file").unwrap_or_else(|| panic!("no group {name}"))
}

/// Input of the scheme. Shape of each field: (level, column).
pub struct Columns {
    /// The fields of [`INPUTS`].
    pub fields: [Array2<f32>; 10],
    tendencies: [Array2<f32>; 2],
}

/// What the scheme makes of [`Columns`].
pub struct Outcome<R> {
    /// The fields of [`OUTPUTS`]. Shape: (level or 1, column).
    pub fields: Vec<Array2<R>>,
    /// What reached the ground in the last call, kg m⁻².
    pub fallen: Vec<R>,
    /// What the fall made of nothing in the last call, kg m⁻².
    pub residual: Vec<R>,
    /// What clipping made of nothing in the last call, kg m⁻².
    pub clipped: Vec<R>,
}

impl Columns {
    /// The input of a case.
    pub fn read(file: &netcdf::File, case: &str) -> Self {
        let group = group(file, case);
        let field = |name: &str| {
            values(&group, name, ..).into_dimensionality::<Ix2>().expect("(level, column)")
        };
        Self { fields: INPUTS.map(field), tendencies: ["th_tend", "q_tend"].map(field) }
    }

    /// Runs `calls` calls of `dt` seconds; tendencies act only when there are several, as in the
    /// reference.
    pub fn run<R: SchemeConstants>(&self, dt: f64, calls: usize) -> Outcome<R> {
        let (nz, nx) = self.fields[0].dim();
        let promote = |field: &Array2<f32>| field.mapv(|x| R::of(x.into())).insert_axis(Axis(1));
        let [theta, qv, qc, qr, qi, qs, rho, exner, p, dz] = self.fields.each_ref().map(promote);
        let mut state = State { theta, qv, qc, qr, qi, qs };
        let environment = Environment { rho, exner, p, dz };
        let [theta_tendency, qv_tendency] = self.tendencies.each_ref().map(promote);
        let (p, scratch) = (parameters(), Scratch::new(nz));
        let mut surface = Surface::zeros(Shape { nx, ny: 1, nz });
        let dt = R::of(dt);
        for _ in 0..calls {
            if calls > 1 {
                state.theta.zip_mut_with(&theta_tendency, |x, &rate| *x += dt * rate);
                state
                    .qv
                    .zip_mut_with(&qv_tendency, |x, &rate| *x = (*x + dt * rate).larger(R::ZERO));
            }
            call(&p, dt, &scratch, Fields::new(R::ZERO, &mut state, &environment, &mut surface));
        }
        let State { theta, qv, qc, qr, qi, qs } = state;
        let levels = [theta, qv, qc, qr, qi, qs].map(|field| field.remove_axis(Axis(1)));
        let Surface { rain, fallen, rainncv, snow, snowncv, sr, fall_residual, clipped } = surface;
        Outcome {
            fields: levels.into_iter().chain([rain, rainncv, snow, snowncv, sr]).collect(),
            fallen: fallen.into_iter().collect(),
            residual: fall_residual.into_iter().collect(),
            clipped: clipped.into_iter().collect(),
        }
    }

    /// One column, ready for a call.
    pub fn column<R: SchemeConstants>(&self, index: usize) -> Column<R> {
        let nz = self.fields[0].dim().0;
        let mut column = Column::new(nz);
        for k in 0..nz {
            let [theta, qv, qc, qr, qi, qs, rho, exner, p, dz] =
                self.fields.each_ref().map(|field| R::of(field[[k, index]].into()));
            column.cells[k] = Cell { t: theta * exner, qv, qc, qr, qi, qs };
            column.air[k] = Air { rho, p, dz, ..Air::default() };
        }
        column
    }

    /// Water of each column in the given fields of levels, kg m⁻².
    pub fn water<R: Real>(&self, levels: &[Array2<R>]) -> Vec<f64> {
        let [.., rho, _, _, dz] = &self.fields;
        let (nz, nx) = rho.dim();
        let cell = |at: [usize; 2]| {
            let air = f64::from(rho[at]) * f64::from(dz[at]);
            levels.iter().map(|q| air * q[at].f64()).sum::<f64>()
        };
        (0..nx).map(|i| (0..nz).map(|k| cell([k, i])).sum()).collect()
    }
}
