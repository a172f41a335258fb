//! The fields that the scheme works on, and their division into blocks of columns.

use std::ops::Range;

use ndarray::{
    Array2, ArrayBase, ArrayView2, ArrayView3, ArrayViewMut2, ArrayViewMut3, Axis, Dimension, s,
};

use super::{Cell, Precipitation, cell};
use crate::mass::Layered;
use crate::mass::mismatch;
use crate::real::Real;
use crate::state::{CloudDiagnostics, Environment, State, Surface};

/// Dry masses for the mass mismatch of a call: the dry mass of a cell may differ from rho dz. Shapes: (ny, nx).
#[derive(Debug)]
pub struct Weighing<'a, R> {
    /// Dry mass of the cells as two planes, kg, and the profiles that multiply them, 1: the plane with the column mass
    /// and the plane without it.
    mass: [ArrayView2<'a, R>; 2],
    profiles: [&'a [R]; 2],
    /// Reciprocal area of the cells, m⁻².
    per_area: ArrayView2<'a, R>,
    /// Mass mismatch of the changes of a column, kg m⁻²; set.
    mass_mismatch: ArrayViewMut2<'a, R>,
}

impl<'a, R: Real> Weighing<'a, R> {
    /// Dry masses of the cells and their areas; results go to `mass_mismatch`.
    pub fn new(
        mass: &'a Layered<R>,
        per_area: &'a Array2<R>,
        mass_mismatch: &'a mut Array2<R>,
    ) -> Self {
        Self {
            mass: [mass.with_mu.view(), mass.without_mu.view()],
            profiles: [&mass.c1, &mass.c2],
            per_area: per_area.view(),
            mass_mismatch: mass_mismatch.view_mut(),
        }
    }
}

impl<R> Cut for Option<Weighing<'_, R>> {
    fn cut(self, axis: Axis, at: usize) -> (Self, Self) {
        let Some(Weighing { mass, profiles, per_area, mass_mismatch }) = self else {
            return (None, None);
        };
        let [with_mu, without_mu] = mass.map(|plane| plane.cut(axis, at));
        let (per_area, mass_mismatch) = (per_area.cut(axis, at), mass_mismatch.cut(axis, at));
        let part = |mass, per_area, mass_mismatch| {
            Some(Weighing { mass, profiles, per_area, mass_mismatch })
        };
        (
            part([with_mu.0, without_mu.0], per_area.0, mass_mismatch.0),
            part([with_mu.1, without_mu.1], per_area.1, mass_mismatch.1),
        )
    }
}

/// Divides every field of a struct in two along an axis of (ny, nx).
macro_rules! split {
    ($name:ident, $fields:expr, $axis:expr, $at:expr,
     same: [$($same:ident),*], levels: [$($level:ident),*], planes: [$($plane:ident),*]) => {{
        let $name { $($same,)* $($level,)* $($plane),* } = $fields;
        $(let $level = cut($level, Axis($axis + 1), $at);)*
        $(let $plane = cut($plane, Axis($axis), $at);)*
        (
            $name { $($same,)* $($level: $level.0,)* $($plane: $plane.0),* },
            $name { $($same,)* $($level: $level.1,)* $($plane: $plane.1),* },
        )
    }};
}

/// Fields that a call of the scheme works on. Shapes: (nz, ny, nx) and (ny, nx).
#[derive(Debug)]
pub struct Fields<'a, R> {
    /// Potential temperature less `theta`, K.
    pub theta_base: R,
    /// Potential temperature less `theta_base`, K; input and output, as are the five below.
    pub theta: ArrayViewMut3<'a, R>,
    /// Vapour, kg kg⁻¹.
    pub qv: ArrayViewMut3<'a, R>,
    /// Cloud water, kg kg⁻¹.
    pub qc: ArrayViewMut3<'a, R>,
    /// Rain, kg kg⁻¹.
    pub qr: ArrayViewMut3<'a, R>,
    /// Cloud ice, kg kg⁻¹.
    pub qi: ArrayViewMut3<'a, R>,
    /// Snow, kg kg⁻¹.
    pub qs: ArrayViewMut3<'a, R>,
    /// Density of dry air, kg m⁻³; only read, as the three below.
    pub rho: ArrayView3<'a, R>,
    /// Exner function, 1.
    pub exner: ArrayView3<'a, R>,
    /// Pressure, Pa.
    pub p: ArrayView3<'a, R>,
    /// Depth of the layers, m.
    pub dz: ArrayView3<'a, R>,
    /// Precipitation, mm; added to.
    pub rain: ArrayViewMut2<'a, R>,
    /// Water that has reached the ground in the call, kg m⁻²; set.
    pub fallen: ArrayViewMut2<'a, R>,
    /// Precipitation of the call, mm; set.
    pub rainncv: ArrayViewMut2<'a, R>,
    /// Frozen precipitation, mm; added to.
    pub snow: ArrayViewMut2<'a, R>,
    /// Frozen precipitation of the call, mm; set.
    pub snowncv: ArrayViewMut2<'a, R>,
    /// Frozen fraction of the call, 1; set.
    pub sr: ArrayViewMut2<'a, R>,
    /// Water that sedimentation has created in the call, kg m⁻²; set.
    pub fall_residual: ArrayViewMut2<'a, R>,
    /// Water that clipping at zero has added in the call, kg m⁻²; set.
    pub clipped: ArrayViewMut2<'a, R>,
    /// Dry masses for the mass mismatch, if it is requested.
    pub weighing: Option<Weighing<'a, R>>,
}

impl<'a, R: Real> Fields<'a, R> {
    /// All columns of a state with its air and surface fields.
    pub fn new(
        theta_base: R,
        state: &'a mut State<R>,
        air: &'a Environment<R>,
        surface: &'a mut Surface<R>,
    ) -> Self {
        let [theta, qv, qc, qr, qi, qs] =
            state.moist_air_mut().each_mut().map(|field| field.view_mut());
        Self {
            theta_base,
            theta,
            qv,
            qc,
            qr,
            qi,
            qs,
            rho: air.rho.view(),
            exner: air.exner.view(),
            p: air.p.view(),
            dz: air.dz.view(),
            rain: surface.rain.view_mut(),
            fallen: surface.fallen.view_mut(),
            rainncv: surface.rainncv.view_mut(),
            snow: surface.snow.view_mut(),
            snowncv: surface.snowncv.view_mut(),
            sr: surface.sr.view_mut(),
            fall_residual: surface.fall_residual.view_mut(),
            clipped: surface.clipped.view_mut(),
            weighing: None,
        }
    }

    /// The same, with the mass mismatch of the changes.
    pub fn weighed(self, weighing: Weighing<'a, R>) -> Self {
        Self { weighing: Some(weighing), ..self }
    }

    /// Panics unless all fields have one shape of `layers` layers.
    pub(super) fn check(&self, layers: usize) {
        let Self { theta, qv, qc, qr, qi, qs, rho, exner, p, dz, .. } = self;
        let (nz, ny, nx) = theta.dim();
        assert!(layers > 0, "columns without layers");
        assert_eq!(nz, layers, "layers of the fields and of the scratch");
        let written = [qv, qc, qr, qi, qs].map(ArrayBase::dim);
        assert_eq!(written, [(nz, ny, nx); 5], "shapes of qv, qc, qr, qi, qs beside theta");
        let read = [rho, exner, p, dz].map(ArrayBase::dim);
        assert_eq!(read, [(nz, ny, nx); 4], "shapes of rho, exner, p, dz beside theta");
        let Self { rain, fallen, rainncv, snow, snowncv, sr, fall_residual, clipped, .. } = self;
        let planes = [rain, fallen, rainncv, snow, snowncv, sr, fall_residual, clipped];
        assert_eq!(planes.map(ArrayBase::dim), [(ny, nx); 8], "shapes at the ground");
        if let Some(Weighing { mass: [a, b], profiles, per_area, mass_mismatch }) = &self.weighing {
            let planes = [a.dim(), b.dim(), per_area.dim(), mass_mismatch.dim()];
            assert_eq!(planes, [(ny, nx); 4], "shapes of what changes are weighed by");
            assert_eq!(profiles.map(<[R]>::len), [nz; 2], "layers that changes are weighed in");
        }
    }

    /// Restricts the fields to the given rows and columns of the grid.
    ///
    /// # Panics
    ///
    /// When the ranges exceed the grid.
    pub fn within(mut self, rows: Range<usize>, columns: Range<usize>) -> Self {
        for (axis, range) in [(0, rows), (1, columns)] {
            self = self.divide(axis, range.end).0.divide(axis, range.start).1;
        }
        self
    }

    /// Computes the mass mismatch of columns of a row. The cells must still hold the values before the call; `after(k,
    /// n)` is the water of the n-th of these columns at level k after the call.
    #[inline(always)]
    pub(super) fn weigh(
        &mut self,
        j: usize,
        columns: Range<usize>,
        after: impl Fn(usize, usize) -> R,
    ) {
        let Some(Weighing { mass, profiles: [c1, c2], per_area, mass_mismatch }) =
            &mut self.weighing
        else {
            return;
        };
        let row = s![j, columns.clone()];
        let [with_mu, without_mu] = [mass[0].slice(row), mass[1].slice(row)];
        let per_area = per_area.slice(row);
        let mut sums = mass_mismatch.slice_mut(row);
        sums.fill(R::ZERO);
        for (k, (c1, c2)) in c1.iter().zip(*c2).enumerate() {
            let part = s![k, j, columns.clone()];
            let [qv, qc, qr, qi, qs] =
                [&self.qv, &self.qc, &self.qr, &self.qi, &self.qs].map(|field| field.slice(part));
            let [rho, dz] = [&self.rho, &self.dz].map(|field| field.slice(part));
            for (n, sum) in sums.iter_mut().enumerate() {
                let cell =
                    Cell { t: R::ZERO, qv: qv[n], qc: qc[n], qr: qr[n], qi: qi[n], qs: qs[n] };
                let mass = with_mu[n] * *c1 + without_mu[n] * *c2;
                *sum += mismatch::mass_mismatch(
                    mass,
                    per_area[n],
                    rho[n],
                    dz[n],
                    cell::water(&cell),
                    after(k, n),
                );
            }
        }
    }

    /// Stores the precipitation of a call of a column.
    pub(super) fn put(&mut self, at: [usize; 2], sum: &Precipitation<R>) {
        self.rain[at] += sum.rain;
        // A millimetre of water is a kilogram per square metre.
        self.fallen[at] = sum.rain;
        self.rainncv[at] = sum.rainncv;
        self.snow[at] += sum.snow;
        self.snowncv[at] = sum.snowncv;
        self.sr[at] = sum.sr;
        self.fall_residual[at] = sum.fall_residual;
        self.clipped[at] = sum.clipped;
    }
}

impl<R: Real> Divisible for Fields<'_, R> {
    fn rows_and_columns(&self) -> (usize, usize) {
        let (_, ny, nx) = self.theta.dim();
        (ny, nx)
    }

    fn divide(self, axis: usize, at: usize) -> (Self, Self) {
        split!(Fields, self, axis, at,
        same: [theta_base],
        levels: [theta, qv, qc, qr, qi, qs, rho, exner, p, dz],
        planes: [
            rain, fallen, rainncv, snow, snowncv, sr, fall_residual, clipped, weighing
        ])
    }
}

/// Potential temperature after a call with final temperature `t`; `theta`, before and after, is less `theta_base`. If
/// the call left the temperature unchanged, `theta` is unchanged too: converting it back would round it by one ULP of
/// its full value in every call, and quiet air would drift.
#[inline(always)]
pub(super) fn theta_after<R: Real>(theta: R, theta_base: R, exner: R, t: R) -> R {
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
        let [theta, qv, qc, qr, qi, qs] = state.moist_air().each_ref().map(|field| field.view());
        Self {
            theta_base,
            theta,
            qv,
            qc,
            qr,
            qi,
            qs,
            rho: air.rho.view(),
            exner: air.exner.view(),
            p: air.p.view(),
            refl_10cm: out.refl_10cm.view_mut(),
            re_cloud: out.re_cloud.view_mut(),
            re_ice: out.re_ice.view_mut(),
            re_snow: out.re_snow.view_mut(),
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

impl<R: Real> Divisible for DiagnosticFields<'_, R> {
    fn rows_and_columns(&self) -> (usize, usize) {
        let (_, ny, nx) = self.theta.dim();
        (ny, nx)
    }

    fn divide(self, axis: usize, at: usize) -> (Self, Self) {
        split!(DiagnosticFields, self, axis, at,
            same: [theta_base],
            levels: [
                theta, qv, qc, qr, qi, qs, rho, exner, p, refl_10cm, re_cloud, re_ice, re_snow
            ],
            planes: [])
    }
}

/// Fields of columns that can be divided among threads.
pub(super) trait Divisible: Send + Sized {
    /// (ny, nx).
    fn rows_and_columns(&self) -> (usize, usize);

    /// The fields below and from index `at` on along an axis of (ny, nx).
    fn divide(self, axis: usize, at: usize) -> (Self, Self);
}

/// A view that can be divided in two.
trait Cut: Sized {
    fn cut(self, axis: Axis, at: usize) -> (Self, Self);
}

impl<R, D: Dimension> Cut for ndarray::ArrayView<'_, R, D> {
    fn cut(self, axis: Axis, at: usize) -> (Self, Self) {
        self.split_at(axis, at)
    }
}

impl<R, D: Dimension> Cut for ndarray::ArrayViewMut<'_, R, D> {
    fn cut(self, axis: Axis, at: usize) -> (Self, Self) {
        self.split_at(axis, at)
    }
}

fn cut<V: Cut>(view: V, axis: Axis, at: usize) -> (V, V) {
    view.cut(axis, at)
}
