//! Names that live as long as the program.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// A text with static lifetime: tables of variables, messages and reports mix names of tracers with constants of the
/// program. Each text is stored once.
pub fn interned(text: &str) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(text) {
        return known;
    }
    let lasting: &'static str = Box::leak(text.to_owned().into_boxed_str());
    kept.insert(lasting);
    lasting
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_is_kept_once() {
        let (a, b) = (interned("smoke"), interned(&["smo", "ke"].concat()));
        assert!(std::ptr::eq(a, b));
        assert_ne!(a, interned("dust"));
    }
}
