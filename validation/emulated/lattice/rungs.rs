//! Every rung of the ladder and every form of the best kernels.

use nwp_mini::cuda_abi::Bytes;
use nwp_mini::lattice::gpu::arguments::WilsonArgs;
use nwp_mini::lattice::gpu::ladder::{self, Rung};
use nwp_mini::lattice::gpu::{KernelConfig, LatticePrecision, Load, TWO_ROWS, source};
use nwp_mini::lattice::number::Vectorised;
use nwp_mini::lattice::{CpuDirac, Dirac, Extents, LINK_REALS, Parity};
use nwp_mini::real::Real;
use nwp_mini_support::emulator::Element;

use super::host::{Memory, program};
use super::{Drawn, LATTICES, distance, limit};

trait Emulated: LatticePrecision + Vectorised + Element + Bytes {}

impl Emulated for f32 {}
impl Emulated for f64 {}

/// `D psi` or `D† psi` on the sites of a parity by the CPU version; other sites as in psi.
fn expected<R: Emulated>(drawn: &Drawn<R>, parity: Parity, is_dagger: bool) -> Vec<R> {
    let dirac = CpuDirac::<R>::new(drawn.gauge()).unwrap();
    let (input, mut out) =
        (dirac.load(parity.other(), &drawn.psi).unwrap(), dirac.zeros().unwrap());
    dirac.hop(parity, is_dagger, &input, None, &mut out).unwrap();
    let mut whole = drawn.psi.clone();
    dirac.store(parity, &out, &mut whole).unwrap();
    whole
}

fn form_is_right<R: Emulated>(name: &str, form: KernelConfig, seed: u64) {
    let precision = <R as Real>::PRECISION;
    let program =
        program(&format!("lattice-{name}-{}", <R as Real>::NAME), &source(&form, precision));
    let drawn = Drawn::<R>::new(form.extents.along(), seed);
    let sides = if form.loops_sides { 3 } else { form.sides() };
    for parity in Parity::BOTH {
        for is_dagger in [false, true] {
            if form.loops_sides && is_dagger {
                continue;
            }
            let mut memory = Memory::default();
            let field = form.lay_spinors(parity.other(), &drawn.psi);
            let links = Parity::BOTH.map(|p| memory.array(&form.lay_links::<R>(p, &drawn.links)));
            let input = memory.array(&field.repeat(sides));
            let out = memory.array(&vec![R::nan(); sides * field.len()]);
            let args = WilsonArgs {
                out,
                in_: input.read(),
                links_here: links[parity as usize].read(),
                links_there: links[parity.other() as usize].read(),
                end_sign: -R::ONE,
                parity: parity as i32,
                sides: sides as i32,
                ..WilsonArgs::default()
            };
            let kernel = match (form.loops_sides, is_dagger) {
                (true, _) => "wilson_hop_loop",
                (false, false) => "wilson_hop",
                (false, true) => "wilson_hop_dagger",
            };
            memory.launch(kernel, form.blocks(), form.threads(), &args);
            let result = memory.run(&program, seed).of(out);
            let expected = expected(&drawn, parity, is_dagger);
            for side in result.chunks_exact(field.len()) {
                let mut found = drawn.psi.clone();
                form.pick_spinors(parity, side, &mut found);
                let distance = distance(&found, &expected);
                assert!(distance <= limit::<R>(), "{name} {form:?}: {distance:e}");
                // Same operations in the same order, with the same fusing.
                let is_same = form.link_reals == LINK_REALS && !form.is_diagonal;
                assert!(!is_same || found == expected, "{name} {form:?}: other bits");
            }
        }
    }
}

fn forms(extents: Extents) -> Vec<(&'static str, KernelConfig)> {
    let plain = KernelConfig { block_sites: 64, ..KernelConfig::plain(extents) };
    let rebuilt = KernelConfig { link_reals: TWO_ROWS, ..plain };
    let best = KernelConfig { link_reals: TWO_ROWS, is_diagonal: true, ..plain };
    let bricks = KernelConfig { brick: Some([1; 4]), chunk: 8, ..best }.with_block(32);
    vec![
        ("plain", plain),
        ("rebuilt", rebuilt),
        ("diagonal", KernelConfig { is_diagonal: true, ..plain }),
        (
            "bricks",
            KernelConfig {
                link_load: Load::Past,
                spinor_load: Load::Kept,
                is_streamed: true,
                ..bricks
            },
        ),
        (
            "whole-links-in-bricks",
            KernelConfig { link_reals: LINK_REALS, is_diagonal: false, ..bricks },
        ),
        ("backward", KernelConfig { is_backward_stored: true, ..bricks }),
        ("side-threads", KernelConfig { side_threads: 2, register_sides: 2, ..bricks }),
        ("loop", KernelConfig { loops_sides: true, ..bricks }),
    ]
}

fn forms_are_right<R: Emulated>() {
    for (seed, extents) in (1..).zip(LATTICES) {
        let number = seed - 1;
        let extents = Extents::new(extents).unwrap();
        for (name, form) in forms(extents) {
            // Slabs of one brick if there are several.
            let form = if name == "bricks" { KernelConfig { slab: 1, ..form } } else { form };
            form_is_right::<R>(&format!("{name}-{number}"), form, seed);
        }
    }
}

#[test]
fn forms_agree_with_the_cpu_in_single_precision() {
    forms_are_right::<f32>();
}

#[test]
fn forms_agree_with_the_cpu_in_double_precision() {
    forms_are_right::<f64>();
}

#[test]
fn lower_rungs_agree_with_the_cpu() {
    for (seed, extents) in (1..).zip([LATTICES[1], LATTICES[2]]) {
        let extents = Extents::new(extents).unwrap();
        let shape = [32, 1];
        let source = ladder::source(extents, <f32 as Real>::PRECISION, shape);
        let program = program(&format!("lattice-ladder-{seed}"), &source);
        let drawn = Drawn::<f32>::new(extents.along(), seed);
        for rung in Rung::ALL {
            for parity in Parity::BOTH {
                let mut memory = Memory::default();
                let here = memory.array(&rung.lay_links::<f32>(extents, parity, &drawn.links));
                let there =
                    memory.array(&rung.lay_links::<f32>(extents, parity.other(), &drawn.links));
                let field = rung.lay_spinors(extents, parity.other(), &drawn.psi);
                let input = memory.array(&field);
                let out = memory.array(&vec![f32::NAN; field.len()]);
                let args = WilsonArgs {
                    out,
                    in_: input.read(),
                    links_here: here.read(),
                    links_there: there.read(),
                    end_sign: -1.0,
                    parity: parity as i32,
                    sides: 1,
                    ..WilsonArgs::default()
                };
                let blocks = rung.sites(extents).div_ceil(shape[0]);
                memory.launch(rung.kernel(), blocks, shape[0] as u32, &args);
                let result = memory.run(&program, seed).of(out);
                let mut found = drawn.psi.clone();
                rung.pick_spinors(extents, parity, &result, &mut found);
                let expected = expected(&drawn, parity, false);
                // The whole lattice has the other sites, too.
                let sites: Vec<usize> = extents.sites(parity).collect();
                let of = |field: &[f32]| -> Vec<f32> {
                    sites.iter().flat_map(|s| field[s * 24..(s + 1) * 24].to_vec()).collect()
                };
                let distance = distance(&of(&found), &of(&expected));
                assert!(distance <= limit::<f32>(), "{rung:?}: {distance:e}");
            }
        }
    }
}
