//! The fields of one time of the input of a run, and the air that follows from them.

use std::any::Any;

use ndarray::{Array2, Array3, Zip, s};
use time::PrimitiveDateTime;

use crate::constants::Constants;
use crate::real::Real;
use crate::state::{Environment, State};
use crate::thermo;

/// The fields of one time of the input, as a WRF file has them.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Time.
    pub time: PrimitiveDateTime,
    /// Potential temperature less 300 K, and the water. Shape of each: (nz, ny, nx).
    pub state: State<f32>,
    /// Wind through the x-faces (WRF `U`), m s⁻¹. Shape: (nz, ny, nx + 1).
    pub u: Array3<f32>,
    /// Wind through the y-faces (WRF `V`), m s⁻¹. Shape: (nz, ny + 1, nx).
    pub v: Array3<f32>,
    /// Perturbation and base pressure (WRF `P`, `PB`), Pa. Shape of each: (nz, ny, nx).
    pub pressure: [Array3<f32>; 2],
    /// Perturbation and base geopotential (WRF `PH`, `PHB`), m² s⁻². Shape: (nz + 1, ny, nx).
    pub geopotential: [Array3<f32>; 2],
    /// Perturbation and base column mass (WRF `MU`, `MUB`), Pa. Shape of each: (ny, nx).
    pub column_mass: [Array2<f32>; 2],
    /// Source variables of passive tracers, in their own units. Shape of each: (nz, ny, nx).
    pub sources: Vec<Array3<f32>>,
    /// Photolysis frequencies in the order of a mechanism, s⁻¹; none where the file does not give the light. Shape of
    /// each: (nz, ny, nx).
    pub photolysis: Vec<Array3<f32>>,
}

impl Frame {
    /// Height of the middle of the cells above the ground, m. Shape: (nz, ny, nx).
    pub fn heights(&self) -> Array3<f64> {
        let [ph, phb] = &self.geopotential;
        let gravity = <f64 as Constants>::GRAVITY;
        let face = |k: usize, j: usize, i: usize| {
            (f64::from(ph[[k, j, i]]) + f64::from(phb[[k, j, i]])) / gravity
        };
        Array3::from_shape_fn(self.state.theta().dim(), |(k, j, i)| {
            0.5 * (face(k, j, i) + face(k + 1, j, i)) - face(0, j, i)
        })
    }

    /// Density from the equation of state, Exner function from pressure, pressure, and depth of the layers from the
    /// geopotential, in working precision.
    pub fn environment<R: Constants>(&self) -> Environment<R> {
        let sum = |[a, b]: &[Array3<f32>; 2]| {
            Zip::from(a).and(b).par_map_collect(|&a, &b| R::of(a.into()) + R::of(b.into()))
        };
        let p: Array3<R> = sum(&self.pressure);
        let rho = Zip::from(self.state.theta()).and(self.state.qv()).and(&p).par_map_collect(
            |&theta, &qv, &p| {
                let theta = R::of(theta.into()) + R::THETA_BASE;
                R::ONE / thermo::specific_volume(theta, R::of(qv.into()), p)
            },
        );
        let [ph, phb] = &self.geopotential;
        let [below, above] = [s![..-1, .., ..], s![1.., .., ..]];
        let heights = Zip::from(ph.slice(below)).and(phb.slice(below));
        let heights = heights.and(ph.slice(above)).and(phb.slice(above));
        let dz = heights.par_map_collect(|&ph_below, &phb_below, &ph, &phb| {
            // In double precision, since it is the difference of two large numbers.
            let height = |ph: f32, phb: f32| f64::from(ph) + f64::from(phb);
            R::of((height(ph, phb) - height(ph_below, phb_below)) / <f64 as Constants>::GRAVITY)
        });
        let exner = Zip::from(&p).par_map_collect(|&p| thermo::exner(p));
        Environment { rho, exner, p, dz, w: None }
    }

    /// Column mass, Pa. Shape: (ny, nx).
    pub fn mu(&self) -> Array2<f64> {
        let [mu, mub] = &self.column_mass;
        mu.mapv(f64::from) + mub.mapv(f64::from)
    }
}

/// A field of a file in working precision, in its shape and units; without a copy if it has that precision.
pub fn promote<R: Real>(field: Array3<f32>) -> Array3<R> {
    let mut field = Some(field);
    let same: &mut dyn Any = &mut field;
    if let Some(same) = same.downcast_mut::<Option<Array3<R>>>().and_then(Option::take) {
        return same;
    }
    let field = field.unwrap_or_default();
    Zip::from(&field).par_map_collect(|&x| R::of(x.into()))
}
