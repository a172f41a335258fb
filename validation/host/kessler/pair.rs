//! Columns on two backends: differences that pass, and differences that do not. The CPU stands in for a device, column
//! by column.

use nwp_mini::diagnostics::pair::Verdict;
use nwp_mini::model::columns::{Calls, Ends, compare};
use nwp_mini::physics::PhysicsCase;
use nwp_mini::physics::kessler::params::KesslerFactors;
use nwp_mini::physics::kessler::{Kessler, Work};
use nwp_mini::physics::{Scratch, call};
use nwp_mini::real::Real;
use nwp_mini::simd::Instructions;

use super::case::Columns;

const DT: f64 = 60.0;
const CALLS: usize = 10;

/// Columns of a case of the reference in either precision.
fn case<R: Real>(name: &str) -> PhysicsCase<R> {
    let columns = Columns::of(name);
    let (nz, nx) = columns.dim();
    let field = |name: &str| {
        let values = columns.field(name).mapv(|x| R::of(x.into()));
        values.into_shape_with_order((nz, 1, nx)).expect("levels of one row")
    };
    let tendency = |at: usize| {
        let both = columns.tendencies.as_ref()?;
        let values = both[at].mapv(|x| R::of(x.into()));
        Some(values.into_shape_with_order((nz, 1, nx)).expect("levels of one row"))
    };
    PhysicsCase {
        shape: nwp_mini::grid::Shape { nx, ny: 1, nz },
        tracers: ["th", "q", "qc", "qr"].map(field).into(),
        air: ["den", "pii", "delz"].map(field).into(),
        surface: vec![ndarray::Array2::zeros((1, nx)); 2],
        diagnosed: Vec::new(),
        tendencies: [tendency(0), tendency(1)],
        dt: None,
        calls: None,
    }
}

/// The stand-in for a device: single columns.
fn other(
    scheme: &Kessler<f32>,
    mut case: PhysicsCase<f32>,
    vectors: Option<Instructions>,
) -> Ends<f32> {
    let scratch = Scratch::<Work<f32>>::with(scheme, case.shape.nz, vectors);
    let mut first = None;
    for _ in 0..CALLS {
        case.force(DT as f32);
        call(scheme, DT as f32, &scratch, case.block());
        first.get_or_insert_with(|| case.clone());
    }
    Ends { first: first.expect("calls"), last: case }
}

fn bad(name: &str, scheme: &Kessler<f32>) -> Vec<String> {
    let start = case::<f32>(name);
    let calls = Calls { scheme: &Kessler::default(), dt: DT, count: CALLS };
    let found = other(scheme, start.clone(), None);
    let (verdicts, _) =
        compare(&calls, (&start, &case::<f64>(name)), &found).expect("finite columns");
    assert_eq!(verdicts.len(), 6 + 8);
    let bad = verdicts.iter().filter(|verdict| !verdict.pass);
    bad.map(|Verdict { field, steps, .. }| format!("{field} after {steps}")).collect()
}

/// The functions of the standard library in the place of the vector functions.
#[test]
fn other_rounding_passes() {
    for name in ["warm", "mixed", "storm"] {
        assert_eq!(bad(name, &Kessler::default()), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn one_per_cent_of_a_process_fails() {
    for name in KesslerFactors::<f32>::NAMES {
        let mut scheme = Kessler::<f32>::default();
        *scheme.factors.of(name).expect("a process") = 1.01;
        // Of the storm's clouds none is thick enough for autoconversion.
        let case = if *name == "autoconversion" { "warm" } else { "storm" };
        let found = bad(case, &scheme);
        println!("{name}: {found:?}");
        assert!(!found.is_empty(), "1 % of {name} is not noticed");
    }
}
