//! The ladder of the product of a sparse matrix and a vector.

use std::path::Path;

use super::ladder::{Ladder, LadderDevice, Rung, Subject};
use super::record::Record;
use super::table::counted;
use super::{Bench, Site};
use crate::device::{Buffer, Element};
use crate::error::Result;
use crate::io::weights::WeightFile;
use crate::os_text::Shown;
use crate::primitives::csr::Csr;
use crate::primitives::gpu::csr::{DeviceCsr, Rung as Kernel};
use crate::primitives::matrices::{Kind, of_pattern, operand};
use crate::real::Real;

/// Number of vectors in the example with several.
const SEVERAL: usize = 8;

/// A matrix and its right-hand sides.
struct Product<R> {
    name: String,
    matrix: Csr<R>,
    vectors: usize,
}

/// A copy of it on the device.
struct Copy<R> {
    matrix: DeviceCsr<R>,
    x: Buffer<R>,
    y: Buffer<R>,
}

/// First difference of two products; all sums are exact.
fn difference<R: Real>(found: &[R], expected: &[R]) -> Option<String> {
    let at = found.iter().zip(expected).position(|(a, b)| a != b)?;
    Some(format!("row {at} is {}, expected {}", found[at], expected[at]))
}

impl Bench {
    /// Measures the ladder on all kinds of matrices.
    pub(super) fn products<R: Real + Element>(
        &self,
        site: &Site,
        record: &mut Record,
    ) -> Result<()> {
        let kinds = match &self.matrix[..] {
            [] if self.weights.is_none() => &Kind::ALL[..],
            given => given,
        };
        for &kind in kinds {
            let name = kind.name().to_owned();
            let mut product = Product { name, matrix: kind.large::<R>()?, vectors: 1 };
            Self::product(&product, site, record)?;
            if kind == Kind::Interpolation {
                product.vectors = SEVERAL;
                product.name = format!("{} x{SEVERAL}", kind.name());
                Self::product(&product, site, record)?;
                product.vectors = 1;
                product.matrix = product.matrix.transposed()?;
                product.name = format!("{} transposed", kind.name());
                Self::product(&product, site, record)?;
            }
        }
        if let Some(path) = &self.weights {
            let matrix: Csr<R> = of_pattern(&WeightFile::read(path)?.weights.matrix)?;
            let name = Path::new(path.file_name().unwrap_or_default()).shown().into_owned();
            Self::product(&Product { name, matrix, vectors: 1 }, site, record)?;
        }
        Ok(())
    }

    fn product<R: Real + Element>(
        product: &Product<R>,
        site: &Site,
        record: &mut Record,
    ) -> Result<()> {
        let Product { name, matrix, vectors } = product;
        let (rows, columns, entries) = (matrix.rows(), matrix.columns(), matrix.nonzeros());
        let of_a_vector = size_of::<R>() * (rows + columns);
        let bytes = DeviceCsr::bytes(matrix) + (vectors - 1) * of_a_vector;
        let subject = Subject {
            bench: "csr",
            title: format!(
                "{name}: {rows} x {columns} matrix of {entries} values of {}, {}",
                R::NAME,
                counted(*vectors, "vector")
            ),
            size: name.clone(),
            elements: vectors * entries,
            bytes,
            precision: R::NAME,
        };
        let mut ladder = Ladder::new(subject, site, record)?;
        let x = operand::<R>(columns).repeat(*vectors);
        let mut expected = vec![R::ZERO; vectors * rows];
        for (x, y) in x.chunks(columns).zip(expected.chunks_mut(rows)) {
            matrix.multiply_serial(x, y);
        }
        let work = || {
            let mut y = vec![R::ZERO; vectors * rows];
            matrix.multiply_several(&x, &mut y, *vectors);
            y
        };
        let fault = |found: &Vec<R>| difference(found, &expected);
        ladder.cpu(record, work, fault)?;
        if let Some(LadderDevice { gpu, slots, .. }) = ladder.device {
            let copy = |_| -> Result<Copy<R>> {
                let matrix = DeviceCsr::new(gpu, matrix)?;
                Ok(Copy { matrix, x: gpu.upload(&x)?, y: gpu.zeros(vectors * rows)? })
            };
            let copies = (0..slots).map(copy).collect::<Result<Vec<_>>>()?;
            let fastest = copies[0].matrix.fastest(*vectors);
            for kernel in Kernel::ALL {
                let is_used = kernel == fastest;
                if site.peers.is_some() && !is_used {
                    continue;
                }
                let rung = Rung {
                    name: &format!("{}{}", kernel.name(), if is_used { " (in use)" } else { "" }),
                    is_step: true,
                    launch: &|slot| {
                        let Copy { matrix, x, y } = &copies[slot];
                        matrix.multiply_by(kernel, x, y, *vectors)
                    },
                    invalidate: &|slot| copies[slot].y.poison(),
                    fault: &|slot| Ok(difference(&copies[slot].y.to_vec()?, &expected)),
                };
                match site.peers {
                    None => ladder.rung(&rung, record)?,
                    Some(_) if *vectors > 1 => {}
                    Some(library) => {
                        let peers = copies
                            .iter()
                            .map(|c| c.matrix.peers(gpu, library, matrix, [&c.x, &c.y]))
                            .collect::<Result<Vec<_>>>()?;
                        ladder.pairs(&rung, &peers, record)?;
                    }
                }
            }
        }
        Ok(())
    }
}
