//! Set of vector instructions of the program: the best one, or the one that an environment variable names.

use std::sync::OnceLock;

use super::Instructions;

/// Environment variable that selects it: a name of [`NAMES`].
const VARIABLE: &str = "NWP_MINI_SIMD";

/// Values of the variable, the narrowest set first.
const NAMES: [&str; 3] = ["none", "avx2", "avx512"];

/// The admissible sets, the best one first: those of this processor, up to the one that `NWP_MINI_SIMD` names
/// (`avx512`, `avx2` or `none`) if it is set.
///
/// The variable is read once. Its error states the value and the admissible ones.
pub(super) fn permitted() -> &'static Result<Vec<Instructions>, String> {
    static PERMITTED: OnceLock<Result<Vec<Instructions>, String>> = OnceLock::new();
    PERMITTED.get_or_init(|| match std::env::var_os(VARIABLE) {
        None => Ok(Instructions::of_processor()),
        Some(name) => up_to(&name.to_string_lossy(), Instructions::of_processor()),
    })
}

/// The sets up to the one of this name.
fn up_to(name: &str, mut sets: Vec<Instructions>) -> Result<Vec<Instructions>, String> {
    if !NAMES.contains(&name) {
        let names = NAMES.join(", ");
        return Err(format!("{VARIABLE} is \"{name}\": set it to one of {names}, or unset it"));
    }
    if name == NAMES[0] {
        return Ok(Vec::new());
    }
    let there: Vec<&str> = sets.iter().map(|set| set.option()).chain([NAMES[0]]).collect();
    let Some(first) = sets.iter().position(|set| set.option() == name) else {
        let there = there.join(", ");
        return Err(format!(
            "{VARIABLE} is \"{name}\", which this processor lacks: set it to one of {there}, or unset it"
        ));
    };
    Ok(sets.split_off(first))
}

#[cfg(test)]
mod tests {
    use super::{NAMES, up_to};
    use crate::simd::Instructions;

    #[test]
    fn sets_up_to_the_named_one_are_permitted() {
        let sets = Instructions::of_processor();
        for (at, set) in sets.iter().enumerate() {
            let found = up_to(set.option(), sets.clone()).expect("a set of this processor");
            let names = |sets: &[Instructions]| sets.iter().map(|s| s.name()).collect::<Vec<_>>();
            assert_eq!(names(&found), names(&sets[at..]));
        }
        assert!(up_to("none", sets).expect("always there").is_empty());
    }

    #[test]
    fn unknown_and_absent_sets_are_refused() {
        let why = up_to("sse9", Vec::new()).expect_err("no set");
        for word in ["NWP_MINI_SIMD", "sse9"].iter().chain(&NAMES) {
            assert!(why.contains(word), "{why}");
        }
        let why = up_to("avx512", Vec::new()).expect_err("not there");
        assert!(why.contains("lacks") && why.contains("none") && !why.contains("avx2"), "{why}");
    }
}
