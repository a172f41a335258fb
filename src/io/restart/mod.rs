//! Restart files (checkpoints): everything that a run needs to continue as if it had not been stopped.
//!
//! A file holds the state and accumulated results, in working precision; the domain of the run; and, of the input as it
//! was read, the frame before the current time and all later ones. Everything derived from these is derived again, by
//! the same operations.
//!
//! # Decisions
//!
//! **A restart file holds input as it was read, not results derived from it.** Of the input it has the frame before the
//! current time and all later ones, since the continued run may be longer than planned for the first one. Of the run it
//! has the state, the precipitation, and the sums of the budget in the form of the backend, on a device block by block.
//! Everything else is derived again by the same operations. Times are computed from the number of all steps, so that
//! they have the same bits for any division of a run (`time_steps`). A digest of the contents detects a file that was
//! changed.
//!
//! **A restart file is checked beyond its digest** (`check`). The digest detects damage, but not a file that a tool has
//! rewritten with a new digest. Dimensions, times, steps, masses and the state are compared with what a run can write,
//! so that later code need not check them.

mod check;
mod load;
mod save;

use ndarray::Array2;
use time::PrimitiveDateTime;

use crate::constituents::Constituent;
use crate::domain::{Attribute, Domain};
use crate::frame::{Frame, PastRun};
use crate::grid::Shape;
use crate::io::wrf::series::Series;
use crate::time_steps::Past;
pub use load::RestartFile;
pub use save::Restarter;

/// Number of the format; other formats cannot be read.
const FORM: i32 = 2;

/// The global attribute with the [digest](crate::io::store::netcdf::digest) of everything else in the file.
pub const DIGEST: &str = "digest";

/// First steps of the next call of the chemistry, s, by the cells that have chemistry.
const FIRST_STEPS: &str = "chemistry_first_steps";

/// The attribute with the counters of the chemistry.
const CHEMISTRY_TALLY: &str = "chemistry_tally";

/// Contents that are the same in all restart files of a run.
#[derive(Clone, Debug)]
pub struct RunConstants {
    /// The domain, on the grid of the input.
    pub domain: Domain,
    /// Perturbation and base column mass of the first frame of the first run, on the grid of the
    /// run, Pa. Shape of each: (ny, nx).
    pub column_mass: [Array2<f32>; 2],
    /// The input.
    pub series: Series,
    /// Time step, s.
    pub dt: f64,
    /// Options that a continued run must keep: names and values.
    pub options: Vec<(&'static str, String)>,
    /// Provenance of the file.
    pub provenance: Vec<(String, Attribute)>,
}

/// Contents of a restart file.
#[derive(Clone, Debug)]
pub struct Restart<R> {
    /// The domain, on the grid of the input; its path is that of the restart file.
    pub domain: Domain,
    /// The first remaining frame, on the grid of the input.
    pub frame: Frame,
    /// The remaining frames, including this one.
    pub series: Series,
    /// Number of past steps.
    pub past: Past,
    /// Time step, s.
    pub dt: f64,
    /// When the first run started.
    pub begin: PrimitiveDateTime,
    /// The run that stood here.
    pub run: PastRun<R>,
}

/// Variable name of a tracer; names chosen by users are prefixed, so that they cannot collide with others.
fn kept_name(tracer: &Constituent) -> String {
    let name = tracer.name;
    if tracer.kind.is_of_scheme() { name.to_owned() } else { format!("tracer_{name}") }
}

/// Names of the dimensions of the run's grid and of lists.
mod dimension {
    pub(super) const RUN: [&str; 3] = ["z", "y", "x"];
    pub(super) const REPORT: &str = "report";
    pub(super) const FIGURE: &str = "figure";
    pub(super) const PART: &str = "part";
    pub(super) const CHEMISTRY_CELL: &str = "chemistry_cell";
}

/// Names and lengths of the dimensions of space.
fn dimensions(run: Shape, input: Shape) -> [(&'static str, usize); 8] {
    [
        ("x", run.nx),
        ("y", run.ny),
        ("z", run.nz),
        ("z_face", run.nz + 1),
        ("input_x", input.nx),
        ("input_y", input.ny),
        ("input_x_face", input.nx + 1),
        ("input_y_face", input.ny + 1),
    ]
}

/// The column mass of the first frame of the first run, on the grid of the run.
const COLUMN_MASS: [&str; 2] = ["column_mass_perturbation", "column_mass_base"];

/// Planes of the domain in double precision, in the order of [`planes`].
const DOMAIN_PLANES: [(&str, [&str; 2]); 7] = {
    const CENTRE: [&str; 2] = ["input_y", "input_x"];
    const FACE_X: [&str; 2] = ["input_y", "input_x_face"];
    const FACE_Y: [&str; 2] = ["input_y_face", "input_x"];
    [
        ("mu", CENTRE),
        ("map_x", CENTRE),
        ("map_y", CENTRE),
        ("map_u_x", FACE_X),
        ("map_u_y", FACE_X),
        ("map_v_x", FACE_Y),
        ("map_v_y", FACE_Y),
    ]
};

/// Profiles of the vertical coordinate along `z` and along `z_face`, in the order of
/// [`Vertical::profiles`](crate::domain::Vertical::profiles).
const LAYER_PROFILES: [&str; 9] = ["znu", "dnw", "rdnw", "dn", "rdn", "fnm", "fnp", "c1h", "c2h"];
/// See [`LAYER_PROFILES`].
const FACE_PROFILES: [&str; 3] = ["znw", "c1f", "c2f"];

/// The values of [`DOMAIN_PLANES`].
fn planes(domain: &Domain) -> [&Array2<f64>; DOMAIN_PLANES.len()] {
    let (at, faces) = (&domain.coordinate, &domain.face_maps);
    [&at.mu, &at.map_x, &at.map_y, &faces.u_x, &faces.u_y, &faces.v_x, &faces.v_y]
}

/// Name, dimension and values of the profiles of a domain.
fn profiles(domain: &Domain) -> impl Iterator<Item = (&'static str, &'static str, &[f64])> {
    let (layers, faces) = domain.vertical.profiles();
    let layers = LAYER_PROFILES.into_iter().zip(layers).map(|(name, x)| (name, "z", x));
    let faces = FACE_PROFILES.into_iter().zip(faces).map(|(name, x)| (name, "z_face", x));
    layers.chain(faces)
}
