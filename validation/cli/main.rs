//! The program as its users meet it: commands, options, files, messages and exit codes.

mod aux_outputs;
mod bench;
mod cases;
mod chemistry;
mod contract;
mod diff;
mod ensemble;
mod eras;
mod foreign;
mod hostile;
mod kessler;
mod loading;
mod plot;
#[cfg(unix)]
mod ranks;
mod rates;
mod records;
#[cfg(unix)]
mod restart;
mod run;
mod units;
mod wilson;
mod wsm6;
#[cfg(feature = "zarr")]
mod zarr;
