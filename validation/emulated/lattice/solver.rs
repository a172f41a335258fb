//! The kernels of conjugate gradients: the iterations of the CPU version, and its solution.

use nwp_mini::lattice::gpu::arguments::{SolverArgs, WilsonArgs};
use nwp_mini::lattice::gpu::{KernelConfig, TWO_ROWS, solver_source, untouched};
use nwp_mini::lattice::{CpuDirac, Dirac, Extents, Parity, SPINOR_REALS, Stop};
use nwp_mini::real::Precision;

use super::host::{Memory, program};
use super::{Drawn, distance};

/// A well-conditioned system.
const KAPPA: f64 = 0.1;
/// Maximum number of iterations, more than needed.
const ASKED: usize = 16;
/// Words of the solver: the verdict, of which 2 is a solution, and iterations.
const SOLVED: u64 = 2;

#[test]
fn iterations_are_those_of_the_cpu() {
    let extents = Extents::new([4, 4, 2, 6]).unwrap();
    let form = KernelConfig::choose(Precision::F32, extents, TWO_ROWS).with_block(64);
    let program = program("lattice-solver", &solver_source(&form, Precision::F32));
    let drawn = Drawn::<f32>::new(extents.along(), 5);
    let stop = Stop { tolerance: 1e-4, most: 100 };
    let dirac = CpuDirac::<f32>::new(drawn.gauge()).unwrap();
    let b = dirac.load(Parity::Even, &drawn.psi).unwrap();
    let (x, squares) = dirac.conjugate_gradient(KAPPA, &b, stop).unwrap();
    assert!((4..ASKED).contains(&(squares.len() - 1)), "{} iterations", squares.len() - 1);
    let mut expected = drawn.psi.clone();
    dirac.store(Parity::Even, &x, &mut expected).unwrap();

    let mut memory = Memory::default();
    let reals = extents.half_volume() * SPINOR_REALS;
    let links = Parity::BOTH.map(|p| memory.array(&form.lay_links::<f32>(p, &drawn.links)));
    let limit = stop.tolerance * stop.tolerance * squares[0];
    let (numbers, words) = untouched(limit, stop.most);
    let r = memory.array(&form.lay_spinors(Parity::Even, &drawn.psi));
    let mut zeros = || memory.array(&vec![0.0_f32; reals]);
    let [x, s, p, q, odd] = [zeros(), zeros(), zeros(), zeros(), zeros()];
    let vector_blocks = (reals / 4).div_ceil(4 * form.threads() as usize);
    let blank = SolverArgs {
        x,
        r,
        s,
        p,
        q,
        sums: memory.array(&vec![f64::NAN; vector_blocks.max(form.blocks())]),
        numbers: memory.array(&numbers),
        history: memory.array(&vec![0.0; stop.most + 1]),
        words: memory.array(&words),
        hop: WilsonArgs::default(),
    };
    let hop = |parity: Parity| WilsonArgs {
        links_here: links[parity as usize].read(),
        links_there: links[parity.other() as usize].read(),
        coefficient: (-KAPPA * KAPPA) as f32,
        end_sign: -1.0,
        parity: parity as i32,
        sides: 1,
        ..WilsonArgs::default()
    };
    let multiply = |memory: &mut Memory, names: [&str; 2], from, to| {
        let (first, second) = (hop(Parity::Odd), hop(Parity::Even));
        let from: nwp_mini::cuda_abi::DevicePointer<f32> = from;
        let halves = [
            WilsonArgs { out: odd, in_: from.read(), ..first },
            WilsonArgs { out: to, in_: odd.read(), base: from.read(), ..second },
        ];
        for (name, hop) in names.into_iter().zip(halves) {
            memory.launch(name, form.blocks(), form.threads(), &SolverArgs { hop, ..blank });
        }
    };
    let dagger = ["solver_hop_dagger", "solver_product_dagger_acc64"];
    multiply(&mut memory, dagger, r, s);
    memory.launch("solver_direction_acc64", vector_blocks, form.threads(), &blank);
    for _ in 0..ASKED {
        multiply(&mut memory, ["solver_hop", "solver_product_acc64"], p, q);
        memory.launch("solver_residual_acc64", vector_blocks, form.threads(), &blank);
        multiply(&mut memory, dagger, r, s);
        memory.launch("solver_direction_acc64", vector_blocks, form.threads(), &blank);
    }
    let done = memory.run(&program, 3);
    let words = done.of(blank.words);
    assert_eq!(words[..2], [SOLVED, squares.len() as u64 - 1]);
    let history = done.of(blank.history);
    for (found, expected) in history[1..squares.len()].iter().zip(&squares[1..]) {
        // Rounding of single precision, 6e-8, grows by a few in each iteration.
        assert!((found / expected - 1.0).abs() < 1e-4, "{found} {expected}");
    }
    let mut found = drawn.psi.clone();
    form.pick_spinors(Parity::Even, &done.of(x), &mut found);
    let distance = distance(&found, &expected);
    assert!(distance <= 2.0 * stop.tolerance, "{distance:e}");
}
