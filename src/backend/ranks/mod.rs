//! The backends on several ranks: each steps a part of the grid, or some of the members, on a CPU or on a GPU.
//!
//! All ranks make the same calls. Of a divided grid each rank gets frames, profiles and checkpoints of the columns that it
//! owns; samples of all places, and members of an ensemble, are on the first rank, and the others get such without
//! columns. Accounts and failures are those of the whole on every rank.
//!
//! # Decisions
//!
//! **Three messages carry a run:** margins before the transport ([`Neighbours`](super::Neighbours)), exact sums, and
//! levels brought together for their statistics, each on one rank, by the functions of one process, so that they have
//! the same bits. No rank has a volume of the whole.
//!
//! **Sums are kept on each rank and added where they are asked for.** They are exact ([`ExactSum`]), so that neither the
//! division of the grid nor the time of the addition shows.

mod columns;
mod frames;
mod gathering;
mod margins;
mod part;

mod verdict;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::column_profiles::ProfileExtractor;
use super::cpu::Cpu;
use super::exact_budget::ExactAccount;
#[cfg(feature = "gpu")]
use super::gpu::{GpuBackend, GpuPrecision};
use super::{
    Account, Backend, BudgetDomain, CapturedFrame, CollectedOutput, ComputePrecision,
    FRAMES_IN_FLIGHT, Info, Output, Profiles, RunStart, SamplingRequest,
};
use crate::advection::Limiter;
use crate::chemistry::coupled::Coupled;
use crate::constituents::Constituents;
use crate::dry_mass::MassCoordinate;
use crate::error::{Error, Result};
use crate::forcing::{Forcing, TimeInterpolant};
use crate::grid::{DividedGrid, Grid, Shape};
use crate::physics::scheme::Scheme;
use crate::primitives::exact_sum::ExactSum;
use crate::primitives::reduce::Number;
use crate::ranks::{Ranks, all};
use crate::state::{Checkpoint, ChemistryTally, State};
use columns::GatheredProducts;
use gathering::Gathering;
use margins::RemoteNeighbours;
use part::PartBackend;

/// Cells or members, shared out among the ranks.
#[derive(Debug)]
enum Share {
    /// The cells of a run of one.
    Cells(Arc<DividedGrid>),
    /// Members, by the ranges of their numbers on each rank.
    Members(Vec<Range<usize>>),
}

/// A run of one on a divided grid.
#[derive(Debug)]
pub struct DividedRun<'a, R> {
    /// The whole grid.
    pub grid: &'a Grid,
    /// Its masses.
    pub coordinate: &'a MassCoordinate,
    /// Limiter of the water.
    pub limiter: Limiter,
    /// The microphysics.
    pub scheme: &'a dyn Scheme,
    /// Winds, air and boundary values of the part of this rank.
    pub forcing: &'a Arc<Forcing<R>>,
    /// The initial state of the part.
    pub state: State<R>,
    /// The chemistry, if any, of the whole.
    pub chemistry: Option<&'a Coupled>,
}

/// A wish to stop, of any rank, and the agreement of all to do so after the same step.
#[derive(Clone, Debug, Default)]
pub struct StopFlags {
    /// Set on this rank by whoever wishes it.
    pub asked: Arc<AtomicBool>,
    /// Set on all ranks after a step of which one of them was asked to stop.
    pub agreed: Arc<AtomicBool>,
}

/// The backend of this rank, which all ranks together make one.
#[derive(Debug)]
pub struct Ranked<R: crate::real::Real> {
    part_backend: Box<dyn PartBackend<R>>,
    ranks: Arc<dyn Ranks>,
    share: Share,
    /// Number of the last step that was checked.
    last_step: usize,
    /// The whole grid.
    grid: Grid,
    /// Area of its budgets, m².
    area: f64,
    set: Arc<Constituents>,
    stop: StopFlags,
    frames: VecDeque<Box<CapturedFrame<R>>>,
    checkpoint: Option<Box<Checkpoint<R>>>,
    products: Vec<GatheredProducts<R>>,
    extractor: Option<ProfileExtractor<R>>,
    profiles: VecDeque<Profiles<R>>,
}

impl<R: ComputePrecision + Number> Ranked<R> {
    /// A run of one, of which each rank steps the part of its number.
    pub fn of_cells(divided: &Arc<DividedGrid>, run: DividedRun<'_, R>) -> Self {
        let ranks = divided.ranks();
        let DividedRun { grid, coordinate, limiter, scheme, forcing, state, chemistry } = run;
        let part = divided.own();
        let chemistry = chemistry.map(|coupled| Arc::new(coupled.part(part)));
        let coordinate_of_part = coordinate.part(part);
        let cpu = Cpu::new(part, &coordinate_of_part, limiter, scheme, forcing, state)
            .with_chemistry(chemistry.as_ref())
            .with_neighbours(Box::new(RemoteNeighbours::new(ranks, divided.parts())));
        Self::new(ranks, (Box::new(cpu), Share::Cells(Arc::clone(divided))), grid, coordinate)
    }

    /// The same with the backend of a GPU for the part; grid and coordinate are those of the whole.
    #[cfg(feature = "gpu")]
    pub fn on_gpu(
        divided: &Arc<DividedGrid>,
        part: GpuBackend<R>,
        grid: &Grid,
        coordinate: &MassCoordinate,
    ) -> Self
    where
        R: GpuPrecision,
    {
        let share = Share::Cells(Arc::clone(divided));
        Self::new(divided.ranks(), (Box::new(part), share), grid, coordinate)
    }

    /// The members of an ensemble, so many, of which `own` has those of this rank, and each rank some: see [`members_of`].
    pub fn of_members(
        ranks: &Arc<dyn Ranks>,
        (own, members): (Cpu<R>, usize),
        grid: &Grid,
        coordinate: &MassCoordinate,
    ) -> Self {
        Self::new(ranks, (Box::new(own), shares(ranks.size(), members)), grid, coordinate)
    }

    /// The same with the members of each rank on a GPU.
    #[cfg(feature = "gpu")]
    pub fn of_members_on_gpu(
        ranks: &Arc<dyn Ranks>,
        (own, members): (GpuBackend<R>, usize),
        grid: &Grid,
        coordinate: &MassCoordinate,
    ) -> Self
    where
        R: GpuPrecision,
    {
        Self::new(ranks, (Box::new(own), shares(ranks.size(), members)), grid, coordinate)
    }

    fn new(
        ranks: &Arc<dyn Ranks>,
        (part_backend, share): (Box<dyn PartBackend<R>>, Share),
        grid: &Grid,
        coordinate: &MassCoordinate,
    ) -> Self {
        Self {
            set: part_backend.set(),
            part_backend,
            last_step: 0,
            ranks: Arc::clone(ranks),
            share,
            grid: *grid,
            area: BudgetDomain::new(grid, coordinate).extent(),
            stop: StopFlags::default(),
            frames: VecDeque::new(),
            checkpoint: None,
            products: Vec::new(),
            extractor: None,
            profiles: VecDeque::new(),
        }
    }

    /// Agrees on the wish to stop after every step.
    #[must_use]
    pub fn stopping_by(mut self, stop: &StopFlags) -> Self {
        self.stop = stop.clone();
        self
    }

    /// The number of a member on this rank; `None` on a rank that has no part in it.
    fn local(&self, member: usize) -> Option<usize> {
        match &self.share {
            Share::Cells(_) => Some(member),
            Share::Members(shares) => {
                let own = &shares[self.ranks.rank()];
                own.contains(&member).then(|| member - own.start)
            }
        }
    }

    /// First member of this rank, and the number of all.
    fn members(&self) -> (usize, usize) {
        match &self.share {
            Share::Cells(_) => (0, 1),
            Share::Members(shares) => {
                (shares[self.ranks.rank()].start, shares.last().map_or(0, |last| last.end))
            }
        }
    }

    /// Ranks from which the fields of a member are gathered.
    fn gathering(&self, member: usize) -> Gathering {
        let Share::Members(shares) = &self.share else { unreachable!("members are whole") };
        let owner = shares.iter().position(|share| share.contains(&member));
        Gathering::of_one(&self.grid, owner.expect("every member has its rank"), shares.len())
    }

    /// The grid whose cells are shared out; `None` where members are.
    fn divided(&self) -> Option<&Arc<DividedGrid>> {
        match &self.share {
            Share::Cells(divided) => Some(divided),
            Share::Members(_) => None,
        }
    }

    /// The part of this rank, of a grid that is cut.
    fn part(&self) -> Option<&Grid> {
        self.divided().map(|divided| divided.own())
    }

    /// The account of a member over all ranks.
    fn exact_account(&mut self, member: usize) -> Result<ExactAccount> {
        let local = self.local(member);
        let mut account = self.part_backend.exact_account(local.unwrap_or_default())?;
        if local.is_none() {
            account.sums_mut().into_iter().for_each(|sum| *sum = ExactSum::default());
            account.most = 0.0;
        }
        let mut sums = account.sums_mut();
        let mut integers: Vec<i64> = sums.iter().flat_map(|sum| sum.integers()).collect();
        self.ranks.sum(&mut integers);
        let (each, _) = integers.as_chunks::<{ ExactSum::INTEGERS }>();
        sums.iter_mut().zip(each).for_each(|(sum, all)| **sum = ExactSum::of_integers(all));
        let most = all(&*self.ranks, [account.most.to_bits().cast_signed()]);
        let most = most.into_iter().map(|[bits]| f64::from_bits(bits.cast_unsigned()));
        account.most = most.fold(0.0, f64::max);
        account.chemistry = account.chemistry.map(|tally| whole_tally(&*self.ranks, &tally));
        Ok(account)
    }
}

/// The members of a rank: shares that differ by one at most.
pub fn members_of(rank: usize, ranks: usize, members: usize) -> Range<usize> {
    rank * members / ranks..(rank + 1) * members / ranks
}

fn shares(ranks: usize, members: usize) -> Share {
    Share::Members((0..ranks).map(|rank| members_of(rank, ranks, members)).collect())
}

/// The tally of the chemistry in the cells of all ranks.
fn whole_tally(ranks: &dyn Ranks, own: &ChemistryTally) -> ChemistryTally {
    let tallies = all(ranks, own.numbers().map(|number| number.to_bits().cast_signed()));
    let tallies = tallies.into_iter().map(|numbers| {
        ChemistryTally::of_numbers(numbers.map(|bits| f64::from_bits(bits.cast_unsigned())))
    });
    let add = |a: ChemistryTally, b: ChemistryTally| {
        let place = |tally: &ChemistryTally| {
            let (_, [i, j, k]) = tally.first_failed;
            (tally.failed == 0, [k, j, i])
        };
        ChemistryTally {
            cells: a.cells + b.cells,
            steps: a.steps + b.steps,
            most: a.most.max(b.most),
            failed: a.failed + b.failed,
            first_failed: if place(&b) < place(&a) { b.first_failed } else { a.first_failed },
            ..a
        }
    };
    tallies.reduce(add).unwrap_or_default()
}

impl<R: ComputePrecision + Number> Backend<R> for Ranked<R> {
    fn info(&mut self) -> Result<Info> {
        let info = self.part_backend.info()?;
        let description = format!("{}, on each of {} ranks", info.description, self.ranks.size());
        Ok(Info { description, members: self.members().1, ..info })
    }

    fn start(&mut self, start: RunStart<'_, R>) -> Result<()> {
        let RunStart { states, gathered, attached } = start;
        let SamplingRequest { operators, weights } = attached;
        let own_states: Vec<State<R>> = match self.part() {
            Some(_) => states.to_vec(),
            None if states.is_empty() => Vec::new(),
            None => {
                let (first, _) = self.members();
                let count = self.part_backend.info()?.members;
                states[first..first + count].to_vec()
            }
        };
        let gathered = gathered.map(|gathered| self.resumed(gathered));
        self.products = match &self.share {
            Share::Cells(divided) => {
                operators.iter().map(|operator| GatheredProducts::new(operator, divided)).collect()
            }
            Share::Members(_) => Vec::new(),
        };
        let shape = self.part().unwrap_or(&self.grid).owned().shape(self.grid.shape.nz);
        self.extractor = weights.as_ref().map(|weights| ProfileExtractor::new(shape, weights));
        self.frames.clear();
        self.profiles.clear();
        let attached = SamplingRequest::default();
        self.part_backend.start(RunStart {
            states: &own_states,
            gathered: gathered.as_ref(),
            attached,
        })
    }

    fn drive(&mut self, moment: &TimeInterpolant<R>) -> Result<()> {
        self.part_backend.drive(moment)
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        self.part_backend.step(dt)
    }

    fn check(&mut self, step: usize, wait: bool) -> Result<()> {
        self.last_step = step;
        let own = self.part_backend.check(step, wait);
        if let Err(error @ Error::Gpu(_)) = own {
            // The other devices wait for messages of this one, so that their ranks cannot agree.
            return Err(error);
        }
        let mut counts = [own.is_err(), self.stop.asked.load(Ordering::Relaxed)].map(i64::from);
        self.ranks.sum(&mut counts);
        let [failed, stopped] = counts;
        if stopped > 0 {
            self.stop.agreed.store(true, Ordering::Relaxed);
        }
        if failed == 0 {
            return Ok(());
        }
        // A flaw of the same steps that has not been noticed yet may be the earlier one.
        let own = own.and_then(|()| self.part_backend.check(step, true));
        verdict::agree(&*self.ranks, own, self.members(), &self.set)
    }

    fn capture(&mut self, output: Output, moment: &TimeInterpolant<R>) -> Result<()> {
        // A flaw that one rank would find in its part of the output is told now, by all.
        if self.part_backend.runs_ahead() && !matches!(output, Output::Checkpoint(_)) {
            self.check(self.last_step, true)?;
        }
        match output {
            Output::Frame(member) => {
                assert!(self.frames.len() < FRAMES_IN_FLIGHT, "a frame was not collected");
                let own = match self.local(member) {
                    None => None,
                    Some(local) => {
                        self.part_backend.capture(Output::Frame(local), moment)?;
                        let frame = self.part_backend.collect(Output::Frame(local), true)?;
                        frame.and_then(CollectedOutput::frame)
                    }
                };
                let frame = match (self.divided().cloned(), own) {
                    (Some(divided), Some(own)) => self.divided_frame(&divided, own)?,
                    (_, own) => self.gather_frame(member, own.as_ref())?,
                };
                self.frames.push_back(Box::new(frame));
            }
            Output::Products(number) => {
                let products = &mut self.products[number];
                return products.begin(&*self.ranks, |operator| {
                    self.part_backend.column_values(operator, moment)
                });
            }
            Output::Profiles => {
                let (state, diagnostics) = self.part_backend.owned_columns(moment)?;
                let extractor = self.extractor.as_ref().expect("weights are attached");
                let (nz, ny, nx) = state.theta().dim();
                self.profiles.push_back(extractor.profiles(
                    Shape { nx, ny, nz },
                    &state,
                    &diagnostics,
                ));
            }
            Output::Checkpoint(step) => {
                self.check(step, true)?;
                self.part_backend.capture(output, moment)?;
                let own =
                    self.part_backend.collect(output, true)?.and_then(CollectedOutput::checkpoint);
                let own = own.expect("a checkpoint is complete at once");
                self.checkpoint = Some(Box::new(self.divided_checkpoint(own)?));
            }
        }
        Ok(())
    }

    fn collect(&mut self, output: Output, _wait: bool) -> Result<Option<CollectedOutput<R>>> {
        Ok(match output {
            Output::Frame(_) => self.frames.pop_front().map(CollectedOutput::Frame),
            Output::Products(number) => self.products[number].end().map(CollectedOutput::Products),
            Output::Profiles => self.profiles.pop_front().map(CollectedOutput::Profiles),
            Output::Checkpoint(_) => self.checkpoint.take().map(CollectedOutput::Checkpoint),
        })
    }

    fn account(&mut self, member: usize) -> Result<Account> {
        Ok(self.exact_account(member)?.rounded(self.area))
    }
}

/// Returns `true` if all values are finite.
fn are_finite<R: ComputePrecision>(volumes: &[Vec<R>]) -> bool {
    volumes.iter().flatten().all(|x| x.is_finite())
}

/// Volumes without columns, of which a rank without the whole learns whether it is finite.
fn without_columns<R: ComputePrecision>(is_finite: bool) -> Vec<Vec<R>> {
    if is_finite { Vec::new() } else { vec![vec![R::nan()]] }
}
