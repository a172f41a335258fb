//! The ladder of the sum over an array.

use std::io::Write;

use rayon::prelude::*;

use super::ladder::{self, Ladder, Subject};
use super::size::Elements;
use super::{Bench, Pool};
use crate::cli::Precision;
use crate::error::Result;
use crate::gpu::{Element, Gpu};
use crate::primitives::reduce;
use crate::real::Real;

/// Sizes from what fills a few multiprocessors to far beyond any cache: powers of two.
const POWERS: [u32; 7] = [16, 20, 22, 24, 26, 28, 30];
/// The same without a GPU: all that the CPU needs to leave its caches.
const POWERS_ON_CPU: [u32; 4] = [16, 20, 22, 24];
/// Values are whole numbers up to this magnitude, about as many positive as negative: sums of many
/// are small enough for single precision to hold them exactly, in whatever order they are made.
const MOST: u64 = 8;

/// Whole numbers that look random, the same for the same place.
fn values<R: Real>(count: usize) -> Vec<R> {
    (0..count as u64).into_par_iter().map(|at| R::of(whole(at) as f64)).collect()
}

/// A whole number from -[`MOST`] to [`MOST`].
///
/// Source: the output function of splitmix64, Steele, Lea, Flood 2014, Proc. OOPSLA, 453-472.
fn whole(at: u64) -> i64 {
    let z = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) % (2 * MOST + 1)) as i64 - MOST as i64
}

impl Bench {
    /// Measures the ladder on all wanted sizes.
    pub(super) fn reductions<'a>(
        &self,
        device: Option<(&'a Gpu, f64)>,
        pools: &[Pool],
        out: &mut impl Write,
    ) -> Result<Vec<Ladder<'a>>> {
        let powers: &[u32] = if device.is_some() { &POWERS } else { &POWERS_ON_CPU };
        let usual = powers.iter().map(|power| Elements(1 << power)).collect();
        let sizes = if self.elements.is_empty() { usual } else { self.elements.clone() };
        let mut ladders = Vec::new();
        for size in sizes {
            ladders.push(match self.precision {
                Precision::F32 => self.reduction::<f32>(size, device, pools, out)?,
                Precision::F64 => self.reduction::<f64>(size, device, pools, out)?,
            });
        }
        Ok(ladders)
    }

    fn reduction<'a, R: Real + Element>(
        &self,
        size: Elements,
        device: Option<(&'a Gpu, f64)>,
        pools: &[Pool],
        out: &mut impl Write,
    ) -> Result<Ladder<'a>> {
        let bytes = size.0 * size_of::<R>();
        let values = values::<R>(size.0);
        // Whole numbers, so that any order gives this.
        let expected: f64 = values.par_iter().map(|x| x.f64()).sum();
        let fault = |found: &f64| {
            (*found != expected).then(|| format!("the sum is {found}, expected {expected}"))
        };
        let subject = Subject {
            bench: "reduce",
            title: format!("sum of {size} values of {}", R::NAME),
            size: size.to_string(),
            elements: size.0,
            bytes,
            precision: R::NAME,
        };
        let slots = device.map(|(gpu, _)| ladder::slots(gpu, bytes)).transpose()?;
        let setting = device
            .zip(slots)
            .filter(|(_, slots)| *slots > 0)
            .map(|((gpu, copy), slots)| ladder::Setting { gpu, copy, runs: self.runs, slots });
        let mut ladder = Ladder::new(subject, setting, out)?;
        ladder.cpu(pools, self.runs, out, || reduce::sum(&values), fault)?;
        Ok(ladder)
    }
}
