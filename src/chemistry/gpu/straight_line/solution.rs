//! The solution of a linear system as straight-line code.

use std::collections::BTreeSet;

use super::layout::Layout;
use super::{PRODUCT, WAIT, head, programs};
use crate::chemistry::gpu::declarations::Declarations;
use crate::chemistry::gpu::rounds::{Task, rounds};
use crate::chemistry::kinetics::Kinetics;

/// A task of a solution.
#[derive(Clone, Copy)]
enum Substitution {
    /// Loads the x of a row.
    Begin(usize),
    /// Subtracts the product of an entry and the x of its column.
    Subtract(usize, usize),
    /// Multiplies x by the inverse pivot in back substitution, and stores it.
    End(usize),
}

/// The tasks of a solution: forward substitution with L, or back substitution with U.
fn substitutions(kinetics: &Kinetics, is_down: bool) -> (Vec<Substitution>, Vec<Task>) {
    let lu = &kinetics.lu;
    let (mut kinds, mut tasks) = (Vec::new(), Vec::<Task>::new());
    let mut ends: Vec<Option<usize>> = vec![None; lu.size()];
    for (row, entries) in lu.substitution(is_down) {
        if is_down && entries.is_empty() {
            continue;
        }
        let mut push = |kind, needs, is_last| {
            kinds.push(kind);
            tasks.push(Task { cost: PRODUCT, needs, row, size: 1, is_last });
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

/// Writes the solution in place of the right side: forward substitution with L, then back substitution with U.
pub(super) fn solution(text: &mut Declarations, kinetics: &Kinetics, layout: &Layout) {
    text.0 += &head("void", "straight_solution", "");
    let mut all = vec![String::new(); layout.workers];
    for is_down in [true, false] {
        let (kinds, tasks) = substitutions(kinetics, is_down);
        let rounds = rounds(&tasks, layout.workers);
        for program in &mut all {
            *program += "{\n";
        }
        let mut own = vec![BTreeSet::new(); layout.workers];
        for round in rounds {
            for ((program, list), own) in all.iter_mut().zip(round).zip(&mut own) {
                for number in list {
                    *program += &line_of_solution(kinetics, layout, kinds[number], is_down, own);
                }
                *program += WAIT;
            }
        }
        for program in &mut all {
            *program += "}\n";
        }
    }
    programs(text, all);
    text.0 += "}\n";
}

/// Code of a task of a solution, for a worker with the x of rows `own` in registers.
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
