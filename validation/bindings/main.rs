//! The library as other people's programs have it: in C, in C++, and in Fortran in the place of a scheme of WRF.
//!
//! Programs are compiled here, and their results are those of `nwp-mini columns`, bit for bit.

mod c;
mod chemistry;
mod fortran;
mod library;
mod samples;
