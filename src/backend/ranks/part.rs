//! The backend of each part of a divided grid, as its ranks need it, on a CPU or on a GPU.

use std::fmt::Debug;
use std::sync::Arc;

use crate::backend::cpu::Cpu;
use crate::backend::exact_budget::ExactAccount;
use crate::backend::interpolation::Operator;
use crate::backend::{Backend, ComputePrecision, Products};
use crate::constituents::Constituents;
use crate::error::Result;
use crate::forcing::TimeInterpolant;
use crate::primitives::reduce::{Number, Statistics, statistics};
use crate::state::{CloudDiagnostics, State};

/// The backend of a part, or of some members.
pub(super) trait PartBackend<R>: Backend<R> + Debug {
    /// The tracers.
    fn set(&self) -> Arc<Constituents>;

    /// `true` if a step may not be complete when [`Backend::step`] returns.
    fn runs_ahead(&self) -> bool;

    /// The budget of a member in the owned cells.
    fn exact_account(&mut self, member: usize) -> Result<ExactAccount>;

    /// Statistics of levels of the whole grid, each with its number among so many, with the bits of one process.
    fn statistics_of(&self, levels: &[(usize, Vec<R>)], count: usize)
    -> Result<Vec<Statistics<R>>>;

    /// The values of the columns that an operator reads, in the air of a moment.
    fn column_values(
        &mut self,
        operator: &Operator<R>,
        moment: &TimeInterpolant<R>,
    ) -> Result<Products<R>>;

    /// The owned columns of the fields, and what is diagnosed from them in the air of a moment.
    fn owned_columns(
        &mut self,
        moment: &TimeInterpolant<R>,
    ) -> Result<(State<R>, CloudDiagnostics<R>)>;
}

impl<R: ComputePrecision + Number> PartBackend<R> for Cpu<R> {
    fn set(&self) -> Arc<Constituents> {
        Arc::clone(self.state().set())
    }

    fn runs_ahead(&self) -> bool {
        false
    }

    fn exact_account(&mut self, member: usize) -> Result<ExactAccount> {
        Ok(Cpu::exact_account(self, member))
    }

    fn statistics_of(
        &self,
        levels: &[(usize, Vec<R>)],
        _count: usize,
    ) -> Result<Vec<Statistics<R>>> {
        Ok(levels.iter().map(|(_, level)| statistics(level)).collect())
    }

    fn column_values(
        &mut self,
        operator: &Operator<R>,
        moment: &TimeInterpolant<R>,
    ) -> Result<Products<R>> {
        Ok(Cpu::column_values(self, operator, moment))
    }

    fn owned_columns(
        &mut self,
        moment: &TimeInterpolant<R>,
    ) -> Result<(State<R>, CloudDiagnostics<R>)> {
        Ok(Cpu::owned_columns(self, moment))
    }
}

#[cfg(feature = "gpu")]
mod on_gpu {
    use super::{
        Arc, CloudDiagnostics, Constituents, ExactAccount, Operator, PartBackend, Products, Result,
        State, Statistics, TimeInterpolant,
    };
    use crate::backend::gpu::{GpuBackend, GpuPrecision};

    impl<R: GpuPrecision> PartBackend<R> for GpuBackend<R> {
        fn set(&self) -> Arc<Constituents> {
            GpuBackend::set(self)
        }

        fn runs_ahead(&self) -> bool {
            true
        }

        fn exact_account(&mut self, member: usize) -> Result<ExactAccount> {
            GpuBackend::exact_account(self, member)
        }

        fn statistics_of(
            &self,
            levels: &[(usize, Vec<R>)],
            count: usize,
        ) -> Result<Vec<Statistics<R>>> {
            GpuBackend::statistics_of(self, levels, count)
        }

        fn column_values(
            &mut self,
            operator: &Operator<R>,
            moment: &TimeInterpolant<R>,
        ) -> Result<Products<R>> {
            GpuBackend::column_values(self, operator, moment)
        }

        fn owned_columns(
            &mut self,
            moment: &TimeInterpolant<R>,
        ) -> Result<(State<R>, CloudDiagnostics<R>)> {
            GpuBackend::owned_columns(self, moment)
        }
    }
}
