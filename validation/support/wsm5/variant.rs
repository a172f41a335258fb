//! The variant under test, and its own code.

use ndarray::Array2;
use nwp_mini::physics::wsm5::params::SchemeConstants;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::physics::wsm5::{Air, Cell, Column, Sedimentation};
use nwp_mini::real::Real;

use super::case::Columns;

/// Compared output: six fields on levels, then fields at the ground.
pub const OUTPUTS: [&str; 11] =
    ["th", "q", "qc", "qr", "qi", "qs", "rain", "rainncv", "snow", "snowncv", "sr"];

/// The parameters of the variant.
pub fn parameters<R: SchemeConstants>() -> Scheme<R> {
    Scheme::default().with_fallout(Sedimentation::Substepped)
}

/// One column, ready for a call.
pub fn column<R: SchemeConstants>(columns: &Columns, index: usize) -> Column<R> {
    let nz = columns.dim().0;
    let mut column = Column::new(nz);
    for k in 0..nz {
        let value = |name: &str| R::of(columns.field(name)[[k, index]].into());
        let [qv, qc, qr, qi, qs] = ["q", "qc", "qr", "qi", "qs"].map(value);
        column.cells[k] = Cell { t: value("th") * value("pii"), qv, qc, qr, qi, qs };
        let [rho, p, dz] = ["den", "p", "delz"].map(value);
        column.air[k] = Air { rho, p, dz, ..Air::default() };
    }
    column
}

/// Water of each column in the given fields of levels, kg m⁻².
pub fn water<R: Real>(columns: &Columns, levels: &[&Array2<R>]) -> Vec<f64> {
    let [rho, dz] = ["den", "delz"].map(|name| columns.field(name));
    let (nz, nx) = columns.dim();
    let cell = |at: [usize; 2]| {
        let air = f64::from(rho[at]) * f64::from(dz[at]);
        levels.iter().map(|q| air * q[at].f64()).sum::<f64>()
    };
    (0..nx).map(|i| (0..nz).map(|k| cell([k, i])).sum()).collect()
}
