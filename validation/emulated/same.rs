//! Kernels against the CPU version.

use nwp_mini::gpu::wsm5::{Mapping, Tile};
use nwp_mini::wsm5::scheme::Scheme;
use nwp_mini::wsm5::{Fallout, Fields, Scratch, call};

use crate::clouds::{Clouds, Exchanged, Region, Weather};
use crate::weather::{columns, weather};

fn on_cpu<R: Exchanged>(p: &Scheme<R>, dt: f64, mut weather: Weather<R>) -> Weather<R> {
    let scratch = Scratch::new(weather.shape().nz);
    let Weather { theta_base, state, air, surface } = &mut weather;
    call(p, R::of(dt), &scratch, Fields::new(*theta_base, state, air, surface));
    weather
}

#[test]
fn first() {
    for mapping in [Mapping::Column, Mapping::Tile(Tile { columns: 8, threads: 256, blocks: 2 })] {
    for fallout in Fallout::ALL {
        let p = Scheme::<f64>::default().with_fallout(fallout);
        let clouds = Clouds::compile(&p, 27, mapping);
        for dt in [60.0, 300.0] {
        let w = weather::<f64>(&columns(27, 100), 1, 0.0);
        let cpu = on_cpu(&p, dt, w.clone());
        let mut gpu = w.clone();
        let now = std::time::Instant::now();
        let region = Region::whole(w.shape());
        clouds.call(&p, dt, &mut gpu, &region, 1);
        println!("{mapping:?} {fallout:?} {dt} {:?}", now.elapsed());
        for (name, a, b) in [("th", &gpu.state.theta, &cpu.state.theta), ("qv", &gpu.state.qv, &cpu.state.qv), ("qc", &gpu.state.qc, &cpu.state.qc), ("qr", &gpu.state.qr, &cpu.state.qr), ("qi", &gpu.state.qi, &cpu.state.qi), ("qs", &gpu.state.qs, &cpu.state.qs)] {
            let mut worst = (0.0, [0,0,0]);
            for k in 0..27 { for c in 0..100 { let e = (a[[k,0,c]]-b[[k,0,c]]).abs(); if !(e <= worst.0) { worst = (e, [k,0,c]); } } }
            let max = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            println!("  {name} {:.2e} of {max:.2e} at {:?}: {:e} {:e}", worst.0, worst.1, a[worst.1], b[worst.1]);
        }
        let s = |w: &Weather<f64>| { let s = &w.surface; [&s.rain, &s.fallen, &s.rainncv, &s.snow, &s.snowncv, &s.sr, &s.fall_residual, &s.clipped].map(Clone::clone) };
        for ((name, a), b) in ["rain","fallen","rainncv","snow","snowncv","sr","resid","clipped"].into_iter().zip(s(&gpu)).zip(s(&cpu)) {
            let mut worst = (0.0, [0,0]);
            for c in 0..100 { let e = (a[[0,c]]-b[[0,c]]).abs(); if !(e <= worst.0) { worst = (e, [0,c]); } }
            let max = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            println!("  {name} {:.2e} of {max:.2e} at {:?}: {:e} {:e}", worst.0, worst.1, a[worst.1], b[worst.1]);
        }
        }
    }
    }
}
