//! Results of the reference for a case, at one time step and number of calls.

use ndarray::{Array2, Axis};
use netcdf::Group;

use super::ColumnScheme;
use super::truth::{Truth, values};

/// The results that the reference file has for a case, at one time step and number of calls.
pub struct Stage {
    /// Time step, s.
    pub dt: f64,
    /// Number of calls.
    pub calls: usize,
    /// Columns whose course a rounding changes: of a single call, if the file has no mark for several.
    pub fragile: Vec<bool>,
    /// The results, by name.
    pub truths: Vec<(&'static str, Truth)>,
}

/// True if `calls` calls are one call of one minor step, in which the schemes with ice are not sensitive to rounding.
pub fn is_smooth(dt: f64, calls: usize) -> bool {
    calls == 1 && dt <= 120.0
}

impl Stage {
    /// The time steps and numbers of calls of a case that are wanted, with the given results.
    pub fn read<S: ColumnScheme>(
        group: &Group<'_>,
        outputs: &[&'static str],
        is_wanted: impl Fn(f64, usize) -> bool,
    ) -> Vec<Self> {
        let [dts, calls] = ["dt", "call"].map(|name| values::<f64>(group, name, ..));
        let mut stages = Vec::new();
        for (a, &dt) in dts.iter().enumerate() {
            for (b, calls) in calls.iter().map(|calls| *calls as usize).enumerate() {
                if !is_wanted(dt, calls) {
                    continue;
                }
                let truth = |&name: &&'static str| {
                    let has_levels = S::OUTPUTS[..S::ON_LEVELS].contains(&name);
                    (name, Truth::read(group, name, [a, b], has_levels))
                };
                let has_marks = calls > 1 && group.variable("fragile30").is_some();
                let mark = if has_marks { "fragile30" } else { "fragile" };
                let fragile =
                    values::<f64>(group, mark, (a, ..)).iter().map(|x| *x != 0.0).collect();
                let truths = outputs.iter().map(truth).collect();
                stages.push(Self { dt, calls, fragile, truths });
            }
        }
        stages
    }

    /// True for one call of one minor step.
    pub fn is_smooth(&self) -> bool {
        is_smooth(self.dt, self.calls)
    }

    /// The results in the columns of the given indices, in that order.
    pub fn select(&self, columns: &[usize]) -> Self {
        let pick = |field: &Array2<f64>| field.select(Axis(1), columns);
        let truths = self.truths.iter().map(|(name, truth)| {
            (*name, Truth { exact: pick(&truth.exact), off: pick(&truth.off) })
        });
        let fragile = columns.iter().map(|&column| self.fragile[column]).collect();
        Self { truths: truths.collect(), fragile, ..*self }
    }
}
