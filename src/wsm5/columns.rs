//! The scheme over many columns, in parallel.

use std::ops::Range;
use std::sync::Mutex;

use ndarray::{ArrayView3, ArrayViewMut2, ArrayViewMut3, Axis, Dimension};

use super::params::SchemeConstants;
use super::radii::{RadiusConstants, re_cloud, re_ice, re_snow};
use super::reflectivity::{Bins, RadarConstants, Target, reflectivity};
use super::scheme::Scheme;
use super::{Air, Cell, Column};
use crate::real::Real;
use crate::state::{CloudDiagnostics, Environment, State, Surface};

/// Columns that one thread takes at a time. The result does not depend on it.
const BLOCK: usize = 64;

/// Cuts every field of a struct in two along an axis of (ny, nx).
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
    /// What is added to `theta` to give the potential temperature, K.
    pub theta_base: R,
    /// Potential temperature less `theta_base`, K; in and out, as the five below.
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
    /// Water that the fall scheme has made in the call, kg m⁻²; set.
    pub fall_residual: ArrayViewMut2<'a, R>,
    /// Water that clipping at zero has made in the call, kg m⁻²; set.
    pub clipped: ArrayViewMut2<'a, R>,
}

impl<'a, R: Real> Fields<'a, R> {
    /// The whole of a state with its air and its ground.
    pub fn new(
        theta_base: R,
        state: &'a mut State<R>,
        air: &'a Environment<R>,
        surface: &'a mut Surface<R>,
    ) -> Self {
        Self {
            theta_base,
            theta: state.theta.view_mut(),
            qv: state.qv.view_mut(),
            qc: state.qc.view_mut(),
            qr: state.qr.view_mut(),
            qi: state.qi.view_mut(),
            qs: state.qs.view_mut(),
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
        }
    }

    /// The columns of the given rows and columns of the grid only.
    pub fn within(mut self, rows: Range<usize>, columns: Range<usize>) -> Self {
        for (axis, range) in [(0, rows), (1, columns)] {
            self = self.cut(axis, range.end).0.cut(axis, range.start).1;
        }
        self
    }

    /// The columns below and from an index along an axis of (ny, nx).
    fn cut(self, axis: usize, at: usize) -> (Self, Self) {
        split!(Fields, self, axis, at,
            same: [theta_base],
            levels: [theta, qv, qc, qr, qi, qs, rho, exner, p, dz],
            planes: [rain, fallen, rainncv, snow, snowncv, sr, fall_residual, clipped])
    }
}

/// A view that can be cut in two.
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

/// Where to cut (ny, nx) columns in two, unless they are few enough for one thread.
fn halves(ny: usize, nx: usize) -> Option<(usize, usize)> {
    match (ny, nx) {
        (ny, nx) if ny * nx <= BLOCK => None,
        (1, nx) => Some((1, nx / 2)),
        (ny, _) => Some((0, ny / 2)),
    }
}

/// One work column for each thread, made once.
#[derive(Debug)]
pub struct Scratch<R> {
    columns: Vec<Mutex<Column<R>>>,
}

impl<R: SchemeConstants> Scratch<R> {
    /// Work columns of `nz` layers for all threads of the pool that this is called in.
    pub fn new(nz: usize) -> Self {
        let threads = rayon::current_num_threads().max(1);
        Self { columns: (0..threads).map(|_| Mutex::new(Column::new(nz))).collect() }
    }

    /// Lends the work column of this thread.
    fn with<T>(&self, work: impl FnOnce(&mut Column<R>) -> T) -> T {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.columns.len();
        let mut column =
            self.columns[thread].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        work(&mut column)
    }
}

/// One call of the scheme on every column: `dt` seconds.
pub fn call<R: SchemeConstants>(p: &Scheme<R>, dt: R, scratch: &Scratch<R>, fields: Fields<'_, R>) {
    let (_, ny, nx) = fields.theta.dim();
    let Some((axis, at)) = halves(ny, nx) else {
        scratch.with(|column| call_block(p, dt, column, fields));
        return;
    };
    let (left, right) = fields.cut(axis, at);
    rayon::join(|| call(p, dt, scratch, left), || call(p, dt, scratch, right));
}

fn call_block<R: SchemeConstants>(
    p: &Scheme<R>,
    dt: R,
    column: &mut Column<R>,
    mut f: Fields<'_, R>,
) {
    let (nz, ny, nx) = f.theta.dim();
    for (j, i) in (0..ny).flat_map(|j| (0..nx).map(move |i| (j, i))) {
        for k in 0..nz {
            let at = [k, j, i];
            column.cells[k] = Cell {
                t: (f.theta[at] + f.theta_base) * f.exner[at],
                qv: f.qv[at],
                qc: f.qc[at],
                qr: f.qr[at],
                qi: f.qi[at],
                qs: f.qs[at],
            };
            column.air[k] = Air { rho: f.rho[at], p: f.p[at], dz: f.dz[at], ..Air::default() };
        }
        let sum = column.call(p, dt);
        for (k, cell) in column.cells.iter().enumerate() {
            let at = [k, j, i];
            f.theta[at] = cell.t / f.exner[at] - f.theta_base;
            f.qv[at] = cell.qv;
            f.qc[at] = cell.qc;
            f.qr[at] = cell.qr;
            f.qi[at] = cell.qi;
            f.qs[at] = cell.qs;
        }
        f.rain[[j, i]] += sum.rain;
        // A millimetre of water is a kilogram per square metre.
        f.fallen[[j, i]] = sum.rain;
        f.rainncv[[j, i]] = sum.rainncv;
        f.snow[[j, i]] += sum.snow;
        f.snowncv[[j, i]] = sum.snowncv;
        f.sr[[j, i]] = sum.sr;
        f.fall_residual[[j, i]] = sum.fall_residual;
        f.clipped[[j, i]] = sum.clipped;
    }
}

/// Fields that the diagnostics of the scheme read and write. Shape of each: (nz, ny, nx).
#[derive(Debug)]
pub struct DiagnosticFields<'a, R> {
    /// What is added to `theta` to give the potential temperature, K.
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
    /// The whole of a state with its air, and where to put what is diagnosed.
    pub fn new(
        theta_base: R,
        state: &'a State<R>,
        air: &'a Environment<R>,
        out: &'a mut CloudDiagnostics<R>,
    ) -> Self {
        Self {
            theta_base,
            theta: state.theta.view(),
            qv: state.qv.view(),
            qc: state.qc.view(),
            qr: state.qr.view(),
            qi: state.qi.view(),
            qs: state.qs.view(),
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

/// Reflectivity and effective radii of every column.
pub fn diagnose<R: RadarConstants + RadiusConstants>(
    p: &Scheme<R>,
    bins: &Bins<R>,
    fields: DiagnosticFields<'_, R>,
) {
    let (_, ny, nx) = fields.theta.dim();
    let Some((axis, at)) = halves(ny, nx) else {
        diagnose_block(p, bins, fields);
        return;
    };
    let (left, right) = split!(DiagnosticFields, fields, axis, at,
        same: [theta_base],
        levels: [theta, qv, qc, qr, qi, qs, rho, exner, p, refl_10cm, re_cloud, re_ice, re_snow],
        planes: []);
    rayon::join(|| diagnose(p, bins, left), || diagnose(p, bins, right));
}

fn diagnose_block<R: RadarConstants + RadiusConstants>(
    p: &Scheme<R>,
    bins: &Bins<R>,
    mut f: DiagnosticFields<'_, R>,
) {
    let (nz, ny, nx) = f.theta.dim();
    let mut column = Vec::with_capacity(nz);
    let mut dbz = vec![R::ZERO; nz];
    for (j, i) in (0..ny).flat_map(|j| (0..nx).map(move |i| (j, i))) {
        column.clear();
        for k in 0..nz {
            let at = [k, j, i];
            let t = (f.theta[at] + f.theta_base) * f.exner[at];
            column.push(Target { t, p: f.p[at], qv: f.qv[at], qr: f.qr[at], qs: f.qs[at] });
            f.re_cloud[at] = re_cloud(p, f.rho[at], f.qc[at]);
            f.re_ice[at] = re_ice(p, f.rho[at], f.qi[at]);
            f.re_snow[at] = re_snow(p, t, f.rho[at], f.qs[at]);
        }
        reflectivity(p, bins, &column, &mut dbz);
        for (k, &dbz) in dbz.iter().enumerate() {
            f.refl_10cm[[k, j, i]] = dbz;
        }
    }
}
