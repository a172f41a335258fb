//! The prognostic fields of a run, the planes at the ground, and the checkpoint that a run continues from.

#[cfg(feature = "gpu")]
pub mod gpu;
mod part;

use std::sync::Arc;

use ndarray::{Array, Array2, Array3, Dimension};

use crate::grid::Shape;
use crate::real::Real;
use crate::tracers::{MOIST_AIR, Tracer, TracerSet};

/// The transported fields: one for each tracer of a set, in its order. Shape of each: (nz, ny, nx), i fastest.
///
/// Each field is an array of its own, so that a step can swap it for its new values.
#[derive(Clone, Debug)]
pub struct State<R> {
    set: Arc<TracerSet>,
    fields: Vec<Array3<R>>,
}

/// Indices of the fields of WSM5.
const THETA: usize = 0;
const QV: usize = 1;
const QC: usize = 2;
const QR: usize = 3;
const QI: usize = 4;
const QS: usize = 5;

/// Fields of WSM5, which are the first of every state.
pub const STATE_FIELDS: usize = MOIST_AIR;
/// Species of water, which follow the potential temperature.
pub const WATER_SPECIES: usize = STATE_FIELDS - 1;

/// A field by its name, for reading and for writing.
macro_rules! named {
    ($($(#[$about:meta])* $name:ident, $name_mut:ident, $place:ident;)+) => {
        impl<R> State<R> {
            $(
                $(#[$about])*
                pub fn $name(&self) -> &Array3<R> {
                    &self.fields[$place]
                }

                /// The same for writing.
                pub fn $name_mut(&mut self) -> &mut Array3<R> {
                    &mut self.fields[$place]
                }
            )+
        }
    };
}

named! {
    /// Potential temperature less 300 K (WRF `T`), K.
    theta, theta_mut, THETA;
    /// Water vapour mixing ratio (WRF `QVAPOR`), kg per kg of dry air.
    qv, qv_mut, QV;
    /// Cloud water mixing ratio (WRF `QCLOUD`), kg kg⁻¹.
    qc, qc_mut, QC;
    /// Rain mixing ratio (WRF `QRAIN`), kg kg⁻¹.
    qr, qr_mut, QR;
    /// Cloud ice mixing ratio (WRF `QICE`), kg kg⁻¹.
    qi, qi_mut, QI;
    /// Snow mixing ratio (WRF `QSNOW`), kg kg⁻¹.
    qs, qs_mut, QS;
}

impl<R> State<R> {
    /// Fields of the tracers of a set, in its order.
    ///
    /// # Panics
    ///
    /// When the number of fields is not that of tracers, or their shapes differ.
    pub fn new(set: Arc<TracerSet>, fields: Vec<Array3<R>>) -> Self {
        assert_eq!(fields.len(), set.len(), "a field for each tracer");
        assert!(fields.iter().all(|field| field.dim() == fields[0].dim()), "fields of one shape");
        Self { set, fields }
    }

    /// The fields of WSM5 alone: theta, qv, qc, qr, qi, qs.
    ///
    /// # Panics
    ///
    /// When their shapes differ.
    pub fn of_moist_air(fields: [Array3<R>; STATE_FIELDS]) -> Self {
        Self::new(TracerSet::moist_air(), fields.into())
    }

    /// The tracers of the fields.
    pub fn set(&self) -> &Arc<TracerSet> {
        &self.set
    }

    /// The fields, in the order of the set.
    pub fn fields(&self) -> &[Array3<R>] {
        &self.fields
    }

    /// The fields for writing, in the order of the set.
    pub fn fields_mut(&mut self) -> &mut [Array3<R>] {
        &mut self.fields
    }

    /// The fields of WSM5.
    pub fn moist_air(&self) -> &[Array3<R>; STATE_FIELDS] {
        self.fields.first_chunk().unwrap_or_else(|| unreachable!("every set begins with them"))
    }

    /// The fields of WSM5 for writing.
    pub fn moist_air_mut(&mut self) -> &mut [Array3<R>; STATE_FIELDS] {
        self.fields.first_chunk_mut().unwrap_or_else(|| unreachable!("every set begins with them"))
    }

    /// The species of water.
    pub fn water(&self) -> &[Array3<R>] {
        &self.fields[STATE_FIELDS - WATER_SPECIES..STATE_FIELDS]
    }

    /// The fields of the passive tracers.
    pub fn passive(&self) -> &[Array3<R>] {
        &self.fields[STATE_FIELDS..]
    }

    /// The tracers with their fields.
    pub fn tracers(&self) -> impl Iterator<Item = (&Tracer, &Array3<R>)> {
        self.set.iter().zip(&self.fields)
    }

    /// A state with a function applied to each field.
    pub fn map<S>(&self, make: impl FnMut(&Array3<R>) -> Array3<S>) -> State<S> {
        State::new(Arc::clone(&self.set), self.fields.iter().map(make).collect())
    }

    /// A state with a function applied to each field, which is consumed.
    pub fn into_map<S>(self, make: impl FnMut(Array3<R>) -> Array3<S>) -> State<S> {
        State::new(self.set, self.fields.into_iter().map(make).collect())
    }

    /// The same fields with further tracers: those of `passive` follow.
    ///
    /// # Panics
    ///
    /// When the set does not fit.
    #[must_use]
    pub fn followed_by(mut self, set: Arc<TracerSet>, passive: Vec<Array3<R>>) -> Self {
        self.fields.extend(passive);
        Self::new(set, self.fields)
    }
}

impl<R: Real> State<R> {
    /// The fields of WSM5, all zero.
    pub fn zeros(shape: Shape) -> Self {
        Self::zeros_of(TracerSet::moist_air(), shape)
    }

    /// The fields of a set, all zero.
    pub fn zeros_of(set: Arc<TracerSet>, shape: Shape) -> Self {
        let fields = set.iter().map(|_| Array3::zeros(shape.centre())).collect();
        Self::new(set, fields)
    }

    /// The same in double precision, with exact values.
    pub fn widened(&self) -> State<f64> {
        self.map(|field| field.map(|x| x.f64()))
    }
}

/// The values of a field, which is in standard layout, in the order of memory.
pub(crate) fn memory<R, D: Dimension>(field: &Array<R, D>) -> &[R] {
    field.as_slice().expect("fields are in standard layout")
}

/// Air that the microphysics reads. Shape of each: (nz, ny, nx).
#[derive(Clone, Debug)]
pub struct Environment<R> {
    /// Density of dry air (WRF `den`), kg m⁻³.
    pub rho: Array3<R>,
    /// Exner function (WRF `pii`), 1.
    pub exner: Array3<R>,
    /// Pressure (WRF `P + PB`), Pa.
    pub p: Array3<R>,
    /// Depth of the layers (WRF `delz`), m.
    pub dz: Array3<R>,
}

impl<R> Environment<R> {
    /// The fields, in their order.
    pub(crate) fn fields(&self) -> [&Array3<R>; 4] {
        let Self { rho, exner, p, dz } = self;
        [rho, exner, p, dz]
    }

    /// The fields for writing, in their order.
    pub(crate) fn fields_mut(&mut self) -> [&mut Array3<R>; 4] {
        let Self { rho, exner, p, dz } = self;
        [rho, exner, p, dz]
    }

    /// Air with a function applied to each field.
    pub(crate) fn map<S>(&self, make: impl FnMut(&Array3<R>) -> Array3<S>) -> Environment<S> {
        let [rho, exner, p, dz] = self.fields().map(make);
        Environment { rho, exner, p, dz }
    }
}

/// Precipitation at the ground. Shape of each: (ny, nx).
#[derive(Clone, Debug)]
pub struct Surface<R> {
    /// Precipitation since the start of the run (WRF `RAINNC`), mm.
    pub rain: Array2<R>,
    /// Water that has reached the ground in the last step, kg m⁻².
    pub fallen: Array2<R>,
    /// Precipitation of the last step (WRF `RAINNCV`), mm; in one variant of the microphysics that of its last minor
    /// step only, likewise `snowncv` and `sr`.
    pub rainncv: Array2<R>,
    /// Frozen part of `rain` (WRF `SNOWNC`), mm.
    pub snow: Array2<R>,
    /// Frozen part of `rainncv` (WRF `SNOWNCV`), mm.
    pub snowncv: Array2<R>,
    /// Frozen fraction of the precipitation of the last step (WRF `SR`), 1.
    pub sr: Array2<R>,
    /// Water that sedimentation has created in the last step (< 0: lost), kg m⁻².
    pub fall_residual: Array2<R>,
    /// Water that clipping at zero has added in the last step, kg m⁻².
    pub clipped: Array2<R>,
}

impl<R> Surface<R> {
    /// Names of the planes, in their order everywhere: the planes of the output first, the terms of the water budget
    /// last.
    pub const NAMES: [&'static str; 8] =
        ["rain", "snow", "rainncv", "snowncv", "sr", "fallen", "fall_residual", "clipped"];

    /// The planes, in the order of [`Surface::NAMES`].
    pub fn planes(&self) -> [&Array2<R>; 8] {
        let Self { rain, snow, rainncv, snowncv, sr, fallen, fall_residual, clipped } = self;
        [rain, snow, rainncv, snowncv, sr, fallen, fall_residual, clipped]
    }

    /// The planes for writing, in the order of [`Surface::NAMES`].
    pub fn planes_mut(&mut self) -> [&mut Array2<R>; 8] {
        let Self { rain, snow, rainncv, snowncv, sr, fallen, fall_residual, clipped } = self;
        [rain, snow, rainncv, snowncv, sr, fallen, fall_residual, clipped]
    }

    /// A surface from its planes, in the order of [`Surface::NAMES`].
    pub fn of(planes: [Array2<R>; 8]) -> Self {
        let [rain, snow, rainncv, snowncv, sr, fallen, fall_residual, clipped] = planes;
        Self { rain, fallen, rainncv, snow, snowncv, sr, fall_residual, clipped }
    }
}

impl<R: Real> Surface<R> {
    /// All planes zero.
    pub fn zeros(shape: Shape) -> Self {
        Self::of(std::array::from_fn(|_| Array2::zeros((shape.ny, shape.nx))))
    }
}

/// Changes of the water inside the specified and open rows, kg.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaterChange {
    /// Precipitation that has reached the ground.
    pub fallen: f64,
    /// Net inflow through the sides.
    pub sides: f64,
    /// Water that sedimentation has created.
    pub fallout_residual: f64,
    /// Water that clipping at zero has added.
    pub clipped: f64,
    /// Mass mismatch: water that the microphysics has created by moving it between layers whose rho dz is not their dry
    /// mass.
    pub mass_mismatch: f64,
}

impl WaterChange {
    /// Adds the changes of a step.
    pub fn add(&mut self, change: &Self) {
        self.fallen += change.fallen;
        self.sides += change.sides;
        self.fallout_residual += change.fallout_residual;
        self.clipped += change.clipped;
        self.mass_mismatch += change.mass_mismatch;
    }
}

/// Changes of a passive tracer inside the specified and open rows since the start, kg of dry air times its units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TracerChange {
    /// Net inflow through the sides.
    pub sides: f64,
    /// Lost by decay, a negative number.
    pub decayed: f64,
    /// Change by chemical reactions.
    pub reacted: f64,
    /// Added by clipping at zero around the chemistry.
    pub clipped: f64,
}

/// Counters of the chemistry of a run since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChemistryTally {
    /// Time since the last call, s.
    pub waited: f64,
    /// Calls for all cells.
    pub calls: u64,
    /// Cells of all calls.
    pub cells: u64,
    /// Steps of all cells, including rejected ones.
    pub steps: u64,
    /// Most steps of a cell in a call.
    pub most: u64,
    /// Cells that failed and kept their values.
    pub failed: u64,
    /// Error code of the first of them, and its position `[i, j, k]`.
    pub first_failed: (i32, [usize; 3]),
}

impl ChemistryTally {
    /// Number of counters.
    pub const NUMBERS: usize = 10;

    /// All counters as numbers, for files.
    pub fn numbers(&self) -> [f64; Self::NUMBERS] {
        let Self { waited, calls, cells, steps, most, failed, first_failed: (code, [i, j, k]) } =
            *self;
        let [calls, cells, steps, most, failed] =
            [calls, cells, steps, most, failed].map(|count| count as f64);
        let [i, j, k] = [i, j, k].map(|place| place as f64);
        [waited, calls, cells, steps, most, failed, f64::from(code), i, j, k]
    }

    /// The counters from such numbers.
    pub fn of_numbers(numbers: [f64; Self::NUMBERS]) -> Self {
        let [waited, calls, cells, steps, most, failed, code, i, j, k] = numbers;
        let [calls, cells, steps, most, failed] =
            [calls, cells, steps, most, failed].map(|count| count as u64);
        let place = [i, j, k].map(|place| place as usize);
        Self { waited, calls, cells, steps, most, failed, first_failed: (code as i32, place) }
    }
}

/// Accumulated results since the start of a run.
#[derive(Clone, Debug)]
pub struct Accumulators<R> {
    /// Precipitation.
    pub surface: Surface<R>,
    /// Changes of the water inside the specified and open rows.
    pub changes: WaterChange,
    /// Changes of the passive tracers, in the order of the set.
    pub passive: Vec<TracerChange>,
    /// Counters of the chemistry.
    pub chemistry: ChemistryTally,
    /// First steps of the chemistry's next call in the cells that have chemistry, s, by level, row and column; empty
    /// if they are the same in every call, and before the first one.
    pub first_steps: Vec<f64>,
    /// Partial sums of these changes, kg, if a backend has more than one for each: it continues with them to get the
    /// same bits. Another backend uses the changes.
    pub parts: Vec<f64>,
}

impl<R: Real> Accumulators<R> {
    /// The same in double precision, with exact values.
    pub fn widened(&self) -> Accumulators<f64> {
        let Self { changes, passive, chemistry, first_steps, parts, .. } = self.clone();
        let surface = Surface::of(self.surface.planes().map(|plane| plane.map(|x| x.f64())));
        Accumulators { surface, changes, passive, chemistry, first_steps, parts }
    }
}

/// Checkpoint of a run between two steps, from which it continues as if it had not been stopped.
#[derive(Clone, Debug)]
pub struct Checkpoint<R> {
    /// Transported fields.
    pub state: State<R>,
    /// Accumulated results.
    pub gathered: Accumulators<R>,
}

/// Diagnostics of the microphysics. Shape of each: (nz, ny, nx).
#[derive(Clone, Debug)]
pub struct CloudDiagnostics<R> {
    /// Radar reflectivity at 10 cm (WRF `REFL_10CM`), dBZ.
    pub refl_10cm: Array3<R>,
    /// Effective radius of cloud drops (WRF `re_cloud`), m.
    pub re_cloud: Array3<R>,
    /// Effective radius of ice crystals (WRF `re_ice`), m.
    pub re_ice: Array3<R>,
    /// Effective radius of snow (WRF `re_snow`), m.
    pub re_snow: Array3<R>,
}

impl<R> CloudDiagnostics<R> {
    /// The fields, in their order.
    pub fn fields(&self) -> [&Array3<R>; 4] {
        let Self { refl_10cm, re_cloud, re_ice, re_snow } = self;
        [refl_10cm, re_cloud, re_ice, re_snow]
    }

    /// The fields for writing, in their order.
    pub fn fields_mut(&mut self) -> [&mut Array3<R>; 4] {
        let Self { refl_10cm, re_cloud, re_ice, re_snow } = self;
        [refl_10cm, re_cloud, re_ice, re_snow]
    }

    /// Diagnostics from their fields, in their order.
    pub(crate) fn of([refl_10cm, re_cloud, re_ice, re_snow]: [Array3<R>; 4]) -> Self {
        Self { refl_10cm, re_cloud, re_ice, re_snow }
    }
}

impl<R: Real> CloudDiagnostics<R> {
    /// All zero.
    pub fn zeros(shape: Shape) -> Self {
        Self::of(std::array::from_fn(|_| Array3::zeros(shape.centre())))
    }
}

/// Values of one tracer along the outermost rows, in its units, used at inflow.
#[derive(Clone, Debug)]
pub struct BoundaryValues<R> {
    /// At i = 0. Shape: (nz, ny).
    pub west: Array2<R>,
    /// At i = nx - 1. Shape: (nz, ny).
    pub east: Array2<R>,
    /// At j = 0. Shape: (nz, nx).
    pub south: Array2<R>,
    /// At j = ny - 1. Shape: (nz, nx).
    pub north: Array2<R>,
}

impl<R> BoundaryValues<R> {
    /// West, east, south and north.
    pub(crate) fn sides(&self) -> [&Array2<R>; 4] {
        let Self { west, east, south, north } = self;
        [west, east, south, north]
    }

    /// The same for writing.
    pub(crate) fn sides_mut(&mut self) -> [&mut Array2<R>; 4] {
        let Self { west, east, south, north } = self;
        [west, east, south, north]
    }

    /// Values with a function applied to each side.
    pub(crate) fn map<S>(&self, make: impl FnMut(&Array2<R>) -> Array2<S>) -> BoundaryValues<S> {
        let [west, east, south, north] = self.sides().map(make);
        BoundaryValues { west, east, south, north }
    }
}

impl<R: Real> BoundaryValues<R> {
    /// The outermost rows of `field`, with subnormal traces set to zero. Shape: (nz, ny, nx).
    pub fn of(field: &Array3<R>) -> Self {
        use ndarray::s;
        Self {
            west: field.slice(s![.., .., 0]).mapv(R::normal),
            east: field.slice(s![.., .., -1]).mapv(R::normal),
            south: field.slice(s![.., 0, ..]).mapv(R::normal),
            north: field.slice(s![.., -1, ..]).mapv(R::normal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_trace_comes_in_through_a_side() {
        let least = f32::MIN_POSITIVE;
        let field =
            Array3::from_shape_fn((1, 2, 2), |(_, j, i)| least * [0.5, 1.0, -0.5, -2.0][2 * j + i]);
        let BoundaryValues { west, east, south, north } = BoundaryValues::of(&field);
        assert_eq!(
            (west.as_slice(), east.as_slice()),
            (Some(&[0.0, 0.0][..]), Some(&[least, -2.0 * least][..]))
        );
        assert_eq!(
            (south.as_slice(), north.as_slice()),
            (Some(&[0.0, least][..]), Some(&[0.0, -2.0 * least][..]))
        );
    }
}
