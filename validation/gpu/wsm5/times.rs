//! Times of a call with tiles of several shapes: printed, as a basis of the choice.

use nwp_mini::grid::Shape;
use nwp_mini::grid::gpu::Layout;
use nwp_mini::physics::wsm5::ABOUT;
use nwp_mini::physics::wsm5::Sedimentation;
use nwp_mini::physics::wsm5::gpu::kernels::Wsm5Gpu;
use nwp_mini::physics::wsm5::gpu::launch::{ActiveColumns, DeviceFields, planes_of};
use nwp_mini::physics::wsm5::gpu::{Mapping, Tile};
use nwp_mini::physics::wsm5::scheme::Scheme;

use super::case::Columns;
use crate::gpu;

/// Columns, threads and blocks of a multiprocessor.
const SMALL: [(usize, usize, usize); 4] = [(8, 256, 4), (8, 224, 4), (8, 128, 8), (4, 128, 8)];
const LARGE: [(usize, usize, usize); 7] = [
    (32, 288, 4),
    (32, 288, 3),
    (32, 416, 3),
    (32, 224, 5),
    (32, 864, 1),
    (16, 224, 5),
    (16, 128, 8),
];

#[test]
#[ignore = "measures time, and needs the machine for itself"]
fn tiles_of_other_shapes() {
    let Some(gpu) = gpu(true) else { return };
    let storm = Columns::of("storm");
    let (nz, given) = storm.dim();
    let repeated = |columns: usize| -> Vec<Vec<f32>> {
        let field = |number: usize| {
            let rows = storm.fields[number].rows();
            rows.into_iter()
                .flat_map(|row| (0..columns).map(move |column| row[column % given]))
                .collect()
        };
        (0..10).map(field).collect()
    };
    for (columns, shapes) in [(4118, &SMALL[..]), (1 << 20, &LARGE[..])] {
        let shape = Shape { nx: columns, ny: 1, nz };
        let fields = repeated(columns);
        let saved = gpu.upload(&fields[..6].concat()).unwrap();
        let air = gpu.upload(&fields[6..].concat()).unwrap();
        let state = gpu.zeros(saved.len()).unwrap();
        let ground = gpu.zeros(planes_of(ABOUT.surface.len(), 1) * columns).unwrap();
        for &(width, threads, blocks) in shapes {
            let mapping = Mapping::Tile(Tile { columns: width, threads, blocks });
            let scheme = Scheme::<f32>::default().with_fallout(Sedimentation::SemiLagrangian);
            let wsm5 = Wsm5Gpu::new(
                &gpu,
                Layout::tight(shape),
                ActiveColumns::all(shape),
                scheme,
                mapping,
                0.0,
            );
            let wsm5 = match wsm5 {
                Ok(wsm5) => wsm5,
                Err(error) => {
                    println!("{columns} columns, {mapping:?}: {error}");
                    continue;
                }
            };
            let place = DeviceFields { state: &state, air: &air, surface: &ground };
            let mut graphs = [false, true].map(|calls| {
                let work = || {
                    for _ in 0..20 {
                        state.copy_from(&saved)?;
                        if calls {
                            wsm5.call(&place, 60.0)?;
                        }
                    }
                    Ok(())
                };
                gpu.capture(work).unwrap()
            });
            let mut best = [f64::INFINITY; 2];
            for _ in 0..5 {
                for (best, graph) in best.iter_mut().zip(&mut graphs) {
                    *best = best.min(gpu.elapsed(|| graph.launch()).unwrap());
                }
            }
            let time = (best[1] - best[0]) / 20.0;
            println!("{columns} columns, {mapping:?}: {:.2} us", 1e6 * time);
        }
    }
}
