//! Reflectivity and effective radii of many columns, in parallel.
#![expect(clippy::needless_range_loop, reason = "one index for all rows of a level")]

use std::hint::black_box;

use super::fields::DiagnosticFields;
use super::radii::{RadiusConstants, re_cloud, re_ice, re_snow};
use super::reflectivity::{
    Bins, RadarConstants, Target, content, decibels, has_snow, is_melting, z_melting_snow, z_rain,
    z_snow,
};
use super::scheme::Scheme;
use super::simd::load_store::Vectorised;
use crate::physics::SplitColumns;
use crate::real::Precision;
use crate::simd::gather_scatter::{for_stretches, give, take};
use crate::simd::{Instructions, LANES, Row, Task, each};

/// Reflectivity and effective radii of every column; in single precision with some vector instructions where there are
/// any, and else with the functions of the standard library.
///
/// # Panics
///
/// When the fields differ in shape.
pub fn diagnose<R: Vectorised>(
    p: &Scheme<R>,
    bins: &Bins<R>,
    instructions: Option<Instructions>,
    fields: DiagnosticFields<'_, R>,
) {
    fields.check();
    match instructions.filter(|_| R::PRECISION == Precision::F32) {
        Some(instructions) => {
            fields.shared_out(&|fields| {
                for_each::<_, _, LANES>(p, bins, fields, R::lane, R::of_lane, |task| {
                    instructions.run(task)
                });
            });
        }
        None => fields.shared_out(&|fields| {
            for_each::<_, _, 1>(p, bins, fields, |x| x, |x| x, |task| task.run());
        }),
    }
}

/// Inputs and diagnostics of a level of columns side by side. Units are those of [`DiagnosticFields`].
#[derive(Clone)]
#[repr(align(64))]
struct Level<R, const N: usize> {
    theta: Row<R, N>,
    exner: Row<R, N>,
    p: Row<R, N>,
    rho: Row<R, N>,
    qv: Row<R, N>,
    qc: Row<R, N>,
    qr: Row<R, N>,
    qi: Row<R, N>,
    qs: Row<R, N>,
    refl_10cm: Row<R, N>,
    re_cloud: Row<R, N>,
    re_ice: Row<R, N>,
    re_snow: Row<R, N>,
}

impl<R: RadarConstants + RadiusConstants, const N: usize> Level<R, N> {
    fn new() -> Self {
        let row = [R::ZERO; N];
        Self {
            theta: row,
            exner: row,
            p: row,
            rho: row,
            qv: row,
            qc: row,
            qr: row,
            qi: row,
            qs: row,
            refl_10cm: row,
            re_cloud: row,
            re_ice: row,
            re_snow: row,
        }
    }

    /// Fills the unused lanes, from `count` on, with copies of the first column.
    fn fill_unused_lanes(&mut self, count: usize) {
        let Self { theta, exner, p, rho, qv, qc, qr, qi, qs, .. } = self;
        for row in [theta, exner, p, rho, qv, qc, qr, qi, qs] {
            let first = row[0];
            row[count..].fill(first);
        }
    }

    /// Sets the diagnostics, as if no snow melted.
    // One loop each around inlined code, as in a call of the scheme.
    #[inline(always)]
    fn set(&mut self, p: &Scheme<R>, theta_base: R) {
        let row = [R::ZERO; N];
        let (mut cloud, mut ice, mut snow, mut dbz) = (row, row, row, row);
        for l in 0..N {
            cloud[l] = re_cloud(p, self.rho[l], self.qc[l]);
        }
        for l in 0..N {
            ice[l] = re_ice(p, self.rho[l], self.qi[l]);
        }
        for l in 0..N {
            let target = self.target(theta_base, l);
            snow[l] = re_snow(p, target.t, self.rho[l], self.qs[l]);
            dbz[l] = decibels(z_rain(p, &target) + z_snow(p, &target));
        }
        (self.re_cloud, self.re_ice, self.re_snow, self.refl_10cm) = (cloud, ice, snow, dbz);
    }

    #[inline(always)]
    fn target(&self, theta_base: R, l: usize) -> Target<R> {
        let t = (self.theta[l] + theta_base) * self.exner[l];
        Target { t, p: self.p[l], qv: self.qv[l], qr: self.qr[l], qs: self.qs[l] }
    }
}

/// The columns of a block, `N` at a time, in numbers of type `S`.
fn for_each<R, S, const N: usize>(
    p: &Scheme<R>,
    bins: &Bins<R>,
    mut f: DiagnosticFields<'_, R>,
    to: impl Fn(R) -> S + Copy,
    from: impl Fn(S) -> R + Copy,
    run: impl Fn(Diagnosis<'_, S, N>) -> Row<usize, N>,
) where
    R: RadarConstants,
    S: RadarConstants + RadiusConstants,
{
    let (nz, ny, nx) = f.theta.dim();
    let (lanes, theta_base) = (p.map(to), to(f.theta_base));
    let mut levels = vec![Level::new(); nz];
    for_stretches([ny, nx], N, |stretches, count| {
        take(&f.theta, stretches, &mut levels, to, |level| &mut level.theta);
        take(&f.exner, stretches, &mut levels, to, |level| &mut level.exner);
        take(&f.p, stretches, &mut levels, to, |level| &mut level.p);
        take(&f.rho, stretches, &mut levels, to, |level| &mut level.rho);
        take(&f.qv, stretches, &mut levels, to, |level| &mut level.qv);
        take(&f.qc, stretches, &mut levels, to, |level| &mut level.qc);
        take(&f.qr, stretches, &mut levels, to, |level| &mut level.qr);
        take(&f.qi, stretches, &mut levels, to, |level| &mut level.qi);
        take(&f.qs, stretches, &mut levels, to, |level| &mut level.qs);
        for level in &mut levels {
            level.fill_unused_lanes(count);
        }
        let tops = run(Diagnosis { p: &lanes, theta_base, levels: &mut levels });
        brighten(p, bins, theta_base, &tops[..count], &mut levels, to, from);
        give(&mut f.refl_10cm, stretches, &levels, from, |level| &level.refl_10cm);
        give(&mut f.re_cloud, stretches, &levels, from, |level| &level.re_cloud);
        give(&mut f.re_ice, stretches, &levels, from, |level| &level.re_ice);
        give(&mut f.re_snow, stretches, &levels, from, |level| &level.re_snow);
    });
}

/// Columns side by side, to be diagnosed as if no snow melted.
struct Diagnosis<'a, R, const N: usize> {
    p: &'a Scheme<R>,
    theta_base: R,
    levels: &'a mut [Level<R, N>],
}

impl<R: RadarConstants + RadiusConstants, const N: usize> Task for Diagnosis<'_, R, N> {
    /// One more than the highest level with melting snow; 0 if no snow melts.
    type Output = Row<usize, N>;

    #[inline(always)]
    fn run(self) -> Row<usize, N> {
        let Self { p, theta_base, levels } = self;
        // A copy of the scheme of its own, as in a call.
        let p = p.clone();
        // One level at a time, as in a call.
        for level in levels.iter_mut().map(black_box) {
            level.set(&p, theta_base);
        }
        let mut tops = [0; N];
        for (k, pair) in levels.windows(2).enumerate() {
            let is_melting = |l: usize| {
                is_melting(&pair[0].target(theta_base, l), &pair[1].target(theta_base, l))
            };
            tops = each(|l| if is_melting(l) { k + 1 } else { tops[l] });
        }
        tops
    }
}

/// Reflectivity of the columns below their melting levels, cell by cell: few cells there hold snow.
fn brighten<R: RadarConstants, S: RadarConstants + RadiusConstants, const N: usize>(
    p: &Scheme<R>,
    bins: &Bins<R>,
    theta_base: S,
    tops: &[usize],
    levels: &mut [Level<S, N>],
    to: impl Fn(R) -> S,
    from: impl Fn(S) -> R + Copy,
) {
    for (l, &top) in tops.iter().enumerate() {
        let above = levels[top].target(theta_base, l).map(from);
        let snow_above = content(&above, above.qs);
        for level in &mut levels[..top] {
            let target = level.target(theta_base, l).map(from);
            if has_snow(&target) {
                let snow = z_melting_snow(p, bins, &target, snow_above);
                level.refl_10cm[l] = to(decibels(z_rain(p, &target) + snow));
            }
        }
    }
}
