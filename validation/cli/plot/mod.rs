//! `nwp-mini plot` and the page of `run --report`: numbers, words and colours of pictures, and messages for pictures
//! that cannot be drawn.

mod earth;
mod files;
mod page;
mod pictures;
mod refused;

use nwp_mini_support::run::{place, small};
