//! Addresses of the numbers of a cell.

use crate::chemistry::gpu::form::Form;
use crate::chemistry::kinetics::Kinetics;

/// Reads of a stage's k in a step, not counting the derivatives that are stored there temporarily.
const READS_OF_STAGE: usize = 9;
/// Reads of an array in a step, for arrays that a step reads and writes as a whole.
const READS_OF_ARRAY: usize = 5;
/// Reads of an entry of the factors by the solutions of a step.
const READS_BY_SOLUTIONS: usize = 4;

/// Numbers of species that loops may process together.
const ABREAST: [usize; 3] = [4, 6, 8];

/// The address of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) is_shared: bool,
    /// In numbers of a cell.
    pub(super) at: usize,
}

/// The addresses of all numbers of a cell.
#[derive(Clone, Debug)]
pub(in crate::chemistry::gpu) struct Layout {
    pub(super) cells: usize,
    pub(super) workers: usize,
    /// Number of variable species. Loops process `abreast` species together.
    pub(super) variables: usize,
    pub(super) abreast: usize,
    /// Species of a worker in loops, with padding at the end of the last worker's.
    pub(super) share: usize,
    pub(super) concentrations: Spot,
    pub(super) y: Spot,
    pub(super) f: Spot,
    pub(super) drift: Spot,
    pub(super) rates: Spot,
    /// k of each stage.
    pub(super) stages: Vec<Spot>,
    pub(super) factors: Vec<Spot>,
    pub(super) partials: Vec<Spot>,
    /// Doubles of shared memory of a block.
    pub(in crate::chemistry::gpu) shared: usize,
    /// Doubles of a block's scratch.
    pub(in crate::chemistry::gpu) scratch: usize,
}

/// Allocator of addresses: in shared memory as long as there is space, then in scratch memory.
#[derive(Default)]
struct Room {
    most_shared: usize,
    shared: usize,
    scratch: usize,
}

impl Room {
    fn take(&mut self, count: usize) -> Spot {
        // Arrays begin at a pair.
        let begin = |next: usize| if count > 1 { next.next_multiple_of(2) } else { next };
        let is_shared = begin(self.shared) + count <= self.most_shared;
        let next = if is_shared { &mut self.shared } else { &mut self.scratch };
        let at = begin(*next);
        *next = at + count;
        Spot { is_shared, at }
    }
}

/// The use of an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Y,
    F,
    Stage(usize),
    Factor(usize),
}

/// The number of times that each entry of the factors is read by the factorisation.
fn uses(kinetics: &Kinetics) -> Vec<usize> {
    let lu = &kinetics.lu;
    let mut uses = vec![0; lu.entries()];
    for row in 0..lu.size() {
        for entry in lu.row(row).start..lu.diagonal[row] as usize {
            let column = lu.column[entry] as usize;
            let upper = lu.diagonal[column] as usize..lu.row(column).end;
            uses[upper].iter_mut().for_each(|count| *count += 1);
        }
    }
    uses
}

impl Layout {
    /// Addresses for a number of stages.
    pub(in crate::chemistry::gpu) fn new(kinetics: &Kinetics, stages: usize, form: Form) -> Self {
        let variables = kinetics.variables();
        let Form { cells, workers, shared_bytes, .. } = form;
        let shared = shared_bytes / size_of::<f64>();
        let least = variables.div_ceil(workers);
        let padded = |abreast: &usize| least.next_multiple_of(*abreast);
        let abreast = ABREAST
            .into_iter()
            .min_by_key(|abreast| (padded(abreast), std::cmp::Reverse(*abreast)));
        let abreast = abreast.unwrap_or(2);
        let share = padded(&abreast);
        let n = share * workers;
        let mut room = Room { most_shared: shared / cells, ..Room::default() };
        // One concentration more, with the value 1, as in the tables.
        let concentrations = room.take(n + kinetics.fixed.len() + 1);
        let mut wanted = vec![(READS_OF_ARRAY, Wanted::Y), (READS_OF_ARRAY, Wanted::F)];
        wanted.extend((0..stages).map(|stage| (READS_OF_STAGE, Wanted::Stage(stage))));
        let uses = uses(kinetics).into_iter().enumerate();
        wanted.extend(uses.map(|(e, uses)| (READS_BY_SOLUTIONS + uses, Wanted::Factor(e))));
        wanted.sort_by_key(|(reads, _)| std::cmp::Reverse(*reads));
        let nowhere = Spot { is_shared: false, at: usize::MAX };
        let mut layout = Self {
            cells,
            workers,
            variables,
            abreast,
            share,
            concentrations,
            y: nowhere,
            f: nowhere,
            drift: nowhere,
            rates: nowhere,
            stages: vec![nowhere; stages],
            factors: vec![nowhere; kinetics.lu.entries()],
            partials: Vec::new(),
            shared: 0,
            scratch: 0,
        };
        for (_, wanted) in wanted {
            match wanted {
                Wanted::Y => layout.y = room.take(n),
                Wanted::F => layout.f = room.take(n),
                Wanted::Stage(stage) => layout.stages[stage] = room.take(n),
                Wanted::Factor(entry) => layout.factors[entry] = room.take(1),
            }
        }
        room.most_shared = 0;
        layout.drift = room.take(n);
        layout.partials = layout.places_of_partials(kinetics, &mut room);
        // Single numbers, after all numbers in pairs.
        layout.rates = room.take(kinetics.rates.kept.len() + 1);
        let in_pairs = |count: usize| count.next_multiple_of(2) * cells;
        (layout.shared, layout.scratch) = (in_pairs(room.shared), in_pairs(room.scratch));
        layout
    }

    /// Addresses of the derivatives of the reaction rates, in the arrays of the stages, which are not in use while the
    /// derivatives are; those that are read most often in shared memory.
    fn places_of_partials(&self, kinetics: &Kinetics, room: &mut Room) -> Vec<Spot> {
        let mut free: Vec<Spot> = self
            .stages
            .iter()
            .flat_map(|stage| {
                (0..self.share * self.workers).map(|i| Spot { at: stage.at + i, ..*stage })
            })
            .collect();
        free.sort_by_key(|spot| !spot.is_shared);
        let mut free = free.into_iter();
        let mut reads = vec![0; kinetics.partials.len()];
        for term in &kinetics.jacobian.elements {
            reads[term.index as usize] += 1;
        }
        let mut reactants = vec![0; kinetics.reactions()];
        kinetics.partials.iter().for_each(|partial| reactants[partial.reaction as usize] += 1);
        let is_pair = |partial: usize| reactants[kinetics.partials[partial].reaction as usize] == 2;
        let mut order: Vec<usize> = (0..reads.len()).collect();
        // The derivatives of a reaction with two reactants are read together for every species that it changes.
        order.sort_by_key(|&partial| (!is_pair(partial), std::cmp::Reverse(reads[partial])));
        let mut spots = vec![self.y; reads.len()];
        for partial in order {
            spots[partial] = free.next().unwrap_or_else(|| {
                let at = room.scratch;
                room.scratch += 1;
                Spot { is_shared: false, at }
            });
        }
        spots
    }

    /// The element of an array of a cell.
    pub(super) fn element(&self, array: Spot, element: usize) -> String {
        self.number(Spot { at: array.at + element, ..array })
    }

    /// The concentration of a species; fixed species follow the padded variable ones.
    pub(super) fn concentration(&self, species: usize) -> String {
        let behind = self.share * self.workers - self.variables;
        let place = if species < self.variables { species } else { species + behind };
        self.element(self.concentrations, place)
    }

    /// Offset of a number of the first cell, in doubles: two numbers of a cell are adjacent, so that one instruction
    /// can load both, followed by those of the other cells.
    pub(super) fn distance(&self, spot: Spot) -> usize {
        spot.at / 2 * (2 * self.cells) + spot.at % 2
    }

    pub(super) fn number(&self, spot: Spot) -> String {
        let memory = if spot.is_shared { "shared" } else { "scratch" };
        format!("{memory}[{}]", self.distance(spot))
    }
}
