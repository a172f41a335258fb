//! The ladder of the hopping term of the Wilson operator, its solver, and the speed by occupancy.

mod form_search;
mod forms;
mod occupancy;
mod row;
mod subject;

use super::record::Record;
use super::{Bench, Site};
use crate::error::Result;
use crate::lattice::gpu::LatticePrecision;
use crate::lattice::number::Vectorised;
use crate::lattice::{DIRECTIONS, Extents};
use form_search::FormSearch;
use row::Row;
use subject::Subject;

/// The lattice of the talk, two of current size, one that the L2 cache of an H100 holds, and one of unequal extents.
const USUAL: [[usize; DIRECTIONS]; 5] =
    [[32, 32, 32, 32], [24, 24, 24, 128], [48, 48, 48, 64], [16, 16, 16, 16], [12, 20, 28, 36]];

impl Bench {
    /// Measures the ladder on all lattices; returns the plot of the occupancy, if requested.
    pub(super) fn wilson<R: LatticePrecision + Vectorised>(
        &self,
        site: &Site,
        record: &mut Record,
    ) -> Result<Option<String>> {
        let usual = USUAL.into_iter().map(Extents::new).collect::<Result<Vec<_>>>()?;
        let lattices = if self.lattice.is_empty() { &usual } else { &self.lattice };
        let mut picture = None;
        for &extents in lattices {
            let subject = Subject::<R>::new(extents)?;
            writeln!(
                record.out,
                "\nWilson hopping term, {extents} sites, {}, one parity: {:.1} MB with 18 reals a link",
                R::NAME,
                (extents.half_volume() * 192 * size_of::<R>()) as f64 / 1e6
            )?;
            writeln!(record.out, "{}", Row::head())?;
            subject.on_cpu(&site.pools, self.runs, record)?;
            let Some((gpu, copy)) = site.device else { continue };
            let search = FormSearch { gpu, copy, runs: self.runs, subject: &subject };
            let best = search.measure_rungs(record)?;
            search.solver(best, record)?;
            if self.occupancy.is_some() && picture.is_none() {
                picture = Some(search.sweep(best, record)?);
            }
        }
        Ok(picture)
    }
}
