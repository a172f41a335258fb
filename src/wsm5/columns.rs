//! The scheme over many columns, in parallel.

use std::sync::{Mutex, PoisonError};

use super::abreast::Abreast;
use super::cell::water;
use super::fields::{Divisible, Fields, theta_after};
use super::gather::Vectorised;
use super::params::SchemeConstants;
use super::scheme::Scheme;
use super::{Air, Cell, Column, Fallout, assert_length, gather};
use crate::lanes::{Instructions, LANES};
use crate::real::{Precision, Real};

/// Most columns of a block, which one thread computes at a time. The result does not depend on it.
pub(super) const BLOCK: usize = 64;

/// Fewest and most columns of a block if [`LANES`] of them are computed side by side: many, so that few lanes of its
/// last group are unused.
const ABREAST: [usize; 2] = [5 * LANES, 32 * LANES];

/// Columns of a block if [`LANES`] of them are computed side by side: several blocks for each thread, to balance the
/// load, as long as the blocks stay large enough.
pub(super) fn block_abreast(columns: usize) -> usize {
    const EACH: usize = 4;
    let [fewest, most] = ABREAST;
    columns.div_ceil(EACH * rayon::current_num_threads()).clamp(fewest, most)
}

/// Axis and index at which (ny, nx) columns are cut in two; `None` if they are few enough for one thread.
fn halves(ny: usize, nx: usize, block: usize) -> Option<(usize, usize)> {
    match (ny, nx) {
        (ny, nx) if ny * nx <= block => None,
        (1, nx) => Some((1, nx / 2)),
        (ny, _) => Some((0, ny / 2)),
    }
}

/// Calls `work` for all columns, in blocks of at most `block` distributed among the threads.
pub(super) fn in_blocks<F: Divisible>(block: usize, fields: F, work: &(impl Fn(F) + Sync)) {
    let (ny, nx) = fields.rows_and_columns();
    let Some((axis, at)) = halves(ny, nx, block) else {
        work(fields);
        return;
    };
    let (left, right) = fields.divide(axis, at);
    rayon::join(|| in_blocks(block, left, work), || in_blocks(block, right, work));
}

/// Work space of each thread, allocated once, and the vector instructions that it uses.
#[derive(Debug)]
pub struct Scratch<R: Real> {
    layers: usize,
    columns: Vec<Mutex<Column<R>>>,
    vectors: Option<Vectors<R::Lane>>,
}

/// A set of vector instructions, and the work space of columns side by side.
#[derive(Debug)]
struct Vectors<L> {
    instructions: Instructions,
    columns: Vec<Mutex<Abreast<L>>>,
}

impl<R: Vectorised> Scratch<R> {
    /// Work space of columns of `nz` layers for all threads of the current pool, with the best instructions of the
    /// processor.
    pub fn new(nz: usize) -> Self {
        Self::with(nz, Instructions::best())
    }

    /// The same with given vector instructions, or with none.
    ///
    /// Without vector instructions, and always in double precision, columns are computed one by one with the functions
    /// of the standard library.
    pub fn with(nz: usize, instructions: Option<Instructions>) -> Self {
        let threads = rayon::current_num_threads().max(1);
        let instructions = instructions.filter(|_| R::PRECISION == Precision::F32);
        let abreast = || (0..threads).map(|_| Mutex::new(Abreast::new(nz))).collect();
        Self {
            layers: nz,
            columns: (0..threads).map(|_| Mutex::new(Column::new(nz))).collect(),
            vectors: instructions.map(|instructions| Vectors { instructions, columns: abreast() }),
        }
    }

    /// The vector instructions for a variant of the scheme; `None` if its columns are computed one by one.
    pub fn instructions(&self, fallout: Fallout) -> Option<Instructions> {
        self.vectors(fallout).map(|vectors| vectors.instructions)
    }

    /// The vector instructions for code that all variants share, if any.
    pub(super) fn any_instructions(&self) -> Option<Instructions> {
        self.vectors.as_ref().map(|vectors| vectors.instructions)
    }

    /// Layers of the columns.
    pub(super) fn layers(&self) -> usize {
        self.layers
    }

    /// Work space of columns side by side, if the variant of the scheme has such code.
    fn vectors(&self, fallout: Fallout) -> Option<&Vectors<R::Lane>> {
        self.vectors.as_ref().filter(|_| fallout == Fallout::SemiLagrangian)
    }
}

/// Calls `work` with the work space of this thread.
fn lend<T, U>(all: &[Mutex<T>], work: impl FnOnce(&mut T) -> U) -> U {
    let thread = rayon::current_thread_index().unwrap_or(0) % all.len();
    work(&mut all[thread].lock().unwrap_or_else(PoisonError::into_inner))
}

/// One call of the scheme on every column: `dt` seconds.
///
/// # Panics
///
/// When the fields differ in shape, have other layers than the scratch, or have none; when `dt` is not a positive
/// number, or takes more minor steps than 31 bits can count.
pub fn call<R: Vectorised>(p: &Scheme<R>, dt: R, scratch: &Scratch<R>, fields: Fields<'_, R>) {
    fields.check(scratch.layers());
    assert_length(dt);
    match scratch.vectors(p.fallout) {
        Some(Vectors { instructions, columns }) => {
            let p = p.map(R::lane);
            let (ny, nx) = fields.rows_and_columns();
            in_blocks(block_abreast(ny * nx), fields, &|mut fields| {
                lend(columns, |columns| {
                    gather::call_block(*instructions, &p, dt, columns, &mut fields);
                });
            });
        }
        None => in_blocks(BLOCK, fields, &|fields| {
            lend(&scratch.columns, |column| call_block(p, dt, column, fields));
        }),
    }
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
        f.weigh(j, i..i + 1, |k, _| water(&column.cells[k]));
        for (k, cell) in column.cells.iter().enumerate() {
            let at = [k, j, i];
            f.theta[at] = theta_after(f.theta[at], f.theta_base, f.exner[at], cell.t);
            f.qv[at] = cell.qv;
            f.qc[at] = cell.qc;
            f.qr[at] = cell.qr;
            f.qi[at] = cell.qi;
            f.qs[at] = cell.qs;
        }
        f.put([j, i], &sum);
    }
}
