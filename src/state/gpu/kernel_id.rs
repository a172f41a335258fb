//! Ids of the kernels of a step; those of the scheme of the run follow the others. These kernels use programmatic
//! dependent launch, and write their ids to host-mapped memory (`kernels/primitives/pdl_wait.cuh`), so that the last one
//! is known if the device fails.

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
    STEP_END_ACC64 = "step_end_acc64",
}

/// The kernels of `kernels/advection/transport.cu`.
pub const TRANSPORT: [&str; 7] = *MARKED.first_chunk().expect("they are the first");

/// The ids by their names in CUDA: `MARK_STEP_END_ACC64`.
pub(crate) fn constants() -> String {
    numbered(&MARKED, 1)
}

/// The ids of the kernels of a scheme, likewise. A run has one scheme, so that those of others may be the same.
pub(crate) fn constants_of(scheme: &[&str]) -> String {
    numbered(scheme, MARKED.len() + 1)
}

fn numbered(names: &[&str], first: usize) -> String {
    let line = |(name, number): (&&str, usize)| {
        format!("constexpr int MARK_{} = {number};\n", name.to_uppercase())
    };
    names.iter().zip(first..).map(line).collect()
}

/// A kernel of a module that has an id, and waits for preceding work by itself.
pub(crate) fn kernel(module: &Module, name: &'static str) -> Result<Kernel> {
    Ok(module.kernel(name)?.waiting_by_itself())
}

/// The name for an id, in a run whose scheme has these kernels.
pub(crate) fn name(number: u64, scheme: &[&'static str]) -> &'static str {
    let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    at.and_then(|at| MARKED.iter().chain(scheme).nth(at)).copied().unwrap_or("unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_its_name_by_its_number() {
        let scheme = ["drizzle_column", "drizzle_tile"];
        let name = |number| name(number, &scheme);
        assert_eq!(name(0), "unknown");
        assert_eq!(name(1), "transport_stage");
        assert_eq!(name(6), "transport_limit");
        assert_eq!(name(8), "step_end_acc64");
        assert_eq!(name(10), "drizzle_tile");
        assert_eq!(name(11), "unknown");
        assert!(TRANSPORT.iter().all(|name| name.starts_with("transport_")));
        assert_eq!(MARKED.iter().filter(|name| name.starts_with("transport_")).count(), 7);
        assert!(constants_of(&scheme).contains("constexpr int MARK_DRIZZLE_TILE = 10;"));
    }
}
