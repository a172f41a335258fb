//! Infinite values and NaN in a run: the kernels of every mapping note the earliest by field and cell.

use nwp_mini::advection::Limiter;
use nwp_mini::backend::Backend;
use nwp_mini::backend::gpu::{GpuBackend, GpuConfig};
use nwp_mini::error::Error;
use nwp_mini::io::wrf;
use nwp_mini::model::RunInput;
use nwp_mini::physics::registry::usual_set;
use nwp_mini::physics::wsm5::Wsm5;
use nwp_mini::physics::wsm5::gpu::{Mapping, Tile};

use crate::{gpu, storm_file};

const DT: f64 = 60.0;

/// Fields and values of the flaws.
const FLAWS: [(usize, f32); 4] =
    [(0, f32::NAN), (1, f32::INFINITY), (3, f32::NEG_INFINITY), (5, f32::NAN)];

#[test]
fn values_that_are_not_finite_are_noted() {
    let Some(gpu) = gpu(true) else { return };
    let (domain, frame) = wrf::read(&storm_file(), None).unwrap();
    let mut case = RunInput::<f32>::new(domain, frame).unwrap();
    let state = case.take_state();
    let moment = case.drive(0.0, DT).unwrap();
    let tile = |columns, threads| Mapping::Tile(Tile { columns, threads, blocks: 4 });
    for mapping in [Mapping::Column, tile(8, 256), tile(32, 288)] {
        let text = mapping.text();
        let setting = GpuConfig {
            grid: &case.domain.grid,
            coordinate: &case.domain.coordinate,
            limiter: Limiter::PositiveDefinite,
            scheme: &Wsm5::default(),
            mapping: Some(&text),
            tracers: &usual_set(),
            has_sequence: false,
            chemistry: None,
        };
        for (field, value) in FLAWS {
            let (mut spoilt, cell) = (state.clone(), [5 + field, 7, 9]);
            spoilt.fields_mut()[field][cell] = value;
            let mut run = GpuBackend::new(&gpu, &setting, &spoilt).unwrap();
            run.drive(&moment).unwrap();
            run.step(DT).unwrap();
            let found = run.check(1, true);
            let about = format!("{mapping}, {value} in field {field}: {found:?}");
            let Err(Error::BlowUp { variable, value, step: 1, cell: at }) = found else {
                panic!("{about}")
            };
            // Transport and processes turn neighbours and other fields into NaN too, which may come first.
            let number = state.set().iter().position(|tracer| tracer.name == variable);
            assert!(number.is_some_and(|number| (number, at) <= (field, cell)), "{about}");
            assert!(!value.is_finite(), "{about}");
        }
    }
}
