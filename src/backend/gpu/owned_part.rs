//! Sums, columns and samples of the own cells of a part, for the ranks of a divided grid.

use std::sync::Arc;

use super::{GpuBackend, GpuPrecision};
use crate::backend::exact_budget::ExactAccount;
use crate::backend::interpolation::Operator;
use crate::backend::{Backend, Products};
use crate::constituents::Constituents;
use crate::error::Result;
use crate::forcing::TimeInterpolant;
use crate::primitives::reduce::Statistics;
use crate::state::{CloudDiagnostics, State};

impl<R: GpuPrecision> GpuBackend<R> {
    /// The tracers.
    pub(in crate::backend) fn set(&self) -> Arc<Constituents> {
        Arc::clone(&self.arrays.order.set)
    }

    /// The budget of a member in the owned cells. Waits for the device.
    ///
    /// Precipitation is summed exactly. Of all else the device has rounded sums, in the order of its blocks, so that other
    /// divisions of a grid differ in the last bits of a sum.
    pub(in crate::backend) fn exact_account(&mut self, member: usize) -> Result<ExactAccount> {
        let account = self.account(member)?;
        let surface = self.arrays.surface(member)?;
        Ok(self.budget.exact(&account, &surface))
    }

    /// Statistics of levels of the whole grid, each with its number among so many, with the bits that the device gives all of
    /// them. Waits for the device.
    pub(in crate::backend) fn statistics_of(
        &self,
        levels: &[(usize, Vec<R>)],
        count: usize,
    ) -> Result<Vec<Statistics<R>>> {
        self.frames.statistics_of(levels, count)
    }

    /// The values of the columns that an operator reads, in the air of a moment. Waits for the device.
    pub(in crate::backend) fn column_values(
        &mut self,
        operator: &Operator<R>,
        moment: &TimeInterpolant<R>,
    ) -> Result<Products<R>> {
        let (state, diagnostics) = self.diagnosed(moment)?;
        let surface = self.arrays.surface(0)?;
        let state = state.map(|field| operator.columns_of(field));
        let diagnostics = diagnostics.map(|field| operator.columns_of(field));
        Ok(operator.values((&state, &diagnostics), &surface))
    }

    /// The owned columns of the fields, and what is diagnosed from them in the air of a moment. Waits for the device.
    pub(in crate::backend) fn owned_columns(
        &mut self,
        moment: &TimeInterpolant<R>,
    ) -> Result<(State<R>, CloudDiagnostics<R>)> {
        let (state, diagnostics) = self.diagnosed(moment)?;
        let owned = self.arrays.grid.owned();
        Ok((state.within(&owned), diagnostics.within(&owned)))
    }

    /// The state of a run of one with its margin, and what is diagnosed from it.
    fn diagnosed(
        &mut self,
        moment: &TimeInterpolant<R>,
    ) -> Result<(State<R>, CloudDiagnostics<R>)> {
        assert_eq!(self.arrays.members(), 1, "an output of a run of one");
        self.show_air(moment)?;
        let (layout, set) = (self.arrays.frame_layout, &self.arrays.order.set);
        let values = self.gpu.zeros(layout.fields() - layout.state())?;
        self.step.diagnose(0, &self.arrays, &values, 0)?;
        let diagnostics = layout.diagnostics_of(set, &values.to_vec()?);
        Ok((self.arrays.state()?, diagnostics))
    }
}
