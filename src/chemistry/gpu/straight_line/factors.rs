//! The factorisation as straight-line code.

use std::fmt::Write;

use super::layout::Layout;
use super::{PRODUCT, WAIT, added, head, programs};
use crate::chemistry::gpu::declarations::Declarations;
use crate::chemistry::gpu::rounds::{Task, rounds};
use crate::chemistry::kinetics::{Kinetics, Term};

/// Latency of a product, in instructions.
const LATENCY: usize = 10;
/// Latency of an inverse, in instructions.
const INVERSE: usize = 50;

/// The sum of terms of an entry of the Jacobian; none if it is fill.
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
    /// Computes a row of the matrix.
    Begin(usize),
    /// Subtracts from a row a multiple of another, by an entry of L.
    Subtract(usize, usize),
    /// Computes a row and subtracts the first multiple from it, with the row in registers.
    BeginAndSubtract(usize, usize),
    /// Inverts the pivot of a row and stores the row.
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
        for left in lu.lower(row) {
            let column = lu.column[left] as usize;
            let products = 1 + lu.upper(column).len();
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

/// Writes the factorisation of I/(hγ) - J row by row, with the inverse pivots on the diagonal; the function returns
/// false if a pivot is zero or subnormal.
pub(super) fn factors(text: &mut Declarations, kinetics: &Kinetics, layout: &Layout) {
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

/// Code of a worker in a round of the factorisation.
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
                let _ = writeln!(text, "e{left} *= {};", factor(pivot));
                for upper in lu.upper(column) {
                    let target = lu.entry(row, lu.column[upper] as usize);
                    let target = target.expect("there is room for fill");
                    let upper = factor(upper);
                    let _ = writeln!(text, "e{target} = fma(-e{left}, {upper}, e{target});");
                }
            }
            Elimination::End(row) => {
                let diagonal = lu.diagonal[row] as usize;
                // A NaN does not count as singular: it makes the error of the step NaN.
                let _ = writeln!(
                    text,
                    "is_regular = is_regular && !(fabs(e{diagonal}) < SMALLEST_PIVOT);\n\
                     e{diagonal} = inverse_of(e{diagonal});"
                );
                for entry in lu.row(row) {
                    let _ = writeln!(text, "{} = e{entry};", factor(entry));
                }
                text += "compiler_barrier();\n";
            }
        }
    }
    text
}
