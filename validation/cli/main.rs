//! The program as its users meet it: commands, options, files, messages and exit codes.

mod bench;
mod beside;
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
mod rates;
mod records;
#[cfg(unix)]
mod restart;
mod run;
mod wilson;
