//! Order, pattern, stoichiometry, rate constants, tendencies, Jacobian and factors against KPP's.

use super::oracle::Oracle;
use nwp_mini::chemistry::cells::rate_constants;
use nwp_mini::chemistry::lanes::Row;
use nwp_mini::chemistry::mechanism::Mechanism;
use nwp_mini::chemistry::rosenbrock::{Factors, Work, methods};
use nwp_mini_support::chemistry::{Case, relative};

/// Largest relative difference of a rate constant: exponents of up to 60 lose as many units in the last
/// place (ULP) in any exponential.
const RATE_TOLERANCE: f64 = 1e-13;

/// Differences of rate constants from those of the file, a line for each reaction.
pub(super) fn rate_findings(case: &Case, found: &[f64]) -> Vec<String> {
    let (expected, count) = (case.values("rconst"), case.kinetics.reactions());
    (0..count)
        .filter_map(|r| {
            let of_cells = found.iter().zip(&expected).skip(r).step_by(count);
            let worst = of_cells.map(|(a, b)| relative(*a, *b)).fold(0.0, f64::max);
            let name = case.mechanism.reaction_name(r);
            (worst > RATE_TOLERANCE).then(|| format!("{name}: rate constant off by {worst:e}"))
        })
        .collect()
}

/// Differences of stoichiometry, a line for each reaction and species.
pub(super) fn stoichiometry_findings(case: &Case, mechanism: &Mechanism) -> Vec<String> {
    let species: Vec<usize> =
        case.kinetics.variable.iter().chain(&case.kinetics.fixed).copied().collect();
    let mut expected = std::collections::BTreeMap::new();
    for (what, side) in [("reactant", 0), ("net", 1)] {
        let of = |name: &str| case.whole(&format!("{what}_{name}"));
        let coefficients = case.values(&format!("{what}_coef"));
        for ((r, s), c) in of("rxn").into_iter().zip(of("species")).zip(coefficients) {
            expected.insert((side, r, species[s]), c);
        }
    }
    let mut found = std::collections::BTreeMap::new();
    for (r, reaction) in mechanism.reactions.iter().enumerate() {
        let reactants = reaction.reactants.iter();
        found.extend(reactants.map(|&(s, l)| ((0, r, s), f64::from(l))));
        found.extend(reaction.net().into_iter().map(|(s, c)| ((1, r, s), c)));
    }
    let keys: std::collections::BTreeSet<_> = expected.keys().chain(found.keys()).collect();
    keys.into_iter()
        .filter_map(|key| {
            let [a, b] = [&found, &expected].map(|map| map.get(key).copied().unwrap_or(0.0));
            let (_, r, s) = *key;
            let (reaction, species) = (mechanism.reaction_name(r), &mechanism.species[s].name);
            // Sums of coefficients of three digits.
            ((a - b).abs() > 1e-12).then(|| format!("{reaction}: {species} {a}, expected {b}"))
        })
        .collect()
}

#[test]
fn order_and_pattern_are_those_of_kpp() {
    for case in Case::all() {
        let names = |list: &[usize]| -> Vec<String> {
            list.iter().map(|&s| case.mechanism.species[s].name.clone()).collect()
        };
        assert_eq!(names(&case.kinetics.variable), case.texts("var_name"), "{}", case.name);
        assert_eq!(names(&case.kinetics.fixed), case.texts("fix_name"), "{}", case.name);
        let lu = &case.kinetics.lu;
        let whole = |list: &[u32]| list.iter().map(|&x| x as usize).collect::<Vec<_>>();
        assert_eq!(whole(&lu.column), case.whole("lu_icol"), "{}", case.name);
        assert_eq!(whole(&lu.row_start), case.whole("lu_crow"), "{}", case.name);
        assert_eq!(whole(&lu.diagonal), case.whole("lu_diag"), "{}", case.name);
        let is_jacobian: Vec<usize> =
            case.kinetics.is_jacobian.iter().map(|&is| usize::from(is)).collect();
        assert_eq!(is_jacobian, case.whole("lu_is_jac"), "{}", case.name);
    }
    // Divisions, products and entries without reordering, from KPP's generator.
    let counts = [
        ("small_strato", (8, 13), 21),
        ("cbm4", (134, 564), 829),
        ("radm2", (304, 1642), 2092),
        ("saprc99", (467, 2384), 3385),
    ];
    for (name, operations, unordered) in counts {
        let case = Case::named(name);
        assert_eq!(case.kinetics.lu.operations(), operations, "{name}");
        assert_eq!(case.kinetics.entries_unordered, unordered, "{name}");
    }
}

#[test]
fn rates_and_stoichiometry_are_those_of_kpp() {
    for case in Case::all() {
        let found = rate_findings(&case, &rate_constants(&case.kinetics, &case.cells()));
        assert!(found.is_empty(), "{}\n{}", case.name, found.join("\n"));
        let found = stoichiometry_findings(&case, &case.mechanism);
        assert!(found.is_empty(), "{}\n{}", case.name, found.join("\n"));
    }
}

#[test]
fn nitrogen_and_sulphur_balance_in_every_reaction_of_radm2() {
    let Case { mechanism, .. } = Case::named("radm2");
    for atom in ["N", "S"] {
        let atom = mechanism.atoms.iter().position(|name| name == atom).unwrap();
        let atoms = |species: usize| -> f64 {
            let composition = &mechanism.species[species].composition;
            composition.iter().filter(|(a, _)| *a == atom).map(|(_, count)| count).sum()
        };
        for (r, reaction) in mechanism.reactions.iter().enumerate() {
            let gain: f64 = reaction.net().iter().map(|&(s, c)| c * atoms(s)).sum();
            // Yields have three digits.
            assert!(gain.abs() < 1e-9, "{} makes {gain} atoms", mechanism.equation(r));
        }
    }
}

#[test]
fn tendencies_and_jacobian_are_those_of_kpp() {
    // Of the sum of the sizes of the terms.
    const TOLERANCE: f64 = 1e-12;
    for case in Case::all() {
        let (cells, n) = (case.cells(), case.kinetics.variables());
        let (f, jacobian) = (case.values("fun0"), case.values("dbg_jac0"));
        let entries = case.kinetics.lu.entries();
        for cell in 0..jacobian.len() / entries {
            let oracle = Oracle::new(&case.mechanism, &case.kinetics, &cells, cell);
            let k = oracle.rates(cells.start[cell]);
            let mut y = cells.variable[cell * n..][..n].to_vec();
            let fixed = case.kinetics.fixed.len();
            y.extend(&cells.fixed[cell * fixed..][..fixed]);
            let (plain, sizes) = oracle.tendencies(&k, &y);

            let mut work = loaded(&case, &y, &k);
            work.begin(&case.kinetics, false, Row::default());
            for i in 0..n {
                let expected = f[cell * n + i];
                for found in [plain[i], work.start[i][0]] {
                    let off = (found - expected).abs() / sizes[i].max(f64::MIN_POSITIVE);
                    let name = &case.mechanism.species[case.kinetics.variable[i]].name;
                    assert!(off < TOLERANCE, "{} {name} {found:e} {expected:e}", case.name);
                }
            }
            let matrix = oracle.jacobian(&k, &y);
            for (row, entries_of_row) in matrix.iter().enumerate() {
                for entry in case.kinetics.lu.row(row) {
                    let column = case.kinetics.lu.column[entry] as usize;
                    let expected = jacobian[cell * entries + entry];
                    let off = (entries_of_row[column] - expected).abs();
                    // A loss and a gain may cancel in an entry: of the largest one of its row.
                    let scale = entries_of_row.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
                    assert!(off <= TOLERANCE * scale, "{} {row} {column}", case.name);
                }
            }
        }
    }
}

/// A cell in all lanes.
fn loaded(case: &Case, y: &[f64], k: &[f64]) -> Work {
    let mut work = Work::new(&case.kinetics, &methods::RODAS3);
    for (row, &value) in work.y.iter_mut().zip(y) {
        *row = Row::all(value);
    }
    for (&number, &value) in case.kinetics.rates.rate.iter().zip(k) {
        work.rates[number as usize] = Row::all(value);
    }
    work
}

#[test]
fn factors_solve_as_those_of_kpp() {
    // A minute of RODAS3.
    const DIAGONAL: f64 = 1.0 / (60.0 * 0.5);
    // Conditions of the matrices are some 1e5, relative to single rows.
    const TOLERANCE: f64 = 1e-9;
    for case in Case::all() {
        let (cells, n) = (case.cells(), case.kinetics.variables());
        let (f, solution) = (case.values("fun0"), case.values("dbg_x60"));
        let fixed = case.kinetics.fixed.len();
        for cell in 0..solution.len() / n {
            let oracle = Oracle::new(&case.mechanism, &case.kinetics, &cells, cell);
            let mut y = cells.variable[cell * n..][..n].to_vec();
            y.extend(&cells.fixed[cell * fixed..][..fixed]);
            let mut work = loaded(&case, &y, &oracle.rates(cells.start[cell]));
            work.begin(&case.kinetics, false, Row::default());
            let mut factors = Factors::new(&case.kinetics);
            let regular = work.factorise(&case.kinetics, &mut factors, Row::all(DIAGONAL));
            assert!(regular[0], "{}", case.name);
            let known = &case.values("dbg_lu60")[cell * factors.matrix.len()..];
            for (entry, expected) in factors.matrix.iter().zip(known) {
                let off = (entry[0] - expected).abs() / (expected.abs() + DIAGONAL);
                assert!(off < TOLERANCE, "{} cell {cell}: {} {expected}", case.name, entry[0]);
            }
            for (x, &value) in factors.x.iter_mut().zip(&f[cell * n..]) {
                *x = Row::all(value);
            }
            let lu = &case.kinetics.lu;
            lu.solve(&factors.matrix, &factors.inverse, &mut factors.x);
            let x: Vec<f64> = factors.x.iter().map(|row| row[0]).collect();
            let largest = solution[cell * n..][..n].iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            for i in 0..n {
                let expected = solution[cell * n + i];
                let off = (x[i] - expected).abs() / (expected.abs() + 1e-6 * largest);
                assert!(off < TOLERANCE, "{} cell {cell} row {i}: {} {expected}", case.name, x[i]);
            }
        }
    }
}
