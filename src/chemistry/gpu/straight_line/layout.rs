//! Addresses of the numbers of a cell.

use crate::chemistry::gpu::thread_mapping::ThreadMapping;
use crate::chemistry::kinetics::Kinetics;

/// Reads of a stage's k in a step, not counting the derivatives that are stored there temporarily.
const READS_OF_STAGE: usize = 9;
/// Reads of an array in a step, for arrays that a step reads and writes as a whole.
const READS_OF_ARRAY: usize = 5;
/// Reads of an entry of the factors by the solutions of a step.
const READS_BY_SOLUTIONS: usize = 4;

/// Numbers of species that loops may process together.
const BATCH_SIZES: [usize; 3] = [4, 6, 8];

/// The address of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) is_shared: bool,
    /// In numbers of a cell.
    pub(super) at: usize,
}

/// The addresses of all numbers of a cell.
#[derive(Clone, Debug)]
pub(in crate::chemistry::gpu) struct Layout {
    pub(super) cells: usize,
    pub(super) workers: usize,
    /// Number of variable species. Loops process `batch` species together.
    pub(super) variables: usize,
    pub(super) batch: usize,
    /// Species of a worker in loops, with padding at the end of the last worker's.
    pub(super) share: usize,
    pub(super) concentrations: Address,
    pub(super) y: Address,
    pub(super) f: Address,
    pub(super) drift: Address,
    pub(super) rates: Address,
    /// k of each stage.
    pub(super) stages: Vec<Address>,
    pub(super) factors: Vec<Address>,
    pub(super) partials: Vec<Address>,
    /// Doubles of shared memory of a block.
    pub(in crate::chemistry::gpu) shared: usize,
    /// Doubles of a block's scratch.
    pub(in crate::chemistry::gpu) scratch: usize,
}

/// Allocator of addresses: in shared memory as long as there is space, then in scratch memory.
#[derive(Default)]
struct AddressAllocator {
    most_shared: usize,
    shared: usize,
    scratch: usize,
}

impl AddressAllocator {
    fn take(&mut self, count: usize) -> Address {
        // Arrays begin at a pair.
        let begin = |next: usize| if count > 1 { next.next_multiple_of(2) } else { next };
        let is_shared = begin(self.shared) + count <= self.most_shared;
        let next = if is_shared { &mut self.shared } else { &mut self.scratch };
        let at = begin(*next);
        *next = at + count;
        Address { is_shared, at }
    }
}

/// The use of an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AddressUse {
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
    pub(in crate::chemistry::gpu) fn new(
        kinetics: &Kinetics,
        stages: usize,
        form: ThreadMapping,
    ) -> Self {
        let variables = kinetics.variables();
        let ThreadMapping { cells, workers, shared_bytes, .. } = form;
        let shared = shared_bytes / size_of::<f64>();
        let least = variables.div_ceil(workers);
        let padded = |batch: &usize| least.next_multiple_of(*batch);
        let batch =
            BATCH_SIZES.into_iter().min_by_key(|batch| (padded(batch), std::cmp::Reverse(*batch)));
        let batch = batch.unwrap_or(2);
        let share = padded(&batch);
        let n = share * workers;
        let mut allocator =
            AddressAllocator { most_shared: shared / cells, ..AddressAllocator::default() };
        // One concentration more, with the value 1, as in the tables.
        let concentrations = allocator.take(n + kinetics.fixed.len() + 1);
        let mut wanted = vec![(READS_OF_ARRAY, AddressUse::Y), (READS_OF_ARRAY, AddressUse::F)];
        wanted.extend((0..stages).map(|stage| (READS_OF_STAGE, AddressUse::Stage(stage))));
        let uses = uses(kinetics).into_iter().enumerate();
        wanted.extend(uses.map(|(e, uses)| (READS_BY_SOLUTIONS + uses, AddressUse::Factor(e))));
        wanted.sort_by_key(|(reads, _)| std::cmp::Reverse(*reads));
        let nowhere = Address { is_shared: false, at: usize::MAX };
        let mut layout = Self {
            cells,
            workers,
            variables,
            batch,
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
                AddressUse::Y => layout.y = allocator.take(n),
                AddressUse::F => layout.f = allocator.take(n),
                AddressUse::Stage(stage) => layout.stages[stage] = allocator.take(n),
                AddressUse::Factor(entry) => layout.factors[entry] = allocator.take(1),
            }
        }
        allocator.most_shared = 0;
        layout.drift = allocator.take(n);
        layout.partials = layout.places_of_partials(kinetics, &mut allocator);
        // Single numbers, after all numbers in pairs.
        layout.rates = allocator.take(kinetics.rates.kept.len() + 1);
        let in_pairs = |count: usize| count.next_multiple_of(2) * cells;
        (layout.shared, layout.scratch) = (in_pairs(allocator.shared), in_pairs(allocator.scratch));
        layout
    }

    /// Addresses of the derivatives of the reaction rates, in the arrays of the stages, which are not in use while the
    /// derivatives are; those that are read most often in shared memory.
    fn places_of_partials(
        &self,
        kinetics: &Kinetics,
        allocator: &mut AddressAllocator,
    ) -> Vec<Address> {
        let mut free: Vec<Address> = self
            .stages
            .iter()
            .flat_map(|stage| {
                (0..self.share * self.workers).map(|i| Address { at: stage.at + i, ..*stage })
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
                let at = allocator.scratch;
                allocator.scratch += 1;
                Address { is_shared: false, at }
            });
        }
        spots
    }

    /// The element of an array of a cell.
    pub(super) fn element(&self, array: Address, element: usize) -> String {
        self.number(Address { at: array.at + element, ..array })
    }

    /// The concentration of a species; fixed species follow the padded variable ones.
    pub(super) fn concentration(&self, species: usize) -> String {
        let behind = self.share * self.workers - self.variables;
        let place = if species < self.variables { species } else { species + behind };
        self.element(self.concentrations, place)
    }

    /// Offset of a number of the first cell, in doubles: two numbers of a cell are adjacent, so that one instruction
    /// can load both, followed by those of the other cells.
    pub(super) fn distance(&self, spot: Address) -> usize {
        spot.at / 2 * (2 * self.cells) + spot.at % 2
    }

    pub(super) fn number(&self, spot: Address) -> String {
        let memory = if spot.is_shared { "shared" } else { "scratch" };
        format!("{memory}[{}]", self.distance(spot))
    }
}
