//! A numerical-weather-prediction mini-app: tracer advection and cloud microphysics of WRF.
//!
//! # Sources
//!
//! Doc comments name their equations by these keys.
//!
//! - HDC04: Hong, Dudhia, Chen 2004, Mon. Wea. Rev. 132, 103-120.
//! - HL06: Hong, Lim 2006, J. Korean Meteor. Soc. 42, 129-151.
//! - LV96: LeVeque 1996, SIAM J. Numer. Anal. 33, 627-665 (transport tests).
//! - RH83: Rutledge, Hobbs 1983, J. Atmos. Sci. 40, 1185-1206.
//! - JH10: Juang, Hong 2010, Mon. Wea. Rev. 138, 1778-1791 (semi-Lagrangian fall).
//! - S06: Skamarock 2006, Mon. Wea. Rev. 134, 2241-2250.
//! - SH12: Shipway, Hill 2012, Quart. J. Roy. Meteor. Soc. 138, 2196-2211 (kinematic driver).
//! - SW09: Skamarock, Weisman 2009, Mon. Wea. Rev. 137, 488-494.
//! - S97: Sandu et al. 1997, Atmos. Environ. 31, 3459-3472 (Rosenbrock methods for chemistry).
//! - W09: Wang, Skamarock, Feingold 2009, Mon. Wea. Rev. 137, 2547-2558.
//! - WK82: Weisman, Klemp 1982, Mon. Wea. Rev. 110, 504-520 (sounding of deep convection).
//! - WS02: Wicker, Skamarock 2002, Mon. Wea. Rev. 130, 2088-2097.

pub mod error;
pub mod lanes;
pub mod os_text;
pub mod random;
pub mod real;
pub mod shared;

pub mod calendar;
pub mod constants;
#[cfg(feature = "gpu")]
pub mod device;
pub mod grid;

pub mod mass;
pub mod plan;
pub mod state;
pub mod thermo;

pub mod advection;
pub mod chemistry;
pub mod forcing;
pub mod primitives;
pub mod wsm5;

pub mod lattice;

pub mod ensemble;
#[cfg(feature = "gpu")]
pub mod gpu;

pub mod backend;
#[cfg(feature = "netcdf")]
pub mod io;

#[cfg(feature = "netcdf")]
pub mod cases;
#[cfg(feature = "netcdf")]
pub mod diagnostics;
pub mod projection;

#[cfg(feature = "netcdf")]
pub mod model;
#[cfg(feature = "plot")]
pub mod plot;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod config;
