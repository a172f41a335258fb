//! Files of single parts of the model: columns, transport, chemistry, a lattice.

mod cell_quantities;
pub(crate) mod chemistry;
pub mod columns;
pub(crate) mod lattice;
pub mod transport;
