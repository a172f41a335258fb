//! Calls of the microphysics on the CPU: the columns of all members.

use super::arrays::{Arrays, MemberFields};
use super::budget::BudgetSums;
use crate::backend::ComputePrecision;
use crate::grid::Window;
use crate::physics::scheme::{CpuColumns, Scheme};
use crate::physics::{Block, Field};
use crate::real::Real;
use crate::simd::Instructions;
use crate::state::{CloudDiagnostics, Environment, State};

/// The columns of the scheme of each member, which share their work space.
#[derive(Debug)]
pub(super) struct SchemeCalls<R: Real> {
    columns: Vec<Box<dyn CpuColumns<R>>>,
    /// The fields of a call: tracers, air, planes at the ground.
    fields: [&'static [Field]; 3],
    nz: usize,
}

impl<R: ComputePrecision> SchemeCalls<R> {
    /// Calls for columns of `nz` levels, by a scheme for each member. All are one scheme, with parameters of their own.
    ///
    /// # Panics
    ///
    /// Without any member.
    pub(super) fn new(schemes: &[Box<dyn Scheme>], nz: usize) -> Self {
        let fields = schemes.first().expect("a member").about().fields();
        let mut calls = Self { columns: Vec::new(), fields, nz };
        for scheme in schemes {
            calls.columns.push(calls.columns_of(&**scheme));
        }
        calls
    }

    fn columns_of(&self, scheme: &dyn Scheme) -> Box<dyn CpuColumns<R>> {
        R::of_scheme(scheme).on_cpu(self.nz, self.columns.first().map(|first| &**first))
    }

    /// One call for a member over `dt` seconds, in the owned columns outside the specified rows.
    pub(super) fn call(
        &self,
        member: usize,
        arrays: &mut Arrays<R>,
        budget: &mut BudgetSums<R>,
        dt: f64,
    ) {
        let Arrays { grid, air, members, present, .. } = arrays;
        let Window { rows, columns } = grid.unspecified();
        let MemberFields { state, surface } = &mut members[member];
        let block = Block::of_run(self.fields, state, &present.environment, surface)
            .weighed(budget.weighing(air));
        self.columns[member].call(R::of(dt), block.within(rows, columns));
    }

    /// Reflectivity and effective radii of a state by the scheme of a member.
    pub(super) fn diagnose(
        &self,
        member: usize,
        state: &State<R>,
        air: &Environment<R>,
        out: &mut CloudDiagnostics<R>,
    ) {
        self.columns[member].diagnose_run(state, air, out);
    }

    /// Replaces the scheme of the first member.
    pub(super) fn replace(&mut self, scheme: &dyn Scheme) {
        self.columns[0] = self.columns_of(scheme);
    }

    /// Vector instructions of the calls. Single precision has other bits with them than without.
    pub(super) fn instructions(&self) -> Option<Instructions> {
        self.columns[0].instructions()
    }
}

#[cfg(test)]
impl SchemeCalls<f64> {
    /// Default calls of a run of one, for the tests of other parts.
    pub(super) fn of_one(nz: usize) -> Self {
        Self::new(&[crate::physics::registry::usual()], nz)
    }
}
