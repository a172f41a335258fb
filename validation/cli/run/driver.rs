//! The wind and the time step of the driver, and the specified rows.

use ndarray::{Array3, ArrayD};
use nwp_mini::advection::{Limiter, Wind, Workspace, step};
use nwp_mini::dry_mass::AirMass;
use nwp_mini::io::wrf;
use nwp_mini::model::RunInput;
use nwp_mini::state::BoundaryValues;

use super::place::{Place, storm};
use super::result::Output;
use super::small::Small;

const GRAVITY: f64 = 9.81;

/// The masses and winds of an output file, from which the longest step follows.
struct Winds {
    u: ArrayD<f64>,
    v: ArrayD<f64>,
    mu: ArrayD<f64>,
    maps: [ArrayD<f64>; 4],
    c1: ArrayD<f64>,
    c2: ArrayD<f64>,
    deep: ArrayD<f64>,
    dx: f64,
    dy: f64,
    periodic: [bool; 2],
}

impl Winds {
    fn of(output: &Output, periodic: [bool; 2]) -> Self {
        let frame = |name: &str| output.frame(name, 0);
        Self {
            u: frame("U"),
            v: frame("V"),
            mu: frame("MU") + frame("MUB"),
            maps: ["MAPFAC_MX", "MAPFAC_MY", "MAPFAC_UY", "MAPFAC_VX"].map(frame),
            c1: frame("C1H"),
            c2: frame("C2H"),
            deep: frame("RDNW").mapv(|r| 1.0 / r.abs()),
            dx: output.number("DX"),
            dy: output.number("DY"),
            periodic,
        }
    }

    /// Dry mass of a layer over a unit area, kg/m2, for a column mass `mu`.
    fn layer(&self, k: usize, mu: f64) -> f64 {
        (self.c1[[k]] * mu + self.c2[[k]]) * self.deep[[k]] / GRAVITY
    }

    /// Mean of a column on either side of face `at` of `n` cells.
    fn adjacent(at: usize, n: usize, periodic: bool, value: impl Fn(usize) -> f64) -> f64 {
        let (low, high) = match (at, periodic) {
            (0, true) => (n - 1, 0),
            (0, false) => (0, 0),
            (at, _) if at < n => (at - 1, at),
            (_, true) => (n - 1, 0),
            (_, false) => (n - 1, n - 1),
        };
        0.5 * (value(low) + value(high))
    }

    /// The longest time for which no cell loses more than it holds, s.
    fn longest_step(&self) -> f64 {
        let (ny, nx) = (self.mu.shape()[0], self.mu.shape()[1]);
        let nz = self.deep.len();
        let [mx, my, uy, vx] = &self.maps;
        let x = |k: usize, j: usize, i: usize| {
            let mu = Self::adjacent(i, nx, self.periodic[0], |i| self.mu[[j, i]]);
            self.u[[k, j, i]] * self.layer(k, mu) * self.dy / uy[[j, i]]
        };
        let y = |k: usize, j: usize, i: usize| {
            let mu = Self::adjacent(j, ny, self.periodic[1], |j| self.mu[[j, i]]);
            self.v[[k, j, i]] * self.layer(k, mu) * self.dx / vx[[j, i]]
        };
        let mut most = 0.0_f64;
        for j in 0..ny {
            for i in 0..nx {
                let mut up = 0.0;
                for k in 0..nz {
                    let (west, east) = (x(k, j, i), x(k, j, i + 1));
                    let (south, north) = (y(k, j, i), y(k, j + 1, i));
                    let below = up;
                    // Inflow at the sides and from below leaves through the top.
                    up = below + west - east + south - north;
                    let out = [-west, east, -south, north, -below, up];
                    let out: f64 = out.iter().map(|f| f.max(0.0)).sum();
                    let mass = self.layer(k, self.mu[[j, i]]) * self.dx * self.dy
                        / (mx[[j, i]] * my[[j, i]]);
                    most = most.max(out / mass);
                }
            }
        }
        1.0 / most
    }
}

/// The file has the winds in working precision, and vertical fluxes are the residual of the horizontal ones: to a part
/// in 1e7 of the largest of many terms, or to the residual of the solver in the column: 0.001 Pa/h changes the step by a
/// part in 1e8, so that less is asked for here.
#[test]
fn the_longest_step_is_that_of_the_winds_in_the_file() {
    let place = Place::empty();
    for (name, small) in [("classic.nc", Small::new()), ("hybrid.nc", Small::hybrid())] {
        small.write(&place.path(name));
    }
    let storm = storm();
    let storm = storm.to_str().expect("a path in UTF-8");
    let inputs = [
        ("classic.nc", "specified", [false; 2]),
        ("hybrid.nc", "specified", [false; 2]),
        ("hybrid.nc", "periodic", [true; 2]),
        ("hybrid.nc", "open,periodic", [false, true]),
        (storm, "open", [false; 2]),
    ];
    for (input, boundary, periodic) in inputs {
        for (precision, rounding) in [("f32", 1e-5), ("f64", 1e-8)] {
            let ended = place.run(&[
                "-q",
                "--force",
                "--input",
                input,
                "--output",
                "out.nc",
                "--json",
                "out.json",
                "--steps",
                "1",
                "--boundary",
                boundary,
                "--precision",
                precision,
                "--projection-residual",
                "1e-5",
            ]);
            ended.good();
            let reported = place.json("out.json")["max_dt"].as_f64().expect("a time");
            let found = Winds::of(&place.open("out.nc"), periodic).longest_step();
            assert!(
                (reported / found - 1.0).abs() < rounding,
                "{input} {boundary}: {reported} {found}"
            );
        }
    }
}

#[test]
fn a_longer_step_is_refused_and_the_one_named_instead_runs() {
    let place = Place::with(&Small::new());
    let refused = place.run_small(&["-q", "--dt", "4000", "--json", "out.json"]);
    refused.refused(2, &["a time step of 4000 s", "the longest time step for these winds is"]);
    assert_eq!(place.files(), ["small.nc"]);
    let (_, rest) = refused.stderr.split_once("for these winds is ").expect("the longest one");
    let (named, _) = rest.split_once(" s").expect("its unit");
    let (figures, output) = place.figures(&["--dt", named, "--steps", "20"]);
    let most = figures["max_dt"].as_f64().expect("a time");
    assert!(named.parse::<f64>().expect("a number") <= most, "{named} {most}");
    assert!(output.values("T").iter().all(|t| t.is_finite()));
    let beyond = format!("{}", most * 1.001);
    place.run_small(&["-q", "--force", "--dt", &beyond]).refused(2, &["longest time step"]);
}

/// At inflow over a specified side, its row keeps the values of the input: neither fluxes nor microphysics change it.
#[test]
fn the_specified_rows_hold_the_inputs_air_where_it_flows_in() {
    let place = Place::with(&Small::new());
    let (_, output) = place.figures(&["--steps", "10", "--boundary", "specified"]);
    let u = output.frame("U", 0);
    for name in ["T", "QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW"] {
        let (first, last) = (output.frame(name, 0), output.last(name));
        let (mut kept, mut copied) = (0, 0);
        for k in 0..8 {
            // The corners belong to the southern and northern rows.
            for j in 1..9 {
                let at = |i: usize| [k, j, i];
                for (i, inward) in [(0, u[at(0)]), (11, -u[at(12)])] {
                    if inward > 0.0 {
                        let [first, last] = [&first, &last].map(|field| field[at(i)].to_bits());
                        assert_eq!(first, last, "{name} {:?}", at(i));
                        kept += 1;
                    } else {
                        copied += 1;
                    }
                }
            }
        }
        assert!(kept > 20 && copied > 20, "{kept} {copied}");
        assert!(first != last, "{name} changes inside");
    }
}

/// At outflow, the row has the values of its inner neighbour before the microphysics. In clear air the microphysics
/// does not change the vapour, so that the two are equal.
#[test]
fn the_specified_rows_copy_their_neighbour_where_air_flows_out() {
    let place = Place::with(&Small::clear());
    let (_, output) = place.figures(&["--steps", "10", "--boundary", "specified"]);
    let (u, v) = (output.frame("U", 0), output.frame("V", 0));
    let vapour = output.last("QVAPOR");
    let mut copied = 0;
    let mut same = |row: [usize; 3], inside: [usize; 3]| {
        assert_eq!(vapour[row].to_bits(), vapour[inside].to_bits(), "{row:?}");
        copied += 1;
    };
    for k in 0..8 {
        for j in (1..9).filter(|&j| u[[k, j, 12]] > 0.0) {
            same([k, j, 11], [k, j, 10]);
        }
        for i in (1..11).filter(|&i| v[[k, 0, i]] < 0.0) {
            same([k, 0, i], [k, 1, i]);
        }
    }
    assert!(copied > 40, "{copied}");
}

/// A constant stays one to a part in 1e6 over 50 steps of 150 s in the storm's winds.
#[test]
fn a_constant_tracer_stays_constant_in_the_storm() {
    const VALUE: f32 = 0.0123;
    let kinds = ["specified", "open", "open,specified"];
    for boundary in kinds {
        let sides = boundary.parse().expect("boundaries");
        let (domain, frame) = wrf::read(&storm(), Some(sides)).expect("the storm");
        let case = RunInput::<f32>::new(domain, frame).expect("the storm's winds");
        let grid = &case.domain.grid;
        let air = AirMass::<f32>::new(grid, &case.domain.coordinate);
        let wind = Wind { grid, air: &air, flux: &case.forcing.flux, dt: 150.0 };
        let mut work = Workspace::new(grid.shape);
        for limiter in [Limiter::None, Limiter::PositiveDefinite, Limiter::Monotonic] {
            let mut q = Array3::from_elem(grid.shape.centre(), VALUE);
            let inflow = BoundaryValues::of(&q);
            for _ in 0..50 {
                step(&wind, limiter, Some(&inflow).into(), &mut q, &mut work);
            }
            let apart = q.fold(0.0_f32, |most, q| most.max((q / VALUE - 1.0).abs()));
            assert!(apart <= 1e-6, "{boundary} {limiter:?}: {apart:e}");
        }
    }
}
