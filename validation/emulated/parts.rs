//! A storm cut into parts, stepped by the kernels of the transport and of the microphysics on the emulated device: the
//! bits of the whole, with the margins refreshed once a step.
#![allow(clippy::float_cmp, reason = "equal bits are what this is about")]

use rayon::prelude::*;

use nwp_mini::advection::gpu::{LaunchConfig, TransportSettings};
use nwp_mini::advection::{Limiter, MARGIN};
use nwp_mini::backend::BudgetDomain as Budget;
use nwp_mini::dry_mass::{AirMass, Layered};
use nwp_mini::grid::gpu::Layout;
use nwp_mini::grid::{Grid, Parts, Shape, Side, Sides, Window};
use nwp_mini::state::{BoundaryValues, State, Surface};
use nwp_mini::wsm5::Sedimentation;
use nwp_mini::wsm5::gpu::{Mapping, Tile};
use nwp_mini::wsm5::scheme::Scheme;
use nwp_mini_support::parts::storm::{DT, Storm};
use nwp_mini_support::wsm5::weather::{Mass, Region, Weather};

use crate::advection::host::{self, Rounding, Transport};
use crate::advection::launch_config;
use crate::wsm5::engine::{self, EmulatedWsm5};

const P: Side = Side::Periodic;
const S: Side = Side::Specified;
const O: Side = Side::Open;

const STEPS: usize = 3;
/// As few as the microphysics takes.
const NZ: usize = 4;

/// A precision that both kinds of kernels are run in.
trait Exchanged: host::Exchanged + engine::Exchanged {}

impl Exchanged for f32 {}
impl Exchanged for f64 {}

/// The kernels of a step.
struct Kernels<'a> {
    limiter: Limiter,
    launch_config: LaunchConfig,
    wsm5: &'a EmulatedWsm5,
}

/// A grid in the midst of its steps.
struct Run<R> {
    storm: Storm<R>,
    air: AirMass<R>,
    inflow: Vec<BoundaryValues<R>>,
    state: State<R>,
    surface: Surface<R>,
}

impl<R: Exchanged> Run<R> {
    fn new(storm: Storm<R>) -> Self {
        let air = AirMass::new(&storm.grid, &storm.coordinate);
        // No number where air brings in the value of the neighbour inside.
        let none = BoundaryValues::of(&storm.state.theta().mapv(|_| R::nan()));
        let inflow = storm.forcing().inflow.iter();
        let inflow = inflow.map(|values| values.clone().unwrap_or_else(|| none.clone())).collect();
        let surface = Surface::zeros(storm.grid.shape);
        Self { air, inflow, state: storm.state.clone(), surface, storm }
    }

    fn step(&mut self, kernels: &Kernels<'_>, seed: u64) {
        let (grid, forcing) = (&self.storm.grid, self.storm.forcing());
        // Tiles where the rows are long enough, as a run chooses.
        let is_long = Layout::of(grid, kernels.launch_config.cells).pitch()
            >= kernels.launch_config.least_tiled();
        let launch_config =
            LaunchConfig { tiled: kernels.launch_config.tiled && is_long, ..kernels.launch_config };
        let transport = Transport {
            grid,
            air: &self.air,
            flux: &forcing.flux,
            inflow: &self.inflow,
            dt: DT,
            settings: TransportSettings {
                tracers: self.state.fields().len(),
                unlimited: 1,
                limiter: kernels.limiter,
                zero_gradient: true,
                launch_config,
            },
            rounding: Rounding::Each,
        };
        let (fields, _) = transport.run(self.state.fields(), 1, seed);
        for (mine, new) in self.state.fields_mut().iter_mut().zip(fields) {
            *mine = new;
        }
        let Layered { with_mu, without_mu, c1, c2 } = self.air.cell.clone();
        let area = Budget::new(grid, &self.storm.coordinate).area;
        let per_area = area.mapv(|area| R::of(1.0 / area));
        let mut weather = Weather {
            theta_base: R::THETA_BASE,
            state: self.state.clone(),
            air: forcing.environment.clone(),
            surface: self.surface.clone(),
            mass: Mass { with_mu, without_mu, c1, c2, per_area },
        };
        let Window { rows, columns } = grid.unspecified();
        let region = Region { rows, columns };
        kernels.wsm5.call(&scheme(), R::of(DT), &mut weather, &region, seed);
        (self.state, self.surface) = (weather.state, weather.surface);
    }
}

/// Values of owned cells that differ in parts with a margin from those of the whole.
fn differing<R: Exchanged>(
    storm: &Storm<R>,
    cuts: [&[usize]; 2],
    margin: usize,
    kernels: &Kernels<'_>,
) -> usize {
    let parts = Parts::new(&storm.grid, cuts, [margin; 2]);
    let mut whole = Run::new(storm.clone());
    let mut runs: Vec<_> =
        parts.grids().iter().map(|part: &Grid| Run::new(storm.part(part))).collect();
    for step in 0..STEPS {
        let seed = step as u64;
        whole.step(kernels, seed);
        let before: Vec<State<R>> = runs.iter().map(|run| run.state.clone()).collect();
        for (n, run) in runs.iter_mut().enumerate() {
            for piece in parts.pieces(n) {
                let owner = before[piece.from].fields();
                for (mine, theirs) in run.state.fields_mut().iter_mut().zip(owner) {
                    piece.copy(theirs, mine);
                }
            }
            // Threads come in another order in every part.
            run.step(kernels, seed + 100 * n as u64);
        }
    }
    let mut count = 0;
    for Run { storm: Storm { grid, .. }, state, surface, .. } in &runs {
        let owned = grid.owned();
        let [j, i] = grid.global_column([owned.rows.start, owned.columns.start]);
        let there = Window { rows: j..j + owned.rows.len(), columns: i..i + owned.columns.len() };
        for (part, whole) in state.fields().iter().zip(whole.state.fields()) {
            let pairs = owned.of(part).into_iter().zip(there.of(whole));
            count += pairs.filter(|(a, b)| a != b).count();
        }
        for (part, whole) in surface.planes().into_iter().zip(whole.surface.planes()) {
            let pairs = owned.of_plane(part).into_iter().zip(there.of_plane(whole));
            count += pairs.filter(|(a, b)| a != b).count();
        }
    }
    assert!(whole.surface.rain.iter().any(|rain| *rain > R::ZERO), "the storm rains");
    count
}

fn scheme<R: Exchanged>() -> Scheme<R> {
    Scheme::default().with_fallout(Sedimentation::SemiLagrangian)
}

/// The kernel of the microphysics, compiled for one test.
fn wsm5<R: Exchanged>(mapping: Mapping, test: &str) -> EmulatedWsm5 {
    EmulatedWsm5::compile_with(&scheme::<R>(), NZ, mapping, test, &[])
}

fn storm<R: Exchanged>([nx, ny]: [usize; 2], kind: [Side; 4]) -> Storm<R> {
    let [west, east, south, north] = kind;
    Storm::new(Shape { nx, ny, nz: NZ }, Sides { west, east, south, north }, 11)
}

/// The mapping of a small grid.
fn tile<R: Exchanged>() -> Mapping {
    Mapping::Tile(Tile::choose(1, R::KIND, Sedimentation::SemiLagrangian, NZ))
}

/// 2 x 2 parts of unequal sizes in sides of all kinds, and each limiter in some of them.
#[test]
fn kernels_give_parts_the_bits_of_the_whole() {
    let cases = [
        ([P, P, P, P], Limiter::Monotonic, 2),
        ([S, S, S, S], Limiter::PositiveDefinite, 4),
        ([O, O, P, P], Limiter::PositiveDefinite, 2),
        ([O, S, S, O], Limiter::Monotonic, 4),
        ([P, P, S, S], Limiter::None, 4),
    ];
    let wsm5 = wsm5::<f32>(tile::<f32>(), "_of_parts");
    cases.into_par_iter().for_each(|(kind, limiter, cells)| {
        let kernels = Kernels { limiter, launch_config: launch_config(cells, 2), wsm5: &wsm5 };
        let storm = storm::<f32>([27, 25], kind);
        let differing = differing(&storm, [&[12], &[13]], MARGIN, &kernels);
        assert_eq!(differing, 0, "{kind:?} {limiter:?} {cells}: values differ");
    });
}

/// A step of the kernels reaches as far as that of the CPU.
#[test]
fn a_narrower_margin_is_noticed_in_kernels() {
    let cases = [([S, S, P, P], Limiter::PositiveDefinite), ([P; 4], Limiter::Monotonic)];
    let wsm5 = wsm5::<f64>(Mapping::Column, "_of_narrow_parts");
    cases.into_par_iter().for_each(|(kind, limiter)| {
        let kernels = Kernels { limiter, launch_config: launch_config(2, 2), wsm5: &wsm5 };
        let storm = storm::<f64>([27, 25], kind);
        let differing = differing(&storm, [&[12], &[13]], MARGIN - 1, &kernels);
        assert!(differing > 0, "{kind:?} {limiter:?}: a margin of 9 is as good");
    });
}

/// Two parts of a grid that is periodic in one axis, each the western and eastern neighbour of the other; the wider
/// one by tiles, as the whole is, the other one not.
#[test]
fn tiles_give_parts_the_bits_of_the_whole() {
    let launch_config = LaunchConfig { tiled: true, ..launch_config(4, 2) };
    let wsm5 = wsm5::<f32>(tile::<f32>(), "_of_tiled_parts");
    let kernels = Kernels { limiter: Limiter::PositiveDefinite, launch_config, wsm5: &wsm5 };
    let nx = launch_config.least_tiled() + 12;
    let storm = storm::<f32>([nx, 8], [P, P, O, S]);
    assert_eq!(differing(&storm, [&[nx - 20], &[]], MARGIN, &kernels), 0, "values differ");
}
