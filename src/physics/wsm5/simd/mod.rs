//! The scheme on columns side by side.

pub(super) mod columns;
pub(super) mod load_store;
