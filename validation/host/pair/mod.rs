//! Two backends from one state: differences that pass, and differences that do not.
//!
//! Backends on the CPU stand in for one on a GPU: one on other threads, one in double precision, one with a process of
//! the scheme one per cent too strong, and one that runs ahead of its caller.
#![allow(clippy::print_stdout, reason = "figures beside the verdicts of the tests")]

mod ahead;
mod kessler;
mod resumed;
mod stand_in;
mod verdict;
