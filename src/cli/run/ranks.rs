//! A run on several ranks: its start and its end, its parts, and what is refused.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use tracing::{info, warn};

use crate::advection::MARGIN;
use crate::advection::gpu::{GROUP, STAGE_MARGIN, STAGE_TILE};
use crate::backend::gpu::{GpuBackend, GpuConfig, GpuNeighbours, GpuPrecision};
use crate::backend::ranks::{DividedRun, Ranked, StopFlags};
use crate::backend::{Backend, ExchangeTimes};
use crate::cli::FilePrecision;
use crate::cli::advice::message;
use crate::cli::option_values::PartsChoice;
use crate::cli::run::options::{Run, RunConfig, SchemeSettings};
use crate::cli::{BackendChoice, tell};
use crate::device;
use crate::device::{DirectExchange, Exchange, Gpu, StagedExchange, bandwidth};
use crate::error::{Error, Result};
use crate::grid::{DividedGrid, Grid, Parts, Shape};
use crate::model::RunInput;
use crate::ranks::{Team, mpi};
use crate::state::State;
use crate::time_steps::Plan;

/// Time that a rank which fails by itself leaves to the first one to speak in its place.
const FIRST_SPEAKS: Duration = Duration::from_secs(1);

/// Exit code of a panic.
const PANICKED: u8 = 101;

/// The ranks of a run that the launcher has started, and the threads of this one: the processors of the host in equal
/// shares, unless the launcher has bound the rank to some or `threads` are asked for.
pub(in crate::cli) fn start(threads: Option<u16>) -> Result<(Team, Option<u16>)> {
    let team = Team::new(mpi::ranks()?);
    if !team.is_several() {
        return Ok((team, threads));
    }
    let usual = std::panic::take_hook();
    let ranks = Arc::clone(&team.ranks);
    let main = thread::current().id();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic);
        if thread::current().id() == main {
            ranks.abort(PANICKED);
        }
        // Only the main thread may call MPI; the launcher notices that this rank is gone.
        mpi::leave(PANICKED);
    }));
    let bound = thread::available_parallelism().map_or(1, usize::from);
    let share = (processors() / team.ranks.on_host()).max(1);
    let each = bound.min(share);
    info!("{} ranks, {}", team.ranks.size(), team.ranks.about());
    if threads.is_none() && bound < share {
        warn!(
            "the launcher has bound this rank to {bound} of the {} processors here, of which {share} \
             would be its share; with --bind-to none the rank takes them",
            processors()
        );
    }
    Ok((team, threads.or(Some(each.min(usize::from(u16::MAX)) as u16))))
}

/// Processors of this host, whether this process may use them or not.
fn processors() -> usize {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    about.lines().filter(|line| line.starts_with("processor")).count().max(1)
}

/// The end of a run on all ranks: one tells why it failed, and all wait for it.
pub(in crate::cli) fn finish(team: &Team, result: Result<()>) -> Result<()> {
    let result = team.agree(result);
    if !team.is_several() {
        return result;
    }
    if let Err(error) = &result {
        tell(error);
    }
    team.ranks.finish();
    // It has been told.
    result.map_err(|error| Error::OfRank { rank: team.ranks.rank(), code: error.exit_code() })
}

/// Ends all ranks where the steps of this one failed by themselves, as by a file that it cannot read: the others wait for
/// its messages. A value that is not finite has been agreed on.
pub(in crate::cli) fn end_if_alone<T>(team: &Team, result: Result<T>) -> Result<T> {
    let is_agreed = |error: &Error| {
        matches!(error, Error::BlowUp { .. } | Error::Member { .. } | Error::OfRank { .. })
    };
    if let Err(error) = &result
        && team.is_several()
        && !is_agreed(error)
    {
        if !team.is_first() {
            thread::sleep(FIRST_SPEAKS);
        }
        tell(error);
        team.ranks.abort(error.exit_code());
    }
    result
}

/// Fails where ranks differ in the steps that they are about to make, as on processors that round differently.
pub(in crate::cli) fn same_plan(team: &Team, plan: &Plan) -> Result<()> {
    if !team.is_several() {
        return Ok(());
    }
    let numbers = [plan.dt, plan.last_dt, plan.max_dt, plan.steps as f64];
    let all = crate::ranks::all(&*team.ranks, numbers.map(|x| x.to_bits().cast_signed()));
    match all.iter().position(|other| *other != all[0]) {
        None => Ok(()),
        Some(rank) => Err(Error::Usage(format!(
            "ranks 0 and {rank} find other time steps in the same input: their files, programs or \
             processors differ; start all ranks on processors of one kind"
        ))),
    }
}

/// Fails if a run asks for what is not done on these ranks.
pub(in crate::cli) fn check(run: &Run, team: &Team) -> Result<()> {
    let size = team.ranks.size();
    if let Some(parts @ PartsChoice([x, y])) = run.processes.ranks {
        if run.ensemble.is_some() {
            return Err(Error::Usage(
                "--ranks divides the grid, and --ensemble shares out its members; omit one of them"
                    .to_owned(),
            ));
        }
        if x.checked_mul(y) != Some(size) {
            return Err(Error::Usage(format!(
                "--ranks {parts} needs {} processes, and there {}; start them with mpirun -n {} \
                 nwp-mini run ..., or omit the option",
                x.saturating_mul(y),
                if size == 1 { "is one".to_owned() } else { format!("are {size}") },
                x.saturating_mul(y)
            )));
        }
    }
    match run.backend {
        BackendChoice::Both if size > 1 => Err(Error::Usage(format!(
            "--backend both works in one process only, and there are {size}; use --backend cpu or gpu, \
             or start one process"
        ))),
        _ => Ok(()),
    }
}

/// The number of the GPU of this rank: that of the rank on its host. Where one GPU is visible it is taken as it is, if no
/// other rank sees the same one, and with `is_shared` ranks take turns.
pub(in crate::cli) fn number_of_gpu(team: &Team, is_shared: bool) -> Result<usize> {
    let visible = team.agree(Gpu::count())?;
    team.agree(number_of_visible(team, visible, is_shared))
}

/// The same where so many are visible to this rank; fails on this rank alone.
fn number_of_visible(team: &Team, visible: usize, is_shared: bool) -> Result<usize> {
    let ranks = &*team.ranks;
    let (here, own) = (ranks.on_host(), ranks.number_on_host());
    // Ranks that the launcher has given a GPU each see other ones.
    let mut hasher = DefaultHasher::new();
    (ranks.host(), std::env::var_os("CUDA_VISIBLE_DEVICES")).hash(&mut hasher);
    let seen = crate::ranks::all(ranks, [hasher.finish().cast_signed()]);
    let alike = seen.iter().filter(|other| **other == seen[ranks.rank()]).count();
    match visible {
        _ if visible >= here => Ok(own),
        1 if alike == 1 => Ok(0),
        _ if is_shared && visible > 0 => Ok(own % visible),
        _ => Err(Error::Usage(format!(
            "{here} ranks of a host need a GPU each, and there are {visible}; start {visible} there, \
             or let ranks share them with --share-gpu"
        ))),
    }
}

/// The GPU of this rank; `None` where the run is one of CPUs, because it asks for them, or a rank has no GPU and it leaves the
/// choice.
pub(in crate::cli) fn gpu(run: &Run, team: &Team) -> Result<Option<Gpu>> {
    let is_shared = run.processes.share_gpu;
    let open = |device| Gpu::open(&device::Options { device, ..run.gpu.options() });
    match run.backend {
        BackendChoice::Cpu | BackendChoice::Both => Ok(None),
        BackendChoice::Gpu => team.agree(number_of_gpu(team, is_shared).and_then(open)).map(Some),
        BackendChoice::Auto => {
            let visible = Gpu::count();
            let number = number_of_visible(team, *visible.as_ref().unwrap_or(&0), is_shared);
            let own = visible.and(number).and_then(open);
            Ok(of_all(team, own))
        }
    }
}

/// The GPU of this rank where each rank has one; the log says why the run is one of CPUs otherwise.
fn of_all(team: &Team, own: Result<Gpu>) -> Option<Gpu> {
    let lacking = crate::ranks::all(&*team.ranks, [own.is_err().into()]);
    let first = lacking.iter().position(|is_lacking| *is_lacking != [0]);
    match (own, first) {
        (Ok(gpu), None) => {
            info!("computing on a GPU for each rank, here {}", gpu.device().name);
            return Some(gpu);
        }
        (Err(error), _) => info!("computing on the CPU: {}", message(&error)),
        (Ok(_), Some(rank)) => info!("computing on the CPU: rank {rank} has no GPU"),
    }
    None
}

/// The way of the margins between the GPUs of all ranks, from device to device unless ranks share one or a library is missing,
/// and its bandwidth, GB/s.
///
/// # Errors
///
/// Those of the GPU, on this rank alone.
pub(in crate::cli) fn exchange(
    gpu: &Gpu,
    is_shared: bool,
    team: &Team,
) -> Result<(Box<dyn Exchange>, f64)> {
    let direct = (!is_shared).then(|| DirectExchange::between(gpu, &team.ranks));
    let exchange: Box<dyn Exchange> = match direct {
        Some(Ok(direct)) => Box::new(direct),
        other => {
            if let Some(Err(error)) = other {
                info!("the GPUs exchange through the host: {error}");
            }
            Box::new(StagedExchange::new(&team.ranks))
        }
    };
    let gb_per_s = bandwidth(gpu, &*team.ranks, &*exchange)?;
    Ok((exchange, gb_per_s))
}

/// The cells of the parts of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum PartsOf {
    /// Those with the least to exchange.
    Cpus,
    /// Those with the fewest tiles of the transport, margins included, and of these the ones with the least to exchange.
    Gpus,
}

impl PartsOf {
    /// Cells of a row that a thread takes at once: columns of parts begin at multiples of it.
    fn together(self) -> usize {
        match self {
            Self::Cpus => 1,
            Self::Gpus => GROUP,
        }
    }

    /// Columns and rows of the margins.
    fn margins(self) -> [usize; 2] {
        [MARGIN.next_multiple_of(self.together()), MARGIN]
    }

    /// Work of the largest part, where the number of tiles matters.
    fn work(self, [nx, ny]: [usize; 2], [x, y]: [usize; 2]) -> usize {
        let [margin_x, _] = self.margins();
        let extent = |cells: usize, parts: usize, margin: usize, tile: usize| {
            let margins = 2.min(parts - 1) * margin;
            (cells.div_ceil(parts) + margins).div_ceil(tile)
        };
        match self {
            Self::Cpus => 0,
            Self::Gpus => {
                let [tile_x, tile_y] = STAGE_TILE;
                extent(nx, x, margin_x, tile_x) * extent(ny, y, STAGE_MARGIN, tile_y)
            }
        }
    }
}

/// The parts of a grid for so many ranks: those that are asked for, otherwise the best ones.
pub(in crate::cli) fn parts(
    grid: &Grid,
    ranks: usize,
    (of, choice): (PartsOf, Option<PartsChoice>),
) -> Result<(Parts, PartsChoice)> {
    let Shape { nx, ny, .. } = grid.shape;
    let margins = of.margins();
    let [least_x, least_y] = margins;
    let is_wide = |cells: usize, parts: usize, least: usize| parts == 1 || cells / parts >= least;
    let is_possible = |x: usize, y: usize| is_wide(nx, x, least_x) && is_wide(ny, y, least_y);
    // Cells of margins along the cuts, of which a periodic axis has one more than it has inner ends of parts.
    let cuts = |parts: usize, is_periodic: bool| {
        if parts == 1 { 0 } else { parts - usize::from(!is_periodic) }
    };
    let exchanged = |x: usize, y: usize| {
        cuts(x, grid.sides.periodic_x()) * ny + cuts(y, grid.sides.periodic_y()) * nx
    };
    let pairs = (1..=ranks).filter(|x| ranks.is_multiple_of(*x)).map(|x| [x, ranks / x]);
    let possible = pairs.filter(|[x, y]| is_possible(*x, *y));
    let best = possible.min_by_key(|[x, y]| (of.work([nx, ny], [*x, *y]), exchanged(*x, *y)));
    let chosen = choice.map(|PartsChoice(pair)| pair).filter(|[x, y]| is_possible(*x, *y));
    let Some([x, y]) = (if choice.is_some() { chosen } else { best }) else {
        let how = choice.map_or_else(String::new, |parts| format!(" as {parts}"));
        return Err(Error::Usage(format!(
            "the grid of {nx}x{ny} columns cannot be divided among {ranks} ranks{how}: a part needs \
             {least_x} columns or {least_y} rows along an axis that is cut; start fewer ranks, or choose \
             other parts with --ranks"
        )));
    };
    let cuts = |cells: usize, parts: usize, together: usize| -> Vec<usize> {
        (1..parts).map(|n| n * cells / parts / together * together).collect()
    };
    let (columns, rows) = (cuts(nx, x, of.together()), cuts(ny, y, 1));
    Ok((Parts::new(grid, [&columns, &rows], margins), PartsChoice([x, y])))
}

/// A grid divided among the ranks, as the options ask for.
pub(in crate::cli) fn divided(
    config: &RunConfig,
    of: PartsOf,
    grid: &Grid,
) -> Result<Arc<DividedGrid>> {
    let ranks = &config.team.ranks;
    let (parts, chosen) = parts(grid, ranks.size(), (of, config.options.processes.ranks))?;
    info!("each rank has a part of the grid, {chosen} in all");
    Ok(Arc::new(DividedGrid::new(&config.team, parts)))
}

/// The backend of this rank for a run of one on a divided grid, with a GPU or on the CPU.
///
/// # Errors
///
/// Those of the GPU, on this rank alone.
pub(in crate::cli) fn backend<R: FilePrecision + GpuPrecision>(
    config: &RunConfig,
    case: &RunInput<R>,
    gpu: Option<&Gpu>,
    (divided, state): (&Arc<DividedGrid>, State<R>),
    stop: &StopFlags,
) -> Result<Box<dyn Backend<R>>> {
    let (grid, coordinate) = (&case.domain.grid, &case.domain.coordinate);
    if let Some(gpu) = gpu {
        let is_shared = config.options.processes.share_gpu;
        let (exchange, gb_per_s) = exchange(gpu, is_shared, &config.team)?;
        info!("way of the margins between GPUs: {}, {gb_per_s:.1} GB/s each way", exchange.about());
        let (parts, part) = (divided.parts(), divided.ranks().rank());
        let own = coordinate.part(divided.own());
        let chemistry =
            case.chemistry.as_ref().map(|coupled| Arc::new(coupled.part(divided.own())));
        let setting = GpuConfig {
            grid: divided.own(),
            coordinate: &own,
            limiter: config.scheme.limiter,
            scheme: &*config.scheme.physics,
            mapping: None,
            tracers: &case.tracers,
            has_sequence: case.has_sequence(),
            chemistry: chemistry.as_deref(),
        };
        let neighbours = GpuNeighbours { parts, part, exchange, gb_per_s: Some(gb_per_s) };
        let mut backend = GpuBackend::of_part(gpu, &setting, &state, neighbours)?
            .with_chemistry(chemistry.as_ref())?;
        // On one rank, for which the others would wait.
        let is_last = part + 1 == parts.grids().len();
        if let Some(step) = config.options.fail_at_step.filter(|_| is_last) {
            backend.fail_at(step);
        }
        return Ok(Box::new(Ranked::on_gpu(divided, backend, grid, coordinate).stopping_by(stop)));
    }
    let SchemeSettings { limiter, physics, .. } = &config.scheme;
    let run = DividedRun {
        grid,
        coordinate,
        limiter: *limiter,
        scheme: &**physics,
        forcing: &case.forcing,
        state,
        chemistry: case.chemistry.as_deref(),
    };
    Ok(Box::new(Ranked::of_cells(divided, run).stopping_by(stop)))
}

/// Exchanges of margins between GPUs in words.
pub(in crate::cli) fn exchange_text(exchange: &ExchangeTimes) -> String {
    let ExchangeTimes { way, gb_per_s, bytes, mean_s, exposed_s } = exchange;
    let mut text = format!("{way}, {:.2} MB a step", *bytes as f64 / 1e6);
    if let Some(gb_per_s) = gb_per_s {
        write!(text, ", {gb_per_s:.1} GB/s each way").expect("writing to memory");
    }
    if let (Some(mean), Some(exposed)) = (mean_s, exposed_s) {
        let [mean, exposed] = [mean, exposed].map(|seconds| seconds * 1e6);
        write!(text, "; {mean:.0} us a step, of which {exposed:.0} not beside the microphysics")
            .expect("writing to memory");
    }
    text
}

/// Messages of a run on several ranks, in its report.
#[derive(Clone, Debug, Serialize)]
pub(in crate::cli) struct Messages {
    /// What carried them.
    mpi: String,
    /// Bytes that all ranks have sent to others.
    bytes: u64,
}

impl Messages {
    /// Those until now; `None` where there is one rank. All ranks ask at once.
    pub(in crate::cli) fn of(team: &Team) -> Option<Self> {
        let mut bytes = [team.ranks.bytes_sent().cast_signed()];
        team.ranks.sum(&mut bytes);
        let [bytes] = bytes.map(i64::cast_unsigned);
        team.is_several().then(|| Self { mpi: team.ranks.about(), bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Side, Sides};

    #[test]
    fn parts_have_the_least_to_exchange() {
        let chosen = |nx, ny, sides: Sides, ranks| {
            let grid = Grid::whole(Shape { nx, ny, nz: 2 }, [1.0, 1.0], sides);
            parts(&grid, ranks, (PartsOf::Cpus, None)).map(|(_, chosen)| chosen.to_string())
        };
        let open = Sides::all(Side::Open);
        assert_eq!(chosen(71, 58, open, 6).expect("possible"), "3x2");
        assert_eq!(chosen(71, 58, open, 3).expect("possible"), "3x1");
        assert_eq!(chosen(58, 71, open, 4).expect("possible"), "2x2");
        // Along an axis that is periodic the cut of two parts counts twice.
        assert_eq!(
            chosen(
                40,
                38,
                Sides { south: Side::Open, north: Side::Open, ..Sides::all(Side::Periodic) },
                2
            )
            .expect("possible"),
            "1x2"
        );
        assert!(chosen(19, 19, open, 2).is_err());
    }

    #[test]
    fn parts_of_gpus_have_the_fewest_tiles_and_whole_groups() {
        let chosen = |nx, ny, ranks, choice: Option<[usize; 2]>| {
            let grid = Grid::whole(Shape { nx, ny, nz: 2 }, [1.0; 2], Sides::all(Side::Open));
            let of = (PartsOf::Gpus, choice.map(PartsChoice));
            parts(&grid, ranks, of).expect("possible")
        };
        let name = |nx, ny, ranks| chosen(nx, ny, ranks, None).1.to_string();
        // A cut along x would give rows of five tiles instead of four.
        assert_eq!(name(1024, 1024, 2), "1x2");
        assert_eq!(name(2048, 1024, 2), "1x2");
        assert_eq!(name(4096, 512, 8), "4x2");
        let (parts, _) = chosen(71, 58, 3, Some([3, 1]));
        let owned: Vec<_> = parts.grids().iter().map(|part| part.owned().columns.len()).collect();
        assert_eq!(owned, [20, 24, 27]);
        assert_eq!(parts.grids()[1].margins().west, 12);
    }
}
