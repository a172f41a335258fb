//! A program of a user, with the library only: a column of cloud under the microphysics, and a run from arrays.
#![allow(clippy::print_stdout, reason = "a program for the terminal")]

mod from_arrays;

use std::error::Error;

use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::physics::wsm5::{Air, Cell, Column};

/// Layers of the column, and their depth, m.
const LAYERS: usize = 20;
const DEPTH: f64 = 500.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mut column = Column::<f64>::new(LAYERS);
    for (k, (cell, air)) in column.cells.iter_mut().zip(&mut column.air).enumerate() {
        let z = DEPTH * (k as f64 + 0.5);
        let (t, p) = (300.0 - 6.5e-3 * z, 1.0e5 * (-z / 8.0e3_f64).exp());
        *cell = Cell { t, qv: 2.0e-2 * (-z / 2.5e3).exp(), qc: 2.0e-3, ..Cell::default() };
        *air = Air { rho: p / (287.0 * t), p, dz: DEPTH, ..Air::default() };
    }
    let scheme = Scheme::default();
    let fallen: f64 = (0..30).map(|_| column.call(&scheme, 60.0).rainncv).sum();
    println!("{fallen:.2} mm in half an hour");
    assert!(fallen > 0.1, "it rains");
    from_arrays::run()
}
