//! Gas-phase chemistry: mechanisms in the language of KPP, and their integration in many cells.
//!
//! A mechanism is a list of species and reactions (`mechanism`). The kinetics of a cell are ordinary differential
//! equations that are stiff by many orders of magnitude: O1D lives for nanoseconds, methane for years. They are solved
//! by implicit methods with an individual step for every cell.
//!
//! - `mechanism` reads the text and returns plain tables, or all errors with their positions.
//! - `ordering` puts the species into an order that keeps the factors of the Jacobian sparse,
//!   `sparse_lu` lists the operations of factorisation and solution once for all cells.
//! - `rates` turns rate expressions into one list of operations without repetitions.
//! - `kinetics` holds the lists of terms of dy/dt and of its Jacobian.
//! - `rosenbrock` has the methods, one step of them, and the step size control.
//! - `cells` integrates many cells together in the lanes of vector instructions.
//! - `clear_sky` has photolysis frequencies under a clear sky, `lifetime` the lifetimes of species in a reference
//!   state, `zenith` the zenith angle of the sun.
//! - `coupling` converts the air of a weather model to conditions of cells, and species back; `coupled` maps the
//!   species to the fields of a run.
//!
//! ```
//! use nwp_mini::chemistry::cells::{Cells, RateUpdate, Settings, integrate};
//! use nwp_mini::chemistry::kinetics::Kinetics;
//! use nwp_mini::chemistry::mechanism;
//! use nwp_mini::chemistry::rosenbrock::{Tolerances, methods};
//!
//! let text = "#DEFVAR A = IGNORE; B = IGNORE; #EQUATIONS A = B : 0.1; B = A : 0.3;";
//! let (mechanism, _) = mechanism::parse("pair", text).mechanism().unwrap();
//! let kinetics = Kinetics::new(&mechanism).unwrap();
//! let settings = Settings {
//!     method: methods::RODAS4,
//!     tolerances: Tolerances { relative: 1e-6, absolute: 1e-6 },
//!     interval: 100.0,
//!     first_step: 0.0,
//!     rates: RateUpdate::Frozen,
//! };
//! let mut cells = Cells {
//!     variable: vec![4e6, 0.0],
//!     temperature: vec![298.0],
//!     air_factor: vec![2.46e13],
//!     air_density: vec![2.46e19],
//!     hydrolysis: vec![0.0],
//!     start: vec![0.0],
//!     ..Cells::default()
//! };
//! let outcomes = integrate(&kinetics, &settings, &mut cells);
//! assert!(outcomes[0].status.is_success());
//! // Equilibrium of A and B at 3 to 1.
//! assert!((cells.variable[0] - 3e6).abs() < 10.0);
//! ```

pub mod cells;
pub mod clear_sky;
pub mod coupled;
pub mod coupling;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod kinetics;
pub mod lanes;
pub mod lifetime;
pub mod mechanism;
pub mod ordering;
pub mod plausibility;
pub mod rates;
pub mod rosenbrock;
pub mod sparse_lu;
pub mod zenith;
