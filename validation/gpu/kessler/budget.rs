//! Calls as in a run: the terms of the water budget, and notes of values that are not finite.

use ndarray::{Array2, Array3};

use nwp_mini::device::{Branch, Element, Gpu};
use nwp_mini::dry_mass::Layered;
use nwp_mini::dry_mass::gpu::LayeredPointers;
use nwp_mini::grid::Shape;
use nwp_mini::grid::gpu::Layout;
use nwp_mini::physics::kessler::gpu::KesslerInRun;
use nwp_mini::physics::kessler::{Kessler, Vectorised, Work};
use nwp_mini::physics::{Budget, MismatchMasses, Scratch, call};
use nwp_mini::simd::Instructions;
use nwp_mini::state::gpu::device_fields::{ActiveColumns, DeviceFields, planes_of};
use nwp_mini::state::gpu::status_word::NonFiniteValue;
use nwp_mini::state::gpu::step_in_batch::StepInBatch;

use super::same_bits::columns;
use super::{take, values};
use crate::emulated_gpu;
use crate::gpu;
use crate::random::Random;
use crate::support::kessler::case::State;
use crate::support::wsm5::difference::expect_same_bits;

/// The last planes at the ground.
const TERMS: [&str; 4] = ["fallen", "fall_residual", "clipped", "mass_mismatch"];
/// Number of steps before the call, for the notes.
const STEPS_BEFORE: usize = 41;
/// The number of the kernel, the first of a scheme: see `src/state/gpu/kernel_id.rs`.
const MARK: u64 = 9;
/// The note of a state without flaw.
const NONE: u64 = u64::MAX;

/// Dry masses that are not rho dz, and areas, of the columns of a state.
struct Air<R> {
    mass: Layered<R>,
    area: Array2<f64>,
    per_area: Array2<R>,
}

impl<R: Vectorised> Air<R> {
    fn of(state: &State<R>) -> Self {
        let (nz, ny, nx) = state.tracers[0].dim();
        let plane = |value: f64, change: f64| {
            let part = |j: usize, i: usize| 1.0 + change * ((3 * i + 5 * j) % 7) as f64;
            Array2::from_shape_fn((ny, nx), |(j, i)| value * part(j, i))
        };
        let profile = |value: f64| (0..nz).map(|k| R::of(value / (1.0 + 0.1 * k as f64))).collect();
        let [with_mu, without_mu] = [plane(4e10, 0.01), plane(2e9, -0.02)].map(|x| x.mapv(R::of));
        let mass = Layered { with_mu, without_mu, c1: profile(0.9), c2: profile(1.3) };
        let area = plane(1e8, -0.03);
        Self { mass, per_area: area.mapv(|area| R::of(1.0 / area)), area }
    }
}

/// A call on the CPU with its terms.
fn on_cpu<R: Vectorised>(
    dt: f64,
    state: &mut State<R>,
    Air { mass, per_area, .. }: &Air<R>,
    vectors: Option<Instructions>,
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
    call(&scheme, R::of(dt), &scratch, block);
    terms
}

/// Results of a call on the device, beside the state.
struct Called<R> {
    terms: Vec<Array2<R>>,
    mark: u64,
    note: Option<NonFiniteValue>,
}

/// A call on the device; what it does not read is NaN.
fn on_device<R: Vectorised + Element>(
    gpu: &Gpu,
    dt: f64,
    state: &mut State<R>,
    air: &Air<R>,
) -> Called<R> {
    let (nz, ny, nx) = state.tracers[0].dim();
    let shape = Shape { nx, ny, nz };
    let Layered { with_mu, without_mu, c1, c2 } = &air.mass;
    let [with_mu, without_mu] = [with_mu, without_mu].map(|x| x.as_slice().expect("in order"));
    let masses = [with_mu, without_mu, &c1[..], &c2[..]].map(|x| gpu.upload(x).unwrap());
    let [with_mu, without_mu, c1, c2] = masses.each_ref().map(|x| x.pointer().read());
    let mass = LayeredPointers { with_mu, without_mu, c1, c2, ..LayeredPointers::default() };
    let area = air.area.as_slice().expect("in order");
    let marks = gpu.upload(&[0_u64]).unwrap();
    let notes = gpu.upload(&[NONE, STEPS_BEFORE as u64, 0]).unwrap();
    let (layout, inside) = (Layout::tight(shape), ActiveColumns::all(shape));
    let noted = [marks.pointer(), notes.pointer()];
    let kernel =
        KesslerInRun::new(&Kessler::default(), gpu, layout, &inside, Some((mass, area)), noted)
            .unwrap();

    let unread = |fields: usize| vec![R::nan(); fields * shape.cells()];
    let planes = |count: usize| vec![R::nan(); count * shape.columns()];
    let upload = |parts: &[Vec<R>]| gpu.upload(&parts.concat()).unwrap();
    let State { tracers, air, surface, .. } = state;
    let ground = [values(surface), planes(TERMS.len())];
    let on_device = DeviceFields {
        state: &upload(&[values(tracers)]),
        air: &upload(&[values(&air[..2]), unread(1), values(&air[2..])]),
        surface: &upload(&ground),
    };
    kernel.call_in(Branch::TRUNK, StepInBatch::ALONE, &on_device, dt).unwrap();
    take(tracers, &on_device.state.to_vec().unwrap());
    let own = surface.len();
    let mut planes = vec![Array2::zeros((ny, nx)); planes_of(own, 1)];
    take(&mut planes, &on_device.surface.to_vec().unwrap());
    let terms = planes.split_off(own);
    *surface = planes;
    Called {
        terms,
        mark: marks.to_vec().unwrap()[0],
        note: NonFiniteValue::of(notes.to_vec().unwrap()[0]),
    }
}

/// Water of a column of a state, weighted.
fn water<R: Vectorised>(
    state: &State<R>,
    weight: impl Fn([usize; 3]) -> f64,
    [j, i]: [usize; 2],
) -> f64 {
    let levels = state.tracers[0].dim().0;
    let of = |field: &Array3<R>, k: usize| field[[k, j, i]].f64() * weight([k, j, i]);
    state.tracers[1..].iter().map(|q| (0..levels).map(|k| of(q, k)).sum::<f64>()).sum()
}

/// Kernel and CPU have the same terms, which account for all water, weighted by rho dz and by the mass, for negative
/// vapour, cloud water and rain too.
fn check<R: Vectorised + Element>(gpu: &Gpu, rounding: f64) {
    let mut before = State::<R>::of(&columns(27), 2, 300.0);
    for (n, q) in before.tracers[1..].iter_mut().enumerate() {
        q[[3 + n, 0, 2]] = R::of(-1e-5);
        q[[9 + n, 1, 3]] = R::of(-3e-4);
    }
    let air = Air::of(&before);
    let (_, ny, nx) = before.tracers[0].dim();
    let (mut fallen, mut clipped) = (0.0, 0);
    let named = |terms: &[Array2<R>]| {
        let planes = terms.iter().map(|plane| plane.clone().into_dyn());
        TERMS.into_iter().zip(planes).collect::<Vec<_>>()
    };
    for dt in [60.0, 300.0] {
        let (mut found, mut alone, mut in_lanes) = (before.clone(), before.clone(), before.clone());
        let called = on_device(gpu, dt, &mut found, &air);
        let expected = on_cpu(dt, &mut alone, &air, None);
        let side_by_side = on_cpu(dt, &mut in_lanes, &air, Instructions::best());
        expect_same_bits("fields", found.named(), alone.named());
        expect_same_bits(&format!("{dt} s"), named(&called.terms), named(&expected));
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
    let Some(gpu) = emulated_gpu() else { return };
    check::<f32>(&gpu, 1e-6);
    check::<f64>(&gpu, 1e-14);
}

/// Infinite values and NaN before or after a call are noted: the earliest by field and cell.
#[test]
fn values_that_are_not_finite_are_noted() {
    let Some(gpu) = gpu(true) else { return };
    let sound = State::<f32>::of(&columns(27), 3, 300.0);
    let air = Air::of(&sound);
    let (nz, ny, nx) = sound.tracers[0].dim();
    let called = on_device(&gpu, 60.0, &mut sound.clone(), &air);
    assert_eq!((called.mark, called.note), (MARK, None));
    let random = &mut Random::new(5);
    for number in 0..12 {
        let mut state = sound.clone();
        let mut flaws = Vec::new();
        for _ in 0..=number % 3 {
            let mut below = |most: usize| random.bits() as usize % most;
            let (field, place) = (below(4), below(nz * ny * nx));
            let value = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][below(3)];
            state.tracers[field].as_slice_mut().expect("in order")[place] = value;
            flaws.push((field, place));
        }
        let found = on_device(&gpu, 60.0, &mut state, &air).note;
        let about = format!("{flaws:?} {found:?}");
        let Some(NonFiniteValue { step, field, place }) = found else { panic!("{about}") };
        assert_eq!(step, STEPS_BEFORE + 1, "{about}");
        // The processes turn other fields of a column into NaN too, which may come first.
        assert!((field, place) <= *flaws.iter().min().expect("a flaw"), "{about}");
        let column = |place: usize| place % (ny * nx);
        assert!(flaws.iter().any(|(_, flaw)| column(*flaw) == column(place)), "{about}");
    }
}
