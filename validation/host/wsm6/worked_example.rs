//! The processes of two cells, one of them cold and one warm, with all species: each beside its published value.
//!
//! The values are those of WRF's scheme in double precision, to seven digits; the temperature is known to 1e-5 K only.

use nwp_mini::physics::wsm5::slope::{fall_speed_rain, fall_speed_snow, snow_intercept_factor};
use nwp_mini::physics::wsm5::warm::WarmRates;
use nwp_mini::physics::wsm5::{self, Air, StepStart};
use nwp_mini::physics::wsm6::cell::{Wsm6Cell, coefficients, without_graupel};
use nwp_mini::physics::wsm6::ice::{self, Wsm6IceRates};
use nwp_mini::physics::wsm6::scheme::Scheme;
use nwp_mini::physics::wsm6::slope::{fall_speed_graupel, fall_speed_snow_graupel};
use nwp_mini::physics::wsm6::{balance, melt, step};

/// Length of the minor step, s.
const DT: f64 = 20.0;
/// Relative difference that is allowed.
const DIGITS: f64 = 2e-4;

struct Example {
    scheme: Scheme<f64>,
    air: Air<f64>,
    start: StepStart<f64>,
    cell: Wsm6Cell<f64>,
}

impl Example {
    fn new(cell: Wsm6Cell<f64>, p: f64, rho: f64) -> Self {
        let scheme = Scheme::<f64>::default();
        let mut air = Air { rho, p, dz: 1e5, ..Air::default() };
        wsm5::cell::set_call_invariants(&without_graupel(&cell), &mut air);
        let start = wsm5::cell::step_start(&scheme.common, &air, &without_graupel(&cell));
        Self { scheme, air, start, cell }
    }

    fn cold() -> Self {
        let cell =
            Wsm6Cell { t: 263.15, qv: 2.8e-3, qc: 6e-4, qr: 8e-5, qi: 5e-5, qs: 4e-4, qg: 5e-4 };
        Self::new(cell, 6e4, 0.79)
    }

    fn warm() -> Self {
        let cell =
            Wsm6Cell { t: 274.15, qv: 4.5e-3, qc: 6e-4, qr: 5e-4, qi: 2e-5, qs: 9e-4, qg: 1e-3 };
        Self::new(cell, 8e4, 1.0)
    }

    /// Fall speeds of rain, of snow, of graupel, and of the last two together.
    fn speeds(&self) -> [f64; 4] {
        let (p, Air { rho, density_factor, .. }) = (&self.scheme, self.air);
        let Wsm6Cell { t, qr, qs, qg, .. } = self.cell;
        let factor = snow_intercept_factor(&p.common, t);
        [
            fall_speed_rain(&p.common, rho, density_factor, qr),
            fall_speed_snow(&p.common, rho, density_factor, qs, factor),
            fall_speed_graupel(p, rho, density_factor, qg),
            fall_speed_snow_graupel(p, rho, density_factor, factor, qs, qg),
        ]
    }

    /// Melts and freezes what does at once.
    fn adjust(&mut self) {
        let (p, air, qr) = (&self.scheme, &self.air, self.cell.qr);
        melt::melt(p, DT, air, &mut self.cell);
        melt::adjust_phase(p, DT, air, qr, &mut self.cell);
    }

    /// All rates, before any is limited.
    fn rates(&self) -> (WarmRates<f64>, Wsm6IceRates<f64>) {
        let Self { scheme: p, air, start, cell } = self;
        let c = coefficients(p, air, start, cell);
        let warm = step::warm_rates(p, DT, air, start, cell, &c.common);
        (warm, ice::rates(p, DT, air, start, cell, &c, warm.prevp))
    }

    /// The rest of the minor step.
    fn finish(&mut self) {
        let (warm, ice) = self.rates();
        let Self { scheme, air, start, cell } = self;
        balance::apply(DT, air, warm, ice, cell);
        step::condense(scheme, DT, air, start, cell);
    }
}

fn expect(found: &[(&str, f64, f64)]) {
    for &(name, found, expected) in found {
        let off = (found - expected).abs();
        assert!(off <= DIGITS * expected.abs(), "{name}: {found:e}, not {expected:e}");
    }
}

#[test]
fn species_fall_as_published() {
    let [rain, snow, graupel, common] = Example::cold().speeds();
    expect(&[
        ("rain", rain, 3.826_819),
        ("snow", snow, 1.238_590),
        ("graupel", graupel, 2.855_482),
        ("common", common, 2.136_863),
    ]);
    let [rain, snow, graupel, common] = Example::warm().speeds();
    expect(&[
        ("rain", rain, 5.144_013),
        ("snow", snow, 1.385_962),
        ("graupel", graupel, 3.056_142),
        ("common", common, 2.265_004),
    ]);
}

#[test]
fn phases_change_as_published() {
    let (before, mut after) = (Example::cold(), Example::cold());
    after.adjust();
    let (a, b) = (before.cell, after.cell);
    expect(&[
        ("pgfrz", b.qg - a.qg, 8.287_216e-8),
        ("t", b.t, 263.15),
        ("qr", b.qr, 7.991_713e-5),
        ("qg", b.qg, 5.000_829e-4),
    ]);
    let (before, mut after) = (Example::warm(), Example::warm());
    after.adjust();
    let (a, b) = (before.cell, after.cell);
    expect(&[
        ("psmlt", b.qs - a.qs, -1.002_825e-4),
        ("pgmlt", b.qg - a.qg, -5.015_265e-5),
        ("pimlt", b.qc - a.qc, 2.0e-5),
        ("t", b.t, 274.0908),
        ("qr", b.qr, 6.504_352e-4),
        ("qg", b.qg, 9.498_474e-4),
    ]);
}

#[test]
fn rates_in_the_cold_are_as_published() {
    let mut example = Example::cold();
    example.adjust();
    let (warm, ice) = example.rates();
    expect(&[
        ("praut", warm.praut, 2.056_797e-7),
        ("pracw", warm.pracw, 2.556_553e-7),
        ("prevp", warm.prevp, -2.399_080e-8),
        ("pidep", ice.pidep, 1.056_064e-7),
        ("praci", ice.praci, 1.155_145e-7),
        ("piacr", ice.piacr, 3.511_949e-6),
        ("psaci", ice.psaci, 1.899_021e-7),
        ("pgaci", ice.pgaci, 6.885_867e-8),
        ("paacw", ice.paacw, 7.392_344e-7),
        ("pracs", ice.pracs, 3.414_840e-7),
        ("psacr", ice.psacr, 1.272_808e-6),
        ("pgacr", ice.pgacr, 5.098_019e-7),
        ("psdep", ice.psdep, 7.379_583e-8),
        ("pgdep", ice.pgdep, 4.158_912e-8),
        ("pseml", ice.pseml, 0.0),
        ("pgeml", ice.pgeml, 0.0),
        ("pigen", ice.pigen, 0.0),
        ("psaut", ice.psaut, 0.0),
        ("pgaut", ice.pgaut, 0.0),
        ("psevp", ice.psevp, 0.0),
        ("pgevp", ice.pgevp, 0.0),
    ]);
}

#[test]
fn rates_in_the_warm_are_as_published() {
    let mut example = Example::warm();
    example.adjust();
    let (warm, ice) = example.rates();
    expect(&[
        ("praut", warm.praut, 2.220_338e-7),
        ("pracw", warm.pracw, 2.152_777e-6),
        ("prevp", warm.prevp, -2.767_538e-7),
        ("paacw", ice.paacw, 2.510_709e-6),
        ("psacr", ice.psacr, 3.039_851e-5),
        ("pgacr", ice.pgacr, 2.409_367e-5),
        ("pseml", ice.pseml, -3.706_642e-7),
        ("pgeml", ice.pgeml, -2.996_513e-7),
        ("psevp", ice.psevp, -3.722_488e-7),
        ("pgevp", ice.pgevp, -3.160_553e-7),
        ("praci", ice.praci, 0.0),
        ("piacr", ice.piacr, 0.0),
        ("psaci", ice.psaci, 0.0),
        ("pgaci", ice.pgaci, 0.0),
        ("pracs", ice.pracs, 0.0),
        ("pidep", ice.pidep, 0.0),
        ("psdep", ice.psdep, 0.0),
        ("pgdep", ice.pgdep, 0.0),
    ]);
}

/// The rain of the cold cell is used up; all other species are left as published.
#[test]
fn cells_end_as_published() {
    let mut example = Example::cold();
    example.adjust();
    example.finish();
    let cell = example.cell;
    expect(&[
        ("qv", cell.qv, 2.919_399e-3),
        ("qc", cell.qc, 4.394_164e-4),
        ("qi", cell.qi, 4.462_662e-5),
        ("qs", cell.qs, 4.733_223e-4),
        ("qg", cell.qg, 5.532_360e-4),
    ]);
    assert!(cell.qr < 1e-15, "{:e} of rain", cell.qr);
    let mut example = Example::warm();
    example.adjust();
    example.finish();
    let cell = example.cell;
    expect(&[
        ("qv", cell.qv, 4.823_153e-3),
        ("qc", cell.qc, 1.682_232e-4),
        ("qr", cell.qr, 8.062_310e-4),
        ("qi", cell.qi, 0.0),
        ("qs", cell.qs, 7.848_592e-4),
        ("qg", cell.qg, 9.375_333e-4),
    ]);
}
