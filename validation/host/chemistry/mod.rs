//! The chemistry against KPP's own results, against a plain scalar solver, and under bad input.

mod agreement;
mod faults;
mod fortran;
mod functions;
mod fuzz;
mod lanes;
mod mutants;
mod oracle;
mod tables;
mod wrf;
