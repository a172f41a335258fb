//! The tester tested: a coefficient, a rate or a stoichiometric number that is off by one per cent is
//! noticed and named.

use nwp_mini::chemistry::cells::{integrate, rate_constants};
use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::mechanism::expression::{Expression, Operator};
use nwp_mini::chemistry::rosenbrock::Method;

use super::agreement::findings;
use super::tables::{rate_findings, stoichiometry_findings};
use nwp_mini_support::chemistry::Case;

const ONE_PER_CENT_MORE: f64 = 1.01;

/// Access to a coefficient by its number.
type Reach = fn(&mut Method, usize) -> &mut f64;

/// All coefficients of a method that an integration uses, by name.
fn coefficients(method: &Method) -> Vec<(String, Reach, usize)> {
    let pairs = method.stages * (method.stages - 1) / 2;
    let mut all: Vec<(String, Reach, usize)> = Vec::new();
    let row_of = |pair: usize| (1..method.stages).find(|i| pair < i * (i + 1) / 2).unwrap();
    for pair in 0..pairs {
        // Stages that take the f of the one before have no use for their place.
        if method.evaluates[row_of(pair)] && method.a[pair] != 0.0 {
            all.push((format!("a[{pair}]"), |m, i| &mut m.a[i], pair));
        }
        all.push((format!("c[{pair}]"), |m, i| &mut m.c[i], pair));
    }
    for i in 0..method.stages {
        for (name, is_used, reach) in [
            ("m", method.m[i] != 0.0, (|m, i| &mut m.m[i]) as Reach),
            ("e", method.e[i] != 0.0, |m, i| &mut m.e[i]),
            ("alpha", method.evaluates[i] && method.alpha[i] != 0.0, |m, i| &mut m.alpha[i]),
            ("gamma", method.gamma[i] != 0.0, |m, i| &mut m.gamma[i]),
        ] {
            if is_used {
                all.push((format!("{name}[{i}]"), reach, i));
            }
        }
    }
    all
}

#[test]
fn every_coefficient_of_every_method_is_watched() {
    let case = Case::named("small_strato");
    for name in ["ros2_600", "ros3_600", "ros4_600", "rodas3_600", "rodas4_600"] {
        let mut run = case.run("na", name).unwrap();
        let right = run.settings.method;
        let mut check = |method: Method| {
            run.settings.method = method;
            let mut cells = case.cells();
            let out = integrate(&case.kinetics, &run.settings, &mut cells);
            findings(&case, &run, &cells, &out).0
        };
        assert!(check(right).is_empty(), "{name}");
        for (what, reach, i) in coefficients(&right) {
            let mut wrong = right;
            *reach(&mut wrong, i) *= ONE_PER_CENT_MORE;
            let lines = check(wrong);
            let named = lines.iter().any(|line| line.contains(right.name));
            assert!(named, "{what} of {name} may be wrong unnoticed: {lines:?}");
        }
    }
}

#[test]
fn every_rate_is_watched() {
    let mut case = Case::named("radm2");
    let cells = case.cells();
    for r in 0..case.mechanism.reactions.len() {
        let right = case.mechanism.reactions[r].rate;
        let expressions = &mut case.mechanism.expressions;
        let factor = expressions.add(Expression::Number(ONE_PER_CENT_MORE));
        case.mechanism.reactions[r].rate =
            expressions.add(Expression::Operation(Operator::Multiply, [factor, right]));
        let kinetics = Kinetics::new(&case.mechanism).unwrap();
        let lines = rate_findings(&case, &rate_constants(&kinetics, &cells));
        let name = case.mechanism.reaction_name(r);
        assert!(lines.len() == 1 && lines[0].starts_with(&name), "{name}: {lines:?}");
        case.mechanism.reactions[r].rate = right;
    }
}

#[test]
fn every_stoichiometric_number_is_watched() {
    let case = Case::named("radm2");
    let mut mechanism = case.mechanism.clone();
    for r in 0..mechanism.reactions.len() {
        for i in 0..mechanism.reactions[r].products.len() {
            let right = mechanism.reactions[r].products[i];
            mechanism.reactions[r].products[i].1 *= ONE_PER_CENT_MORE;
            let lines = stoichiometry_findings(&case, &mechanism);
            let name =
                format!("{}: {} ", mechanism.reaction_name(r), mechanism.species[right.0].name);
            assert!(lines.len() == 1 && lines[0].starts_with(&name), "{name}: {lines:?}");
            mechanism.reactions[r].products[i] = right;
        }
    }
}
