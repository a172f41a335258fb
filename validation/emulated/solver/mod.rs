//! The kernels of the conjugate gradients, run on the host: the bits of the CPU version, on systems
//! of any size and on that of the storm.
#![allow(clippy::print_stdout, reason = "what the emulator complains of is worth reading")]

use nwp_mini_support::{emulator, random};

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nwp_mini::error::Result;
use nwp_mini::io::wrf;
use nwp_mini::model::RunInput;
use nwp_mini::primitives::conjugate_gradient::{SUMMED, Solution, Solver, solve};
use nwp_mini::primitives::csr::Csr;
use nwp_mini::primitives::gpu::conjugate_gradient::{ITERATIONS, outcome, source, untouched};

use emulator::{Program, Records};
use random::Random;

/// A device of the host. It starts its threads in another order every time.
#[derive(Debug)]
struct Emulated {
    program: Program,
    seed: AtomicU64,
}

impl Emulated {
    fn new(name: &str) -> Self {
        Self::with_kernels(name, &Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels"))
    }

    /// With kernels of another folder.
    fn with_kernels(name: &str, kernels: &Path) -> Self {
        let source = source();
        assert_eq!(source.file, "primitives/conjugate_gradient.cu");
        let include = format!("-I{}", kernels.display());
        let options = ["-ffp-contract=off", &include];
        let program =
            Program::compile(name, "emulated/solver/program.cpp", &source.prelude, &options);
        Self { program, seed: AtomicU64::new(1) }
    }
}

impl Solver for Emulated {
    fn solve(&self, matrix: &Csr<f64>, b: &[f64], limit: &[f64], most: usize) -> Result<Solution> {
        Ok(self.attempt(matrix, b, limit, most).expect("threads that wait for each other"))
    }
}

impl Emulated {
    /// The solution; `None` if the emulator reports an error.
    fn attempt(
        &self,
        matrix: &Csr<f64>,
        b: &[f64],
        limit: &[f64],
        most: usize,
    ) -> Option<Solution> {
        let n = b.len();
        let mut records = Records::default();
        let starts: Vec<i32> = matrix.starts().iter().map(|&n| n as i32).collect();
        let column_of: Vec<i32> = matrix.column_of().iter().map(|&n| n as i32).collect();
        records.put("starts", &starts);
        records.put("column_of", &column_of);
        records.put("values", matrix.values());
        let inverse = matrix.diagonal().into_iter().map(|d| if d > 0.0 { 1.0 / d } else { 0.0 });
        records.put("inverse", &inverse.collect::<Vec<f64>>());
        records.put("limit", limit);
        records.put("residual", b);
        for name in ["x", "scaled", "product", "direction0", "direction1"] {
            records.put(name, &vec![0.0; n]);
        }
        records.put("sums", &vec![f64::NAN; n.div_ceil(SUMMED)]);
        let (numbers, words) = untouched();
        records.put("numbers", &numbers);
        records.put("words", &words);
        for (name, number) in [("rows", n), ("most", most), ("more", 2 * ITERATIONS)] {
            records.put(name, &[number as i32]);
        }
        let seed = self.seed.fetch_add(1000, Ordering::Relaxed);
        let found = match self.program.attempt(&records, seed) {
            Ok(found) => found,
            Err(why) => {
                println!("{why}");
                return None;
            }
        };
        let (iterations, converged) = outcome(&found.take::<u64>("words"));
        Some(Solution { x: found.take("x"), iterations, converged })
    }
}

/// Random conductances of a rectangle of cells; with `held` the potential beyond it is 0. A few distant cells are
/// connected too.
fn rectangle(random: &mut Random, [nx, ny]: [usize; 2], held: bool) -> Csr<f64> {
    let mut triplets = Vec::new();
    let mut link = |random: &mut Random, a: usize, b: usize| {
        let link = random.between(0.1, 10.0);
        triplets.extend([(a, a, link), (b, b, link), (a, b, -link), (b, a, -link)]);
    };
    for j in 0..ny {
        for i in 0..nx {
            let cell = j * nx + i;
            if i > 0 {
                link(random, cell - 1, cell);
            }
            if j > 0 {
                link(random, cell - nx, cell);
            }
            if cell % 97 == 1 {
                link(random, cell, nx * ny - 1 - cell / 2);
            }
        }
    }
    if held {
        triplets.extend((0..nx).map(|cell| (cell, cell, 1.0)));
    }
    Csr::from_triplets(nx * ny, nx * ny, &triplets).expect("valid triplets")
}

#[test]
fn any_system_is_solved_with_the_bits_of_the_cpu() {
    let device = Emulated::new("solver-random");
    let random = &mut Random::new(1);
    // One thread, one warp, one block and its neighbours, many blocks.
    for size in [[1, 1], [2, 1], [33, 1], [16, 16], [257, 1], [29, 31], [71, 9]] {
        for held in [true, false] {
            let matrix = rectangle(random, size, held);
            let n = matrix.rows();
            let wanted: Vec<f64> = (0..n).map(|_| random.between(-1.0, 1.0)).collect();
            let mut b = vec![0.0; n];
            matrix.multiply(&wanted, &mut b);
            let limit: Vec<f64> = (0..n).map(|_| random.between(1e-9, 1e-8)).collect();
            let expected = solve(&matrix, &b, &limit, 10 * n);
            let found = device.solve(&matrix, &b, &limit, 10 * n).expect("a solution");
            assert!(expected.converged, "{size:?}");
            assert_eq!(found, expected, "{size:?}, held {held}");
        }
    }
}

#[test]
fn it_ends_where_the_cpu_ends() {
    let device = Emulated::new("solver-ends");
    let random = &mut Random::new(2);
    let matrix = rectangle(random, [20, 20], true);
    let b: Vec<f64> = (0..400).map(|_| random.between(-1.0, 1.0)).collect();
    let empty = Csr::from_triplets(400, 400, &[]).expect("valid triplets");
    let indefinite = Csr::from_triplets(400, 400, &[(0, 0, -1.0)]).expect("valid triplets");
    for (what, matrix, b, limit, most) in [
        ("nothing to do", &matrix, vec![0.0; 400], 0.0, 10),
        ("an odd number granted, which does not suffice", &matrix, b.clone(), 1e-9, 7),
        ("an even number", &matrix, b.clone(), 1e-9, 8),
        ("an empty matrix", &empty, b.clone(), 1e-9, 10),
        ("an indefinite one", &indefinite, b, 1e-9, 10),
        ("no number", &matrix, vec![f64::NAN; 400], 1e-9, 10),
        ("no finite number", &matrix, vec![f64::INFINITY; 400], 1e-9, 10),
    ] {
        let limit = vec![limit; 400];
        let expected = solve(matrix, &b, &limit, most);
        let found = device.solve(matrix, &b, &limit, most).expect("an answer");
        let ends = |solution: &Solution| (solution.iterations, solution.converged);
        assert_eq!(ends(&found), ends(&expected), "{what}");
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        // Zeros may differ in sign, and NaN in their bits.
        let same =
            found.x.iter().zip(&expected.x).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()));
        assert!(same, "{what}: {:?} {:?}", bits(&found.x[..4]), bits(&expected.x[..4]));
    }
}

/// Without a barrier that the sums need, the order of the threads shows.
#[test]
fn barriers_are_missed() {
    const BARRIER: &str = "__syncthreads();\n";
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/primitives");
    let random = &mut Random::new(4);
    let matrix = rectangle(random, [71, 9], true);
    let b: Vec<f64> = (0..639).map(|_| random.between(-1.0, 1.0)).collect();
    let limit = vec![1e-9; 639];
    let expected = solve(&matrix, &b, &limit, 20);
    // The second barrier of the sum is needed for several numbers: `emulated_summary` tests it.
    for (file, count) in [("block_sum.cuh", 2), ("conjugate_gradient.cu", 1)] {
        let text = fs::read_to_string(project.join(file)).expect("a kernel");
        let barriers: Vec<usize> = text.match_indices(BARRIER).map(|(at, _)| at).collect();
        assert_eq!(barriers.len(), count, "{file}");
        let at = barriers[0];
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("solver-without-{file}"));
        let parts = folder.join("primitives");
        fs::create_dir_all(&parts).expect("a folder");
        for part in ["block_sum.cuh", "conjugate_gradient.cu"] {
            fs::copy(project.join(part), parts.join(part)).expect("a copy");
        }
        let broken = format!("{}{}", &text[..at], &text[at + BARRIER.len()..]);
        fs::write(parts.join(file), broken).expect("a file");
        let device = Emulated::with_kernels(&format!("solver-broken-{count}"), &folder);
        let is_noticed = (0..8).any(|_| {
            let found = device.attempt(&matrix, &b, &limit, 20);
            found.is_none_or(|found| found != expected)
        });
        assert!(is_noticed, "nothing is wrong without the barrier of {file}");
    }
}

#[test]
fn the_winds_of_the_storm_are_those_of_the_cpu() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/soc.nc");
    let read = || wrf::read(&path, None).expect("the storm");
    let (domain, frame) = read();
    let expected = RunInput::<f64>::new(domain, frame).expect("the storm's winds");
    let (domain, frame) = read();
    let solver = Arc::new(Emulated::new("solver-storm"));
    let found = RunInput::<f64>::with_solver(domain, frame, solver).expect("the storm's winds");
    assert!(expected.projection.iterations > 100, "{:?}", expected.projection);
    assert_eq!(found.projection, expected.projection);
    assert_eq!(found.winds, expected.winds);
    let flux = |case: &RunInput<f64>| case.forcing.flux.clone();
    let (found, expected) = (flux(&found), flux(&expected));
    assert_eq!([found.x, found.y, found.z], [expected.x, expected.y, expected.z]);
}
