//! Forms of the kernels that the search tries.

use crate::lattice::Extents;
use crate::lattice::gpu::{KernelConfig, Load, TWO_ROWS};
use crate::real::Precision;

/// Threads of a block, and launch bounds: from 255 registers a thread down to about 64.
pub(super) const SHAPES: [[usize; 2]; 11] = [
    [64, 4],
    [64, 6],
    [64, 8],
    [64, 10],
    [128, 2],
    [128, 3],
    [128, 4],
    [128, 5],
    [256, 1],
    [256, 2],
    [512, 1],
];
/// Bricks in addition to the most cubic ones, for rows of 32 sites and for shorter ones.
const BRICKS: [[usize; 4]; 14] = [
    [16, 4, 2, 1],
    [16, 2, 4, 1],
    [16, 2, 1, 4],
    [16, 1, 2, 4],
    [8, 4, 2, 2],
    [8, 2, 2, 4],
    [4, 4, 4, 2],
    [16, 4, 4, 1],
    [16, 8, 2, 1],
    [8, 4, 4, 2],
    [4, 4, 4, 4],
    [16, 4, 4, 2],
    [16, 8, 4, 1],
    [8, 4, 4, 4],
];

/// Forms with cache hints and blocks of bricks.
pub(super) fn cached(
    precision: Precision,
    extents: Extents,
    link_reals: usize,
) -> Vec<KernelConfig> {
    let first = KernelConfig {
        is_hop_alone: true,
        is_streamed: true,
        ..KernelConfig::choose(precision, extents, link_reals)
    };
    let mut forms = shaped(first);
    forms.extend(shaped(KernelConfig { brick: None, ..first }));
    for brick in BRICKS {
        let sites: usize = brick.iter().product();
        let of_block = SHAPES.into_iter().filter(|[threads, _]| *threads == sites);
        forms.extend(
            of_block.map(|[_, resident]| KernelConfig { resident, ..first.with_brick(brick) }),
        );
    }
    forms
}

/// The neighbours of a form: other hints, chunks, slabs, registers.
pub(super) fn around(form: KernelConfig) -> Vec<KernelConfig> {
    let mut forms = vec![form];
    for link_load in [Load::Once, Load::Past, Load::Kept] {
        for is_streamed in [false, true] {
            forms.push(KernelConfig { link_load, is_streamed, ..form });
        }
    }
    for spinor_load in [Load::Plain, Load::Past] {
        forms.push(KernelConfig { spinor_load, ..form });
    }
    for chunk in [16, 64, 128, form.extents.half_volume()] {
        if form.extents.half_volume().is_multiple_of(chunk) {
            forms.push(KernelConfig { chunk, ..form });
        }
    }
    forms.extend(in_slabs(form, [2, 4]));
    let held = 512 / form.block_sites.min(512);
    for resident in 1..=2 * held {
        forms.push(KernelConfig { resident, ..form });
    }
    forms
}

/// Forms for several right-hand sides.
pub(super) fn with_sides(
    precision: Precision,
    best: KernelConfig,
    link_reals: usize,
    sides: usize,
) -> Vec<KernelConfig> {
    let base = KernelConfig { link_reals, link_load: Load::Kept, ..best };
    let mut forms = Vec::new();
    for register_sides in [1, 2] {
        let side_threads = sides / register_sides;
        for sites in [32, 64, 128, 256] {
            let threads = sites * side_threads;
            if !(64..=512).contains(&threads) {
                continue;
            }
            let shaped = KernelConfig { side_threads, register_sides, ..base.with_block(sites) };
            for resident in [1, 2, 3, 4, 5, 6, 8] {
                let warps = resident * threads / 32;
                if (8..=20).contains(&warps) {
                    let form = KernelConfig { resident, ..shaped };
                    forms.push(form);
                    forms.extend(in_slabs(form, [4, 2]).filter(|_| register_sides == 1));
                }
            }
        }
    }
    if link_reals == TWO_ROWS {
        let loops = KernelConfig { loops_sides: true, link_load: Load::Once, ..base };
        let most = if precision == Precision::F32 { 128 } else { 64 };
        for register_sides in [1, 2] {
            for sites in [32, 64, 128] {
                for resident in [2, 3, 4, 5, 6, 8, 12, 16] {
                    let threads = resident * sites;
                    if sites > most || !(256..=640).contains(&threads) {
                        continue;
                    }
                    let form = KernelConfig { register_sides, resident, ..loops.with_block(sites) };
                    forms.push(form);
                    forms.extend(in_slabs(form, [4, 2]));
                }
            }
        }
    }
    forms
}

/// A form in bricks with its slab divided by each of the divisors.
fn in_slabs(form: KernelConfig, divisors: [usize; 2]) -> impl Iterator<Item = KernelConfig> {
    let slabs = divisors.into_iter().map(move |divisor| form.slab / divisor);
    let slabs = slabs.filter(move |slab| *slab > 0 && form.brick.is_some());
    slabs.map(move |slab| KernelConfig { slab, ..form })
}

/// A form for each shape of the blocks.
pub(super) fn shaped(form: KernelConfig) -> Vec<KernelConfig> {
    let of_shape =
        |[threads, resident]: [usize; 2]| KernelConfig { resident, ..form.with_block(threads) };
    SHAPES.into_iter().map(of_shape).collect()
}

/// Description of a form.
pub(super) fn described(form: &KernelConfig) -> String {
    let KernelConfig { block_sites, side_threads, register_sides, resident, chunk, slab, .. } =
        form;
    let order = match form.brick {
        Some([x, y, z, t]) => format!("bricks {x}x{y}x{z}x{t} slab {slab}"),
        None => "in order".to_owned(),
    };
    let sides = match (form.loops_sides, side_threads * register_sides) {
        (true, _) => ", sides in a loop".to_owned(),
        (false, 1) => String::new(),
        _ => format!(", sides {side_threads} threads x {register_sides}"),
    };
    format!(
        "{block_sites} sites, {resident} resident, {order}, chunks of {chunk}, {:?}/{:?}{}{sides}",
        form.spinor_load,
        form.link_load,
        if form.is_streamed { "/streamed" } else { "" }
    )
}
