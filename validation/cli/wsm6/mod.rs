//! `--physics wsm6` of `nwp-mini columns` and `run`.

mod columns;
mod run;
