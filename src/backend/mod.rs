//! Where the steps are computed.
//!
//! A backend holds the state for the whole run and gives it away only when asked.

pub mod cpu;
