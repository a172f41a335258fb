//! The end of steps: the sums over several steps have the bits of steps one by one.

use std::path::Path;

use nwp_mini::advection::gpu::transport::side_values;
use nwp_mini::gpu::budget::TERMS;
use nwp_mini::gpu::step_end::source;
use nwp_mini::grid::{Grid, Shape, Side, Sides};
use nwp_mini::real::Real;

use super::NZ;
use super::emulator::{Element, Program, Records};
use super::random::Random;

const TRACERS: usize = 2;
/// Steps in all: more than the kernel adds up at once, and no multiple of them.
const STEPS: usize = 20;
/// Blocks that share the rows of the planes.
const BLOCKS: usize = 3;

/// Sums of the faces, sums of the planes, and the notes on the device and those shown.
type Found = (Vec<f64>, Vec<f64>, [Vec<u64>; 2]);

struct Steps<R> {
    grid: Grid,
    side_flux: Vec<R>,
    planes: Vec<R>,
    area: Vec<f64>,
    dt: R,
}

impl<R: Real + Element> Steps<R> {
    fn new(random: &mut Random, [nx, ny]: [usize; 2]) -> Self {
        let shape = Shape { nx, ny, nz: NZ };
        let grid = Grid::whole(shape, [3000.0, 2500.0], Sides::all(Side::Specified));
        let mut draw = |count: usize, low, high| -> Vec<f64> {
            (0..count).map(|_| random.between(low, high)).collect()
        };
        let of = |values: Vec<f64>| values.into_iter().map(R::of).collect();
        Self {
            grid,
            side_flux: of(draw(STEPS * side_values(&grid, TRACERS), -1e6, 1e6)),
            planes: of(draw(STEPS * TERMS * nx * ny, -1.0, 1.0)),
            area: draw(nx * ny, 6e6, 9e6),
            dt: R::of(30.0),
        }
    }

    /// The program, with the kernels in a folder taking precedence.
    fn program(&self, name: &str, options: &[&str]) -> Program {
        let source = source(R::PRECISION, &self.grid);
        assert_eq!(source.file, "step_end.cu");
        let options = [&["-ffp-contract=off"], options].concat();
        let name = format!("step-end-{name}-{}", R::NAME);
        Program::compile(&name, "emulated/summary/step_end.cpp", &source.prelude, &options)
    }

    /// Ends the steps, `each` of them at a time.
    fn end(&self, program: &Program, each: usize, seed: u64) -> Option<Found> {
        let Shape { nx, ny, .. } = self.grid.shape;
        let number = |value: usize| [value as i32];
        let mut records = Records::default();
        records.put("all", &number(STEPS));
        records.put("each", &number(each));
        records.put("nx", &number(nx));
        records.put("ny", &number(ny));
        records.put("pitch", &number(nx));
        records.put("blocks", &number(BLOCKS));
        records.put("entered_blocks", &number(TRACERS * NZ));
        records.put("side_values", &number(side_values(&self.grid, TRACERS)));
        records.put("dt", &[self.dt]);
        records.put("side_flux", &self.side_flux);
        records.put("planes", &self.planes);
        records.put("area", &self.area);
        records.put("entered", &[0.0_f64; TRACERS * NZ]);
        records.put("sums", &[0.0_f64; BLOCKS * TERMS]);
        // No flaw, steps that have ended before, and blocks that are done.
        records.put("notes", &[u64::MAX, 7, 0]);
        records.put("shown", &[0_u64, 0, 0]);
        let found = program.attempt(&records, seed).ok()?;
        let notes = ["notes", "shown"].map(|name| found.take(name));
        Some((found.take("entered"), found.take("sums"), notes))
    }

    /// Sums of the terms of all steps.
    fn terms(&self) -> [f64; TERMS] {
        let Shape { nx, ny, .. } = self.grid.shape;
        let mut terms = [0.0; TERMS];
        for (number, plane) in self.planes.chunks_exact(nx * ny).enumerate() {
            for (at, value) in plane.iter().enumerate() {
                let (j, i) = (at / nx, at % nx);
                if (1..ny - 1).contains(&j) && (1..nx - 1).contains(&i) {
                    terms[number % TERMS] += value.f64() * self.area[at];
                }
            }
        }
        terms
    }
}

fn agree<R: Real + Element>(random: &mut Random, size: [usize; 2]) {
    let steps = Steps::<R>::new(random, size);
    let program = steps.program("", &[]);
    let mut end = |each| steps.end(&program, each, random.bits()).expect("sums");
    let expected = end(1);
    for each in [4, 5, STEPS] {
        assert_eq!(end(each), expected, "{size:?} {} {each}", R::NAME);
    }
    let (entered, sums, notes) = expected;
    let ended = vec![u64::MAX, 7 + STEPS as u64, 0];
    assert_eq!(notes, [ended.clone(), ended]);
    let near = |found: f64, expected: f64, scale: f64| (found - expected).abs() <= 1e-12 * scale;
    let scale = steps.planes.len() as f64 * 9e6;
    for (term, expected) in steps.terms().into_iter().enumerate() {
        let found: f64 = sums.iter().skip(term).step_by(TERMS).sum();
        assert!(near(found, expected, scale), "{size:?} term {term}: {found} {expected}");
    }
    let [nx, ny] = size;
    let mut all = 0.0;
    for sides in steps.side_flux.chunks_exact(2 * NZ * (nx + ny)) {
        // West, east, south, north.
        let (x, y) = sides.split_at(2 * NZ * ny);
        for (values, n) in [(x, ny), (y, nx)] {
            let (low, high) = values.split_at(NZ * n);
            for (at, (low, high)) in low.iter().zip(high).enumerate() {
                if (1..n - 1).contains(&(at % n)) {
                    all += steps.dt.f64() * (low.f64() - high.f64());
                }
            }
        }
    }
    let found: f64 = entered.iter().sum();
    assert!(near(found, all, steps.side_flux.len() as f64 * 3e7), "{size:?}: {found} {all}");
}

#[test]
fn steps_end_together_with_the_bits_of_one_after_the_other() {
    let random = &mut Random::new(11);
    for size in [[3, 3], [9, 6], [71, 13], [300, 4]] {
        agree::<f32>(random, size);
        agree::<f64>(random, size);
    }
}

/// Without a barrier that the sums need, the order of the threads shows.
#[test]
fn barriers_are_missed() {
    const BARRIER: &str = "__syncthreads();\n";
    let random = &mut Random::new(12);
    let steps = Steps::<f32>::new(random, [71, 13]);
    let expected = steps.end(&steps.program("whole", &[]), STEPS, 1);
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/primitives/block_sum.cuh");
    let text = std::fs::read_to_string(kernels).expect("a kernel");
    let barriers: Vec<usize> = text.match_indices(BARRIER).map(|(at, _)| at).collect();
    assert_eq!(barriers.len(), 2);
    for (number, at) in barriers.into_iter().enumerate() {
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("step-end-without-{number}"));
        std::fs::create_dir_all(folder.join("primitives")).expect("a folder");
        let broken = format!("{}{}", &text[..at], &text[at + BARRIER.len()..]);
        std::fs::write(folder.join("primitives/block_sum.cuh"), broken).expect("a file");
        let before = format!("-I{}", folder.display());
        let program = steps.program(&format!("broken-{number}"), &[&before]);
        let is_noticed = (0..8).any(|seed| steps.end(&program, STEPS, seed) != expected);
        assert!(is_noticed, "nothing is wrong without barrier {number}");
    }
}
