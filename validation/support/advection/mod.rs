//! Cases of the transport.

pub mod case;
pub mod random_cases;
