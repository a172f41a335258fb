//! Failures that all ranks of a run agree on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Ranks;
use crate::error::{Error, Result};

/// The ranks of a run, and whether they have agreed to fail.
#[derive(Clone, Debug)]
pub struct Team {
    /// The ranks.
    pub ranks: Arc<dyn Ranks>,
    has_failed: Arc<AtomicBool>,
}

impl Team {
    /// Ranks of which none has failed.
    pub fn new(ranks: Arc<dyn Ranks>) -> Self {
        Self { ranks, has_failed: Arc::default() }
    }

    /// Returns `true` on the rank that writes files and speaks to the user.
    pub fn is_first(&self) -> bool {
        self.ranks.rank() == 0
    }

    /// Returns `true` if there is more than one rank.
    pub fn is_several(&self) -> bool {
        self.ranks.size() > 1
    }

    /// Returns `true` after a failure, when nobody waits for anybody any more.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// The answer of the first rank, on all of them.
    pub fn of_first(&self, answer: bool) -> bool {
        super::of_rank(&*self.ranks, 0, [answer.into()]) != [0]
    }

    /// Agrees on a result, which all ranks wait for: where one of them failed, all do. The failure of the first rank that
    /// failed is told by this rank; the others have [`Error::OfRank`], of which nobody needs to be told. A rank that fails
    /// between two calls goes to the next one at once; after a failure, nobody waits for anybody.
    ///
    /// # Errors
    ///
    /// That of this rank, or of another one.
    pub fn agree<T>(&self, result: Result<T>) -> Result<T> {
        if !self.is_several() || self.has_failed() {
            return result;
        }
        let (ranks, failure) = (&*self.ranks, result.as_ref().err());
        // What another rank will tell is no failure of this one.
        let own = failure.filter(|error| !matches!(error, Error::OfRank { .. }));
        let mut codes = vec![0; ranks.size()];
        codes[ranks.rank()] = own.map_or(0, |error| 1 + i64::from(error.exit_code()));
        ranks.sum(&mut codes);
        let Some(rank) = codes.iter().position(|code| *code > 0) else { return result };
        self.has_failed.store(true, Ordering::Relaxed);
        if rank == ranks.rank() {
            return result;
        }
        Err(Error::OfRank { rank, code: (codes[rank] - 1) as u8 })
    }
}
