//! Wrong parameters, and the cases that must show them.

use nwp_mini::physics::wsm5::scheme::Scheme;

use super::case::Reference;
use crate::column_reference::stage::is_smooth;

/// The cases and stages that wrong parameters are judged by.
pub fn reference() -> Reference {
    let cases = ["warm", "mixed", "cold", "edge", "storm"];
    Reference::read(&cases, |dt, calls| is_smooth(dt, calls) && dt > 50.0)
}

/// The scheme with each of its parameters off by one per cent, by name.
pub fn off_by_one_per_cent() -> Vec<(&'static str, Scheme<f32>)> {
    type Change = fn(&mut Scheme<f32>) -> &mut f32;
    let parameters: [(&str, Change); 22] = [
        ("n0r", |p| &mut p.n0r),
        ("n0s", |p| &mut p.n0s),
        ("alpha", |p| &mut p.alpha),
        ("bvtr", |p| &mut p.bvtr),
        ("bvts", |p| &mut p.bvts),
        ("dicon", |p| &mut p.dicon),
        ("dimax", |p| &mut p.dimax),
        ("xncr", |p| &mut p.xncr),
        ("pfrz1", |p| &mut p.pfrz1),
        ("pfrz2", |p| &mut p.pfrz2),
        ("qc0", |p| &mut p.qc0),
        ("qck1", |p| &mut p.qck1),
        ("pidnc", |p| &mut p.pidnc),
        ("pvtr", |p| &mut p.pvtr),
        ("pvts", |p| &mut p.pvts),
        ("pacrr", |p| &mut p.pacrr),
        ("pacrc", |p| &mut p.pacrc),
        ("precr1", |p| &mut p.precr1),
        ("precs2", |p| &mut p.precs2),
        ("roqimax", |p| &mut p.roqimax),
        ("pidn0r", |p| &mut p.pidn0r),
        ("pidn0s", |p| &mut p.pidn0s),
    ];
    let changed = parameters.into_iter().map(|(name, parameter)| {
        let mut p = Scheme::default();
        *parameter(&mut p) *= 1.01;
        (name, p)
    });
    changed.collect()
}
