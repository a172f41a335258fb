//! States for the kernels: columns of the reference, on any number of levels.

use ndarray::{Array2, Array3};

use nwp_mini::grid::Shape;
use nwp_mini::state::{Environment, State, Surface};

use crate::case::{Columns, group};
use crate::clouds::{Exchanged, Mass, Weather};
use crate::support;

/// Cases that have all kinds of weather between them.
const CASES: [&str; 5] = ["warm", "mixed", "cold", "edge", "storm"];

/// Columns of all cases in turn, on `nz` levels.
pub(crate) fn columns(nz: usize, count: usize) -> Columns {
    let file = support::reference("wsm5");
    let cases: Vec<Columns> = CASES
        .iter()
        .enumerate()
        .map(|(n, case)| {
            let whole = Columns::read(&group(&file, case));
            let wanted = count.saturating_sub(n).div_ceil(CASES.len());
            let all = whole.dim().1;
            // All over the case, and not only where columns are alike.
            let chosen: Vec<usize> =
                (0..wanted).map(|i| (i * all / wanted.max(1) + i) % all).collect();
            whole.select(&chosen).unforced()
        })
        .collect();
    let mut fields = Vec::new();
    for field in 0..cases[0].fields.len() {
        let levels = cases[0].dim().0;
        fields.push(Array2::from_shape_fn((levels, count), |(k, column)| {
            cases[column % CASES.len()].fields[field][[k, column / CASES.len()]]
        }));
    }
    let columns = Columns { fields, tendencies: None };
    if nz == columns.dim().0 { columns } else { columns.resampled(nz) }
}

/// The columns as a grid of `ny` rows; what a call has to set is not a number.
pub(crate) fn weather<R: Exchanged>(columns: &Columns, ny: usize, theta_base: f64) -> Weather<R> {
    let (nz, count) = columns.dim();
    let shape = Shape { nx: count / ny, ny, nz };
    let field = |name: &str| {
        let field = columns.field(name);
        Array3::from_shape_fn((nz, ny, shape.nx), |(k, j, i)| {
            R::of(field[[k, j * shape.nx + i]].into())
        })
    };
    let mut surface = Surface::zeros(shape);
    for plane in [
        &mut surface.fallen,
        &mut surface.rainncv,
        &mut surface.snowncv,
        &mut surface.sr,
        &mut surface.fall_residual,
        &mut surface.clipped,
    ] {
        plane.fill(R::nan());
    }
    // Nearly the mass of dry air at the density of the first column.
    let share = |j: usize, i: usize| R::of(1.0 + 0.01 * ((7 * j + 3 * i) % 5) as f64);
    let area = R::of(1.0e6);
    let profile: Vec<R> =
        (0..nz).map(|k| field("den")[[k, 0, 0]] * field("delz")[[k, 0, 0]]).collect();
    let mass = Mass {
        with_mu: Array2::from_shape_fn((ny, shape.nx), |(j, i)| area * share(j, i)),
        without_mu: Array2::from_elem((ny, shape.nx), area),
        c1: profile.iter().map(|&depth| R::of(0.75) * depth).collect(),
        c2: profile.iter().map(|&depth| R::of(0.25) * depth).collect(),
        per_area: Array2::from_elem((ny, shape.nx), area.recip()),
    };
    Weather {
        mass,
        theta_base: R::of(theta_base),
        state: State {
            theta: field("th").mapv(|th| th - R::of(theta_base)),
            qv: field("q"),
            qc: field("qc"),
            qr: field("qr"),
            qi: field("qi"),
            qs: field("qs"),
        },
        air: Environment {
            rho: field("den"),
            exner: field("pii"),
            p: field("p"),
            dz: field("delz"),
        },
        surface,
    }
}
