//! A value that is not finite, which one rank has found and all agree on.

use crate::constituents::Constituents;
use crate::error::{Error, Result};
use crate::ranks::{Ranks, all};

/// Numbers of a verdict: 1 where there is something to tell, step, member, field, cell, bits of the value.
type Verdict = [i64; 8];

/// The verdict of a failed check of members of which the first has this number; `None` for another failure.
fn verdict(error: &Error, first: usize, set: &Constituents) -> Option<Verdict> {
    let (member, error) = match error {
        Error::Member { member, error } => (*member, &**error),
        error => (0, error),
    };
    let Error::BlowUp { variable, value, step, cell } = error else { return None };
    let field = set.iter().position(|tracer| tracer.name == *variable)?;
    let [step, member, field, k, j, i] =
        [*step, first + member, field, cell[0], cell[1], cell[2]].map(|number| number as i64);
    Some([1, step, member, field, k, j, i, value.to_bits().cast_signed()])
}

/// Agrees on the checks of all ranks after a step, each of members of which the first has the number `first`: the first
/// member, field and cell count, as they do on one rank. The first rank tells it.
pub(super) fn agree(
    ranks: &dyn Ranks,
    own: Result<()>,
    (first, members): (usize, usize),
    set: &Constituents,
) -> Result<()> {
    let mine = match &own {
        Ok(()) => Verdict::default(),
        // A failure of another kind is that of this rank alone.
        Err(error) => match verdict(error, first, set) {
            Some(verdict) => verdict,
            None => return own,
        },
    };
    let found = all(ranks, mine);
    let Some(&[_, step, member, field, k, j, i, bits]) =
        found.iter().filter(|one| one[0] > 0).min()
    else {
        return Ok(());
    };
    let [step, member, field, k, j, i] =
        [step, member, field, k, j, i].map(|number| number as usize);
    let variable = set.iter().nth(field).map_or("a field", |tracer| tracer.name);
    let value = f64::from_bits(bits.cast_unsigned());
    let error = Error::BlowUp { variable, value, step, cell: [k, j, i] };
    let error = if members > 1 { error.of_member(member) } else { error };
    if ranks.rank() == 0 {
        return Err(error);
    }
    Err(Error::OfRank { rank: 0, code: error.exit_code() })
}
