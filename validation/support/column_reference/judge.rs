//! Cases of a reference, run and judged.

use ndarray::{Array2, Axis};
use nwp_mini::real::{Precision, Real};

use super::field::Field;
use super::report::Report;
use super::stage::Stage;
use super::truth::group;
use super::yardstick::Yardsticks;
use super::{ColumnScheme, Columns, Run};

/// The limits of a scheme for one field.
pub trait Limits {
    /// In single precision.
    fn judge_f32(&self, field: &Field<'_>, report: &mut Report);

    /// In double precision.
    fn judge_f64(&self, field: &Field<'_>, report: &mut Report);

    /// The part of the limits counted by [`Report::tally`] that may be exceeded.
    fn exceeded(&self) -> f64 {
        0.0
    }
}

/// A case with its results.
pub struct Case<S: ColumnScheme> {
    /// Its name.
    pub name: &'static str,
    /// Its input.
    pub columns: Columns<S>,
    /// Its results.
    pub stages: Vec<Stage>,
}

/// Cases of a scheme with WRF's results, and the errors of other builds of that code.
pub struct Reference<S: ColumnScheme> {
    /// The cases.
    pub cases: Vec<Case<S>>,
    /// The errors.
    pub yardsticks: Yardsticks,
}

impl<S: ColumnScheme> Reference<S> {
    /// Reads the cases of these names, with the stages that are wanted.
    pub fn read(cases: &[&'static str], is_wanted: impl Fn(f64, usize) -> bool) -> Self {
        Self::of_variant(S::NAME, S::OUTPUTS, cases, is_wanted)
    }

    /// Reads these results of a variant of the scheme, which are in a file of their own.
    pub fn of_variant(
        variant: &str,
        outputs: &[&'static str],
        cases: &[&'static str],
        is_wanted: impl Fn(f64, usize) -> bool,
    ) -> Self {
        let [input, output] = [S::NAME, variant].map(crate::reference);
        let read = |&name: &&'static str| {
            let columns = Columns::read(&group(&input, name));
            let stages = Stage::read::<S>(&group(&output, name), outputs, &is_wanted);
            Case { name, columns, stages }
        };
        let yardsticks = Yardsticks::parse(&crate::yardstick(variant), S::counts);
        Self { cases: cases.iter().map(read).collect(), yardsticks }
    }

    /// Runs all stages of all cases and judges all fields.
    pub fn judge<R: Real>(&self, engine: &impl Run<S, R>, limits: &impl Limits) -> Report {
        self.judge_parts(engine, limits, &[1])
    }

    /// Runs all stages of all cases; for each n of `parts` the columns are divided into n interleaved subsets, which are
    /// judged separately.
    pub fn judge_parts<R: Real>(
        &self,
        engine: &impl Run<S, R>,
        limits: &impl Limits,
        parts: &[usize],
    ) -> Report {
        let mut report = Report::default();
        for case in &self.cases {
            let count = case.columns.dim().1;
            for stage in &case.stages {
                let outputs = engine.outputs(&case.columns, stage.dt, stage.calls);
                let outputs: Vec<_> = outputs.iter().map(|field| field.mapv(R::f64)).collect();
                for (parts, first) in parts.iter().flat_map(|&n| (0..n).map(move |i| (n, i))) {
                    let columns: Vec<usize> = (first..count).step_by(parts).collect();
                    let found =
                        |index: usize| -> Array2<f64> { outputs[index].select(Axis(1), &columns) };
                    let stage = stage.select(&columns);
                    self.judge_stage::<R>(case.name, &stage, found, limits, &mut report);
                }
            }
        }
        report.close(limits.exceeded());
        report
    }

    fn judge_stage<R: Real>(
        &self,
        case: &'static str,
        stage: &Stage,
        found: impl Fn(usize) -> Array2<f64>,
        limits: &impl Limits,
        report: &mut Report,
    ) {
        let Stage { dt, calls, .. } = *stage;
        for (name, truth) in &stage.truths {
            let yardstick = self.yardsticks.of(case, dt, calls, name);
            let (levels, columns) = truth.exact.dim();
            let (precision, whole) = (R::NAME, yardstick.cells / levels);
            let about = format!(
                "{case} dt={dt} calls={calls} {name} {precision}, {columns} of {whole} columns"
            );
            let index = S::OUTPUTS.iter().position(|output| output == name);
            let found = found(index.unwrap_or_else(|| panic!("no output {name}")));
            assert_eq!(found.dim(), truth.exact.dim(), "{about}");
            let errors = (&found - &truth.exact).mapv(f64::abs);
            if let Some((at, _)) = errors.indexed_iter().find(|(_, x)| !x.is_finite()) {
                report.note("finite", f64::INFINITY, || {
                    format!("{about}: {} at level {} of column {}", found[at], at.0, at.1)
                });
                continue;
            }
            let field = Field { case, name, stage, truth, errors, yardstick, about };
            match R::PRECISION {
                Precision::F32 => limits.judge_f32(&field, report),
                Precision::F64 => limits.judge_f64(&field, report),
            }
        }
    }

    /// Judges versions with something wrong, each by name; panics unless every one exceeds a limit.
    pub fn expect_noticed<R: Real, E: Run<S, R>>(
        &self,
        wrong: impl IntoIterator<Item = (&'static str, E)>,
        limits: &impl Limits,
    ) {
        let mut unnoticed = Vec::new();
        for (name, engine) in wrong {
            let report = self.judge(&engine, limits);
            let (count, most) = (report.failures.len(), report.most());
            println!("{name} + 1 %: {count} limits exceeded, by up to {most:.0}");
            if report.failures.is_empty() {
                unnoticed.push(name);
            }
        }
        assert!(unnoticed.is_empty(), "a change by 1 % is not noticed in {}", unnoticed.join(", "));
    }
}
