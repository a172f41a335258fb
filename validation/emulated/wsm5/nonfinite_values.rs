//! Infinite values and NaN are noted wherever they are: the earliest by field and cell.

use rayon::prelude::*;

use nwp_mini::state::gpu::status_word::NonFiniteValue;
use nwp_mini::wsm5::Sedimentation;
use nwp_mini::wsm5::gpu::{Mapping, Tile};

use super::against_cpu::scheme;
use super::columns::columns;
use super::engine::{EmulatedWsm5, STEPS_BEFORE};
use super::random::Random;
use super::weather::{Region, Weather};

const LEVELS: usize = 27;
const DT: f32 = 60.0;

fn check(mapping: Mapping) {
    let p = scheme::<f32>(Sedimentation::SemiLagrangian);
    let engine = EmulatedWsm5::compile(&p, LEVELS, mapping);
    let sound = Weather::<f32>::of(&columns(LEVELS, 69), 3, 300.0);
    let (shape, region) = (sound.shape(), Region::whole(sound.shape()));
    let random = &mut Random::new(5);
    for seed in 0..12 {
        let mut weather = sound.clone();
        let mut flaws = Vec::new();
        for _ in 0..=seed % 3 {
            let mut below = |most: usize| random.bits() as usize % most;
            let (field, place) = (below(6), below(shape.cells()));
            let value = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][below(3)];
            let fields = weather.state.fields_mut();
            let values = fields.get_mut(field).and_then(|field| field.as_slice_mut());
            values.expect("a field in order")[place] = value;
            flaws.push((field, place));
        }
        let found = engine.flaw(&p, DT, &weather, &region, seed);
        let about = format!("{mapping:?} {flaws:?} {found:?}");
        let Ok(Some(NonFiniteValue { step, field, place })) = found else { panic!("{about}") };
        assert_eq!(step, STEPS_BEFORE as usize + 1, "{about}");
        // The processes turn other fields of a column into NaN too, which may come first.
        assert!((field, place) <= *flaws.iter().min().expect("a flaw"), "{about}");
        let column = |place: usize| place % shape.columns();
        assert!(flaws.iter().any(|(_, flaw)| column(*flaw) == column(place)), "{about}");
    }
}

#[test]
fn values_that_are_not_finite_are_noted() {
    let tile = |columns, threads| Mapping::Tile(Tile { columns, threads, blocks: 1 });
    [Mapping::Column, tile(8, 256), tile(32, 288)].into_par_iter().for_each(check);
}
