//! Reflectivity and effective radii of many columns, in parallel.

use ndarray::{Array3, Axis, Zip};

use super::params::{Wsm6Constants, Wsm6Params};
use super::reflectivity::{
    MeltingBins, Wsm6Target, has_graupel, is_melting, z_graupel, z_melting_graupel,
};
use super::scheme::Scheme;
use super::shared::radii::{RadiusConstants, re_cloud, re_ice, re_snow};
use super::shared::reflectivity::{
    Target, content, decibels, has_snow, z_melting_snow, z_rain, z_snow,
};

/// Reflectivity, and effective radii of cloud drops, ice and snow, of the tracers and the air of the scheme.
pub(super) fn diagnose<R: Wsm6Constants + RadiusConstants>(
    p: &Scheme<R>,
    tracers: &[Array3<R>],
    air: &[Array3<R>],
) -> Vec<Array3<R>> {
    let [theta, qv, qc, qr, qi, qs, qg] = tracers else { unreachable!("tracers of the scheme") };
    let [rho, exner, pressure, _] = air else { unreachable!("air of the scheme") };
    let bins = MeltingBins::default();
    let (nz, _, nx) = theta.dim();
    let mut refl_10cm = Array3::zeros(theta.raw_dim());
    let rows = refl_10cm.axis_iter_mut(Axis(1));
    Zip::indexed(rows).par_for_each(|j, mut row| {
        for i in 0..nx {
            let level = |k: usize| {
                let at = [k, j, i];
                let (t, p) = (theta[at] * exner[at], pressure[at]);
                let common = Target { t, p, qv: qv[at], qr: qr[at], qs: qs[at] };
                Wsm6Target { common, qg: qg[at] }
            };
            let column: Vec<_> = (0..nz).map(level).collect();
            for (k, dbz) in reflectivity(p, &bins, &column).into_iter().enumerate() {
                row[[k, i]] = dbz;
            }
        }
    });
    let radius = |q: &Array3<R>, re: &(dyn Fn(R, R) -> R + Sync)| {
        Zip::from(rho).and(q).par_map_collect(|&rho, &q| re(rho, q))
    };
    let (cloud, ice) = (
        radius(qc, &|rho, qc| re_cloud(&p.common, rho, qc)),
        radius(qi, &|rho, qi| re_ice(&p.common, rho, qi)),
    );
    let snow =
        Zip::from(rho).and(qs).and(theta).and(exner).par_map_collect(
            |&rho, &qs, &theta, &exner| re_snow(&p.common, theta * exner, rho, qs),
        );
    vec![refl_10cm, cloud, ice, snow]
}

/// Reflectivity of a column from the ground up, dBZ.
fn reflectivity<R: Wsm6Constants>(
    p: &Wsm6Params<R>,
    bins: &MeltingBins<R>,
    column: &[Wsm6Target<R>],
) -> Vec<R> {
    let melting = column.windows(2).rposition(|pair| is_melting(&pair[0], &pair[1]));
    let lowest_frozen = melting.map_or(0, |k| k + 1);
    let Wsm6Target { common: above, qg: qg_above } = &column[lowest_frozen];
    let of_level = |(k, level): (usize, &Wsm6Target<R>)| {
        let Wsm6Target { common: target, qg } = level;
        let is_below = k < lowest_frozen;
        let snow = if is_below && has_snow(target) && has_snow(above) {
            z_melting_snow(&p.common, &bins.snow, target, content(above, above.qs))
        } else {
            z_snow(&p.common, target)
        };
        let graupel = if is_below && has_graupel(*qg) && has_graupel(*qg_above) {
            z_melting_graupel(p, &bins.graupel, level, content(above, *qg_above))
        } else {
            z_graupel(p, level)
        };
        decibels(z_rain(&p.common, target) + snow + graupel)
    };
    column.iter().enumerate().map(of_level).collect()
}
