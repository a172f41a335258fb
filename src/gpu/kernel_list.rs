//! Every kernel variant, so that `nwp-mini kernels` can compile them without a GPU.

use super::{budget, margins, step_end, summary};
use crate::advection::Limiter;
use crate::advection::gpu::{DeviceLimits, LaunchConfig, TransportSettings, TuningPoint};
use crate::advection::gpu::{passive, transport};
use crate::chemistry::kinetics::Kinetics;
use crate::device::KernelSource;
use crate::error::Result;
use crate::grid::{Grid, Shape, Side, Sides};
use crate::lattice::{Extents, LINK_REALS};
use crate::physics::device::ListedKernel;
use crate::physics::registry;
use crate::primitives::gpu::{arithmetic, conjugate_gradient, csr, memory, reduce, transpose};
use crate::primitives::transpose::Matrices;
use crate::real::Precision;
use crate::{chemistry, forcing, lattice};

/// Suffix of the kernels that may compute in double precision: those that accumulate sums in it. Other hot kernels may
/// neither spill nor compute in double precision.
pub const DOUBLE_SUMS: &str = "_acc64";

/// One compilation of a kernel file.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Source to compile.
    pub source: KernelSource,
    /// The working precision.
    pub precision: Precision,
    /// Number of levels.
    pub nz: usize,
    /// Label that distinguishes it from others of the same file, such as "8 columns"; may be empty.
    pub variant: String,
    /// `true` if its kernels are hot: the speed of a run depends on them.
    pub hot: bool,
    /// Allowed register spills of its kernels, bytes a thread, if they are hot.
    pub most_spilled: u32,
}

impl Entry {
    /// Makes entries of a precision and a number of levels from a source, its variant, and whether its kernels are hot.
    fn maker(precision: Precision, nz: usize) -> impl Fn(KernelSource, &str, bool) -> Self {
        move |source, variant, hot| Self {
            source,
            precision,
            nz,
            variant: variant.to_owned(),
            hot,
            most_spilled: 0,
        }
    }
}

/// Every compilation for runs of `nz` levels in this precision: for a small and a large grid, with specified and with
/// periodic sides, which use different variants of the kernels.
pub fn catalogue(precision: Precision, nz: usize) -> Vec<Entry> {
    let entry = Entry::maker(precision, nz);
    let mut entries = vec![
        entry(forcing::gpu::source(precision, nz), "", false),
        entry(budget::source(precision, nz, registry::usual_set().water().len()), "", false),
        entry(summary::source(precision, nz), "", false),
        entry(margins::source(precision), "", true),
        entry(arithmetic::source(precision), "", true),
        // Winds are projected in double precision in every run.
        Entry { precision: Precision::F64, ..entry(conjugate_gradient::source(), "", true) },
    ];
    for side in [Side::Specified, Side::Periodic] {
        let grid = Grid::whole(Shape { nz, ..SMALL }, [1.0; 2], Sides::all(side));
        let source = step_end::source(precision, &grid);
        entries.push(entry(source, &format!("{side:?}").to_lowercase(), true));
    }
    entries.push(entry(passive::source(precision, nz), "", true));
    // The interface to the chemistry is in double precision in every run.
    entries.push(entry(chemistry::gpu::coupling::source(precision), "", false));
    let configs = [
        ("usual", csr::CsrConfig::usual(precision)),
        ("stencil", csr::CsrConfig::stencil(precision)),
    ];
    entries.extend(configs.map(|(name, config)| entry(config.source(precision), name, true)));
    entries.extend(of_lattice(precision, nz));
    for (name, columns) in [("small", SMALL.columns()), ("large", LARGE.columns())] {
        let shape =
            transpose::TransposeConfig::choose(precision, Matrices::levels(1, nz, 1, columns));
        entries.push(entry(shape.source(precision), name, true));
    }
    for (n, size) in ["short", "long"].into_iter().enumerate() {
        match precision {
            Precision::F32 => {
                let [of_reals, of_integers] = [
                    reduce::ReduceConfig::both::<f32>()[n],
                    reduce::ReduceConfig::both::<i32>()[n],
                ];
                let named = |kind: &str| format!("{kind}, {size}");
                entries.push(entry(reduce::source::<f32>(of_reals), &named("f32"), true));
                entries.push(entry(reduce::source::<i32>(of_integers), &named("i32"), true));
            }
            Precision::F64 => {
                let config = reduce::ReduceConfig::both::<f64>()[n];
                entries.push(entry(reduce::source::<f64>(config), &format!("f64, {size}"), true));
            }
        }
    }
    entries.extend(match precision {
        Precision::F32 => vec![
            entry(reduce::ladder::source::<f32>(), "f32", true),
            entry(memory::source(), "f32", true),
            entry(reduce::ladder::source::<i32>(), "i32", true),
        ],
        Precision::F64 => vec![entry(reduce::ladder::source::<f64>(), "f64", true)],
    });
    entries.extend(of_microphysics(precision, nz));
    for limiter in [Limiter::PositiveDefinite, Limiter::Monotonic, Limiter::None] {
        let kinds = [
            ("small", SMALL, TRACERS, Side::Specified),
            ("small, many tracers", SMALL, MANY_TRACERS, Side::Specified),
            ("medium", MEDIUM, TRACERS, Side::Specified),
            ("large", LARGE, TRACERS, Side::Specified),
            ("large", LARGE, TRACERS, Side::Periodic),
        ];
        for (size, shape, [tracers, unlimited], side) in kinds {
            // Other limiters have no other variants for larger grids.
            let is_usual = size == "small" || side == Side::Periodic;
            if limiter != Limiter::PositiveDefinite && !is_usual {
                continue;
            }
            let shape = Shape { nz, ..shape };
            let grid = Grid::whole(shape, [1.0; 2], Sides::all(side));
            let columns = shape.columns();
            let march = TuningPoint::for_many_tracers(columns, tracers, precision)
                .unwrap_or_else(|| TuningPoint::choose(columns, precision));
            let launch_config = LaunchConfig::of(march, &grid, tracers, OFFER, precision);
            let settings = TransportSettings {
                tracers,
                unlimited,
                limiter,
                zero_gradient: limiter == Limiter::Monotonic,
                launch_config,
            };
            let variant = format!("{limiter:?}, {size}, {side:?}").to_lowercase();
            // Open and specified sides, and other limiters, are not part of speed measurements.
            let hot = limiter == Limiter::PositiveDefinite;
            let source = transport::source(precision, &grid, settings);
            entries.push(Entry { most_spilled: SPILLED, ..entry(source, &variant, hot) });
        }
    }
    entries
}

/// The kernels for mechanisms of reactions.
///
/// # Errors
///
/// Those of [`chemistry::gpu::catalogue`].
pub fn catalogue_of(mechanisms: &[Kinetics]) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let entry = Entry::maker(Precision::F64, 1);
    for kinetics in mechanisms {
        let all = chemistry::gpu::catalogue(kinetics)?.into_iter();
        entries.extend(all.map(|(source, variant)| entry(source, &variant, false)));
    }
    Ok(entries)
}

/// The kernels of all schemes.
fn of_microphysics(precision: Precision, nz: usize) -> Vec<Entry> {
    let mut listed: Vec<ListedKernel> = Vec::new();
    for scheme in registry::all() {
        // A scheme lists those of all its variants.
        if scheme.variant() == scheme.about().variants.first() {
            listed.extend(scheme.all_kernels(precision, nz, [SMALL, LARGE]));
        }
    }
    let entry = |ListedKernel { source, variant, is_hot, most_spilled }| Entry {
        source,
        precision,
        nz,
        variant,
        hot: is_hot,
        most_spilled,
    };
    listed.into_iter().map(entry).collect()
}

/// The kernels of the Wilson operator whose speed is measured.
fn of_lattice(precision: Precision, nz: usize) -> Vec<Entry> {
    let Ok(extents) = Extents::new(MEASURED) else { return Vec::new() };
    let maker = Entry::maker(precision, nz);
    let entry = |source, variant| maker(source, variant, true);
    let form = |reals| lattice::gpu::KernelConfig::choose(precision, extents, reals);
    let mut entries = Vec::new();
    for (reals, name) in [(lattice::gpu::TWO_ROWS, "12 reals"), (LINK_REALS, "18 reals")] {
        entries.push(entry(lattice::gpu::source(&form(reals), precision), name));
        entries.push(entry(lattice::gpu::solver_source(&form(reals), precision), name));
    }
    let shape = [form(LINK_REALS).block_sites, form(LINK_REALS).resident];
    entries.push(entry(lattice::gpu::ladder::source(extents, precision, shape), ""));
    entries
}

/// The lattice of the benchmark.
const MEASURED: [usize; 4] = [32; 4];

/// Allowed register spills in the stages of the transport on large grids, accepted for more warps on a multiprocessor,
/// see [`TuningPoint::choose`]. They differ between devices.
const SPILLED: u32 = 512;

/// The grid of the cyclone, one without tiles in the last stage, and one that fills any device; the number of levels
/// does not matter.
const SMALL: Shape = Shape { nx: 71, ny: 58, nz: 1 };
const MEDIUM: Shape = Shape { nx: 128, ny: 128, nz: 1 };
const LARGE: Shape = Shape { nx: 1024, ny: 1024, nz: 1 };
/// Number of fields of the state, and of those that are never limited.
const TRACERS: [usize; 2] = [6, 1];
/// Those of a state with the species of a mechanism, likewise.
const MANY_TRACERS: [usize; 2] = [65, 1];
/// Those of an H100 or H200, for which the kernels are tuned.
const OFFER: DeviceLimits = DeviceLimits { multiprocessors: 132, shared_bytes: 227 << 10 };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::wsm5::params::SchemeConstants;

    /// `true` for kernels of the scheme, and of the one that builds on it.
    fn is_of_microphysics(file: &str) -> bool {
        ["physics/wsm5/", "physics/wsm6/"].iter().any(|folder| file.starts_with(folder))
    }

    /// The digest decides on recompilation. A constant of the microphysics enters the digests of its own kernels only.
    #[test]
    fn a_constant_of_the_microphysics_changes_its_own_kernels_alone() {
        let constants = <f32 as SchemeConstants>::cuda_text();
        let changed = constants.replacen(" = ", " = 1 + ", 1);
        assert_ne!(constants, changed);
        let mut counts = [0; 2];
        for Entry { source, .. } in catalogue(Precision::F32, 27) {
            let prelude = source.prelude.replace(&constants, &changed);
            let is_made_anew =
                KernelSource { prelude, ..source.clone() }.digest() != source.digest();
            let is_own = is_of_microphysics(source.file);
            assert_eq!(is_made_anew, is_own, "{}", source.file);
            counts[usize::from(is_own)] += 1;
        }
        assert!(counts.iter().all(|count| *count > 10), "{counts:?}");
    }

    /// The same for included files.
    #[test]
    fn headers_of_the_microphysics_are_in_its_own_kernels_alone() {
        for Entry { source, .. } in catalogue(Precision::F64, 27) {
            let names: Vec<&str> = source.headers().into_keys().collect();
            let has_any = names.iter().any(|name| name.starts_with("physics/wsm5/"));
            assert_eq!(has_any, is_of_microphysics(source.file), "{}: {names:?}", source.file);
        }
    }
}
