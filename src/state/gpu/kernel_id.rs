//! Ids of the kernels of a step. These kernels use programmatic dependent launch, and write their ids to host-mapped
//! memory (`kernels/primitives/pdl_wait.cuh`), so that the last one is known if the device fails.

use crate::device::{Kernel, Module};
use crate::error::Result;

/// Constants with the names of kernels, and their list in the order of their ids, from 1.
macro_rules! marked {
    ($($constant:ident = $name:literal),* $(,)?) => {
        $(
            #[doc = concat!("The kernel `", $name, "`.")]
            pub(crate) const $constant: &str = $name;
        )*
        const MARKED: [&str; [$($name),*].len()] = [$($constant),*];
    };
}

marked! {
    TRANSPORT_STAGE = "transport_stage",
    TRANSPORT_SIDES = "transport_sides",
    TRANSPORT_SCALE = "transport_scale",
    TRANSPORT_UPDATE = "transport_update",
    TRANSPORT_UNLIMITED = "transport_unlimited",
    TRANSPORT_LIMIT = "transport_limit",
    TRANSPORT_ENTERED_ACC64 = "transport_entered_acc64",
    WSM5_COLUMN = "wsm5_column",
    WSM5_TILE = "wsm5_tile",
    STEP_END_ACC64 = "step_end_acc64",
    KESSLER_COLUMN = "kessler_column",
}

/// The kernels of `kernels/advection/transport.cu`.
pub const TRANSPORT: [&str; 7] = *MARKED.first_chunk().expect("they are the first");

/// The ids by their names in CUDA: `MARK_WSM5_TILE`.
pub(crate) fn constants() -> String {
    let lines = MARKED
        .iter()
        .zip(1..)
        .map(|(name, number)| format!("constexpr int MARK_{} = {number};\n", name.to_uppercase()));
    lines.collect::<Vec<_>>().concat()
}

/// A kernel of a module, which must be in the list: else it would not wait for preceding work.
pub(crate) fn kernel(module: &Module, name: &'static str) -> Result<Kernel> {
    assert!(MARKED.contains(&name), "{name}");
    Ok(module.kernel(name)?.waiting_by_itself())
}

/// The name for an id.
pub(crate) fn name(number: u64) -> &'static str {
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
        assert_eq!(name(6), "transport_limit");
        assert_eq!(name(10), "step_end_acc64");
        assert_eq!(name(11), "kessler_column");
        assert_eq!(name(12), "unknown");
        assert!(TRANSPORT.iter().all(|name| name.starts_with("transport_")));
        assert_eq!(MARKED.iter().filter(|name| name.starts_with("transport_")).count(), 7);
        assert!(constants().contains("constexpr int MARK_WSM5_TILE = 9;"));
    }
}
