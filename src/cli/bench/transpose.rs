//! The ladder of the transpose.

use rayon::prelude::*;

use super::ladder::{Ladder, LadderDevice, Rung, Subject};
use super::record::Record;
use super::{Bench, Site};
use crate::device::{Buffer, Element, Gpu};
use crate::error::Result;
use crate::primitives::gpu::transpose::{Rung as Kernel, Transpose};
use crate::primitives::transpose::{Matrices, transpose};
use crate::real::Real;

/// Sides of the square matrices for comparisons with libraries, and the largest one for the CPU.
const SIDES: [usize; 6] = [1000, 4000, 4096, 8192, 16384, 30000];
const LARGEST_ON_CPU: usize = 4096 * 4096;

/// Those, and the six fields of a storm and of a large grid, transposed to columns and back.
fn usual(has_gpu: bool) -> Vec<Matrices> {
    let fields = [Matrices::levels(6, 27, 58, 71), Matrices::levels(6, 27, 1024, 1024)];
    let fields = fields.into_iter().flat_map(|fields| [fields, fields.transposed()]);
    let squares = SIDES.map(|side| Matrices::one(side, side));
    // Columns of one field, and few numbers of many places.
    let thin = [[71 * 58, 27], [1 << 20, 4]].map(|[long, short]| Matrices::one(long, short));
    let thin = thin.into_iter().flat_map(|thin| [thin, thin.transposed()]);
    let all = squares.into_iter().chain(thin).chain(fields);
    all.filter(|m| has_gpu || m.len() <= LARGEST_ON_CPU).collect()
}

/// Period of the values, a prime: no two rows are equal, so that a misplaced row or column is detected.
const PERIOD: usize = 1_048_573;

/// Integers, all different.
fn values<R: Real>(count: usize) -> Vec<R> {
    (0..count).into_par_iter().map(|at| R::of((at % PERIOD) as f64)).collect()
}

/// The same on the device.
fn values_on<R: Real + Element>(gpu: &Gpu, count: usize) -> Result<Buffer<R>> {
    let made = values::<R>(count.min(PERIOD));
    let buffer = gpu.zeros(count)?;
    buffer.upload_to(0, &made)?;
    let mut done = made.len();
    while done < count {
        // Whole periods, so that copies continue them.
        let more = done.min(count - done);
        buffer.copy_range(done, &buffer, 0..more)?;
        done += more;
    }
    Ok(buffer)
}

impl Bench {
    /// Measures the ladder on all requested sizes.
    pub(super) fn transposes<R: Real + Element>(
        &self,
        site: &Site,
        record: &mut Record,
    ) -> Result<()> {
        let usual = || usual(site.device.is_some());
        let extents = if self.extent.is_empty() { usual() } else { self.extent.clone() };
        extents.into_iter().try_for_each(|matrices| self.transposed::<R>(matrices, site, record))
    }

    fn transposed<R: Real + Element>(
        &self,
        matrices: Matrices,
        site: &Site,
        record: &mut Record,
    ) -> Result<()> {
        let count = matrices.len();
        let bytes = 2 * size_of::<R>() * count;
        let subject = Subject {
            bench: "transpose",
            title: format!("transpose of {matrices} values of {}", R::NAME),
            size: matrices.to_string(),
            elements: count,
            bytes,
            precision: R::NAME,
        };
        let mut ladder = Ladder::new(subject, site, record)?;
        if !self.extent.is_empty() || count <= LARGEST_ON_CPU {
            let from = values::<R>(count);
            let expected = plainly(matrices, &from);
            let work = || {
                let mut to = vec![R::ZERO; count];
                transpose(matrices, &from, &mut to);
                to
            };
            let fault = |to: &Vec<R>| (*to != expected).then(|| "elements are wrong".to_owned());
            ladder.cpu(record, work, fault)?;
        }
        if let Some(LadderDevice { gpu, slots, .. }) = ladder.device {
            let transpose = Transpose::<R>::new(gpu, matrices)?;
            let first = values_on::<R>(gpu, count)?;
            let mut copies = vec![[first, gpu.zeros(count)?]];
            for _ in 1..slots {
                let other = gpu.zeros(count)?;
                other.copy_from(&copies[0][0])?;
                copies.push([other, gpu.zeros(count)?]);
            }
            for kernel in Kernel::ALL {
                if site.peers.is_some() && kernel != Kernel::Best {
                    continue;
                }
                let rung = Rung {
                    name: kernel.name(),
                    // The bound is not a rung of the ladder.
                    is_step: kernel != Kernel::Copy,
                    launch: &|slot| {
                        let [from, to] = &copies[slot];
                        transpose.run_by(kernel, from, to)
                    },
                    invalidate: &|slot| copies[slot][1].poison(),
                    fault: &|slot| {
                        let [from, to] = &copies[slot];
                        let faults = transpose.faults(kernel, from, to)?;
                        Ok((faults > 0).then(|| format!("{faults} of {count} elements are wrong")))
                    },
                };
                match site.peers {
                    None => ladder.rung(&rung, record)?,
                    Some(library) => {
                        let peers = copies
                            .iter()
                            .map(|[from, to]| transpose.peers(gpu, library, [from, to]))
                            .collect::<Result<Vec<_>>>()?;
                        ladder.pairs(&rung, &peers, record)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Reference transpose, element by element.
fn plainly<R: Real>(matrices: Matrices, from: &[R]) -> Vec<R> {
    let Matrices { rows, columns, .. } = matrices;
    let matrix = rows * columns;
    let element = |at: usize| {
        let (column, row) = (at % matrix / rows, at % rows);
        from[at / matrix * matrix + row * columns + column]
    };
    (0..matrices.len()).into_par_iter().map(element).collect()
}
