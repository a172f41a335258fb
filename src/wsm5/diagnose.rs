//! Reflectivity and effective radii of many columns, in parallel.
#![expect(clippy::needless_range_loop, reason = "one index for all rows of a level")]

use super::fields::DiagnosticFields;
use super::radii::{RadiusConstants, re_cloud, re_ice, re_snow};
use super::reflectivity::{
    Bins, RadarConstants, Target, content, decibels, has_snow, is_melting, reflectivity,
    z_melting_snow, z_rain, z_snow,
};
use super::scheme::Scheme;
use super::simd_load_store::Vectorised;
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
            fields.shared_out(&|fields| side_by_side(instructions, p, bins, fields));
        }
        None => fields.shared_out(&|fields| one_by_one(p, bins, fields)),
    }
}

/// The columns of a block, one after the other.
fn one_by_one<R: RadarConstants + RadiusConstants>(
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

/// Inputs and diagnostics of a level of columns side by side. Units are those of [`DiagnosticFields`].
#[derive(Clone)]
#[repr(align(64))]
struct Level<R> {
    theta: Row<R>,
    exner: Row<R>,
    p: Row<R>,
    rho: Row<R>,
    qv: Row<R>,
    qc: Row<R>,
    qr: Row<R>,
    qi: Row<R>,
    qs: Row<R>,
    refl_10cm: Row<R>,
    re_cloud: Row<R>,
    re_ice: Row<R>,
    re_snow: Row<R>,
}

impl<R: RadarConstants + RadiusConstants> Level<R> {
    fn new() -> Self {
        let row = [R::ZERO; LANES];
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
        let row = [R::ZERO; LANES];
        let (mut cloud, mut ice, mut snow, mut dbz) = (row, row, row, row);
        for l in 0..LANES {
            cloud[l] = re_cloud(p, self.rho[l], self.qc[l]);
        }
        for l in 0..LANES {
            ice[l] = re_ice(p, self.rho[l], self.qi[l]);
        }
        for l in 0..LANES {
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

/// The columns of a block, [`LANES`] at a time.
fn side_by_side<R: Vectorised>(
    instructions: Instructions,
    p: &Scheme<R>,
    bins: &Bins<R>,
    mut f: DiagnosticFields<'_, R>,
) {
    let (nz, ny, nx) = f.theta.dim();
    let (lanes, theta_base) = (p.map(R::lane), f.theta_base.lane());
    let mut levels = vec![Level::new(); nz];
    for_stretches([ny, nx], LANES, |stretches, count| {
        take(&f.theta, stretches, &mut levels, R::lane, |level| &mut level.theta);
        take(&f.exner, stretches, &mut levels, R::lane, |level| &mut level.exner);
        take(&f.p, stretches, &mut levels, R::lane, |level| &mut level.p);
        take(&f.rho, stretches, &mut levels, R::lane, |level| &mut level.rho);
        take(&f.qv, stretches, &mut levels, R::lane, |level| &mut level.qv);
        take(&f.qc, stretches, &mut levels, R::lane, |level| &mut level.qc);
        take(&f.qr, stretches, &mut levels, R::lane, |level| &mut level.qr);
        take(&f.qi, stretches, &mut levels, R::lane, |level| &mut level.qi);
        take(&f.qs, stretches, &mut levels, R::lane, |level| &mut level.qs);
        for level in &mut levels {
            level.fill_unused_lanes(count);
        }
        let tops = instructions.run(Diagnosis { p: &lanes, theta_base, levels: &mut levels });
        brighten(p, bins, theta_base, &tops[..count], &mut levels);
        give(&mut f.refl_10cm, stretches, &levels, R::of_lane, |level| &level.refl_10cm);
        give(&mut f.re_cloud, stretches, &levels, R::of_lane, |level| &level.re_cloud);
        give(&mut f.re_ice, stretches, &levels, R::of_lane, |level| &level.re_ice);
        give(&mut f.re_snow, stretches, &levels, R::of_lane, |level| &level.re_snow);
    });
}

/// Columns side by side, to be diagnosed as if no snow melted.
struct Diagnosis<'a, R> {
    p: &'a Scheme<R>,
    theta_base: R,
    levels: &'a mut [Level<R>],
}

impl<R: RadarConstants + RadiusConstants> Task for Diagnosis<'_, R> {
    /// One more than the highest level with melting snow; 0 if no snow melts.
    type Output = Row<usize>;

    #[inline(always)]
    fn run(self) -> Row<usize> {
        let Self { p, theta_base, levels } = self;
        // A copy of the scheme of its own, as in a call.
        let p = p.clone();
        for level in levels.iter_mut() {
            level.set(&p, theta_base);
        }
        let mut tops = [0; LANES];
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
fn brighten<R: Vectorised>(
    p: &Scheme<R>,
    bins: &Bins<R>,
    theta_base: R::Lane,
    tops: &[usize],
    levels: &mut [Level<R::Lane>],
) {
    for (l, &top) in tops.iter().enumerate() {
        let above = levels[top].target(theta_base, l).map(R::of_lane);
        let snow_above = content(&above, above.qs);
        for level in &mut levels[..top] {
            let target = level.target(theta_base, l).map(R::of_lane);
            if has_snow(&target) {
                let snow = z_melting_snow(p, bins, &target, snow_above);
                level.refl_10cm[l] = decibels(z_rain(p, &target) + snow).lane();
            }
        }
    }
}
