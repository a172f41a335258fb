//! A plain solver of one cell, to hold the lanes against: rates by walking the expression, sums by
//! walking the reactions, a dense matrix, the functions of the standard library.

use nwp_mini::chemistry::cells::{Cells, RateUpdate, Settings};
use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::mechanism::Mechanism;
use nwp_mini::chemistry::mechanism::expression::{Expression, Input, Operator};
use nwp_mini::chemistry::mechanism::functions::Function;
use nwp_mini::chemistry::rates::sun::sunlight;

use nwp_mini_support::chemistry::{Case, relative};

/// A cell of a mechanism.
pub(super) struct Oracle<'a> {
    mechanism: &'a Mechanism,
    /// Species by place: variable ones, then fixed ones.
    place: Vec<usize>,
    n: usize,
    cells: &'a Cells,
    cell: usize,
}

/// An attempted step: time before, length, error, and whether it was accepted.
pub(super) type Attempt = (f64, f64, f64, bool);

impl<'a> Oracle<'a> {
    pub(super) fn new(
        mechanism: &'a Mechanism,
        kinetics: &Kinetics,
        cells: &'a Cells,
        cell: usize,
    ) -> Self {
        let mut place = vec![usize::MAX; mechanism.species.len()];
        let all = kinetics.variable.iter().chain(&kinetics.fixed);
        all.enumerate().for_each(|(i, &species)| place[species] = i);
        Self { mechanism, place, n: kinetics.variables(), cells, cell }
    }

    /// Rate constants at a time.
    pub(super) fn rates(&self, time: f64) -> Vec<f64> {
        self.mechanism.reactions.iter().map(|r| self.value(r.rate, time)).collect()
    }

    fn value(&self, expression: u32, time: f64) -> f64 {
        let (c, cells) = (self.cell, self.cells);
        match self.mechanism.expressions.get(expression) {
            Expression::Number(x) => *x,
            Expression::Input(Input::Temperature) => cells.temperature[c],
            Expression::Input(Input::AirFactor) => cells.air_factor[c],
            Expression::Input(Input::AirDensity) => cells.air_density[c],
            Expression::Input(Input::Sun) => sunlight(time),
            Expression::Input(Input::Hydrolysis) => cells.hydrolysis[c],
            Expression::Input(Input::Photolysis(number)) => {
                cells.photolysis[c * self.mechanism.photolysis.len() + number]
            }
            Expression::Input(Input::Quantity(number)) => {
                cells.quantities[c * self.mechanism.quantities.len() + number]
            }
            Expression::Negative(inner) => -self.value(*inner, time),
            Expression::Select([condition, a, b]) => {
                let chosen = if self.value(*condition, time) == 0.0 { b } else { a };
                self.value(*chosen, time)
            }
            Expression::Operation(operator, operands) => {
                let [a, b] = operands.map(|operand| self.value(operand, time));
                match operator {
                    Operator::Add => a + b,
                    Operator::Subtract => a - b,
                    Operator::Multiply => a * b,
                    Operator::Divide => a / b,
                    Operator::Power => a.powf(b),
                    Operator::Minimum => a.min(b),
                    Operator::Maximum => a.max(b),
                    Operator::Sign => a.abs().copysign(b),
                    Operator::Less => f64::from(u8::from(a < b)),
                    Operator::LessEqual => f64::from(u8::from(a <= b)),
                    Operator::Equal => f64::from(u8::from((a - b).abs() == 0.0)),
                }
            }
            Expression::Call(function, arguments) => {
                let x: Vec<f64> = arguments.iter().map(|a| self.value(*a, time)).collect();
                named(*function, &x, cells.temperature[c], cells.air_factor[c] * 1e6)
            }
        }
    }

    fn rate_of(&self, reaction: usize, k: f64, y: &[f64]) -> f64 {
        let reactants = &self.mechanism.reactions[reaction].reactants;
        reactants.iter().fold(k, |a, &(s, l)| a * y[self.place[s]].powi(l.cast_signed()))
    }

    /// dy/dt, and the sum of the sizes of its terms.
    pub(super) fn tendencies(&self, k: &[f64], y: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut f, mut sizes) = (vec![0.0; self.n], vec![0.0; self.n]);
        for (r, reaction) in self.mechanism.reactions.iter().enumerate() {
            let rate = self.rate_of(r, k[r], y);
            for (species, coefficient) in reaction.net() {
                let i = self.place[species];
                if i < self.n {
                    f[i] += coefficient * rate;
                    sizes[i] += (coefficient * rate).abs();
                }
            }
        }
        (f, sizes)
    }

    /// The Jacobian, row by row.
    pub(super) fn jacobian(&self, k: &[f64], y: &[f64]) -> Vec<Vec<f64>> {
        let mut matrix = vec![vec![0.0; self.n]; self.n];
        for (r, reaction) in self.mechanism.reactions.iter().enumerate() {
            for &(by, multiplicity) in &reaction.reactants {
                let j = self.place[by];
                if j >= self.n {
                    continue;
                }
                let mut slope = k[r] * f64::from(multiplicity);
                for &(s, l) in &reaction.reactants {
                    let power = if s == by { l - 1 } else { l };
                    slope *= y[self.place[s]].powi(power.cast_signed());
                }
                for (species, coefficient) in reaction.net() {
                    let i = self.place[species];
                    if i < self.n {
                        matrix[i][j] += coefficient * slope;
                    }
                }
            }
        }
        matrix
    }

    /// The end of an integration and all attempts, by KPP's control of the step.
    pub(super) fn integrate(&self, settings: &Settings) -> (Vec<f64>, Vec<Attempt>) {
        let (n, method) = (self.n, &settings.method);
        let fixed = self.cells.fixed.len() / self.cells.len();
        let per_cell = |values: &[f64], count: usize| values[self.cell * count..][..count].to_vec();
        let mut y = per_cell(&self.cells.variable, n);
        y.extend(per_cell(&self.cells.fixed, fixed));
        let follows = settings.rates == RateUpdate::Updated;
        let start = self.cells.start[self.cell];
        let (mut t, end) =
            if follows { (start, start + settings.interval) } else { (0.0, settings.interval) };
        let frozen = self.rates(start);
        let rates = |t: f64| if follows { self.rates(t) } else { frozen.clone() };
        let longest = settings.interval;
        let mut h = if settings.first_step > 0.0 { settings.first_step } else { 1e-5 }.min(longest);
        let (mut last, mut twice) = (false, false);
        let mut attempts = Vec::new();
        while t - end + f64::EPSILON <= 0.0 {
            h = h.min((end - t).abs());
            let k = rates(t);
            let f0 = self.tendencies(&k, &y).0;
            let jacobian = self.jacobian(&k, &y);
            let drift: Vec<f64> = if follows {
                let d = f64::EPSILON.sqrt() * t.abs().max(1e-6);
                let later = self.tendencies(&rates(t + d), &y).0;
                later.iter().zip(&f0).map(|(a, b)| (a - b) / d).collect()
            } else {
                vec![0.0; n]
            };
            loop {
                let mut matrix = jacobian.clone();
                for (i, row) in matrix.iter_mut().enumerate() {
                    for x in row.iter_mut() {
                        *x = -*x;
                    }
                    row[i] += 1.0 / (h * method.gamma[0]);
                }
                let mut f = f0.clone();
                let mut stages: Vec<Vec<f64>> = Vec::new();
                for stage in 0..method.stages {
                    if stage > 0 && method.evaluates[stage] {
                        let mut at = y.clone();
                        for (a, k) in method.a_row(stage).iter().zip(&stages) {
                            (0..n).for_each(|i| at[i] += a * k[i]);
                        }
                        f = self.tendencies(&rates(t + method.alpha[stage] * h), &at).0;
                    }
                    let mut b = f.clone();
                    for (c, k) in method.c_row(stage).iter().zip(&stages) {
                        (0..n).for_each(|i| b[i] += c / h * k[i]);
                    }
                    (0..n).for_each(|i| b[i] += h * method.gamma[stage] * drift[i]);
                    stages.push(solved(matrix.clone(), b));
                }
                let weighted = |weights: &[f64], i: usize| -> f64 {
                    weights.iter().zip(&stages).map(|(w, k)| w * k[i]).sum()
                };
                let new: Vec<f64> = (0..n).map(|i| y[i] + weighted(&method.m, i)).collect();
                let square = |i: usize| {
                    let scale = settings.tolerances.absolute
                        + settings.tolerances.relative * y[i].abs().max(new[i].abs());
                    (weighted(&method.e, i) / scale).powi(2)
                };
                let error = ((0..n).map(square).sum::<f64>() / n as f64).sqrt().max(1e-10);
                let factor = (0.9 / error.powf(1.0 / f64::from(method.order))).clamp(0.2, 6.0);
                let mut next = h * factor;
                attempts.push((t, h, error, error <= 1.0));
                if error <= 1.0 {
                    y[..n].copy_from_slice(&new);
                    t += h;
                    next = next.min(longest);
                    h = if last { next.min(h) } else { next };
                    (last, twice) = (false, false);
                    break;
                }
                if twice {
                    next = h * 0.1;
                }
                (twice, last, h) = (last, true, next);
            }
        }
        y.truncate(n);
        (y, attempts)
    }
}

/// Gaussian elimination without pivoting.
pub(super) fn solved(mut matrix: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for p in 0..n {
        for i in p + 1..n {
            let m = matrix[i][p] / matrix[p][p];
            if m != 0.0 {
                let (above, below) = matrix.split_at_mut(i);
                (p..n).for_each(|j| below[0][j] -= m * above[p][j]);
                b[i] -= m * b[p];
            }
        }
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| matrix[i][j] * b[j]).sum();
        b[i] = (b[i] - known) / matrix[i][i];
    }
    b
}

/// Named rate functions, from the table of the language.
fn named(function: Function, x: &[f64], temperature: f64, own_air: f64) -> f64 {
    let arrhenius = |a: f64, b: f64, t: f64| a * (-b / t).exp();
    let fall_off = |low: f64, high: f64, f: f64, width: f64| {
        let ratio = low / high;
        low / (1.0 + ratio) * f.powf(1.0 / (1.0 + (ratio.log10() / width).powi(2)))
    };
    let three = |x: &[f64], t: f64| arrhenius(x[0], x[1], t) * (t / 300.0).powf(x[2]);
    let troe = |x: &[f64], f: f64, width: f64, t: f64, air: f64| {
        let (low, high) = (x[0] * (300.0 / t).powf(x[1]) * air, x[2] * (300.0 / t).powf(x[3]));
        fall_off(low, high, f, width)
    };
    let own = function.arguments()[0];
    let [t, air] = match x[own.min(x.len())..] {
        [t, air] => [t, air],
        _ => [temperature, own_air],
    };
    match function {
        Function::Exp => x[0].exp(),
        Function::Log => x[0].ln(),
        Function::Log10 => x[0].log10(),
        Function::Sqrt => x[0].sqrt(),
        Function::ArrAb => arrhenius(x[0], x[1], t),
        Function::ArrAc => x[0] * (t / 300.0).powf(x[1]),
        Function::ArrAbc => three(x, t),
        Function::Arr if x.len() == 3 => three(x, t),
        Function::Arr => three(x, x[3]),
        Function::Third => troe(&x[2..], x[6], 1.0, x[0], x[1]),
        Function::Arr2 if x.len() == 2 => x[0] * (x[1] / t).exp(),
        Function::Arr2 => arrhenius(x[0], x[1], x[2]),
        Function::KArr => x[0] * (x[1] * (1.0 / x[2] - 3.3540e-3)).exp(),
        Function::Abs => x[0].abs(),
        Function::Truncate => x[0].trunc(),
        Function::ThermalT2 => x[2] * x[2] * arrhenius(x[0], x[1], x[2]),
        Function::Ep2 => {
            let [q0, q2, q3] = [0, 2, 4].map(|i: usize| arrhenius(x[i], x[i + 1], t));
            q0 + q3 * air / (1.0 + q3 * air / q2)
        }
        Function::Ep3 => arrhenius(x[0], x[1], t) + arrhenius(x[2], x[3], t) * air,
        Function::Fall => fall_off(three(x, t) * air, three(&x[3..], t), x[6], 1.0),
        Function::F2 => fall_off(three(x, t) * air, three(&x[3..], t), x[6], x[7]),
        Function::Troe => troe(x, 0.6, 1.0, x[4], x[5]),
        Function::Troee => arrhenius(x[0], x[1], x[6]) * troe(&x[2..], 0.6, 1.0, x[6], x[7]),
        Function::ThirdJpl => troe(&x[1..], x[5], 1.0, t, x[0]),
        Function::ThirdIupac => troe(&x[1..], x[5], 0.75 - 1.27 * x[5].log10(), t, x[0]),
    }
}

/// KPP's steps of the first two cells, one by one.
#[test]
fn attempts_are_those_of_kpp() {
    // Errors are differences of stages: their digits are fewer than those of the stages.
    const TOLERANCE: f64 = 1e-6;
    for case in Case::all() {
        let cells = case.cells();
        for name in ["rodas3_600", "wrf_600"] {
            let run = case.run("au", name).unwrap();
            let trace = case.values(&format!("au_{name}_trace"));
            for cell in 0..2 {
                let oracle = Oracle::new(&case.mechanism, &case.kinetics, &cells, cell);
                let (_, attempts) = oracle.integrate(&run.settings);
                let expected: Vec<&[f64]> =
                    trace.chunks(5).filter(|row| row[0] as usize == cell).collect();
                assert_eq!(attempts.len(), expected.len(), "{} cell {cell}", run.name);
                for ((time, step, error, accepted), row) in attempts.into_iter().zip(expected) {
                    let context = format!("{} cell {cell} at {time} s: {row:?}", run.name);
                    assert_eq!(accepted, row[4] == 1.0, "{context}");
                    for (found, known) in [(time, row[1]), (step, row[2]), (error, row[3])] {
                        assert!(relative(found, known) < TOLERANCE, "{found:e} {context}");
                    }
                }
            }
        }
    }
}
