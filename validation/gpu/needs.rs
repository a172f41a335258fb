//! The memory that a run takes on the device, against the estimate before any is taken.

use std::path::Path;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::gpu::{GpuBackend, GpuConfig, MemoryEstimate};
use nwp_mini::chemistry::coupled::{Coupled, Degrees, Light};
use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::mechanism::{self, Role};
use nwp_mini::constituents::{Constituent, Limiter as OfTracer, interned};
use nwp_mini::io::wrf;
use nwp_mini::model::RunInput;
use nwp_mini::physics::registry;
use nwp_mini::physics::registry::usual_set;
use nwp_mini::state::State;
use std::sync::Arc;
use time::macros::datetime;

use crate::small::Small;
use crate::{gpu, project};

fn species(name: &str) -> Constituent {
    let name = interned(&name.to_lowercase());
    Constituent {
        units: "ppmv",
        description: "a species",
        kind: nwp_mini::constituents::Kind::Chemical,
        limiter: Some(OfTracer::PositiveDefinite),
        ..Constituent::passive(name)
    }
}

/// Memory of the driver, of kernels, and of gaps between the pieces, bytes.
const OTHER_USE: f64 = (64 << 20) as f64;

#[test]
#[ignore = "measures memory, and needs the device for itself"]
fn a_run_takes_the_estimated_memory() {
    let Some(gpu) = gpu(true) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.nc");
    Small::of([96, 80, 27], true).write(&path);
    let (domain, frame) = wrf::read(&path, None).unwrap();
    let case = RunInput::<f32>::new(domain, frame).unwrap();
    let file = Path::new(&project()).join("data/chemistry/radm2.kpp");
    let (mechanism, _) = mechanism::read(&file).unwrap().mechanism().unwrap();
    let carried = mechanism.species.iter().filter(|species| species.role == Role::Variable);
    let set = Arc::new(usual_set().with_passive(carried.map(|x| species(&x.name))));
    let coupled = |light: Light| Coupled {
        fields: mechanism.species.iter().map(|x| set.position(&x.name.to_lowercase())).collect(),
        kinetics: Kinetics::new(&mechanism).unwrap(),
        mechanism: mechanism.clone(),
        light,
        place: [Degrees::One(45.0), Degrees::One(9.0)],
        date: datetime!(2005-06-21 12:00:00),
        interval: 0.0,
        keeps_steps: true,
    };
    let (clear, _) = Light::clear_sky(&mechanism).unwrap();
    let mut estimates = Vec::new();
    for (light, has_sequence) in
        [(None, false), (Some(clear), false), (Some(Light::Prescribed), true)]
    {
        let coupled = light.map(|light| Arc::new(coupled(light)));
        let setting = GpuConfig {
            grid: &case.domain.grid,
            coordinate: &case.domain.coordinate,
            limiter: Limiter::PositiveDefinite,
            scheme: &*registry::usual(),
            mapping: None,
            tracers: &set,
            has_sequence,
            chemistry: coupled.as_deref(),
        };
        let needs = MemoryEstimate::of::<f32>(&gpu, &setting).unwrap().device as f64;
        let [before, _] = gpu.memory().unwrap();
        let state = State::<f32>::zeros(&set, case.domain.grid.shape);
        let run = GpuBackend::new(&gpu, &setting, &state).unwrap();
        let run = run.with_chemistry(coupled.as_ref()).unwrap();
        let [after, _] = gpu.memory().unwrap();
        let taken = before as f64 - after as f64;
        println!("{:.1} MB estimated, {:.1} MB taken", needs / 1e6, taken / 1e6);
        assert!(taken <= needs + OTHER_USE && taken >= 0.9 * needs - OTHER_USE, "{needs} {taken}");
        drop(run);
        estimates.push(needs);
    }
    assert!(
        estimates[1] > 2.0 * estimates[0] && estimates[2] > 1.02 * estimates[1],
        "{estimates:?}"
    );
}
