//! Calls from a host and arrays of a host, which the libraries for other languages share.
//!
//! A call computes with the floating-point settings that the library needs (`floating_point`), and a panic becomes a text
//! (`guard`). Arrays are views of memory with strides (`strided`).

#![allow(unsafe_code, reason = "registers of the processor, and memory of a host")]

mod floating_point;
mod guard;
pub mod strided;

pub use floating_point::HostSettings;
pub use guard::guarded;
