//! Cases of the transport.

pub mod case;
pub mod made_up;
