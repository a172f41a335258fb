//! A storm cut into parts, stepped by the kernels of the transport and of the microphysics: the bits of the whole, with
//! the margins refreshed once a step.

use ndarray::Array2;
use rayon::prelude::*;

use nwp_mini::advection::flux::FluxConstants;
use nwp_mini::advection::gpu::{LaunchConfig, STAGE_TILE, TransportSettings};
use nwp_mini::advection::{Limiter, MARGIN, Wind};
use nwp_mini::device::Gpu;
use nwp_mini::dry_mass::AirMass;
use nwp_mini::grid::gpu::Layout;
use nwp_mini::grid::{Parts, Shape, Side, Window};
use nwp_mini::physics::wsm5::Sedimentation::SemiLagrangian;
use nwp_mini::physics::wsm5::gpu::Mapping;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::real::Precision;
use nwp_mini::state::{BoundaryValues, State, Surface};
use nwp_mini_support::parts::storm::{DT, Storm};
use nwp_mini_support::wsm5::weather::{Engine, Mass, Region, Weather};

use crate::advection::{launch_config, steps};
use crate::emulated_gpu;
use crate::random_cases::sides;
use crate::wsm5::engine::{GpuBackend, OnDevice};

const P: Side = Side::Periodic;
const S: Side = Side::Specified;
const O: Side = Side::Open;

const STEPS: usize = 3;
/// As few as the microphysics takes.
const NZ: usize = 4;

/// The kernels of a step.
#[derive(Clone, Copy)]
struct Kernels<'a> {
    gpu: &'a Gpu,
    limiter: Limiter,
    launch_config: LaunchConfig,
    mapping: Mapping,
}

/// A grid in the midst of its steps.
struct Run<R: OnDevice> {
    storm: Storm<R>,
    air: AirMass<R>,
    inflow: Vec<BoundaryValues<R>>,
    weather: Weather<R>,
    wsm5: GpuBackend<R>,
}

impl<R: FluxConstants + OnDevice> Run<R> {
    fn new(storm: Storm<R>, Kernels { gpu, mapping, .. }: Kernels<'_>) -> Self {
        let forcing = storm.forcing();
        // No number where air brings in the value of the neighbour inside.
        let none = BoundaryValues::of(&storm.state.theta().mapv(|_| R::nan()));
        let inflow = forcing.inflow.iter();
        let inflow = inflow.map(|values| values.clone().unwrap_or_else(|| none.clone())).collect();
        // The masses are for the mass mismatch, which is not computed.
        let [with_mu, without_mu, per_area] = [(); 3].map(|()| Array2::zeros((0, 0)));
        let mass = Mass { with_mu, without_mu, c1: Vec::new(), c2: Vec::new(), per_area };
        let weather = Weather {
            theta_base: R::THETA_BASE,
            state: storm.state.clone(),
            air: forcing.environment.clone(),
            surface: Surface::zeros(storm.state.set(), storm.grid.shape),
            mass,
        };
        let scheme = Scheme::default().with_fallout(SemiLagrangian);
        let wsm5 = GpuBackend::new(gpu, scheme, mapping);
        Self { air: AirMass::new(&storm.grid, &storm.coordinate), inflow, weather, wsm5, storm }
    }

    fn step(&mut self, Kernels { gpu, limiter, launch_config, .. }: Kernels<'_>) {
        let (grid, forcing) = (&self.storm.grid, self.storm.forcing());
        let state = &mut self.weather.state;
        // Tiles where the rows are long enough, as a run chooses.
        let pitch = Layout::of(grid, launch_config.cells).pitch();
        let tiled = launch_config.tiled && pitch >= launch_config.least_tiled();
        let settings = TransportSettings {
            tracers: state.fields().len(),
            unlimited: 1,
            limiter,
            zero_gradient: true,
            launch_config: LaunchConfig { tiled, ..launch_config },
        };
        let wind = Wind { grid, air: &self.air, flux: &forcing.flux, dt: DT };
        let (fields, _) = steps(gpu, &wind, settings, state.fields(), &self.inflow, 1);
        for (mine, new) in state.fields_mut().iter_mut().zip(fields) {
            *mine = new;
        }
        let Window { rows, columns } = grid.unspecified();
        self.wsm5.call(R::of(DT), &mut self.weather, &Region { rows, columns });
    }
}

/// Values of owned cells that differ in parts with a margin from those of the whole.
fn differing<R: FluxConstants + OnDevice>(
    storm: &Storm<R>,
    cuts: [&[usize]; 2],
    margin: usize,
    kernels: Kernels<'_>,
) -> usize {
    let parts = Parts::new(&storm.grid, cuts, [margin; 2]);
    let mut whole = Run::new(storm.clone(), kernels);
    let mut runs: Vec<_> =
        parts.grids().iter().map(|part| Run::new(storm.part(part), kernels)).collect();
    for _ in 0..STEPS {
        whole.step(kernels);
        let before: Vec<State<R>> = runs.iter().map(|run| run.weather.state.clone()).collect();
        for (n, run) in runs.iter_mut().enumerate() {
            for piece in parts.pieces(n) {
                let owner = before[piece.from].fields();
                for (mine, theirs) in run.weather.state.fields_mut().iter_mut().zip(owner) {
                    piece.copy(theirs, mine);
                }
            }
            run.step(kernels);
        }
    }
    let whole = whole.weather;
    let mut count = 0;
    for Run { storm: Storm { grid, .. }, weather, .. } in &runs {
        let owned = grid.owned();
        let [j, i] = grid.global_column([owned.rows.start, owned.columns.start]);
        let there = Window { rows: j..j + owned.rows.len(), columns: i..i + owned.columns.len() };
        for (part, whole) in weather.state.fields().iter().zip(whole.state.fields()) {
            let pairs = owned.of(part).into_iter().zip(there.of(whole));
            count += pairs.filter(|(a, b)| a != b).count();
        }
        for (part, whole) in weather.surface.planes().iter().zip(whole.surface.planes()) {
            let pairs = owned.of_plane(part).into_iter().zip(there.of_plane(whole));
            count += pairs.filter(|(a, b)| a != b).count();
        }
    }
    assert!(whole.surface.named("rain").iter().any(|rain| *rain > R::ZERO), "the storm rains");
    count
}

fn storm<R: OnDevice>([nx, ny]: [usize; 2], kind: [Side; 4]) -> Storm<R> {
    Storm::new(Shape { nx, ny, nz: NZ }, sides(kind), 11)
}

/// The mapping of a small grid.
fn tile() -> Mapping {
    Mapping::choose(1, Precision::F32, SemiLagrangian, NZ)
}

/// 2 x 2 parts of unequal sizes in sides of all kinds, and each limiter in some of them.
#[test]
fn kernels_give_parts_the_bits_of_the_whole() {
    let Some(gpu) = emulated_gpu() else { return };
    let cases = [
        ([P, P, P, P], Limiter::Monotonic, 2),
        ([S, S, S, S], Limiter::PositiveDefinite, 4),
        ([O, O, P, P], Limiter::PositiveDefinite, 2),
        ([O, S, S, O], Limiter::Monotonic, 4),
        ([P, P, S, S], Limiter::None, 4),
    ];
    cases.into_par_iter().for_each(|(kind, limiter, cells)| {
        let launch_config = launch_config(cells, 2);
        let kernels = Kernels { gpu: &gpu, limiter, launch_config, mapping: tile() };
        let differing = differing(&storm::<f32>([27, 25], kind), [&[12], &[13]], MARGIN, kernels);
        assert_eq!(differing, 0, "{kind:?} {limiter:?} {cells}: values differ");
    });
}

/// A step of the kernels reaches as far as that of the CPU.
#[test]
fn a_narrower_margin_is_noticed_in_kernels() {
    let Some(gpu) = emulated_gpu() else { return };
    let cases = [([S, S, P, P], Limiter::PositiveDefinite), ([P; 4], Limiter::Monotonic)];
    cases.into_par_iter().for_each(|(kind, limiter)| {
        let launch_config = launch_config(2, 2);
        let kernels = Kernels { gpu: &gpu, limiter, launch_config, mapping: Mapping::Column };
        let storm = storm::<f64>([27, 25], kind);
        let differing = differing(&storm, [&[12], &[13]], MARGIN - 1, kernels);
        assert!(differing > 0, "{kind:?} {limiter:?}: a margin of 9 is as good");
    });
}

/// Two parts of a grid that is periodic in one axis, each the western and eastern neighbour of the other, the wider one by
/// tiles, as the whole is, the other one not; and three parts one above the other, by tiles in all stages, which leave
/// out the outer rows of the margins.
#[test]
fn tiles_give_parts_the_bits_of_the_whole() {
    let Some(gpu) = emulated_gpu() else { return };
    let limited = LaunchConfig { tiled: true, ..launch_config(4, 2) };
    let all = LaunchConfig { stages_tiled: true, ..limited };
    let nx = limited.least_tiled();
    let west = [nx - 8];
    let cases: [(_, _, _, [&[usize]; 2]); 2] = [
        (limited, [nx + 12, 8], [P, P, O, S], [&west, &[]]),
        (all, [STAGE_TILE[0] + 4, 37], [S, S, S, O], [&[], &[11, 24]]),
    ];
    cases.into_par_iter().for_each(|(launch_config, shape, kind, cuts)| {
        let limiter = Limiter::PositiveDefinite;
        let kernels = Kernels { gpu: &gpu, limiter, launch_config, mapping: tile() };
        let storm = storm::<f32>(shape, kind);
        assert_eq!(differing(&storm, cuts, MARGIN, kernels), 0, "{shape:?}: values differ");
    });
}
