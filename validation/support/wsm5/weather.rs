//! States of a grid, and engines that run the scheme on them.

use ndarray::{Array2, Array3, s};

use nwp_mini::grid::Shape;
use nwp_mini::io::store::writer::Stored;
use nwp_mini::physics::wsm5::ABOUT;
use nwp_mini::physics::wsm5::reflectivity::Bins;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::physics::wsm5::{DiagnosticFields, Vectorised, block, diagnose};
use nwp_mini::physics::{Scratch, call};
use nwp_mini::simd::Instructions;
use nwp_mini::state::{CloudDiagnostics, Environment, State, Surface};

use super::reference::Columns;

/// A precision in which the whole scheme can be run.
pub trait Precision: Stored + Vectorised {}

impl Precision for f32 {}
impl Precision for f64 {}

/// An engine for the scheme: the CPU version with some parameters, or kernels.
pub trait Engine<R> {
    /// One call of `dt` seconds in the columns of a region.
    fn call(&self, dt: R, weather: &mut Weather<R>, region: &Region);

    /// Reflectivity and radii of all columns.
    fn diagnose(&self, weather: &Weather<R>) -> CloudDiagnostics<R>;
}

/// The reference: one column after the other, with the functions of the standard library.
impl<R: Precision> Engine<R> for Scheme<R> {
    fn call(&self, dt: R, weather: &mut Weather<R>, region: &Region) {
        call_with(self, None, dt, weather, region);
    }

    fn diagnose(&self, weather: &Weather<R>) -> CloudDiagnostics<R> {
        diagnose_with(self, None, weather)
    }
}

/// The CPU version with some vector instructions, if there are any.
pub struct Vectors<R> {
    /// Parameters and variant.
    pub scheme: Scheme<R>,
    /// The instructions.
    pub instructions: Option<Instructions>,
}

impl<R> Vectors<R> {
    /// The CPU version as the program runs it here.
    pub fn best(scheme: Scheme<R>) -> Self {
        Self { scheme, instructions: Instructions::best() }
    }

    /// Name of the instruction set.
    pub fn name(&self) -> &'static str {
        self.instructions.map_or("none", Instructions::name)
    }
}

impl<R: Precision> Engine<R> for Vectors<R> {
    fn call(&self, dt: R, weather: &mut Weather<R>, region: &Region) {
        call_with(&self.scheme, self.instructions, dt, weather, region);
    }

    fn diagnose(&self, weather: &Weather<R>) -> CloudDiagnostics<R> {
        diagnose_with(&self.scheme, self.instructions, weather)
    }
}

fn diagnose_with<R: Precision>(
    scheme: &Scheme<R>,
    instructions: Option<Instructions>,
    weather: &Weather<R>,
) -> CloudDiagnostics<R> {
    let mut diagnostics = CloudDiagnostics::zeros(weather.state.set(), weather.shape());
    let Weather { theta_base, state, air, .. } = weather;
    let fields = DiagnosticFields::new(*theta_base, state, air, &mut diagnostics);
    diagnose(scheme, &Bins::default(), instructions, fields);
    diagnostics
}

fn call_with<R: Precision>(
    scheme: &Scheme<R>,
    instructions: Option<Instructions>,
    dt: R,
    weather: &mut Weather<R>,
    region: &Region,
) {
    let scratch = Scratch::with(scheme, weather.shape().nz, instructions);
    let Weather { theta_base, state, air, surface, .. } = weather;
    let block = block(*theta_base, state, air, surface);
    call(scheme, dt, &scratch, block.within(region.rows.clone(), region.columns.clone()));
}

/// The columns of some rows and columns of a grid.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// Rows j.
    pub rows: std::ops::Range<usize>,
    /// Columns i.
    pub columns: std::ops::Range<usize>,
}

impl Region {
    /// All columns of a grid.
    pub fn whole(shape: Shape) -> Self {
        Self { rows: 0..shape.ny, columns: 0..shape.nx }
    }

    /// Regions of all kinds of a grid of some rows.
    pub fn several(shape: Shape) -> Vec<Self> {
        let Shape { nx, ny, .. } = shape;
        assert!(nx >= 23 && ny >= 3, "a grid of {shape} has too few columns");
        let inner = Self { rows: 1..ny - 1, columns: 1..nx - 1 };
        let from_one_on = (1..=12).map(|n| Self { rows: 0..1, columns: 0..n });
        let others = [(0..2, 3..11), (1..3, 7..nx), (0..3, nx - 1..nx), (2..3, 0..17)];
        let others = others.map(|(rows, columns)| Self { rows, columns });
        [Self::whole(shape), inner].into_iter().chain(from_one_on).chain(others).collect()
    }

    fn contains(&self, [j, i]: [usize; 2]) -> bool {
        self.rows.contains(&j) && self.columns.contains(&i)
    }
}

/// The fields of a state, in its order.
pub const NAMES: [&str; 6] = ["theta", "qv", "qc", "qr", "qi", "qs"];

/// A state with all that the microphysics needs and gives.
#[derive(Clone, Debug)]
pub struct Weather<R> {
    /// Offset of the field of potential temperature, K.
    pub theta_base: R,
    /// The state.
    pub state: State<R>,
    /// The air around it.
    pub air: Environment<R>,
    /// Fields at the ground.
    pub surface: Surface<R>,
    /// Masses of the cells.
    pub mass: Mass<R>,
}

/// Dry mass of the cells: `with_mu` c1 + `without_mu` c2.
#[derive(Clone, Debug)]
pub struct Mass<R> {
    /// Shape: (row, column).
    pub with_mu: Array2<R>,
    /// Shape: (row, column).
    pub without_mu: Array2<R>,
    /// For each level.
    pub c1: Vec<R>,
    /// For each level.
    pub c2: Vec<R>,
    /// Reciprocal area of the cells, m⁻². Shape: (row, column).
    pub per_area: Array2<R>,
}

impl<R: Precision> Weather<R> {
    /// The columns as a grid of `ny` rows; values that a call has to set are NaN.
    pub fn of(columns: &Columns, ny: usize, theta_base: f64) -> Self {
        let (nz, count) = columns.dim();
        let shape = Shape { nx: count / ny, ny, nz };
        let field = |name: &str| columns.grid(name, ny);
        let [rho, dz]: [Array3<R>; 2] = ["den", "delz"].map(field);
        // Nearly the mass of dry air at the density of the first column.
        let share = |j: usize, i: usize| R::of(1.0 + 0.01 * ((7 * j + 3 * i) % 5) as f64);
        let area = R::of(1.0e6);
        let profile: Vec<R> = (0..nz).map(|k| rho[[k, 0, 0]] * dz[[k, 0, 0]]).collect();
        let mass = Mass {
            with_mu: Array2::from_shape_fn((ny, shape.nx), |(j, i)| area * share(j, i)),
            without_mu: Array2::from_elem((ny, shape.nx), area),
            c1: profile.iter().map(|&depth| R::of(0.75) * depth).collect(),
            c2: profile.iter().map(|&depth| R::of(0.25) * depth).collect(),
            per_area: Array2::from_elem((ny, shape.nx), area.recip()),
        };
        let mut weather = Self {
            mass,
            theta_base: R::of(theta_base),
            state: State::new(
                ABOUT.set(),
                vec![
                    field("th").mapv(|th| th - R::of(theta_base)),
                    field("q"),
                    field("qc"),
                    field("qr"),
                    field("qi"),
                    field("qs"),
                ],
            ),
            air: Environment { rho, exner: field("pii"), p: field("p"), dz, w: None },
            surface: Surface::zeros(&ABOUT.set(), shape),
        };
        weather.forget(&Region::whole(shape));
        weather
    }

    /// Number of cells in each direction.
    pub fn shape(&self) -> Shape {
        let (nz, ny, nx) = self.state.theta().dim();
        Shape { nx, ny, nz }
    }

    /// The state after a call of `dt` seconds.
    pub fn after(&self, engine: &impl Engine<R>, dt: f64, region: &Region) -> Self {
        let mut weather = self.clone();
        engine.call(R::of(dt), &mut weather, region);
        weather
    }

    /// The state with the columns of a region from another result.
    pub fn patched(&self, after: &Self, region: &Region) -> Self {
        let mut patched = self.clone();
        let Region { rows, columns } = region;
        let inside = s![.., rows.clone(), columns.clone()];
        for (mine, given) in patched.state.fields_mut().iter_mut().zip(after.state.fields()) {
            mine.slice_mut(inside).assign(&given.slice(inside));
        }
        let inside = s![rows.clone(), columns.clone()];
        for ((_, mine), (_, given)) in patched.planes_mut().into_iter().zip(after.planes()) {
            mine.slice_mut(inside).assign(&given.slice(inside));
        }
        patched
    }

    /// The first columns of a single row.
    pub fn first(&self, count: usize) -> Self {
        let mut first = self.clone();
        let Environment { rho, exner, p, dz, .. } = &mut first.air;
        for field in first.state.fields_mut().iter_mut().chain([rho, exner, p, dz]) {
            *field = field.slice(s![.., .., ..count]).to_owned();
        }
        let Mass { with_mu, without_mu, per_area, .. } = &mut first.mass;
        for plane in [with_mu, without_mu, per_area] {
            *plane = plane.slice(s![.., ..count]).to_owned();
        }
        for (_, plane) in first.planes_mut() {
            *plane = plane.slice(s![.., ..count]).to_owned();
        }
        first
    }

    /// Sets the values that a call has to set in the columns of a region to NaN.
    pub fn forget(&mut self, region: &Region) {
        let Region { rows, columns } = region;
        for (name, plane) in self.planes_mut() {
            // These two planes accumulate.
            if !["rain", "snow"].contains(&name) {
                plane.slice_mut(s![rows.clone(), columns.clone()]).fill(R::nan());
            }
        }
    }

    /// Fields at the ground, by name.
    pub fn planes(&self) -> Vec<(&'static str, &Array2<R>)> {
        Surface::<R>::names(self.state.set()).zip(self.surface.planes()).collect()
    }

    /// Fields at the ground, by name, for changes.
    pub fn planes_mut(&mut self) -> Vec<(&'static str, &mut Array2<R>)> {
        Surface::<R>::names(self.state.set()).zip(self.surface.planes_mut()).collect()
    }

    /// Compares a plane with the mass mismatch of the changes since `before`, kg m⁻²; the plane is NaN outside of the
    /// region.
    ///
    /// # Errors
    ///
    /// The first cell that differs.
    pub fn check_mass_mismatch(
        &self,
        before: &Self,
        plane: &[R],
        region: &Region,
    ) -> Result<(), String> {
        let Mass { with_mu, without_mu, c1, c2, per_area } = &self.mass;
        let shape = self.shape();
        for (j, i) in (0..shape.ny).flat_map(|j| (0..shape.nx).map(move |i| (j, i))) {
            let found = plane[j * shape.nx + i].f64();
            if !region.contains([j, i]) {
                if found.is_nan() {
                    continue;
                }
                return Err(format!("mass_mismatch is {found} at row {j}, column {i}"));
            }
            let (mut expected, mut terms) = (0.0, 0.0);
            for k in 0..shape.nz {
                let at = [k, j, i];
                let mass =
                    with_mu[[j, i]].f64() * c1[k].f64() + without_mu[[j, i]].f64() * c2[k].f64();
                let mass = mass * per_area[[j, i]].f64();
                let rho_dz = self.air.rho[at].f64() * self.air.dz[at].f64();
                let waters = self.state.fields().iter().zip(before.state.fields()).skip(1);
                for (now, then) in waters {
                    expected += (mass - rho_dz) * (now[at].f64() - then[at].f64());
                    terms += (mass + rho_dz) * (now[at].f64().abs() + then[at].f64().abs());
                }
            }
            // One rounding in each of some operations.
            let limit = 8.0 * R::epsilon().f64() * terms;
            if (found - expected).abs() > limit || found.is_nan() {
                return Err(format!(
                    "mass_mismatch at row {j}, column {i} is {found:e}, not {expected:e} within \
                     {limit:e}"
                ));
            }
        }
        Ok(())
    }
}
