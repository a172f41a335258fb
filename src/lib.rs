//! A numerical-weather-prediction mini-app: tracer advection and cloud microphysics of WRF, with gas-phase
//! chemistry and the Wilson operator of lattice QCD beside them.
//!
//! # A column of cloud
//!
//! [`physics::wsm5`] is the microphysics. A [`Column`](physics::wsm5::Column) holds the cells of one column from the
//! ground up; a call advances them in time and returns the precipitation.
//!
//! ```
//! use nwp_mini::physics::wsm5::scheme::Scheme;
//! use nwp_mini::physics::wsm5::{Air, Cell, Column};
//!
//! let nz = 20;
//! let mut column = Column::<f64>::new(nz);
//! for k in 0..nz {
//!     let z = 250.0 + 500.0 * k as f64;
//!     let (t, p) = (300.0 - 6.5e-3 * z, 1.0e5 * (-z / 8.0e3_f64).exp());
//!     column.cells[k] = Cell { t, qv: 2.0e-2 * (-z / 2.5e3).exp(), qc: 2.0e-3, ..Cell::default() };
//!     column.air[k] = Air { rho: p / (287.0 * t), p, dz: 500.0, ..Air::default() };
//! }
//! let scheme = Scheme::default();
//! let mut fallen = 0.0; // mm
//! for _ in 0..30 {
//!     fallen += column.call(&scheme, 60.0).rainncv;
//! }
//! assert!(fallen > 0.1 && fallen < 10.0, "{fallen} mm in half an hour");
//! assert!(column.cells.iter().all(|cell| cell.qc >= 0.0 && cell.qr >= 0.0));
//! ```
//!
//! [`physics::call`] does the same for whole fields, with many columns side by side in vector registers.
//!
//! # A tracer in the wind
//!
//! [`advection`] transports tracers by mass fluxes on WRF's C grid: fifth order in the horizontal, third in the
//! vertical, three Runge-Kutta stages, with a limiter in the last one.
//!
//! ```
//! use ndarray::{Array2, Array3};
//! use nwp_mini::advection::{self, InflowValues, Limiter, Wind, Workspace};
//! use nwp_mini::grid::{Grid, Shape, Side, Sides};
//! use nwp_mini::dry_mass::{AirMass, MassCoordinate, MassFlux};
//!
//! // A periodic box of 32 x 8 cells of a kilometre and ten layers of 1,000 Pa.
//! let shape = Shape { nx: 32, ny: 8, nz: 10 };
//! let grid = Grid::whole(shape, [1.0e3; 2], Sides::all(Side::Periodic));
//! let ones = Array2::ones((shape.ny, shape.nx));
//! let air = AirMass::new(&grid, &MassCoordinate {
//!     mu: 1.0e4 * &ones,
//!     map_x: ones.clone(),
//!     map_y: ones,
//!     c1: vec![1.0; shape.nz],
//!     c2: vec![0.0; shape.nz],
//!     rdnw: vec![-(shape.nz as f64); shape.nz],
//!     fnm: vec![0.5; shape.nz],
//!     fnp: vec![0.5; shape.nz],
//!     unit: grid.dx * grid.dy / 9.81,
//! });
//! // Air moves one cell eastward in 100 s.
//! let (courant, dt) = (0.5, 50.0);
//! let flux = MassFlux {
//!     x: Array3::from_elem(shape.x_face(), courant / dt * air.cell.at(0, 0, 0)),
//!     y: Array3::zeros(shape.y_face()),
//!     z: Array3::zeros(shape.z_face()),
//! };
//! let wind = Wind { grid: &grid, air: &air, flux: &flux, dt };
//! let hill = |i: usize| (-(i as f64 - 10.0).powi(2) / 8.0).exp();
//! let mut q = Array3::from_shape_fn(shape.centre(), |(_, _, i)| hill(i));
//! let before = q.sum();
//! let mut work = Workspace::new(shape);
//! for _ in 0..20 {
//!     advection::step(&wind, Limiter::PositiveDefinite, InflowValues::Nothing, &mut q, &mut work);
//! }
//! // The hill is ten cells further east, its mass is conserved, and it is negative by rounding at most.
//! let off = (0..shape.nx).map(|i| (q[[5, 4, (i + 10) % 32]] - hill(i)).abs()).fold(0.0, f64::max);
//! assert!(off < 0.04, "{off}");
//! assert!((q.sum() / before - 1.0).abs() < 1e-12, "{} of {before}", q.sum());
//! assert!(q.iter().all(|q| *q > -1e-15));
//! ```
//!
//! # The same scheme on the CPU and on the GPU
//!
//! The launcher of a kernel is in the module `gpu` of its subject (feature `gpu`). It compiles the kernel for the
//! device at hand, and works on arrays in device memory, in which the fields of the CPU follow one another.
//!
//! ```no_run
//! # #[cfg(feature = "gpu")]
//! # {
//! use ndarray::Array3;
//! use nwp_mini::device::{Gpu, Options};
//! use nwp_mini::grid::Shape;
//! use nwp_mini::grid::gpu::Layout;
//! use nwp_mini::physics::{self, Scratch};
//! use nwp_mini::physics::wsm5::gpu::Mapping;
//! use nwp_mini::physics::wsm5::gpu::kernels::Wsm5Gpu;
//! use nwp_mini::physics::wsm5::gpu::launch::{ActiveColumns, DeviceFields, planes_of};
//! use nwp_mini::physics::wsm5::{self, ABOUT, scheme::Scheme};
//! use nwp_mini::real::Precision;
//! use nwp_mini::state::{Environment, State, Surface};
//!
//! let shape = Shape { nx: 64, ny: 32, nz: 20 };
//! let field = |of_height: fn(f32) -> f32| {
//!     Array3::from_shape_fn(shape.centre(), |(k, _, _)| of_height(250.0 + 500.0 * k as f32))
//! };
//! let (t, p) = (field(|z| 300.0 - 6.5e-3 * z), field(|z| 1.0e5 * (-z / 8.0e3).exp()));
//! let exner = p.mapv(|p| (p / 1.0e5).powf(2.0 / 7.0));
//! let air = Environment { rho: &p / &(287.0 * &t), p, dz: field(|_| 500.0), exner, w: None };
//! let set = ABOUT.set();
//! let mut state = State::<f32>::zeros(&set, shape);
//! state.theta_mut().assign(&(&t / &air.exner - 300.0)); // As in WRF's files.
//! state.qv_mut().assign(&field(|z| 2.0e-2 * (-z / 2.5e3).exp()));
//! state.named_mut("qc").fill(2.0e-3);
//! let flat = |fields: &[Array3<f32>]| -> Vec<f32> {
//!     fields.iter().flat_map(|field| field.iter().copied()).collect()
//! };
//! let (scheme, dt) = (Scheme::<f32>::default(), 60.0);
//!
//! // On the GPU.
//! let gpu = Gpu::open(&Options::default())?;
//! let there = gpu.upload(&flat(state.fields()))?;
//! let of_air = [&air.rho, &air.exner, &air.p, &air.dz].map(Clone::clone);
//! let air_there = gpu.upload(&flat(&of_air))?;
//! let ground_there = gpu.zeros::<f32>(planes_of(set.planes().len(), 1) * shape.columns())?;
//! let mapping =
//!     Mapping::for_device(&gpu, shape.columns(), Precision::F32, scheme.fallout.into(), shape.nz);
//! let (layout, all) = (Layout::tight(shape), ActiveColumns::all(shape));
//! let clouds = Wsm5Gpu::new(&gpu, layout, all, scheme.clone(), mapping, 300.0)?;
//! let place = DeviceFields { state: &there, air: &air_there, surface: &ground_there };
//! clouds.call(&place, dt)?;
//!
//! // On the CPU.
//! let mut ground = Surface::zeros(&set, shape);
//! let scratch = Scratch::new(&scheme, shape.nz);
//! let block = wsm5::block(300.0, &mut state, &air, &mut ground);
//! physics::call(&scheme, dt as f32, &scratch, block);
//!
//! // Rain is the fourth field of the state.
//! let rain = &there.to_vec()?[3 * shape.cells()..4 * shape.cells()];
//! let off = rain.iter().zip(state.named("qr")).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
//! let most = state.named("qr").iter().copied().fold(0.0, f32::max);
//! assert!(most > 0.0 && off < 1e-4 * most, "{off} of {most}");
//! # }
//! # Ok::<(), nwp_mini::error::Error>(())
//! ```
//!
//! A formula of a kernel has the name and the arguments of its twin in Rust.
//!
//! | process | Rust | CUDA | launcher |
//! |---|---|---|---|
//! | a call on one column | [`wsm5::Column`](physics::wsm5::Column) | `kernels/physics/wsm5/column.cu`, `tile.cu` | `wsm5::gpu::launch` |
//! | warm rain | [`physics::wsm5::warm`] | `kernels/physics/wsm5/warm.cuh` | |
//! | cold rates | [`physics::wsm5::ice`] | `kernels/physics/wsm5/ice.cuh` | |
//! | melting, freezing, saturation | [`physics::wsm5::melt`] | `kernels/physics/wsm5/melt.cuh` | |
//! | sedimentation of rain, snow, ice | [`physics::wsm5::sedimentation`] | `kernels/physics/wsm5/sedimentation.cuh` | |
//! | reflectivity, radii | `physics::wsm5::reflectivity`, `radii` | `kernels/physics/wsm5/diagnose.cu` | `wsm5::gpu::launch` |
//! | WSM6: six species, with graupel | `physics::wsm6` | `kernels/physics/wsm6/` | `physics::wsm6::gpu` |
//! | Kessler's warm rain, without ice | `physics::kessler` | `kernels/physics/kessler/` | `physics::kessler::gpu` |
//! | a step of the transport | [`advection::step`] | `kernels/advection/transport.cu` | `advection::gpu::transport` |
//! | fluxes and limiter | [`advection::flux`], [`advection::limiter`] | `kernels/advection/flux.cuh`, `limiter.cuh` | |
//! | interpolation between input frames | [`forcing`] | `kernels/forcing.cu` | `forcing::gpu` |
//! | reactions in many cells | [`chemistry::cells`] | `kernels/chemistry/` | `chemistry::gpu` |
//! | sums, transposes, sparse products | [`primitives`] | `kernels/primitives/` | `primitives::gpu` |
//! | Wilson operator | [`lattice`] | `kernels/lattice/` | `lattice::gpu` |
//!
//! A [`Backend`](backend::Backend) holds a state for a whole run and steps it: `backend::cpu`, and `backend::gpu`
//! with the feature `gpu`.
//!
//! # Features
//!
//! | feature | adds | needs |
//! |---|---|---|
//! | none | state, transport, microphysics, chemistry, primitives, the backend of the CPU, cases, the time loop | |
//! | `gpu` | `device`, the launchers, `backend::gpu` | a driver and NVRTC when a device is opened |
//! | `netcdf` | `io`, the diagnostics of files | CMake and a C compiler |
//! | `plot` | `plot` | `netcdf` |
//! | `cli` (default) | the program | all of them |
//!
//! # Notation
//!
//! A name is the same in Rust and in CUDA. "WRF" is the name in WRF's files or, for single columns, in its Fortran.
//!
//! | symbol | name | WRF | unit |
//! |---|---|---|---|
//! | θ - 300 K | `theta` | `T`; `THM` if moist | K |
//! | T | `t` | `t` | K |
//! | q_v, q_c, q_r, q_i, q_s | `qv` `qc` `qr` `qi` `qs` | `QVAPOR` `QCLOUD` `QRAIN` `QICE` `QSNOW` | kg kg⁻¹ of dry air |
//! | ρ | `rho` | `den` | kg m⁻³, dry air |
//! | p | `p` | `P + PB` | Pa |
//! | Π | `exner` | `pii` | 1 |
//! | Δz | `dz` | `delz` | m |
//! | Δt | `dt`; minor step `dt_cloud` | `DT`; `dtcld` | s |
//! | μ, η | `mu`; `c1`, `c2`, `rdnw` | `MU + MUB`; `C1H`, `C2H`, `RDNW` | Pa; 1, Pa, 1 |
//! | m_x, m_y | `map_x`, `map_y` | `MAPFAC_MX`, `MAPFAC_MY` | 1 |
//! | M | [`AirMass`](dry_mass::AirMass) `cell` | `c1h mut + c2h`, times area / g | kg |
//! | F | [`MassFlux`](dry_mass::MassFlux) `x` `y` `z`; `flux_x` ... | `ru` `rv` `rom`, times area / g | kg s⁻¹ |
//! | q | `q`, `latest`, `start` | `field`, `field_old` | kg kg⁻¹ |
//! | q_sw, q_si | `qsw`, `qsi` | `qs(:,:,1)`, `qs(:,:,2)` | kg kg⁻¹ |
//! | 1/λ | [`Slope`](physics::wsm5::slope::Slope) `length` | `rslope` | m |
//! | (1/λ)ᵇ | `power` | `rslopeb` | mᵇ |
//! | N_i | `number` ([`ice_number`](physics::wsm5::slope::ice_number)) | `xni` | m⁻³ |
//! | n0r, n0s | `n0r`, `n0s` | `n0r`, `n0s` | m⁻⁴ |
//! | F(T) | `n0s_factor` | `n0sfac` | 1 |
//! | √(ρ₀/ρ) | `density_factor` | `denfac` | 1 |
//! | c_p, L_v | `heat_capacity`, `latent_heat` | `cpm`, `xl` | J kg⁻¹ K⁻¹, J kg⁻¹ |
//! | A, B (resistance to growth) | `resistance_water`, `resistance_ice` | `work1` | s m⁻² |
//! | ventilation | `ventilation` | `work2` | s¹ᐟ² m⁻¹ |
//! | V (terminal velocity) | [`fall_speed`](physics::wsm5::slope::fall_speed), `fall_speed_crystal` | `vt2r` `vt2s` `vt2i` | m s⁻¹ |
//! | process rates | `praut` `pracw` `prevp` `psaut` `psaci` `psacw` `psdep` `pidep` `pigen` `pcond` ... | the same | kg kg⁻¹ s⁻¹ |
//! | precipitation | `rain`, `rainncv`; `snow`, `snowncv`; `sr` | `RAINNC`, `RAINNCV`; `SNOWNC`, `SNOWNCV`; `SR` | mm; 1 |
//! | Z | `refl_10cm` | `REFL_10CM` | dBZ |
//! | r_e | `re_cloud` `re_ice` `re_snow` | the same | m |
//!
//! # Sources
//!
//! Doc comments name their equations by these keys.
//!
//! - B80: Bolton 1980, Mon. Wea. Rev. 108, 1046-1053 (saturation vapour pressure).
//! - HDC04: Hong, Dudhia, Chen 2004, Mon. Wea. Rev. 132, 103-120.
//! - DHL08: Dudhia, Hong, Lim 2008, J. Meteor. Soc. Japan 86A, 33-44 (fall of snow with graupel).
//! - HL06: Hong, Lim 2006, J. Korean Meteor. Soc. 42, 129-151.
//! - K69: Kessler 1969, Meteor. Monogr. 10, no. 32.
//! - KW78: Klemp, Wilhelmson 1978, J. Atmos. Sci. 35, 1070-1096 (Kessler scheme in a cloud model).
//! - LV96: LeVeque 1996, SIAM J. Numer. Anal. 33, 627-665 (transport tests).
//! - MP48: Marshall, Palmer 1948, J. Meteor. 5, 165-166 (sizes of raindrops).
//! - RH83: Rutledge, Hobbs 1983, J. Atmos. Sci. 40, 1185-1206.
//! - JH10: Juang, Hong 2010, Mon. Wea. Rev. 138, 1778-1791 (semi-Lagrangian fall).
//! - S06: Skamarock 2006, Mon. Wea. Rev. 134, 2241-2250.
//! - SH12: Shipway, Hill 2012, Quart. J. Roy. Meteor. Soc. 138, 2196-2211 (kinematic driver).
//! - SO73: Soong, Ogura 1973, J. Atmos. Sci. 30, 879-893 (saturation adjustment, ventilated evaporation).
//! - SW09: Skamarock, Weisman 2009, Mon. Wea. Rev. 137, 488-494.
//! - S97: Sandu et al. 1997, Atmos. Environ. 31, 3459-3472 (Rosenbrock methods for chemistry).
//! - W09: Wang, Skamarock, Feingold 2009, Mon. Wea. Rev. 137, 2547-2558.
//! - WK82: Weisman, Klemp 1982, Mon. Wea. Rev. 110, 504-520 (sounding of deep convection).
//! - WS02: Wicker, Skamarock 2002, Mon. Wea. Rev. 130, 2088-2097.

// The program calls parts of the library that no other program can reach. Without it they are unused.
#![cfg_attr(not(feature = "cli"), allow(dead_code, reason = "used by the program"))]

// Files of unit tests have no lock of HDF5, which a program that another test starts would keep: see `file_locks` there.
#[cfg(test)]
use nwp_mini_support as _;

pub mod bounds;
pub mod counter_rng;
pub mod cuda_abi;
pub mod error;
pub mod os_text;
pub mod ranks;
pub mod real;
pub mod simd;
pub mod threads;

pub mod calendar;
pub mod constants;
pub mod constituents;
#[cfg(feature = "gpu")]
pub mod device;
pub mod grid;

pub mod domain;
pub mod dry_mass;
pub mod frame;
pub mod state;
pub mod thermo;
pub mod time_steps;
pub mod units;

pub mod advection;
pub mod chemistry;
pub mod forcing;
pub mod physics;
pub mod primitives;

pub mod lattice;

pub mod ensemble;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod passive;

pub mod backend;
pub mod embedded;
#[cfg(feature = "netcdf")]
pub mod io;

pub mod cases;
pub mod diagnostics;
pub mod projection;

pub mod model;
#[cfg(feature = "plot")]
pub mod plot;

#[cfg(feature = "cli")]
pub mod cli;
