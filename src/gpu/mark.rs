//! Kernels that begin as those of a step do (`kernels/primitives/begin.cuh`): they wait by themselves for
//! what was asked before, and say that they have begun, which is what is known of a device that has failed.

/// Their names, in the order of their numbers from 1.
pub(super) const MARKED: [&str; 10] = [
    "transport_stage",
    "transport_scale",
    "transport_update",
    "transport_entered_acc64",
    "wsm5_column",
    "wsm5_tile",
    "transport_unlimited",
    "transport_limit",
    "transport_sides",
    "step_end_acc64",
];

/// The numbers as kernels see them: `MARK_WSM5_TILE`.
pub(super) fn constants() -> String {
    let lines = MARKED
        .iter()
        .zip(1..)
        .map(|(name, number)| format!("constexpr int MARK_{} = {number};\n", name.to_uppercase()));
    lines.collect::<Vec<_>>().concat()
}

/// Whether a kernel is one of them.
pub(super) fn is_marked(name: &str) -> bool {
    MARKED.contains(&name)
}

/// The name for a number.
pub(super) fn name(number: u64) -> &'static str {
    let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    at.and_then(|at| MARKED.get(at)).copied().unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_its_name_by_its_number() {
        assert_eq!(name(0), "unknown");
        assert_eq!(name(1), "transport_stage");
        assert_eq!(name(8), "transport_limit");
        assert_eq!(name(10), "step_end_acc64");
        assert_eq!(name(11), "unknown");
        assert!(constants().contains("constexpr int MARK_WSM5_TILE = 6;"));
    }
}
