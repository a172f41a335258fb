//! Calls of the microphysics on the CPU: the schemes of all members, and their work space.

use super::arrays::{Arrays, MemberFields};
use super::budget::BudgetSums;
use crate::backend::{ComputePrecision, Microphysics};
use crate::constants::Constants;
use crate::grid::Window;
use crate::physics::kessler::{self, Kessler};
use crate::physics::wsm5::reflectivity::Bins;
use crate::physics::wsm5::scheme::Scheme;
use crate::physics::wsm5::{self, DiagnosticFields};
use crate::physics::{self, Block, Budget, Scratch};
use crate::real::Real;
use crate::simd::Instructions;
use crate::state::{CloudDiagnostics, Environment, State, Surface};

/// The schemes of all members, and their work space.
#[derive(Debug)]
pub(super) struct SchemeCalls<R: Real> {
    /// WSM5 of each member, which diagnoses in any case.
    pub(super) wsm5: Vec<Scheme<R>>,
    scratch: Scratch<wsm5::Work<R>>,
    /// The Kessler scheme, if it replaces WSM5, and its work space.
    kessler: Option<(Kessler<R>, Scratch<kessler::Work<R>>)>,
    bins: Bins<R>,
}

impl<R: ComputePrecision> SchemeCalls<R> {
    /// Calls for columns of `nz` levels.
    pub(super) fn new(microphysics: Microphysics, wsm5: Vec<Scheme<R>>, nz: usize) -> Self {
        let kessler = (microphysics == Microphysics::Kessler).then(|| {
            let scheme = Kessler::default();
            (scheme, Scratch::new(&scheme, nz))
        });
        Self { scratch: Scratch::new(&wsm5[0], nz), wsm5, kessler, bins: Bins::default() }
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
        let environment = &present.environment;
        let MemberFields { state, surface } = &mut members[member];
        let weighing = budget.weighing(air);
        if let Some((scheme, scratch)) = &self.kessler {
            let block = warm_rain(state, environment, surface).weighed(weighing);
            physics::call(scheme, R::of(dt), scratch, block.within(rows, columns));
        } else {
            let block = wsm5::block(R::THETA_BASE, state, environment, surface).weighed(weighing);
            physics::call(
                &self.wsm5[member],
                R::of(dt),
                &self.scratch,
                block.within(rows, columns),
            );
        }
    }

    /// Reflectivity and effective radii of a state by the scheme of a member.
    pub(super) fn diagnose(
        &self,
        member: usize,
        state: &State<R>,
        air: &Environment<R>,
        out: &mut CloudDiagnostics<R>,
    ) {
        let fields = DiagnosticFields::new(R::THETA_BASE, state, air, out);
        wsm5::diagnose(&self.wsm5[member], &self.bins, Instructions::best(), fields);
    }

    /// The Kessler scheme, if the run uses it.
    pub(super) fn kessler_mut(&mut self) -> Option<&mut Kessler<R>> {
        self.kessler.as_mut().map(|(scheme, _)| scheme)
    }

    /// Vector instructions of the calls. Single precision has other bits with them than without.
    pub(super) fn instructions(&self) -> Option<Instructions> {
        match &self.kessler {
            Some(_) => Instructions::best(),
            None => wsm5::instructions::<R>(self.wsm5[0].fallout, Instructions::best()),
        }
    }
}

/// The columns of a run for a scheme of warm rain.
fn warm_rain<'a, R: Constants>(
    state: &'a mut State<R>,
    air: &'a Environment<R>,
    surface: &'a mut Surface<R>,
) -> Block<'a, R> {
    let Surface { rain, rainncv, fallen, fall_residual, clipped, .. } = surface;
    let [theta, qv, qc, qr, _, _] = state.moist_air_mut().each_mut().map(|field| field.view_mut());
    Block {
        theta_base: R::THETA_BASE,
        tracers: vec![theta, qv, qc, qr],
        air: [&air.rho, &air.exner, &air.dz].map(|field| field.view()).into(),
        surface: vec![rain.view_mut(), rainncv.view_mut()],
        budget: Some(Budget {
            fallen: fallen.view_mut(),
            fall_residual: fall_residual.view_mut(),
            clipped: clipped.view_mut(),
            weighing: None,
        }),
    }
}

#[cfg(test)]
impl SchemeCalls<f64> {
    /// Default calls of a run of one, for the tests of other parts.
    pub(super) fn of_one(nz: usize) -> Self {
        Self::new(Microphysics::default(), vec![Scheme::default()], nz)
    }
}
