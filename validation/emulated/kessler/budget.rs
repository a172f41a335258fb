//! The calls of a run: the terms of the water budget, and the notes of a step.

use ndarray::{Array2, Array3};

use nwp_mini::cuda_abi::Bytes;
use nwp_mini::dry_mass::Layered;
use nwp_mini::physics::device::ColumnLayout;
use nwp_mini::physics::kessler::{Kessler, Vectorised, Work};
use nwp_mini::physics::{Budget, MismatchMasses, Scratch, call};
use nwp_mini::state::gpu::status_word::NonFiniteValue;

use nwp_mini_support::emulator::{Element, Records};
use nwp_mini_support::kessler::case::State;
use nwp_mini_support::random::Random;
use nwp_mini_support::wsm5::difference::expect_same_bits;

use super::{OnHost, WATER, columns, take_state, taken};

const TERMS: [&str; 4] = ["fallen", "fall_residual", "clipped", "mass_mismatch"];
/// Number of steps before the call, for the notes.
const STEPS_BEFORE: u64 = 41;
/// The number of the kernel: see `src/state/gpu/kernel_id.rs`.
const MARK: u64 = 11;
/// The note of a state without flaw.
const NONE: u64 = u64::MAX;

/// Dry masses that are not rho dz, and areas, of the columns of a state.
struct Air<R> {
    mass: Layered<R>,
    per_area: Array2<R>,
}

impl<R: Vectorised> Air<R> {
    fn of(state: &State<R>) -> Self {
        let (nz, ny, nx) = state.tracers[0].dim();
        let plane = |value: f64, change: f64| {
            Array2::from_shape_fn((ny, nx), |(j, i)| {
                R::of(value * (1.0 + change * ((3 * i + 5 * j) % 7) as f64))
            })
        };
        let profile = |value: f64| (0..nz).map(|k| R::of(value / (1.0 + 0.1 * k as f64))).collect();
        let (with_mu, without_mu) = (plane(4e10, 0.01), plane(2e9, -0.02));
        let mass = Layered { with_mu, without_mu, c1: profile(0.9), c2: profile(1.3) };
        Self { mass, per_area: plane(1e-8, 0.03) }
    }
}

/// A call on the CPU with its terms.
fn on_cpu<R: Vectorised>(
    dt: R,
    state: &mut State<R>,
    Air { mass, per_area }: &Air<R>,
    vectors: Option<nwp_mini::simd::Instructions>,
) -> [Array2<R>; 4] {
    let (nz, ny, nx) = state.tracers[0].dim();
    let mut terms: [Array2<R>; 4] = std::array::from_fn(|_| Array2::from_elem((ny, nx), R::nan()));
    let [fallen, residual, clipped, mismatch] = &mut terms;
    let scheme = Kessler::<R>::default();
    let scratch = Scratch::<Work<R>>::with(&scheme, nz, vectors);
    let mut block = state.block();
    let [fallen, fall_residual, clipped] = [fallen, residual, clipped].map(|x| x.view_mut());
    let weighing = Some(MismatchMasses::new(mass, per_area, mismatch));
    block.budget = Some(Budget { fallen, fall_residual, clipped, weighing });
    call(&scheme, dt, &scratch, block);
    terms
}

impl<R: Vectorised + Element + Bytes> OnHost<R> {
    /// A call as in a run; returns all results.
    fn call_in_run(&self, dt: R, state: &mut State<R>, air: &Air<R>, seed: u64) -> Records {
        let (nz, ny, nx) = state.tracers[0].dim();
        let places = ColumnLayout::all(nwp_mini::grid::Shape { nx, ny, nz });
        let mut records = self.records(dt, state, places);
        let [blocks, threads] = super::blocks(places.columns()).map(|count| count as i32);
        records.put("launch", &[blocks, threads, 1]);
        for name in TERMS {
            records.put(name, &vec![R::nan(); ny * nx]);
        }
        let plane = |plane: &Array2<R>| plane.iter().copied().collect::<Vec<R>>();
        records.put("with_mu", &plane(&air.mass.with_mu));
        records.put("without_mu", &plane(&air.mass.without_mu));
        records.put("c1", &air.mass.c1);
        records.put("c2", &air.mass.c2);
        records.put("per_area", &plane(&air.per_area));
        records.put("marks", &[0_u64]);
        records.put("notes", &[NONE, STEPS_BEFORE, 0]);
        let found = self.program.run(&records, seed);
        take_state(&found, state);
        found
    }
}

/// Water of a column of a state, kg m-2: the sum, and that of the sizes of its terms.
fn water<R: Vectorised>(
    state: &State<R>,
    weight: impl Fn([usize; 3]) -> f64,
    at: [usize; 2],
) -> f64 {
    let [j, i] = at;
    let levels = state.tracers[0].dim().0;
    let of = |field: &Array3<R>, k: usize| field[[k, j, i]].f64() * weight([k, j, i]);
    state.tracers[1..].iter().map(|q| (0..levels).map(|k| of(q, k)).sum::<f64>()).sum()
}

/// Kernel and CPU have the same terms, which account for all water, weighted by rho dz and by the mass, for negative
/// vapour, cloud water and rain too.
fn check<R: Vectorised + Element + Bytes>(rounding: f64) {
    let kernel = OnHost::<R>::compile("budget", 27);
    let mut before = State::<R>::of(&columns(27), 2, 0.0);
    for (n, q) in before.tracers[1..].iter_mut().enumerate() {
        q[[3 + n, 0, 2]] = R::of(-1e-5);
        q[[9 + n, 1, 3]] = R::of(-3e-4);
    }
    let air = Air::of(&before);
    let (_, ny, nx) = before.tracers[0].dim();
    let (mut fallen, mut clipped) = (0.0, 0);
    for dt in [60.0, 300.0] {
        let (mut on_host, mut alone, mut in_lanes) =
            (before.clone(), before.clone(), before.clone());
        let found = kernel.call_in_run(R::of(dt), &mut on_host, &air, 3);
        let expected = on_cpu(R::of(dt), &mut alone, &air, None);
        let side_by_side =
            on_cpu(R::of(dt), &mut in_lanes, &air, nwp_mini::simd::Instructions::best());
        expect_same_bits("fields", on_host.named(), alone.named());
        for (name, expected) in TERMS.iter().zip(&expected) {
            let found = taken::<R>(&found, name).into_shape_with_order((ny, nx)).expect("a plane");
            let both = [found, expected.clone()].map(|plane| vec![(*name, plane.into_dyn())]);
            let [found, expected] = both;
            expect_same_bits(&format!("{name}, {dt} s"), found, expected);
        }
        for (terms, after) in [(&expected, &alone), (&side_by_side, &in_lanes)] {
            let [fall, residual, clip, mismatch] = terms;
            for at in (0..ny).flat_map(|j| (0..nx).map(move |i| [j, i])) {
                let rho_dz =
                    |cell: [usize; 3]| before.air[0][cell].f64() * before.air[2][cell].f64();
                let mass =
                    |[k, j, i]: [usize; 3]| air.mass.at(k, j, i).f64() * air.per_area[[j, i]].f64();
                let made = residual[at].f64() + clip[at].f64() - fall[at].f64();
                let gained = |weight: &dyn Fn([usize; 3]) -> f64| {
                    water(after, weight, at) - water(&before, weight, at)
                };
                let limit = rounding * water(&before, rho_dz, at).abs().max(1.0);
                let left = gained(&rho_dz) - made;
                assert!(left.abs() < limit, "{dt} s, {at:?}: {left:e}, not within {limit:e}");
                let left = gained(&mass) - made - mismatch[at].f64();
                assert!(left.abs() < 20.0 * limit, "{dt} s, {at:?}: {left:e} by mass");
                fallen += fall[at].f64();
                clipped += usize::from(clip[at] > R::ZERO);
            }
        }
    }
    assert!(fallen > 1.0 && clipped >= 4, "{fallen} mm have fallen, {clipped} columns clipped");
}

#[test]
fn the_terms_account_for_all_water() {
    check::<f32>(1e-6);
    check::<f64>(1e-14);
}

/// Infinite values and NaN before or after a call are noted: the earliest by field and cell.
#[test]
fn values_that_are_not_finite_are_noted() {
    let kernel = OnHost::<f32>::compile("flaws", 27);
    let sound = State::<f32>::of(&columns(27), 3, 0.0);
    let air = Air::of(&sound);
    let (nz, ny, nx) = sound.tracers[0].dim();
    let random = &mut Random::new(5);
    let note = |found: &Records| found.take::<u64>("notes")[0];
    let marked = |found: &Records| found.take::<u64>("marks")[0];
    let mut state = sound.clone();
    let found = kernel.call_in_run(60.0, &mut state, &air, 1);
    assert_eq!(NonFiniteValue::of(note(&found)), None);
    assert_eq!(marked(&found), MARK);
    for seed in 0..12 {
        let mut state = sound.clone();
        let mut flaws = Vec::new();
        for _ in 0..=seed % 3 {
            let mut below = |most: usize| random.bits() as usize % most;
            let (field, place) = (below(4), below(nz * ny * nx));
            let value = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][below(3)];
            state.tracers[field].as_slice_mut().expect("in order")[place] = value;
            flaws.push((if field == 0 { 0 } else { WATER + field - 1 }, place));
        }
        let found = kernel.call_in_run(60.0, &mut state, &air, seed);
        let about = format!("{flaws:?} {:?}", NonFiniteValue::of(note(&found)));
        let Some(NonFiniteValue { step, field, place }) = NonFiniteValue::of(note(&found)) else {
            panic!("{about}")
        };
        assert_eq!(step as u64, STEPS_BEFORE + 1, "{about}");
        assert!((field, place) <= *flaws.iter().min().expect("a flaw"), "{about}");
        let column = |place: usize| place % (ny * nx);
        assert!(flaws.iter().any(|(_, flaw)| column(*flaw) == column(place)), "{about}");
    }
}
