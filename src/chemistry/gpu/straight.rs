//! The reactions, the factorisation and the solution of a mechanism as straight-line CUDA text, for a thread a cell.
//!
//! No index is left to be computed when the kernel runs: every number of a cell has a place of its own, in shared
//! memory if it is read often, else in the block's scratch, and the text names it. The operations are those of
//! `crate::chemistry::rosenbrock` in their order.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::declarations::Text;
use super::form::Form;
use super::rounds::{Task, rounds};
use crate::chemistry::kinetics::{Kinetics, Term};
use crate::shared::literal;

/// Most products of a factorisation that are written out; compiling more takes minutes.
pub(super) const MOST_PRODUCTS: usize = 4_000;
/// Reads of a stage's k in a step, besides those of the derivatives that lie there for a while.
const READS_OF_STAGE: usize = 9;
/// Reads of an array that a step passes through.
const READS_OF_ARRAY: usize = 5;
/// Reads of an entry of the factors by the solutions.
const READS_BY_SOLUTIONS: usize = 4;

/// Species that loops may work on side by side.
const ABREAST: [usize; 3] = [4, 6, 8];
/// Instructions of a product with a number from memory.
const PRODUCT: usize = 4;
/// The same in a solution.
const SUBSTITUTION: usize = 4;
/// Instructions that fit into the time until a product is there.
const LATENCY: usize = 10;
/// The same for an inverse.
const INVERSE: usize = 50;

/// The place of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spot {
    is_shared: bool,
    /// In numbers of a cell.
    at: usize,
}

/// The places of all numbers of a cell.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    cells: usize,
    workers: usize,
    /// Variable species, of which loops work on so many side by side.
    variables: usize,
    abreast: usize,
    /// Species of a worker in the loops over them; the last ones may be none.
    share: usize,
    concentrations: Spot,
    y: Spot,
    f: Spot,
    drift: Spot,
    rates: Spot,
    /// k of each stage.
    stages: Vec<Spot>,
    factors: Vec<Spot>,
    partials: Vec<Spot>,
    /// Doubles of shared memory of a block.
    pub(super) shared: usize,
    /// Doubles of a block's scratch.
    pub(super) scratch: usize,
}

/// Places that are given away one after the other.
#[derive(Default)]
struct Room {
    most_shared: usize,
    shared: usize,
    scratch: usize,
}

impl Room {
    fn take(&mut self, count: usize) -> Spot {
        // Arrays begin with a pair.
        let begin = |next: usize| if count > 1 { next.next_multiple_of(2) } else { next };
        let is_shared = begin(self.shared) + count <= self.most_shared;
        let next = if is_shared { &mut self.shared } else { &mut self.scratch };
        let at = begin(*next);
        *next = at + count;
        Spot { is_shared, at }
    }
}

/// What a place is wanted for.
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
    /// Places for so many stages.
    pub(super) fn new(kinetics: &Kinetics, stages: usize, form: Form) -> Self {
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
        // A concentration of 1 beside those of the species, as the tables have it.
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
        // One after the other, behind all that is in pairs.
        layout.rates = room.take(kinetics.rates.kept.len() + 1);
        let in_pairs = |count: usize| count.next_multiple_of(2) * cells;
        (layout.shared, layout.scratch) = (in_pairs(room.shared), in_pairs(room.scratch));
        layout
    }

    /// The derivatives of the reactions lie in the places of the stages, which hold nothing while they are needed,
    /// those that are read most in shared memory.
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
        // Those of a reaction with two reactants are read together, wherever it changes a species.
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
    fn element(&self, array: Spot, element: usize) -> String {
        self.number(Spot { at: array.at + element, ..array })
    }

    /// The concentration of a species, behind the variable ones that of a fixed one.
    fn concentration(&self, species: usize) -> String {
        let behind = self.share * self.workers - self.variables;
        let place = if species < self.variables { species } else { species + behind };
        self.element(self.concentrations, place)
    }

    /// Doubles between a number of the first cell and the beginning of the memory: two numbers of a cell stand side by
    /// side, so that one instruction can read both, then those of the other cells.
    fn distance(&self, spot: Spot) -> usize {
        spot.at / 2 * (2 * self.cells) + spot.at % 2
    }

    fn number(&self, spot: Spot) -> String {
        let memory = if spot.is_shared { "shared" } else { "scratch" };
        format!("{memory}[{}]", self.distance(spot))
    }
}

/// The beginning of a function that knows where all numbers of a cell are.
fn head(result: &str, name: &str, more: &str) -> String {
    format!(
        "__device__ __noinline__ {result} {name}(int cell, double* scratch, int worker{more})\n{{\n\
         [[maybe_unused]] double* const shared = shared_room + 2 * cell;\n\
         [[maybe_unused]] const double* const rates = in_global(scratch) + RATES_AT + cell;\n\
         scratch = in_global(scratch) + 2 * cell;\n"
    )
}

/// The programs of all workers.
fn programs(text: &mut Text, programs: Vec<String>) {
    text.0 += "switch (worker) {\n";
    for (worker, program) in programs.into_iter().enumerate() {
        let _ = writeln!(text.0, "case {worker}: {{\n{program}break;\n}}");
    }
    text.0 += "}\n";
}

/// Text of a line that ends a round.
const WAIT: &str = "wait_for_workers();\n";

/// A sum of terms, the first of which stands alone.
fn added(sum: Option<&str>, coefficient: f64, value: &str) -> String {
    match sum {
        None if coefficient == 1.0 => value.to_owned(),
        None if coefficient == -1.0 => format!("-{value}"),
        // Products that something is added to are rounded by name.
        None => format!("__dmul_rn({}, {value})", literal(coefficient)),
        Some(sum) if coefficient == 1.0 => format!("{sum} + {value}"),
        Some(sum) if coefficient == -1.0 => format!("{sum} - {value}"),
        Some(sum) => format!("fma({}, {value}, {sum})", literal(coefficient)),
    }
}

/// Writes the functions of a mechanism.
pub(super) fn write(text: &mut Text, kinetics: &Kinetics, layout: &Layout) {
    text.0 += "#define STRAIGHT_LINE\n";
    for (name, array) in
        [("CONCENTRATIONS", layout.concentrations), ("Y", layout.y), ("F", layout.f)]
    {
        text.truth(&format!("{name}_SHARED"), array.is_shared);
        text.whole(&format!("{name}_AT"), layout.distance(array));
    }
    for (name, array) in [("DRIFT", layout.drift), ("RATES", layout.rates)] {
        text.whole(&format!("{name}_AT"), layout.distance(array));
    }
    for (name, value) in [
        ("SCRATCH_DOUBLES", layout.scratch),
        ("ABREAST", layout.abreast),
        ("SHARE", layout.share),
        ("FIRST_FIXED", layout.share * layout.workers),
    ] {
        text.whole(name, value);
    }
    text.0 += "#include \"chemistry/division.cuh\"\n#include \"chemistry/room.cuh\"\n";
    stages(text, layout);
    derivatives(text, kinetics, layout);
    tendencies(text, kinetics, layout);
    factors(text, kinetics, layout);
    solution(text, kinetics, layout);
}

/// The arrays of the stages.
fn stages(text: &mut Text, layout: &Layout) {
    text.0 += "template <class Column>\n__device__ inline void straight_stages(int cell, double* scratch, Column* k)\n\
               {\n[[maybe_unused]] double* const shared = shared_room + 2 * cell;\nscratch += 2 * cell;\n";
    for (stage, &array) in layout.stages.iter().enumerate() {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text.0, "k[{stage}].first = &{};", layout.number(array));
    }
    text.0 += "}\n";
}

/// A rate constant times concentrations.
fn product(kinetics: &Kinetics, layout: &Layout, reaction: usize, factors: &[u32]) -> String {
    let number = kinetics.rates.rate[reaction];
    let slot = kinetics.rates.kept.binary_search(&number).expect("rates are kept");
    let mut product = format!("rates[{}]", slot * layout.cells);
    for &factor in factors {
        product = format!("__dmul_rn({product}, {})", layout.concentration(factor as usize));
    }
    product
}

/// The derivatives of the reactions at the present concentrations.
fn derivatives(text: &mut Text, kinetics: &Kinetics, layout: &Layout) {
    text.0 += &head("void", "straight_derivatives", "");
    let mut lists = vec![String::new(); layout.workers];
    let each = kinetics.partials.iter().zip(kinetics.partial_factors.iter());
    for (number, (partial, factors)) in each.enumerate() {
        let value = product(kinetics, layout, partial.reaction as usize, factors);
        let worker = number * layout.workers / kinetics.partials.len();
        let _ = writeln!(lists[worker], "{} = {value};", layout.number(layout.partials[number]));
    }
    programs(text, lists);
    text.0 += "}\n";
}

/// Shares out the species so that workers have about as many operations, those whose reactions a worker computes anyway
/// to it.
fn shares(kinetics: &Kinetics, workers: usize) -> Vec<Vec<usize>> {
    let operations = |reaction: u32| 2 * kinetics.factors.list(reaction as usize).len() + 1;
    let mut order: Vec<usize> = (0..kinetics.variables()).collect();
    order.sort_by_key(|&species| std::cmp::Reverse(kinetics.net.list(species).len()));
    let mut shares = vec![Vec::new(); workers];
    let mut times = vec![0; workers];
    let mut has = vec![vec![false; kinetics.reactions()]; workers];
    for species in order {
        let terms = kinetics.net.list(species);
        let time = |worker: usize| {
            let missing = terms.iter().filter(|term| !has[worker][term.index as usize]);
            let reactions: usize = missing.map(|term| operations(term.index)).sum();
            times[worker] + terms.len() + reactions
        };
        let Some(worker) = (0..workers).min_by_key(|&worker| time(worker)) else { continue };
        times[worker] = time(worker);
        terms.iter().for_each(|term| has[worker][term.index as usize] = true);
        shares[worker].push(species);
    }
    shares
}

/// dy/dt at the present concentrations, reaction by reaction: that is the order of the terms of every species, too.
fn tendencies(text: &mut Text, kinetics: &Kinetics, layout: &Layout) {
    text.0 += &head("void", "straight_tendencies", "");
    let all = shares(kinetics, layout.workers);
    let all = all.iter().map(|species| tendencies_of(kinetics, layout, species)).collect();
    programs(text, all);
    text.0 += "}\n";
}

/// The same for some species.
fn tendencies_of(kinetics: &Kinetics, layout: &Layout, species: &[usize]) -> String {
    let mut text = String::new();
    let mut changes = vec![Vec::new(); kinetics.reactions()];
    for &species in species {
        for term in kinetics.net.list(species) {
            changes[term.index as usize].push((species, term.coefficient));
        }
    }
    let mut has_begun = vec![false; kinetics.variables()];
    for (reaction, (changes, factors)) in changes.iter().zip(kinetics.factors.iter()).enumerate() {
        if changes.is_empty() {
            continue;
        }
        let rate = product(kinetics, layout, reaction, factors);
        let _ = writeln!(text, "const double a{reaction} = {rate};");
        for &(species, coefficient) in changes {
            let sum = format!("f{species}");
            let has_sum = std::mem::replace(&mut has_begun[species], true);
            let value =
                added(has_sum.then_some(sum.as_str()), coefficient, &format!("a{reaction}"));
            let kind = if has_sum { "" } else { "double " };
            let _ = writeln!(text, "{kind}{sum} = {value};");
        }
    }
    for &species in species {
        let value = if has_begun[species] { format!("f{species}") } else { "0.0".to_owned() };
        let _ = writeln!(text, "{} = {value};", layout.element(layout.f, species));
    }
    text
}

/// The sum of terms of an entry of the Jacobian; none where it is fill.
fn slope(layout: &Layout, terms: &[Term]) -> Option<String> {
    let mut sum: Option<String> = None;
    for term in terms {
        let value = layout.number(layout.partials[term.index as usize]);
        sum = Some(added(sum.as_deref(), term.coefficient, &value));
    }
    sum
}

/// A task of the factorisation.
#[derive(Clone, Copy)]
enum Elimination {
    /// Makes a row of the matrix.
    Begin(usize),
    /// Subtracts from a row the multiple of another, which an entry of L is.
    Subtract(usize, usize),
    /// Makes a row, and subtracts the first multiple from it: nothing lies in memory meanwhile.
    BeginAndSubtract(usize, usize),
    /// Inverts the pivot of a row, which is done with that.
    End(usize),
}

/// The tasks of the factorisation, row by row.
fn eliminations(kinetics: &Kinetics) -> (Vec<Elimination>, Vec<Task>) {
    let lu = &kinetics.lu;
    let (mut kinds, mut tasks) = (Vec::new(), Vec::<Task>::new());
    let mut ends = vec![0; lu.size()];
    for row in 0..lu.size() {
        let entries = lu.row(row);
        let size = entries.len();
        let terms = entries.clone().map(|entry| kinetics.jacobian.list(entry).len());
        let beginning = PRODUCT * terms.sum::<usize>();
        let mut before = None;
        for left in entries.start..lu.diagonal[row] as usize {
            let column = lu.column[left] as usize;
            let products = lu.row(column).end - lu.diagonal[column] as usize;
            let cost = PRODUCT * products + LATENCY;
            let (kind, cost) = match before {
                None => (Elimination::BeginAndSubtract(row, left), beginning + cost),
                Some(_) => (Elimination::Subtract(row, left), cost),
            };
            let needs = before.into_iter().chain([ends[column]]).collect();
            before = Some(tasks.len());
            kinds.push(kind);
            tasks.push(Task { cost, needs, row, size, is_last: false });
        }
        if before.is_none() {
            before = Some(tasks.len());
            kinds.push(Elimination::Begin(row));
            tasks.push(Task { cost: beginning, needs: Vec::new(), row, size, is_last: false });
        }
        kinds.push(Elimination::End(row));
        ends[row] = tasks.len();
        let needs = before.into_iter().collect();
        tasks.push(Task { cost: INVERSE, needs, row, size, is_last: true });
    }
    (kinds, tasks)
}

/// Factors of I/(hγ) - J row by row, with the inverse pivots on the diagonal; false where a pivot is zero or
/// subnormal.
fn factors(text: &mut Text, kinetics: &Kinetics, layout: &Layout) {
    text.0 += &head("bool", "straight_factors", ", double diagonal");
    text.0 += "bool is_regular = true;\n";
    let (kinds, tasks) = eliminations(kinetics);
    let mut all = vec![String::new(); layout.workers];
    for round in rounds(&tasks, layout.workers) {
        for (program, list) in all.iter_mut().zip(round) {
            let list = list.iter().map(|&number| kinds[number]);
            *program += &eliminations_of(kinetics, layout, list);
            *program += WAIT;
        }
    }
    programs(text, all);
    text.0 += "return is_regular;\n}\n";
}

/// What a worker does in a round of the factorisation.
fn eliminations_of(
    kinetics: &Kinetics,
    layout: &Layout,
    list: impl Iterator<Item = Elimination>,
) -> String {
    let lu = &kinetics.lu;
    let factor = |entry: usize| layout.number(layout.factors[entry]);
    let mut text = String::new();
    for elimination in list {
        if let Elimination::Begin(row) | Elimination::BeginAndSubtract(row, _) = elimination {
            for entry in lu.row(row) {
                let slope = slope(layout, kinetics.jacobian.list(entry));
                let value = match (slope, entry == lu.diagonal[row] as usize) {
                    (None, false) => "-0.0".to_owned(),
                    (None, true) => "diagonal".to_owned(),
                    (Some(slope), false) => format!("-({slope})"),
                    (Some(slope), true) => format!("diagonal - ({slope})"),
                };
                let _ = writeln!(text, "double e{entry} = {value};");
            }
        }
        match elimination {
            Elimination::Begin(_) => {}
            Elimination::Subtract(row, left) | Elimination::BeginAndSubtract(row, left) => {
                let column = lu.column[left] as usize;
                let pivot = lu.diagonal[column] as usize;
                let uppers = pivot + 1..lu.row(column).end;
                let _ = writeln!(text, "e{left} *= {};", factor(pivot));
                for upper in uppers {
                    let target = lu.entry(row, lu.column[upper] as usize);
                    let target = target.expect("there is room for fill");
                    let upper = factor(upper);
                    let _ = writeln!(text, "e{target} = fma(-e{left}, {upper}, e{target});");
                }
            }
            Elimination::End(row) => {
                let diagonal = lu.diagonal[row] as usize;
                // What is not a number is no singular matrix: it ends in the error of the step.
                let _ = writeln!(
                    text,
                    "is_regular = is_regular && !(fabs(e{diagonal}) < SMALLEST_PIVOT);\n\
                     e{diagonal} = inverse_of(e{diagonal});"
                );
                for entry in lu.row(row) {
                    let _ = writeln!(text, "{} = e{entry};", factor(entry));
                }
                text += "forget_memory();\n";
            }
        }
    }
    text
}

/// A task of a solution.
#[derive(Clone, Copy)]
enum Substitution {
    /// Takes up the x of a row.
    Begin(usize),
    /// Subtracts from it the product of an entry and the x of its column.
    Subtract(usize, usize),
    /// Multiplies it with the inverse pivot, on the way up, and gives it away.
    End(usize),
}

/// The tasks of a solution, down the rows with L or up again with U.
fn substitutions(kinetics: &Kinetics, is_down: bool) -> (Vec<Substitution>, Vec<Task>) {
    let lu = &kinetics.lu;
    let (mut kinds, mut tasks) = (Vec::new(), Vec::<Task>::new());
    let mut ends: Vec<Option<usize>> = vec![None; lu.size()];
    let rows: Vec<usize> =
        if is_down { (0..lu.size()).collect() } else { (0..lu.size()).rev().collect() };
    for row in rows {
        let diagonal = lu.diagonal[row] as usize;
        // The x that is there longest comes first.
        let entries: Vec<usize> = if is_down {
            (lu.row(row).start..diagonal).collect()
        } else {
            (diagonal + 1..lu.row(row).end).rev().collect()
        };
        if is_down && entries.is_empty() {
            continue;
        }
        let mut push = |kind, needs, is_last| {
            kinds.push(kind);
            tasks.push(Task { cost: SUBSTITUTION, needs, row, size: 1, is_last });
            tasks.len() - 1
        };
        let mut before = push(Substitution::Begin(row), Vec::new(), false);
        for entry in entries {
            let needs = ends[lu.column[entry] as usize].into_iter().chain([before]).collect();
            before = push(Substitution::Subtract(row, entry), needs, false);
        }
        ends[row] = Some(push(Substitution::End(row), vec![before], true));
    }
    (kinds, tasks)
}

/// The solution in the place of the right side: down the rows with L, up again with U.
fn solution(text: &mut Text, kinetics: &Kinetics, layout: &Layout) {
    text.0 += &head("void", "straight_solution", "");
    let mut all = vec![String::new(); layout.workers];
    for is_down in [true, false] {
        let (kinds, tasks) = substitutions(kinetics, is_down);
        let rounds = rounds(&tasks, layout.workers);
        all.iter_mut().for_each(|program| *program += "{\n");
        let mut own = vec![BTreeSet::new(); layout.workers];
        for round in rounds {
            for ((program, list), own) in all.iter_mut().zip(round).zip(&mut own) {
                for number in list {
                    *program += &line_of_solution(kinetics, layout, kinds[number], is_down, own);
                }
                *program += WAIT;
            }
        }
        all.iter_mut().for_each(|program| *program += "}\n");
    }
    programs(text, all);
    text.0 += "}\n";
}

/// The text of a task of a solution, for a worker who has some rows in its registers.
fn line_of_solution(
    kinetics: &Kinetics,
    layout: &Layout,
    substitution: Substitution,
    is_down: bool,
    own: &mut BTreeSet<usize>,
) -> String {
    let x = |row: usize| layout.concentration(row);
    let factor = |entry: usize| layout.number(layout.factors[entry]);
    match substitution {
        Substitution::Begin(row) => {
            own.insert(row);
            format!("double x{row} = {};\n", x(row))
        }
        Substitution::Subtract(row, entry) => {
            let column = kinetics.lu.column[entry] as usize;
            let other = if own.contains(&column) { format!("x{column}") } else { x(column) };
            format!("x{row} = fma(-{}, {other}, x{row});\n", factor(entry))
        }
        Substitution::End(row) if is_down => format!("{} = x{row};\n", x(row)),
        Substitution::End(row) => {
            let pivot = factor(kinetics.lu.diagonal[row] as usize);
            format!("x{row} *= {pivot};\n{} = x{row};\n", x(row))
        }
    }
}
