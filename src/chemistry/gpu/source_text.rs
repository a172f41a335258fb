//! The CUDA text of a mechanism, which precedes `kernels/chemistry/rosenbrock.cu` and `kernels/chemistry/rates.cu`.

use super::arguments::ChemistryArgs;
use super::declarations::Declarations;
use super::rates;
use super::schedule::{self, Kind};
use super::straight_line::{self, Layout};
use super::thread_mapping::{ArraySlots, ThreadMapping};
use crate::chemistry::cells::{COLDEST, HOTTEST, RateUpdate};
use crate::chemistry::kinetics::{Kinetics, Term};
use crate::chemistry::rates::sun;
use crate::chemistry::rosenbrock::{
    Counters, Method, PARTIAL_SUMS, SHORTEST_TIME, Status, constants as control_constants, limits,
};
use crate::device::KernelSource;

/// Threads of a block of the kernel of rate constants.
pub const RATE_THREADS: u32 = 128;

/// Maximum number of reactants of a reaction.
const MOST_REACTANTS: usize = 8;
/// Maximum number of products of a factorisation.
const MOST_PRODUCTS: usize = 200_000;
/// Maximum number of elements for 16-bit indices, three of which have special meanings.
const MOST_INDICES: usize = u16::MAX as usize - 3;
/// Mark of an entry on the diagonal, in place of the diagonal entry of its column.
const ON_DIAGONAL: u32 = u32::MAX;
/// Mark of an entry to the right of the diagonal.
const RIGHT_OF_DIAGONAL: u32 = u32::MAX - 1;
/// Mark of no entry.
const NO_PIVOT: u32 = u32::MAX - 2;
/// Mark of no species.
const NO_SPECIES: u16 = u16::MAX;
/// Number of an idle worker.
const IDLE_WORKER: usize = 1 << 30;
/// The status of a cell whose integration goes on.
const RUNNING: i32 = 0;

/// Compile-time choices of an integration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Method.
    pub method: Method,
    /// Rates during the integration.
    pub rates: RateUpdate,
    /// Mapping of cells to threads.
    pub form: ThreadMapping,
}

/// Checks that the kernels support the size of a mechanism.
///
/// # Errors
///
/// A message that names the quantity that is too large.
pub fn check(kinetics: &Kinetics) -> Result<(), String> {
    let most_reactants = kinetics.factors.iter().map(<[u32]>::len).max().unwrap_or(0);
    for (what, number, most) in [
        ("reactants in a reaction", most_reactants, MOST_REACTANTS),
        ("entries in its factors", kinetics.lu.entries(), MOST_INDICES),
        ("derivatives of reactions", kinetics.partials.len(), MOST_INDICES),
        ("reactions", kinetics.reactions(), MOST_INDICES),
        ("products in a factorisation", kinetics.lu.operations().1, MOST_PRODUCTS),
        ("operations in its rates", kinetics.rates.operations.len(), rates::MOST_OPERATIONS),
    ] {
        if number > most {
            return Err(format!(
                "the mechanism has {number} {what}, more than the {most} that the GPU kernels support"
            ));
        }
    }
    Ok(())
}

/// Byte offsets of elements, as in the tables.
#[derive(Clone, Copy)]
struct Distances {
    cells: usize,
    /// Bytes of an entry of the factors.
    entry: usize,
}

impl Distances {
    fn number(self, element: usize) -> u32 {
        (element * self.cells * size_of::<f64>()) as u32
    }

    fn factor(self, entry: usize) -> u32 {
        (entry * self.cells * self.entry) as u32
    }
}

/// Declarations for both kernels.
fn common(kinetics: &Kinetics, plan_rates: RateUpdate) -> Declarations {
    let mut text = Declarations::default();
    text.0 += "#ifdef __CUDACC_RTC__\n#pragma nv_diag_suppress 177\n#endif\n";
    text.0 += &ChemistryArgs::cuda_text();
    text.functions();
    text.named_numbers(sun::constants());
    text.truth("FOLLOWS_SUN", plan_rates == RateUpdate::Updated);
    for (name, status) in [
        ("SUCCESS", Status::SUCCESS),
        ("TOO_MANY_STEPS", Status::TOO_MANY_STEPS),
        ("STEP_TOO_SMALL", Status::STEP_TOO_SMALL),
        ("SINGULAR", Status::SINGULAR),
        ("NOT_FINITE", Status::NOT_FINITE),
        ("BAD_CONDITIONS", Status::BAD_CONDITIONS),
        ("RUNNING", Status(RUNNING)),
    ] {
        text.whole(&format!("STATUS_{name}"), status.0);
    }
    text.whole("RATES", kinetics.rates.kept.len());
    text
}

/// The kernel of the rate constants.
pub fn rates_source(kinetics: &Kinetics) -> KernelSource {
    let mut text = common(kinetics, RateUpdate::Frozen);
    text.number("COLDEST", COLDEST);
    text.number("HOTTEST", HOTTEST);
    text.whole("RATE_THREADS", RATE_THREADS);
    rates::write(&mut text, &kinetics.rates);
    KernelSource { file: "chemistry/rates.cu", prelude: text.0, is_exact: true, text: None }
}

/// Numbers that are loaded together.
const STRUCTS: &str = "\
struct alignas(8) Pair { unsigned first, second; };
template <int COUNT> struct Factors { unsigned rate, concentrations[COUNT]; };
template <> struct Factors<0> { unsigned rate; };
template <> struct alignas(8) Factors<1> { unsigned rate, concentrations[1]; };
template <> struct alignas(16) Factors<3> { unsigned rate, concentrations[3]; };
struct alignas(16) FactorList { int first, last, term, pair; };
struct alignas(16) FactorTask { unsigned entry, kind; int last_term, last_pair; };
struct alignas(16) SolveList { int first, last, product, filler; };
struct alignas(16) SolvePiece { unsigned row, pivot; int last_product, filler; };
";

/// The kernel of the integration.
pub fn integration_source(kinetics: &Kinetics, plan: &Plan) -> KernelSource {
    let mut text = common(kinetics, plan.rates);
    let (method, form) = (&plan.method, plan.form);
    text.named_numbers(control_constants());
    for (name, value) in limits() {
        text.whole(name, value);
    }
    text.whole("COUNTERS", Counters::NAMES.len());
    text.number("SQRT_EPSILON", f64::EPSILON.sqrt());
    text.number("SHORTEST_TIME", SHORTEST_TIME);
    for (name, value) in [
        ("CELLS", form.cells),
        ("LANES", form.lanes()),
        ("IDLE_WORKER", IDLE_WORKER),
        ("WORKERS", form.workers),
        ("RESIDENT_BLOCKS", form.resident),
        ("SUMS", PARTIAL_SUMS),
        ("VARIABLES", kinetics.variables()),
        ("FIXED", kinetics.fixed.len()),
        ("REACTIONS", kinetics.reactions()),
        ("PARTIALS", kinetics.partials.len()),
        ("STAGES", method.stages),
        ("EVALUATIONS", method.evaluates[1..].iter().filter(|&&is| is).count()),
    ] {
        text.whole(name, value);
    }
    text.whole("ERROR_ORDER", method.order);
    text.number("SMALLEST_PIVOT", f64::MIN_POSITIVE);
    text.coefficients("METHOD_A", &method.a);
    text.coefficients("METHOD_C", &method.c);
    text.coefficients("METHOD_M", &method.m);
    text.coefficients("METHOD_E", &method.e);
    text.coefficients("METHOD_ALPHA", &method.alpha);
    text.coefficients("METHOD_GAMMA", &method.gamma);
    text.table("constexpr bool METHOD_EVALUATES", &method.evaluates, bool::to_string);

    if form.is_straight {
        straight_line::write(&mut text, kinetics, &layout(kinetics, plan));
    } else {
        tables(&mut text, kinetics, plan);
    }
    text.0 += "#include \"chemistry/functions.cuh\"\n";
    rates::write_timed(&mut text, &kinetics.rates, form.cells);
    KernelSource { file: "chemistry/rosenbrock.cu", prelude: text.0, is_exact: true, text: None }
}

/// The addresses of all numbers of straight-line code.
pub(super) fn layout(kinetics: &Kinetics, plan: &Plan) -> Layout {
    Layout::new(kinetics, plan.method.stages, plan.form)
}

/// The tables of a mechanism and the addresses of all arrays.
fn tables(text: &mut Declarations, kinetics: &Kinetics, plan: &Plan) {
    let form = plan.form;
    text.0 += STRUCTS;
    let distances = Distances { cells: form.cells, entry: size_of::<f64>() };
    let places = ArraySlots::new(kinetics, form);
    for place in places.arrays {
        text.truth(&format!("{}_SHARED", place.name), place.is_shared);
        text.whole(&format!("{}_AT", place.name), place.at);
    }
    text.whole("SCRATCH_DOUBLES", places.scratch);
    text.whole("FIRST_FIXED", kinetics.variables());
    owned(text, kinetics, form);
    reactions(text, kinetics, distances);
    factorisation(text, kinetics, form.workers, distances);
    solution(text, kinetics, form.workers, distances);
}

/// Maximum number of a worker's species for which loops are unrolled; with more, the values are not in registers.
const MOST_UNROLLED: usize = 16;

/// The species of every worker.
fn owned(text: &mut Declarations, kinetics: &Kinetics, form: ThreadMapping) {
    let costs: Vec<usize> = kinetics.net.iter().map(<[Term]>::len).collect();
    let owned = form.owned(kinetics);
    let shares = schedule::shares(&costs, form.workers, owned);
    let species = shares.iter().flat_map(|share| {
        let own = share.iter().map(|&species| species as u16);
        own.chain(std::iter::repeat(NO_SPECIES)).take(owned)
    });
    let species = species.chain(std::iter::repeat_n(NO_SPECIES, owned));
    text.whole("NO_SPECIES", NO_SPECIES);
    text.whole("OWNED", owned);
    text.whole("OWNED_UNROLLED", if owned <= MOST_UNROLLED { owned } else { 1 });
    text.integers("unsigned short", "OWNED_SPECIES", &species.collect::<Vec<_>>());
}

/// Reactions, their derivatives, and the net production of the species.
fn reactions(text: &mut Declarations, kinetics: &Kinetics, distances: Distances) {
    let most = kinetics.factors.iter().map(<[u32]>::len).max().unwrap_or(0).max(1);
    // Index of every operation among those that are kept.
    let slot = |reaction: usize| {
        let number = kinetics.rates.rate[reaction];
        kinetics.rates.kept.binary_search(&number).expect("rates are kept")
    };
    let distance = |element: usize| distances.number(element);
    let one = distance(kinetics.species());
    let record = |reaction: usize, factors: &[u32], most: usize| {
        let factors = factors.iter().map(|&factor| distance(factor as usize));
        let filled = factors.chain(std::iter::repeat(one)).take(most);
        std::iter::once(distance(slot(reaction))).chain(filled).collect::<Vec<u32>>()
    };
    let each = kinetics.factors.iter().enumerate();
    let records: Vec<Vec<u32>> = each.map(|(r, factors)| record(r, factors, most)).collect();
    text.products("REACTION", most, &records);
    let each = kinetics.partials.iter().zip(kinetics.partial_factors.iter());
    let records: Vec<Vec<u32>> = each
        .map(|(partial, factors)| record(partial.reaction as usize, factors, most - 1))
        .collect();
    text.products("PARTIAL", most - 1, &records);
    // Derivatives are in the order of their reactions.
    let starts: Vec<usize> = (0..=kinetics.reactions())
        .map(|r| kinetics.partials.partition_point(|partial| (partial.reaction as usize) < r))
        .collect();
    text.integers("int", "PARTIAL_START", &starts);
    let species: Vec<u32> =
        kinetics.partials.iter().map(|p| distance(p.species as usize)).collect();
    text.integers("unsigned", "PARTIAL_SPECIES", &species);
    let multiplicities: Vec<f64> =
        kinetics.partials.iter().map(|p| f64::from(p.multiplicity)).collect();
    text.numbers("PARTIAL_MULTIPLICITY", &multiplicities);
    text.integers("int", "NET_START", &kinetics.net.start);
    terms(text, "NET", &kinetics.net.elements, distances);
}

fn terms(text: &mut Declarations, name: &str, terms: &[Term], distances: Distances) {
    let elements: Vec<u32> =
        terms.iter().map(|term| distances.number(term.index as usize)).collect();
    let coefficients: Vec<f64> = terms.iter().map(|term| term.coefficient).collect();
    text.integers("unsigned", &format!("{name}_ELEMENT"), &elements);
    text.numbers(&format!("{name}_COEFFICIENT"), &coefficients);
}

/// Tasks of the factorisation.
fn factorisation(
    text: &mut Declarations,
    kinetics: &Kinetics,
    workers: usize,
    distances: Distances,
) {
    let distance = |entry: usize| distances.factor(entry);
    let (factors, tasks) =
        schedule::factors(&kinetics.lu, |entry| kinetics.jacobian.list(entry).len());
    let slots = schedule::slots(&tasks, workers);
    let (mut lists, mut records) = (Vec::new(), Vec::new());
    let (mut of_jacobian, mut pairs) = (Vec::new(), Vec::new());
    // The last list of a slot is that of an idle worker.
    for list in slots.iter().flat_map(|slot| slot.iter().map(Vec::as_slice).chain([&[][..]])) {
        let [first, term, pair] = [records.len(), of_jacobian.len(), pairs.len()];
        for &number in list {
            let factor = &factors[number];
            let kind = match factor.kind {
                Kind::Left(pivot) => distance(pivot),
                Kind::Diagonal => ON_DIAGONAL,
                Kind::Right => RIGHT_OF_DIAGONAL,
            };
            of_jacobian.extend_from_slice(kinetics.jacobian.list(factor.entry));
            pairs.extend(factor.pairs.iter().map(|pair| pair.map(distance)));
            let [last_term, last_pair] = [of_jacobian.len() as u32, pairs.len() as u32];
            records.push([distance(factor.entry), kind, last_term, last_pair]);
        }
        lists.push([first, records.len(), term, pair].map(|place| place as u32));
    }
    // The element after the last is loaded, and not used.
    lists.extend(vec![[0; 4]; workers + 1]);
    text.distance("ON_DIAGONAL", ON_DIAGONAL);
    text.distance("RIGHT_OF_DIAGONAL", RIGHT_OF_DIAGONAL);
    text.whole("FACTOR_SLOTS", slots.len());
    text.records("FactorList", "FACTOR_LISTS", &lists);
    text.records("FactorTask", "FACTOR_TASKS", &records);
    terms(text, "TASK_TERM", &of_jacobian, distances);
    text.records("Pair", "FACTOR_PAIRS", &pairs);
}

/// Pieces of a solution.
fn solution(text: &mut Declarations, kinetics: &Kinetics, workers: usize, distances: Distances) {
    let distance = |element: usize| distances.factor(element);
    let lu = &kinetics.lu;
    let slots = schedule::solution(lu, workers);
    let (mut lists, mut records, mut products) = (Vec::new(), Vec::new(), Vec::new());
    // The last list of a slot is that of an idle worker.
    for list in slots.iter().flat_map(|slot| slot.iter().map(Vec::as_slice).chain([&[][..]])) {
        let [first, product] = [records.len(), products.len()];
        for piece in list {
            let columns = piece.entries.iter().map(|&entry| [entry, lu.column[entry] as usize]);
            products.extend(columns.map(|pair| pair.map(distance)));
            let pivot = piece.pivot.map_or(NO_PIVOT, distance);
            records.push([distance(piece.row), pivot, products.len() as u32, 0]);
        }
        lists.push([first, records.len(), product, 0].map(|place| place as u32));
    }
    // The element after the last is loaded, and not used.
    lists.extend(vec![[0; 4]; workers + 1]);
    text.distance("NO_PIVOT", NO_PIVOT);
    text.whole("SOLVE_SLOTS", slots.len());
    text.records("SolveList", "SOLVE_LISTS", &lists);
    text.records("SolvePiece", "SOLVE_PIECES", &records);
    text.records("Pair", "PRODUCTS", &products);
}
