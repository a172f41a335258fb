//! A lattice with links, spinors and the expected results of the hopping term.

use std::time::Instant;

use rayon::prelude::*;

use super::row::{RealsPerSite, Row};
use crate::cli::bench::Pool;
use crate::cli::bench::ladder::repeated_times;
use crate::cli::bench::measurement::Timing;
use crate::cli::bench::record::Record;
use crate::cli::bench::table::cpu_with;
use crate::counter_rng::Random;
use crate::error::Result;
use crate::lattice::gauge::random_link;
use crate::lattice::number::Vectorised;
use crate::lattice::{
    CpuDirac, DIRECTIONS, Dirac, Extents, GaugeField, LINK_REALS, Parity, SPINOR_REALS,
};
use crate::real::Precision;

/// Number of different links: drawing more than caches hold would take minutes.
const LINKS: usize = 4096;

/// Reals of an even-odd hop on the CPU: eight neighbours and links, and the result.
const IN_FULL: RealsPerSite = RealsPerSite { without_reuse: 360.0, ideal: 192.0 };

/// Largest differences from double precision, relative to the norm and to the rms of a component: four times the
/// largest of 28 orders of summation.
const LIMITS: [(Precision, [f64; 2]); 2] =
    [(Precision::F32, [4e-7, 3e-6]), (Precision::F64, [1e-15, 1e-14])];

/// Fields and links of the rungs.
pub(super) struct Subject<R> {
    pub(super) extents: Extents,
    pub(super) links: Vec<f64>,
    /// On the whole lattice.
    pub(super) psi: Vec<R>,
    /// D psi on even sites, in double precision.
    pub(super) expected: Vec<f64>,
}

impl<R: Vectorised> Subject<R> {
    /// Draws links and spinors, and computes the expected results in double precision.
    pub(super) fn new(extents: Extents) -> Result<Self> {
        let random = Random::new(1).named("wilson");
        let drawn: Vec<[f64; LINK_REALS]> = (0..LINKS as u64)
            .into_par_iter()
            .map(|number| {
                let mut count = 0;
                let mut next = || {
                    count += 1;
                    2.0 * random.named("link").at(number).at(count).uniform() - 1.0
                };
                let link = random_link(&mut next).map(|row| row.map(|z| [z.re, z.im]));
                let reals = link.as_flattened().as_flattened();
                reals.try_into().expect("reals of a link")
            })
            .collect();
        let count = DIRECTIONS * extents.volume();
        let mut links = vec![0.0; count * LINK_REALS];
        links.par_chunks_mut(LINK_REALS).enumerate().for_each(|(number, link)| {
            let which = random.named("which").at(number as u64).bits() as usize % LINKS;
            link.copy_from_slice(&drawn[which]);
        });
        let psi: Vec<R> = (0..(extents.volume() * SPINOR_REALS) as u64)
            .into_par_iter()
            .map(|n| R::of(2.0 * random.at(n).uniform() - 1.0))
            .collect();
        let gauge = GaugeField { extents, links: &links, antiperiodic_t: true };
        let reference = CpuDirac::<f64>::new(gauge)?;
        let wide: Vec<f64> = psi.iter().map(|x| x.f64()).collect();
        let input = reference.load(Parity::Odd, &wide)?;
        let mut out = reference.zeros()?;
        reference.hop(Parity::Even, false, &input, None, &mut out)?;
        let mut expected = wide;
        reference.store(Parity::Even, &out, &mut expected)?;
        Ok(Self { extents, links, psi, expected })
    }

    /// The links.
    pub(super) fn gauge(&self) -> GaugeField<'_> {
        GaugeField { extents: self.extents, links: &self.links, antiperiodic_t: true }
    }

    /// Fault of `D psi` on even sites.
    pub(super) fn fault(&self, found: &[R]) -> Option<String> {
        let (mut squares, mut differences, mut largest) = (0.0, 0.0, 0.0_f64);
        let mut count = 0;
        for site in self.extents.sites(Parity::Even) {
            for n in site * SPINOR_REALS..(site + 1) * SPINOR_REALS {
                let (expected, found) = (self.expected[n], found[n].f64());
                squares += expected * expected;
                differences += (found - expected) * (found - expected);
                // NaN counts as the largest.
                let difference = (found - expected).abs();
                largest = if difference <= largest { largest } else { difference };
                count += 1;
            }
        }
        let (norm, rms) = ((differences / squares).sqrt(), (squares / f64::from(count)).sqrt());
        let (_, [of_norm, of_rms]) =
            LIMITS.into_iter().find(|(precision, _)| *precision == R::PRECISION)?;
        let is_right = norm <= of_norm && largest <= of_rms * rms;
        (!is_right).then(|| {
            format!(
                "error {norm:.2e} of the norm and {:.2e} of the rms at most, {of_norm:e} and \
                 {of_rms:e} are admitted",
                largest / rms
            )
        })
    }

    /// Times the hopping term on the CPU with each of the pools.
    pub(super) fn on_cpu(&self, pools: &[Pool], runs: u32, record: &mut Record) -> Result<()> {
        let dirac = CpuDirac::<R>::new(self.gauge())?;
        let input = dirac.load(Parity::Odd, &self.psi)?;
        let mut result = dirac.zeros()?;
        for cpu in pools {
            let times = cpu.pool.install(|| {
                dirac.hop(Parity::Even, false, &input, None, &mut result)?;
                repeated_times(runs, || {
                    let start = Instant::now();
                    dirac.hop(Parity::Even, false, &input, None, &mut result)?;
                    Ok(start.elapsed().as_secs_f64())
                })
            })?;
            let mut whole = self.psi.clone();
            dirac.store(Parity::Even, &result, &mut whole)?;
            let fault = self.fault(&whole);
            let place = (&cpu.processor(), Timing::Wall);
            let (variant, sites) = (cpu_with(cpu.threads), self.extents.half_volume());
            let mut row = Row::new::<R>(variant, self.extents, sites, IN_FULL, place, times);
            row.is_right = fault.is_none();
            record.show(&row.line(), &row)?;
            let fault = fault.map(|fault| format!("wilson {}, CPU: {fault}", self.extents));
            record.faults.extend(fault);
        }
        Ok(())
    }
}
