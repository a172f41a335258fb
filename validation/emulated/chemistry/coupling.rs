//! The kernels between a run and its chemistry, on the host: cells from fields, and fields from cells, as in the CPU
//! version.
#![allow(clippy::float_cmp, reason = "equal bits are what this is about")]

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use ndarray::{Array, Array2, Array3, Dimension};
use nwp_mini::backend::BudgetDomain;
use nwp_mini::chemistry::cells::Cells;
use nwp_mini::chemistry::coupled::{Coupled, Degrees, FixedSource, Light};
use nwp_mini::chemistry::coupling::mixing_ratio;
use nwp_mini::chemistry::gpu::coupling::source;
use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::mechanism;
use nwp_mini::chemistry::zenith::Sun;
use nwp_mini::constants::Constants;
use nwp_mini::dry_mass::AirMass;
use nwp_mini::forcing::blend::blend;
use nwp_mini::grid::gpu::Layout;
use nwp_mini::grid::{Grid, Shape, Side, Sides};
use nwp_mini::real::Real;
use nwp_mini::state::{Environment, State};
use nwp_mini::tracers::{Inflow, Limiter, Role, Tracer, TracerSet, interned};
use nwp_mini_support::emulator::{Element, Program, Records};
use nwp_mini_support::random::Random;
use time::macros::datetime;

use crate::summary::coordinate;

const NZ: usize = 4;
/// Part by which sums differ in another order.
const ROUNDING: f64 = 1e-12;

const MECHANISM: &str = "#DEFVAR A = IGNORE; B = IGNORE; C = IGNORE; \
    #DEFFIX M = IGNORE; H2O = IGNORE; O2 = IGNORE; N2 = IGNORE; CH4 = IGNORE; \
    #EQUATIONS A = B : j(Pj_no2); B + M = C : rc_n2o5; C + H2O = A : 1e-20; A + O2 = C : j(Pj_o31d); \
    B + N2 = A : 1e-30; C + CH4 = B : ARR2(1e-14, 500, TEMP)*SUN; \
    C = A : 1e-9*rh + 1e-30*C_H2O; A = C : 1e-20*B + 1e-30*CH4 + 1e-30*O2 + 1e-31*AIR;";

fn values<R: Copy, D: Dimension>(field: &Array<R, D>) -> Vec<R> {
    field.iter().copied().collect()
}

fn species(name: &str) -> Tracer {
    Tracer {
        name: interned(name),
        variable: interned(name),
        units: "ppmv",
        description: "a species",
        role: Role::Species,
        limiter: Some(Limiter::PositiveDefinite),
        inflow: Inflow::Input,
        decay: None,
    }
}

/// A mechanism coupled to tracers, with columns of which some have night.
fn coupled(random: &mut Random, shape: Shape, set: &TracerSet) -> Coupled {
    let (mechanism, _) = mechanism::parse("m", MECHANISM).mechanism().expect("a mechanism");
    let kinetics = Kinetics::new(&mechanism).expect("kinetics");
    let field = |name: &str| set.position(&name.to_lowercase());
    let (light, _) = Light::clear_sky(&mechanism).expect("frequencies");
    let mut plane = |most: f64| {
        let draw = || random.between(-most, most) as f32;
        Degrees::Each(Array2::from_shape_simple_fn((shape.ny, shape.nx), draw))
    };
    let place = [plane(80.0), plane(179.0)];
    Coupled {
        fields: mechanism.species.iter().map(|species| field(&species.name)).collect(),
        mechanism,
        kinetics,
        light,
        place,
        date: datetime!(2005-06-21 12:00:00),
        interval: 60.0,
        keeps_steps: true,
    }
}

/// Number of the place among the fields, or of the origin, as the kernels have it.
fn origin(given: FixedSource) -> i32 {
    match given {
        FixedSource::Air => -1,
        FixedSource::Oxygen => -2,
        FixedSource::Nitrogen => -3,
        FixedSource::Water => -4,
        FixedSource::Humidity => -5,
        FixedSource::Field(field) => field as i32,
    }
}

/// Fields of a run, and the input of its chemistry.
struct Case<R> {
    about: String,
    shape: Shape,
    layout: Layout,
    air: AirMass<R>,
    region: BudgetDomain,
    coupled: Coupled,
    /// Photolysis frequencies of the input in two frames, and the weight of the later one.
    light: [Vec<Array3<R>>; 2],
    later: f64,
    state: State<R>,
    environment: Environment<R>,
    /// Rows and columns with chemistry.
    parts: [Range<usize>; 2],
    /// Numbers of their cells.
    cells: Vec<usize>,
    /// Stand-in for reactions: factors of the variable species, (species, cell), the status of each cell, counters.
    factor: Vec<f64>,
    status: Vec<i32>,
    counters: Vec<i32>,
}

/// Blocks that add up.
const BLOCKS: usize = 3;

impl<R: Real + Element + Constants> Case<R> {
    fn new(random: &mut Random, [nx, ny]: [usize; 2], side: Side, is_prescribed: bool) -> Self {
        let shape = Shape { nx, ny, nz: NZ };
        let grid = Grid::whole(shape, [3000.0, 2500.0], Sides::all(side));
        let air = AirMass::<R>::new(&grid, &coordinate(random, shape));
        let region = BudgetDomain::new(&grid, &coordinate(random, shape));
        let set = Arc::new(TracerSet::with_passive(["a", "b", "c", "ch4"].map(species)));
        let mut coupled = coupled(random, shape, &set);
        if is_prescribed {
            coupled.light = Light::Prescribed;
        }
        let mut field = |low: f64, high: f64| -> Array3<R> {
            Array::from_shape_simple_fn(shape.centre(), || R::of(random.between(low, high)))
        };
        let mut fields = vec![field(-20.0, 20.0), field(-1e-9, 0.02)];
        fields.extend((0..4).map(|_| field(0.0, 1e-4)));
        // Transport produces small negative values.
        fields.extend((0..4).map(|_| field(-1e-8, 1e-3)));
        let count = coupled.mechanism.photolysis.len();
        let mut frame = || -> Vec<Array3<R>> {
            let dark_or_not = |j: R| if j < R::ZERO { R::ZERO } else { j };
            (0..count).map(|_| field(-1e-2, 1e-2).mapv(dark_or_not)).collect()
        };
        let light = [frame(), frame()];
        let environment = Environment {
            rho: field(0.3, 1.2),
            exner: field(0.7, 1.0),
            p: field(2e4, 1e5),
            dz: field(100.0, 500.0),
        };
        let inside = |n: usize| if side == Side::Specified { 1..n - 1 } else { 0..n };
        let (rows, columns) = (inside(ny), inside(nx));
        let cells: Vec<usize> = (0..NZ)
            .flat_map(|k| rows.clone().map(move |j| k * ny + j))
            .flat_map(|row| columns.clone().map(move |i| row * nx + i))
            .collect();
        let count = cells.len();
        let variables = coupled.variable().len();
        Self {
            about: format!("{nx}x{ny} {side:?} {}", R::NAME),
            shape,
            layout: Layout::of(&grid, 4),
            air,
            region,
            coupled,
            light,
            later: random.between(0.1, 0.9),
            state: State::new(set, fields),
            environment,
            parts: [rows, columns],
            // The integration fails in some cells, and leaves negative values in others.
            factor: (0..variables * count).map(|_| random.between(-0.01, 1.5)).collect(),
            status: (0..count).map(|cell| if cell % 7 == 5 { -7 } else { 1 }).collect(),
            counters: (0..8 * count).map(|n| (n * n % 31) as i32).collect(),
            cells,
        }
    }

    /// A plane of values of the columns, in memory order.
    fn plane(&self, value: &dyn Fn([usize; 2]) -> f64) -> Vec<f64> {
        let Shape { nx, ny, .. } = self.shape;
        let all: Vec<f64> = (0..ny).flat_map(|j| (0..nx).map(move |i| [j, i])).map(value).collect();
        self.layout.padded(&all).into_owned()
    }

    fn records(&self) -> Records {
        let Self { layout, air, coupled, .. } = self;
        let mut records = Records::default();
        let lay = |field: &Array3<R>| layout.padded(&values(field)).into_owned();
        let all: Vec<R> = self.state.fields().iter().flat_map(lay).collect();
        records.put("tracers", &all);
        let Environment { rho, exner, p, .. } = &self.environment;
        let of_air: Vec<R> = [rho, exner, p].into_iter().flat_map(lay).collect();
        records.put("air", &of_air);
        records.put("with_mu", &layout.padded(&values(&air.cell.with_mu)));
        records.put("without_mu", &layout.padded(&values(&air.cell.without_mu)));
        records.put("c1", &air.cell.c1);
        records.put("c2", &air.cell.c2);
        let (variable, fixed) = (coupled.variable(), coupled.fixed());
        let quantities = coupled.quantities();
        let given = fixed.iter().chain(&quantities).map(|x| origin(*x));
        let places = variable.iter().map(|n| *n as i32).chain(given);
        records.put("places", &places.collect::<Vec<i32>>());
        let phi = |column: [usize; 2]| coupled.place[0].of(column).to_radians();
        let about = [
            self.plane(&|column| phi(column).sin()),
            self.plane(&|column| phi(column).cos()),
            self.plane(&|column| Sun::shift(coupled.place[1].of(column))),
        ];
        records.put("columns", &about.concat());
        let skies = match &coupled.light {
            Light::ClearSky(skies) => &skies[..],
            _ => &[],
        };
        let skies = skies.iter().flat_map(|sky| [sky.amplitude, sky.power, sky.depth]);
        records.put("skies", &skies.collect::<Vec<f64>>());
        records.put("is_prescribed", &[i32::from(coupled.light == Light::Prescribed)]);
        for (name, fields) in ["light_before", "light_after"].into_iter().zip(&self.light) {
            records.put(name, &fields.iter().flat_map(lay).collect::<Vec<R>>());
        }
        records.put("later", &[self.later]);
        let frequencies = coupled.mechanism.photolysis.len();
        records.put("daylight", &vec![0.0; (frequencies + 1) * layout.columns()]);
        for (name, each) in [
            ("variable", variable.len()),
            ("reacted", variable.len()),
            ("fixed", fixed.len()),
            ("temperature", 1),
            ("air_factor", 1),
            ("air_density", 1),
            ("hydrolysis", 1),
            ("photolysis", frequencies),
            ("quantities", quantities.len()),
            ("start", 1),
        ] {
            records.put(name, &vec![0.0_f64; each * self.cells.len()]);
        }
        records.put("factor", &self.factor);
        records.put("status", &self.status);
        records.put("counters", &self.counters);
        records.put("next_steps", &self.factor[..self.cells.len()]);
        records.put("first_steps", &vec![-1.0_f64; self.cells.len()]);
        records.put("sums", &vec![0.5; 2 * variable.len() * BLOCKS]);
        records.put("tally", &[10_u64, 12, 0, u64::MAX]);
        let sun = Sun::at(coupled.date, 0.0);
        records.put("sun", &[sun.declination[0], sun.declination[1], sun.clock]);
        let sizes = [frequencies, variable.len(), fixed.len(), quantities.len()];
        for (name, number) in self.numbers(sizes) {
            records.put(name, &[number as i32]);
        }
        records
    }

    fn numbers(
        &self,
        [frequencies, variables, fixed, quantities]: [usize; 4],
    ) -> [(&'static str, usize); 17] {
        let Self { layout, region, parts: [rows, columns], .. } = self;
        let [columns, inner] =
            [columns, &region.columns].map(|columns| layout.places(columns.clone()));
        [
            ("pitch", layout.pitch()),
            ("plane", layout.columns()),
            ("levels", NZ),
            ("first_row", rows.start),
            ("end_row", rows.end),
            ("first_column", columns.start),
            ("end_column", columns.end),
            ("inner_row", region.rows.start),
            ("inner_row_end", region.rows.end),
            ("inner_column", inner.start),
            ("inner_column_end", inner.end),
            ("frequencies", frequencies),
            ("variables", variables),
            ("fixed_species", fixed),
            ("named_quantities", quantities),
            ("cells", self.cells.len()),
            ("blocks", BLOCKS),
        ]
    }

    /// The cells of the CPU version for the fields.
    fn expected(&self) -> Cells {
        let daylight = self.coupled.daylight([self.shape.ny, self.shape.nx], 0.0);
        let [before, after] = &self.light;
        let mut light = before.clone();
        for ((out, a), b) in light.iter_mut().zip(before).zip(after) {
            blend(out, a, b, self.later);
        }
        self.coupled.cells(&self.state, (&self.environment, &light), &daylight, &self.cells)
    }

    /// Transposes values that are contiguous for each cell.
    fn by_quantity(&self, values: &[f64]) -> Vec<f64> {
        let each = values.len() / self.cells.len();
        (0..each).flat_map(|n| values.iter().skip(n).step_by(each).copied()).collect()
    }

    fn check_cells(&self, found: &Records) {
        let (about, count) = (&self.about, self.cells.len());
        let expected = self.expected();
        for (name, expected) in [
            ("variable", self.by_quantity(&expected.variable)),
            ("fixed", self.by_quantity(&expected.fixed)),
            ("quantities", self.by_quantity(&expected.quantities)),
            ("temperature", expected.temperature.clone()),
            ("air_factor", expected.air_factor.clone()),
            ("air_density", expected.air_density.clone()),
            ("hydrolysis", expected.hydrolysis.clone()),
        ] {
            assert!(found.take::<f64>(name) == expected, "{about} {name}");
        }
        // Photolysis frequencies use other functions on the device.
        let mut lit = 0;
        for (name, expected, scale) in [
            ("photolysis", self.by_quantity(&expected.photolysis), 1e-2),
            ("start", expected.start.clone(), 86_400.0),
        ] {
            for (a, b) in found.take::<f64>(name).iter().zip(&expected) {
                let is_same = name == "photolysis" && self.coupled.light == Light::Prescribed;
                let most = if is_same { 0.0 } else { 1e-13 * scale };
                assert!((a - b).abs() <= most, "{about} {name}: {a:e} {b:e}");
                lit += usize::from(*b > 0.0);
            }
        }
        assert!(lit > count + count / 4 && lit < 3 * count, "{about}: day and night, {lit}");
    }

    fn check_fields(&self, found: &Records) {
        let Self { about, region, status, .. } = self;
        let Shape { nx, ny, .. } = self.shape;
        let (variable, expected) = (self.coupled.variable(), self.expected());
        let fields = self.state.fields();
        let mut after: BTreeMap<usize, Vec<R>> =
            variable.iter().map(|n| (*n, values(&fields[*n]))).collect();
        let mut changes = vec![[0.5 * BLOCKS as f64; 2]; variable.len()];
        let count = self.cells.len();
        for (species, number) in variable.iter().enumerate() {
            let good = self.cells.iter().enumerate().filter(|(place, _)| status[*place] == 1);
            for (place, &cell) in good {
                let y = expected.variable[place * variable.len() + species]
                    * self.factor[species * count + place];
                let made = mixing_ratio(y, expected.air_density[place]);
                let field = after.get_mut(number).expect("a field");
                let before = field[cell].f64();
                let (start, end) = (before.max(0.0), made.max(0.0));
                field[cell] = R::normal(R::of(end));
                let (i, j, k) = (cell % nx, cell / nx % ny, cell / nx / ny);
                if region.rows.contains(&j) && region.columns.contains(&i) {
                    let mass = self.air.cell.at(k, j, i).f64();
                    changes[species][0] += mass * (made - start);
                    changes[species][1] += mass * ((start - before) + (end - made));
                }
            }
        }
        let (tracers, size) = (found.take::<R>("tracers"), self.layout.cells());
        for (number, expected) in fields.iter().enumerate() {
            let field = self.layout.unpadded(&tracers[number * size..][..size]).into_owned();
            let expected = after.get(&number).cloned().unwrap_or_else(|| values(expected));
            assert!(field == expected, "{about} field {number}");
        }
        let sums = found.take::<f64>("sums");
        let scale = changes.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
        for (species, change) in changes.iter().enumerate() {
            for (term, expected) in change.iter().enumerate() {
                let sum: f64 = sums[(2 * species + term) * BLOCKS..][..BLOCKS].iter().sum();
                let off = (sum - expected).abs();
                assert!(off <= ROUNDING * scale, "{about} {species} {term}: {sum} {expected}");
            }
        }
    }

    fn check_tally(&self, found: &Records) {
        let count = self.cells.len();
        let steps = self.counters[2 * count..3 * count].iter().map(|x| u64::from(x.unsigned_abs()));
        let failed = self.status.iter().filter(|status| **status != 1).count() as u64;
        let tally = found.take::<u64>("tally");
        let most = steps.clone().max().unwrap_or(0).max(12);
        assert_eq!(tally[..3], [10 + steps.sum::<u64>(), most, failed], "{}", self.about);
        let steps = self.status.iter().zip(&self.factor);
        let steps = steps.map(|(status, next)| if *status == 1 { *next } else { 0.0 });
        assert!(found.take::<f64>("first_steps").into_iter().eq(steps), "{}", self.about);
        assert_eq!(tally[3], 3 << 40 | 5 << 8 | 7, "{}: the first that failed", self.about);
    }
}

fn compare<R: Real + Element + Constants>(
    random: &mut Random,
    size: [usize; 2],
    side: Side,
    is_prescribed: bool,
) {
    let case = Case::<R>::new(random, size, side, is_prescribed);
    let source = source(R::PRECISION);
    let name = format!("coupling-{}", R::NAME);
    let options = ["-ffp-contract=off"];
    let file = "emulated/chemistry/coupling.cpp";
    let program = Program::compile(&name, file, &source.prelude, &options);
    let found = program.run(&case.records(), random.bits());
    case.check_cells(&found);
    case.check_fields(&found);
    case.check_tally(&found);
}

#[test]
fn cells_and_fields_are_those_of_the_cpu() {
    let random = &mut Random::new(8);
    for (size, side) in [([9, 6], Side::Specified), ([14, 5], Side::Open), ([8, 4], Side::Periodic)]
    {
        for is_prescribed in [false, true] {
            compare::<f32>(random, size, side, is_prescribed);
            compare::<f64>(random, size, side, is_prescribed);
        }
    }
}
