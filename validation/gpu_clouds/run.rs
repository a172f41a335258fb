//! Columns on the device.

use ndarray::{Array2, Array3, Axis};

use nwp_mini::gpu::clouds::{Clouds, DIAGNOSED_FIELDS, Inside, PLANES, Place, SURFACE_PLANES};
use nwp_mini::gpu::wsm5::Mapping;
use nwp_mini::gpu::{Element, Gpu};
use nwp_mini::grid::Shape;
use nwp_mini::wsm5::scheme::Scheme;

use crate::case::{Columns, Outcome, Precision};

/// A precision that the device computes in.
pub(crate) trait OnDevice: Precision + Element {}

impl OnDevice for f32 {}
impl OnDevice for f64 {}

/// As [`Columns::run_with`], on the device. What the kernels have to set holds no number before.
pub(crate) fn on_device<R: OnDevice>(
    gpu: &Gpu,
    p: &Scheme<R>,
    mapping: Option<Mapping>,
    columns: &Columns,
    dt: f64,
    calls: usize,
) -> Outcome<R> {
    let (nz, nx) = columns.dim();
    let shape = Shape { nx, ny: 1, nz };
    let mapping = mapping.unwrap_or_else(|| Mapping::choose(nx, R::PRECISION, p.fallout, shape.nz));
    let inside = Inside::all(shape);
    let clouds = Clouds::new(gpu, shape, inside, p.clone(), mapping, R::ZERO).unwrap();
    let promote = |field: &Array2<f32>| field.iter().map(|&x| R::of(x.into())).collect::<Vec<R>>();
    let fields: Vec<Vec<R>> = columns.fields.iter().map(promote).collect();
    let (state, air) = fields.split_at(6);
    let [mut theta, mut qv] = [state[0].clone(), state[1].clone()];
    let state = gpu.upload(&state.concat()).unwrap();
    let air = gpu.upload(&air.concat()).unwrap();
    // Precipitation is added up from the start; everything else is set.
    let ground = gpu.upload(&vec![R::nan(); SURFACE_PLANES * nx]).unwrap();
    for sum in ["rain", "snow"] {
        ground.upload_to(plane(sum) * nx, &vec![R::ZERO; nx]).unwrap();
    }
    let tendencies = columns.tendencies.as_ref().filter(|_| calls > 1);
    let tendencies = tendencies.map(|fields| fields.each_ref().map(promote));
    let place = Place { state: &state, air: &air, surface: &ground };
    for _ in 0..calls {
        if let Some([theta_rate, qv_rate]) = &tendencies {
            let dt = R::of(dt);
            state.download_from(0, &mut theta).unwrap();
            state.download_from(theta.len(), &mut qv).unwrap();
            theta.iter_mut().zip(theta_rate).for_each(|(x, &rate)| *x += dt * rate);
            for (x, &rate) in qv.iter_mut().zip(qv_rate) {
                *x = (*x + dt * rate).larger(R::ZERO);
            }
            state.upload_to(0, &theta).unwrap();
            state.upload_to(theta.len(), &qv).unwrap();
        }
        clouds.call(&place, dt).unwrap();
    }
    let diagnosed = gpu.zeros::<R>(DIAGNOSED_FIELDS * nz * nx).unwrap();
    diagnosed.poison().unwrap();
    clouds.diagnose(&place, &diagnosed, 0).unwrap();

    let levels = [state.to_vec().unwrap(), diagnosed.to_vec().unwrap()].concat();
    let levels = levels.chunks_exact(nz * nx).map(|field| {
        let field = Array3::from_shape_vec(shape.centre(), field.to_vec()).expect("a field");
        field.remove_axis(Axis(1))
    });
    let ground = ground.to_vec().unwrap();
    let of = |name: &str| ground[plane(name) * nx..][..nx].to_vec();
    let planes = ["rain", "rainncv", "snow", "snowncv", "sr"]
        .map(|name| Array2::from_shape_vec((1, nx), of(name)).expect("a plane"));
    Outcome {
        fields: levels.chain(planes).collect(),
        residual: of("fall_residual"),
        clipped: of("clipped"),
    }
}

fn plane(name: &str) -> usize {
    PLANES.iter().position(|plane| *plane == name).expect("a plane of the ground")
}
