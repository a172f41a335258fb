//! All cases of the reference, judged as the CPU version is.

use nwp_mini::gpu::Gpu;
use nwp_mini::gpu::wsm5::{Mapping, Tile};
use nwp_mini::wsm5::scheme::Scheme;

use crate::case::CASES;
use crate::device::gpu;
use crate::judge::{ON_ITS_OWN, Report, each_field, judge_f32, judge_f64};
use crate::run::on_device;

/// The mappings that a run can ask for: a thread for a column, and narrow and wide tiles.
fn mappings() -> [Mapping; 3] {
    let tile = |columns, threads| Mapping::Tile(Tile { columns, threads, blocks: 4 });
    [Mapping::Column, tile(8, 256), tile(32, 288)]
}

fn check_f32(gpu: &Gpu) {
    let p = Scheme::default();
    for mapping in mappings() {
        println!("{mapping:?}");
        let mut report = Report::default();
        each_field::<f32>(
            |columns, dt, calls| on_device(gpu, &p, Some(mapping), columns, dt, calls),
            &CASES,
            1,
            |_| true,
            |field, stage, name, y, fragile| {
                judge_f32(field, stage, name, y, (fragile, ON_ITS_OWN), &mut report);
            },
        );
        report.finish();
    }
}

#[test]
fn single_precision_with_fast_math() {
    if let Some(gpu) = gpu(true) {
        check_f32(&gpu);
    }
}

#[test]
fn single_precision_without_fast_math() {
    if let Some(gpu) = gpu(false) {
        check_f32(&gpu);
    }
}

#[test]
fn double_precision() {
    let Some(gpu) = gpu(false) else { return };
    let p = Scheme::default();
    // Wide tiles are too large in double precision.
    for mapping in [Some(Mapping::Column), None] {
        println!("{mapping:?}");
        let mut report = Report::default();
        each_field::<f64>(
            |columns, dt, calls| on_device(&gpu, &p, mapping, columns, dt, calls),
            &CASES,
            1,
            |_| true,
            |field, stage, name, y, _| judge_f64(field, stage, name, y, ON_ITS_OWN, &mut report),
        );
        report.finish();
    }
}
