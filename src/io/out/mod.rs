//! Outputs of a run: its variables, frames, statistics of ensembles, other grids, stations, profiles.

pub(crate) mod append_file;
pub(crate) mod divided_output;
pub(crate) mod ensemble;
pub(in crate::io) mod frame_values;
pub(crate) mod ideal_input;
pub mod output;
pub(crate) mod profiles;
pub(crate) mod regridded;
mod sampled_wind;
pub mod samples;
pub(crate) mod selection;
pub(crate) mod station_series;
pub(crate) mod stations;
