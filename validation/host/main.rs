//! The library against WRF's own results, and the properties that it promises, on the CPU.

mod advection;
mod chemistry;
mod kessler;
mod lanes;
mod lattice;
mod pair;
mod parts;
mod primitives;
mod projection;
mod refusals;
mod tracers;
mod wsm5;
mod wsm5_substepped;
mod wsm6;
