//! The text of the kernels on the host: functions against their Rust twins, and whole kernels, run
//! thread by thread in any order, against the CPU version.

mod advection;
mod chemistry;
mod kessler;
mod lattice;
mod matrix;
mod parts;
mod passive;
mod reduce;
mod solver;
mod summary;
mod twins;
mod wsm5;
