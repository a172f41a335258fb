//! Units of measurement as files state them: text in the spelling of UDUNITS and CF, and the usual other spellings.
//!
//! A text becomes a [`Unit`]: a factor to the SI, an offset (temperatures, dates), and the powers of the base units. A
//! [`Quantity`] is what a program needs: its unit, and the bounds of its values. [`Conversion`] maps stored values to
//! it.
//!
//! Sources: UDUNITS-2 grammar; CF conventions 1.11, section 3.1.
//!
//! # Decisions
//!
//! Units are parsed here. No crate reads the grammar of UDUNITS (`kg kg-1`, where an exponent needs no sign) under a
//! licence that the program can take: `gnu-units` is GPL, and `uom` and `dimensioned` know units when they are
//! compiled only.

mod names;
mod quantity;
mod text;
mod unit;

pub use quantity::{Quantity, Refusal};
pub use text::{between, is_absent, whole};
pub use unit::{Conversion, Unit};

#[cfg(test)]
mod tests;
