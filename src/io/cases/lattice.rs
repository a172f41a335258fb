//! Cases of the Wilson operator. Input: links, spinors and parameters; output: results of operators and solutions.

use std::path::Path;

use crate::error::{Error, Result};
use crate::io::read::reader::Reader;
use crate::io::store::writer::{Stored, Writer};
use crate::lattice::gauge::{distance_from_su3, link_of};
use crate::lattice::{DIRECTIONS, Extents, GaugeField, LINK_REALS, SPINOR_REALS, Solution, Stop};
use crate::os_text::Shown;

/// Largest distance of a link from SU(3): kernels rebuild its third row from the other two.
const MOST_DISTANCE: f64 = 1e-6;
/// Names of the directions, the slowest first, as fields have them.
const AXES: [&str; DIRECTIONS] = ["t", "z", "y", "x"];

/// A lattice with its links, a spinor field for the operators, and a system to solve.
#[derive(Clone, Debug)]
pub(crate) struct LatticeCase {
    /// Its name; empty in a file of one case without names.
    pub name: String,
    /// The lattice.
    pub extents: Extents,
    /// Links, (mu, t, z, y, x, row, column, complex).
    pub links: Vec<f64>,
    /// Largest distance of a link from SU(3).
    pub distance: f64,
    /// The field that the operators act on, (t, z, y, x, spin, color, complex).
    pub psi: Vec<f64>,
    /// The right-hand side of the system, in the same shape.
    pub rhs: Vec<f64>,
    /// The hopping parameter.
    pub kappa: f64,
    /// Tolerances of the solution in double and in single precision.
    pub tolerance: [f64; 2],
    /// `true` for antiperiodic boundary conditions in t: hops across the end have the factor -1.
    pub antiperiodic_t: bool,
}

impl LatticeCase {
    /// The links with their description.
    pub(crate) fn gauge(&self) -> GaugeField<'_> {
        let Self { extents, links, antiperiodic_t, .. } = self;
        GaugeField { extents: *extents, links, antiperiodic_t: *antiperiodic_t }
    }

    /// The name of a variable or dimension of this case.
    fn named(&self, what: &str) -> String {
        prefixed(&self.name, what)
    }
}

fn prefixed(case: &str, what: &str) -> String {
    if case.is_empty() { what.to_owned() } else { format!("{case}_{what}") }
}

/// Reads and checks all cases of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<LatticeCase>> {
    let file = Reader::open(path)?;
    let names: Vec<String> = match file.text("cases") {
        Some(text) => text.split_whitespace().map(str::to_owned).collect(),
        None => vec![String::new()],
    };
    if names.is_empty() {
        return Err(file.error(
            "attribute cases is empty; name the cases, separated by spaces, or leave it out where \
             variables have no prefix",
        ));
    }
    for (n, name) in names.iter().enumerate() {
        if names[..n].contains(name) {
            return Err(file.error(format!("attribute cases names {name} twice")));
        }
    }
    names.into_iter().map(|name| read_case(&file, name)).collect()
}

fn read_case(file: &Reader, name: String) -> Result<LatticeCase> {
    let named = |what: &str| prefixed(&name, what);
    let axes = AXES.map(named);
    let mut extents = [0; DIRECTIONS];
    for (extent, axis) in extents.iter_mut().rev().zip(&axes) {
        *extent = file.dimension(axis)?;
        if !extent.is_multiple_of(2) {
            return Err(file.error(format!(
                "dimension {axis} has length {extent}; even and odd sites need an even length, 2 or \
                 more, in every direction"
            )));
        }
    }
    let extents = Extents::new(extents).map_err(|error| file.error(error.to_string()))?;
    for (dimension, length) in
        [("mu", 4), ("row", 3), ("col", 3), ("spin", 4), ("color", 3), ("complex", 2)]
    {
        let found = file.dimension(dimension)?;
        if found != length {
            return Err(
                file.error(format!("dimension {dimension} has length {found}; {length} is needed"))
            );
        }
    }
    let [t, z, y, x] = axes.each_ref().map(String::as_str);
    let field = |what| file.doubles(&named(what), &[t, z, y, x, "spin", "color", "complex"]);
    let links = file.doubles(&named("links"), &["mu", t, z, y, x, "row", "col", "complex"])?;
    let distance = check_links(file, &named("links"), extents, &links)?;
    let kappa = file.scalar(&named("kappa"))?;
    let tolerance =
        [positive(file, &named("tolerance"))?, positive(file, &named("tolerance_f32"))?];
    let antiperiodic_t = match file.scalar(&named("antiperiodic_t"))? {
        0.0 => false,
        1.0 => true,
        other => {
            return Err(file.error(format!(
                "variable {} is {other}; 0, periodic, or 1, antiperiodic, is needed",
                named("antiperiodic_t")
            )));
        }
    };
    let (psi, rhs) = (field("psi")?, field("rhs")?);
    Ok(LatticeCase { name, extents, links, distance, psi, rhs, kappa, tolerance, antiperiodic_t })
}

fn positive(file: &Reader, name: &str) -> Result<f64> {
    let x = file.scalar(name)?;
    if x > 0.0 {
        Ok(x)
    } else {
        Err(file.error(format!("variable {name} is {x}; a positive number is needed")))
    }
}

/// The largest distance of a link from SU(3).
fn check_links(file: &Reader, name: &str, extents: Extents, links: &[f64]) -> Result<f64> {
    let mut largest = 0.0_f64;
    for (at, reals) in links.chunks_exact(LINK_REALS).enumerate() {
        let distance = distance_from_su3(&link_of(reals));
        if distance > MOST_DISTANCE {
            let (mu, site) = (at / extents.volume(), at % extents.volume());
            let [nx, ny, nz, _] = extents.along();
            let [x, y, z, t] =
                [site % nx, site / nx % ny, site / (nx * ny) % nz, site / (nx * ny * nz)];
            return Err(file.error(format!(
                "variable {name} is not a matrix of SU(3) at mu={mu} t={t} z={z} y={y} x={x}: U \
                 U† - 1 or det U - 1 is {distance:.3e}, at most {MOST_DISTANCE:e} is needed; the \
                 links must not include the sign of the boundary"
            )));
        }
        largest = largest.max(distance);
    }
    Ok(largest)
}

/// Result of a case.
#[derive(Clone, Debug)]
pub(crate) struct Results<R> {
    /// D psi, (t, z, y, x, spin, colour, complex), as all fields except two.
    pub hop: Vec<R>,
    /// D† psi.
    pub hop_dagger: Vec<R>,
    /// M psi.
    pub m: Vec<R>,
    /// `M_hat psi_e`, (even, spin, color, complex).
    pub mpc: Vec<R>,
    /// `M_hat† psi_e`, likewise.
    pub mpc_dagger: Vec<R>,
    /// The solution of `M x = rhs`.
    pub solution: Solution<R>,
}

/// Writes the results of some cases.
pub(crate) fn write<R: Stored>(
    mut file: Writer,
    [precision, backend]: [&str; 2],
    cases: &[(&LatticeCase, Results<R>)],
) -> Result<()> {
    let names: Vec<&str> = cases.iter().map(|(case, _)| case.name.as_str()).collect();
    if names != [""] {
        file.text("cases", &names.join(" "))?;
    }
    file.text("precision", precision)?;
    file.text("backend", backend)?;
    for (name, length) in [("spin", 4), ("color", 3), ("complex", 2)] {
        file.dimension(name, length)?;
    }
    for (case, results) in cases {
        let axes = AXES.map(|axis| case.named(axis));
        for (axis, extent) in axes.iter().zip(case.extents.along().into_iter().rev()) {
            file.dimension(axis, extent)?;
        }
        let (even, step) = (case.named("even"), case.named("step"));
        file.dimension(&even, case.extents.half_volume())?;
        let [t, z, y, x] = axes.each_ref().map(String::as_str);
        let whole = [t, z, y, x, "spin", "color", "complex"];
        let half = [even.as_str(), "spin", "color", "complex"];
        let Results { hop, hop_dagger, m, mpc, mpc_dagger, solution } = results;
        for (what, dimensions, long_name, values) in [
            ("hop", &whole[..], "D psi", hop),
            ("hop_dagger", &whole, "adjoint of D, applied to psi", hop_dagger),
            ("m", &whole, "psi - kappa D psi", m),
            ("mpc", &half, "psi - kappa^2 D D psi on even sites", mpc),
            ("mpc_dagger", &half, "its adjoint, applied to psi on even sites", mpc_dagger),
            ("solution", &whole, "solution x of x - kappa D x = rhs", &solution.x),
        ] {
            debug_assert_eq!(values.len() % SPINOR_REALS, 0);
            file.variable(&case.named(what), dimensions, ["1", long_name], values)?;
        }
        let iterations = [solution.iterations as i32];
        file.variable(
            &case.named("iterations"),
            &[],
            ["1", "iterations of the solver"],
            &iterations,
        )?;
        let long_name = "norm of the residual by that of the right-hand side, on even sites";
        file.variable(&case.named("residual"), &[], ["1", long_name], &[solution.residual])?;
        let long_name = "the same in the course of the iterations";
        let history = &solution.history;
        // Defect correction has a residual for each correction, not for each iteration.
        if history.len() != solution.iterations + 1 {
            continue;
        }
        file.dimension(&step, history.len())?;
        file.variable(&case.named("cg_residuals"), &[&step], ["1", long_name], history)?;
    }
    file.commit()
}

/// The variable with the tolerance in single precision.
pub(crate) const OF_SINGLE: &str = "tolerance_f32";

/// An error about a case whose solver has failed.
///
/// `tolerance`: its name in the file, and its value.
pub(crate) fn failed<R>(
    path: &Path,
    case: &LatticeCase,
    solution: &Solution<R>,
    (name, tolerance): (&str, f64),
) -> Error {
    let of = if case.name.is_empty() { String::new() } else { format!(" of case {}", case.name) };
    let Solution { iterations, residual, .. } = *solution;
    let what = format!(
        "{}: the system{of} is not solved after {iterations} iterations, its residual is \
         {residual:.3e} of the right-hand side",
        path.shown()
    );
    let stop = Stop { tolerance, most: iterations };
    Error::NotConverged(if solution.is_rounded_off(stop) {
        let or = if name == OF_SINGLE { ", or double precision" } else { "" };
        format!(
            "{what}, and {name} is {tolerance:.3e}, below the rounding of this precision for this system; no file is \
             written. Take a larger {name}{or}"
        )
    } else {
        format!(
            "{what}; no file is written. Check kappa, {}, which may be beyond the critical value, and {name}, \
             {tolerance:.3e}",
            case.kappa
        )
    })
}
