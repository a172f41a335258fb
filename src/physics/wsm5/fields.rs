//! The fields that the scheme works on, and their division into blocks of columns.

use ndarray::{Array3, ArrayBase, ArrayView3, ArrayViewMut2, ArrayViewMut3, Axis};

use super::cell::{Cell, water};
use super::step::Precipitation;
use crate::constants::Constants;
use crate::physics::wsm5::ABOUT;
use crate::physics::{Block, Budget, SplitColumns};
use crate::real::Real;
use crate::state::{CloudDiagnostics, Environment, State, Surface};

/// The whole of a state with its air, its ground and the terms of the water budget, for a call of the scheme.
///
/// `theta_base` is added to the field of potential temperature, K.
pub fn block<'a, R: Constants>(
    theta_base: R,
    state: &'a mut State<R>,
    air: &'a Environment<R>,
    surface: &'a mut Surface<R>,
) -> Block<'a, R> {
    Block { theta_base, ..Block::of_run(ABOUT.fields(), state, air, surface) }
}

/// Water of the five species of a cell, kg kg⁻¹.
#[inline(always)]
pub(super) fn total<R: Real>([qv, qc, qr, qi, qs]: [R; 5]) -> R {
    water(&Cell { t: R::ZERO, qv, qc, qr, qi, qs })
}

/// Stores the precipitation and the budget of a call of a column.
#[inline(always)]
pub(super) fn put<R: Real>(
    surface: &mut [ArrayViewMut2<'_, R>],
    budget: &mut Option<Budget<'_, R>>,
    at: [usize; 2],
    sum: &Precipitation<R>,
) {
    let [rain, rainncv, snow, snowncv, sr] = surface else { unreachable!("checked by the caller") };
    rain[at] += sum.rain;
    rainncv[at] = sum.rainncv;
    snow[at] += sum.snow;
    snowncv[at] = sum.snowncv;
    sr[at] = sum.sr;
    if let Some(budget) = budget {
        // A millimetre of water is a kilogram per square metre.
        budget.fallen[at] = sum.rain;
        budget.fall_residual[at] = sum.fall_residual;
        budget.clipped[at] = sum.clipped;
    }
}

/// Potential temperature after a call with final temperature `t`; `theta`, before and after, is less `theta_base`. If
/// the call left the temperature unchanged, `theta` is unchanged too: converting it back would round it by one ULP of
/// its full value in every call, and quiet air would drift.
#[inline(always)]
pub(crate) fn theta_after<R: Real>(theta: R, theta_base: R, exner: R, t: R) -> R {
    if t == (theta + theta_base) * exner { theta } else { t / exner - theta_base }
}

/// Fields that the diagnostics of the scheme read and write. Shape of each: (nz, ny, nx).
#[derive(Debug)]
pub struct DiagnosticFields<'a, R> {
    /// Potential temperature less `theta`, K.
    pub theta_base: R,
    /// Potential temperature less `theta_base`, K.
    pub theta: ArrayView3<'a, R>,
    /// Vapour, kg kg⁻¹.
    pub qv: ArrayView3<'a, R>,
    /// Cloud water, kg kg⁻¹.
    pub qc: ArrayView3<'a, R>,
    /// Rain, kg kg⁻¹.
    pub qr: ArrayView3<'a, R>,
    /// Cloud ice, kg kg⁻¹.
    pub qi: ArrayView3<'a, R>,
    /// Snow, kg kg⁻¹.
    pub qs: ArrayView3<'a, R>,
    /// Density of dry air, kg m⁻³.
    pub rho: ArrayView3<'a, R>,
    /// Exner function, 1.
    pub exner: ArrayView3<'a, R>,
    /// Pressure, Pa.
    pub p: ArrayView3<'a, R>,
    /// Reflectivity at 10 cm, dBZ; set, as the three below.
    pub refl_10cm: ArrayViewMut3<'a, R>,
    /// Effective radius of cloud drops, m.
    pub re_cloud: ArrayViewMut3<'a, R>,
    /// Effective radius of ice crystals, m.
    pub re_ice: ArrayViewMut3<'a, R>,
    /// Effective radius of snow, m.
    pub re_snow: ArrayViewMut3<'a, R>,
}

impl<'a, R: Real> DiagnosticFields<'a, R> {
    /// All columns of a state with its air, and the fields for the diagnostics.
    pub fn new(
        theta_base: R,
        state: &'a State<R>,
        air: &'a Environment<R>,
        out: &'a mut CloudDiagnostics<R>,
    ) -> Self {
        let air = [&air.rho, &air.exner, &air.p, &air.dz];
        let fields = &state.of_scheme();
        Self::of(theta_base, std::array::from_fn(|field| &fields[field]), air, out)
    }

    /// The same of the tracers of the scheme and the fields of its air, in their order.
    pub(super) fn of(
        theta_base: R,
        tracers: [&'a Array3<R>; 6],
        air: [&'a Array3<R>; 4],
        out: &'a mut CloudDiagnostics<R>,
    ) -> Self {
        let [theta, qv, qc, qr, qi, qs] = tracers.map(|field| field.view());
        let [rho, exner, p, _] = air.map(|field| field.view());
        let [refl_10cm, re_cloud, re_ice, re_snow] = out.fields_mut() else {
            panic!("the volumes of WSM5")
        };
        Self {
            theta_base,
            theta,
            qv,
            qc,
            qr,
            qi,
            qs,
            rho,
            exner,
            p,
            refl_10cm: refl_10cm.view_mut(),
            re_cloud: re_cloud.view_mut(),
            re_ice: re_ice.view_mut(),
            re_snow: re_snow.view_mut(),
        }
    }
}

impl<R: Real> DiagnosticFields<'_, R> {
    /// Panics unless all fields have one shape.
    pub(super) fn check(&self) {
        let Self { theta, qv, qc, qr, qi, qs, rho, exner, p, .. } = self;
        let read = [qv, qc, qr, qi, qs, rho, exner, p].map(ArrayView3::dim);
        assert_eq!(read, [theta.dim(); 8], "shapes of state and air beside theta");
        let Self { refl_10cm, re_cloud, re_ice, re_snow, .. } = self;
        let set = [refl_10cm, re_cloud, re_ice, re_snow].map(ArrayBase::dim);
        assert_eq!(set, [theta.dim(); 4], "shapes of what is diagnosed");
    }
}

impl<R: Real> SplitColumns for DiagnosticFields<'_, R> {
    fn rows_and_columns(&self) -> (usize, usize) {
        let (_, ny, nx) = self.theta.dim();
        (ny, nx)
    }

    fn divide(self, axis: usize, at: usize) -> (Self, Self) {
        let axis = Axis(axis + 1);
        let read =
            [self.theta, self.qv, self.qc, self.qr, self.qi, self.qs, self.rho, self.exner, self.p];
        let set = [self.refl_10cm, self.re_cloud, self.re_ice, self.re_snow];
        let theta_base = self.theta_base;
        let part = |[theta, qv, qc, qr, qi, qs, rho, exner, p]: [_; 9],
                    [refl_10cm, re_cloud, re_ice, re_snow]: [_; 4]| Self {
            theta_base,
            theta,
            qv,
            qc,
            qr,
            qi,
            qs,
            rho,
            exner,
            p,
            refl_10cm,
            re_cloud,
            re_ice,
            re_snow,
        };
        let read = read.map(|field| field.split_at(axis, at));
        let (set_below, set_from): (Vec<_>, Vec<_>) =
            set.into_iter().map(|field| field.split_at(axis, at)).unzip();
        let [below, from] = [set_below, set_from]
            .map(|fields| <[_; 4]>::try_from(fields).expect("as many fields as before"));
        (part(read.map(|(below, _)| below), below), part(read.map(|(_, from)| from), from))
    }
}
