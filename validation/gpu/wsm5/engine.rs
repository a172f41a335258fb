//! The kernels of the microphysics as something that runs the scheme.

use std::cell::RefCell;
use std::rc::Rc;

use ndarray::{Array, Dimension};

use nwp_mini::device::{Buffer, Element, Gpu, KernelSource};
use nwp_mini::dry_mass::gpu::LayeredPointers;
use nwp_mini::grid::gpu::Layout;
use nwp_mini::physics::wsm5::ABOUT;
use nwp_mini::physics::wsm5::gpu::kernels::{self, Wsm5Gpu};
use nwp_mini::physics::wsm5::gpu::launch::{ActiveColumns, DeviceFields};
use nwp_mini::physics::wsm5::gpu::{KernelVariant, Mapping, Tile};
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::physics::wsm5::{Sedimentation, minor_steps};
use nwp_mini::real::Real;
use nwp_mini::state::{CloudDiagnostics, Environment, Surface};

use super::weather::{Engine, Mass, Precision, Region, Weather};
use crate::device::is_emulated;

/// A precision in which the kernels run.
pub trait OnDevice: Precision + Element {}

impl OnDevice for f32 {}
impl OnDevice for f64 {}

/// Guard elements behind an array, and before diagnosed ones, which must not change.
const GUARD: usize = 1000;

/// The kernels with a way to share the columns out among threads.
pub struct GpuBackend<R: OnDevice> {
    gpu: Gpu,
    scheme: Scheme<R>,
    mapping: Mapping,
    tracks_mismatch: bool,
    /// Kernels of the last grid: compiled code is loaded only once.
    made: RefCell<Option<(Grid, Rc<Wsm5Gpu<R>>)>>,
}

/// Key of compiled kernels: numbers of cells, columns, and the offset of theta.
type Grid = ([usize; 3], Region, u64);

impl<R: OnDevice> GpuBackend<R> {
    pub fn new(gpu: &Gpu, scheme: Scheme<R>, mapping: Mapping) -> Self {
        Self { gpu: gpu.clone(), scheme, mapping, tracks_mismatch: false, made: RefCell::default() }
    }

    /// The engine, which also computes and checks the mass mismatch of the changes.
    pub fn weighing(self) -> Self {
        Self { tracks_mismatch: true, ..self }
    }

    fn new_wsm5(&self, weather: &Weather<R>, region: &Region) -> Wsm5Gpu<R> {
        let Region { rows, columns } = region.clone();
        let (shape, scheme) = (weather.shape(), self.scheme.clone());
        let inside = ActiveColumns { rows, columns };
        let layout = Layout::tight(shape);
        Wsm5Gpu::new(&self.gpu, layout, inside, scheme, self.mapping, weather.theta_base).unwrap()
    }

    fn wsm5(&self, weather: &Weather<R>, region: &Region) -> Rc<Wsm5Gpu<R>> {
        let shape = weather.shape();
        let base = weather.theta_base.f64().to_bits();
        let grid = ([shape.nz, shape.ny, shape.nx], region.clone(), base);
        let mut made = self.made.borrow_mut();
        match &*made {
            Some((known, wsm5)) if *known == grid => Rc::clone(wsm5),
            _ => {
                let wsm5 = Rc::new(self.new_wsm5(weather, region));
                *made = Some((grid, Rc::clone(&wsm5)));
                wsm5
            }
        }
    }

    /// A call of kernels with the mass mismatch, which is checked and returned.
    fn track_mass_mismatch(&self, dt: f64, weather: &mut Weather<R>, region: &Region) {
        let before = weather.clone();
        let Mass { with_mu, without_mu, c1, c2, per_area } = &weather.mass;
        let planes = [with_mu, without_mu].map(|plane| self.gpu.upload(&values(plane)).unwrap());
        let profiles = [c1, c2].map(|profile| self.gpu.upload(profile).unwrap());
        let mass = LayeredPointers {
            with_mu: planes[0].pointer().read(),
            without_mu: planes[1].pointer().read(),
            c1: profiles[0].pointer().read(),
            c2: profiles[1].pointer().read(),
            ..LayeredPointers::default()
        };
        let area: Vec<f64> = per_area.iter().map(|x| 1.0 / x.f64()).collect();
        let mut wsm5 = self.new_wsm5(weather, region);
        wsm5.track_mass_mismatch(&self.gpu, mass, &area).unwrap();
        let mismatch = self.launch(&wsm5, dt, weather);
        weather.check_mass_mismatch(&before, &mismatch, region).unwrap_or_else(|e| panic!("{e}"));
    }

    /// A call; returns the plane `mass_mismatch`.
    fn launch(&self, wsm5: &Wsm5Gpu<R>, dt: f64, weather: &mut Weather<R>) -> Vec<R> {
        let memory = Memory::upload(&self.gpu, weather);
        wsm5.call(&memory.place(), dt).unwrap();
        memory.download(weather)
    }
}

impl<R: OnDevice> Engine<R> for GpuBackend<R> {
    fn call(&self, dt: R, weather: &mut Weather<R>, region: &Region) {
        weather.forget(region);
        if self.tracks_mismatch {
            self.track_mass_mismatch(dt.f64(), weather, region);
        } else {
            let wsm5 = self.wsm5(weather, region);
            let mismatch = self.launch(&wsm5, dt.f64(), weather);
            assert!(mismatch.iter().all(|x| x.is_nan()), "mass_mismatch is written unasked");
        }
    }

    fn diagnose(&self, weather: &Weather<R>) -> CloudDiagnostics<R> {
        let shape = weather.shape();
        let wsm5 = self.wsm5(weather, &Region::whole(shape));
        let memory = Memory::upload(&self.gpu, weather);
        let before = memory.state.to_vec().unwrap();
        let fields = ABOUT.diagnosed.len() * shape.cells();
        let out = self.gpu.zeros::<R>(GUARD + fields + GUARD).unwrap();
        out.poison().unwrap();
        wsm5.diagnose(&memory.place(), &out, GUARD).unwrap();
        let found = out.to_vec().unwrap();
        let (first, rest) = found.split_at(GUARD);
        let (found, last) = rest.split_at(fields);
        expect_untouched(first, "before what is diagnosed");
        expect_untouched(last, "behind what is diagnosed");
        let after = memory.state.to_vec().unwrap();
        let is_same = before.iter().zip(&after).all(|(a, b)| a == b || a.is_nan() && b.is_nan());
        assert!(is_same, "diagnosis changes the state");
        let mut diagnostics = CloudDiagnostics::zeros(weather.state.set(), shape);
        for (field, found) in diagnostics.fields_mut().iter_mut().zip(found.chunks(shape.cells())) {
            assign(field, found);
        }
        diagnostics
    }
}

/// Names of the planes at the ground, in their order on the device.
fn planes_on_device() -> Vec<&'static str> {
    Surface::<f32>::names(&ABOUT.set()).chain(["mass_mismatch"]).collect()
}

/// The arrays of a state on the device.
struct Memory<R> {
    state: Buffer<R>,
    air: Buffer<R>,
    surface: Buffer<R>,
}

impl<R: OnDevice> Memory<R> {
    fn upload(gpu: &Gpu, weather: &Weather<R>) -> Self {
        let guard = vec![R::nan(); GUARD];
        let upload = |fields: Vec<Vec<R>>| gpu.upload(&fields.concat()).unwrap();
        let mut state: Vec<_> = weather.state.fields().iter().map(values).collect();
        state.push(guard.clone());
        let Environment { rho, exner, p, dz, .. } = &weather.air;
        let planes = weather.planes();
        let mut surface: Vec<Vec<R>> = planes_on_device()
            .iter()
            .map(|name| match planes.iter().find(|(known, _)| known == name) {
                Some((_, plane)) => values(plane),
                // The mismatch of mass.
                None => vec![R::nan(); weather.shape().columns()],
            })
            .collect();
        surface.push(guard);
        Self {
            state: upload(state),
            air: upload([rho, exner, p, dz].map(values).into()),
            surface: upload(surface),
        }
    }

    fn place(&self) -> DeviceFields<'_, R> {
        DeviceFields { state: &self.state, air: &self.air, surface: &self.surface }
    }

    /// Takes the state from the device; returns the plane `mass_mismatch`.
    fn download(&self, weather: &mut Weather<R>) -> Vec<R> {
        let shape = weather.shape();
        let state = self.state.to_vec().unwrap();
        let mut fields = state.chunks(shape.cells());
        for field in weather.state.fields_mut() {
            assign(field, fields.next().expect("all fields"));
        }
        expect_untouched(&state[state.len() - GUARD..], "behind the state");
        let surface = self.surface.to_vec().unwrap();
        let (surface, guard) = surface.split_at(planes_on_device().len() * shape.columns());
        expect_untouched(guard, "behind the planes");
        let mut mismatch = Vec::new();
        let mut planes = weather.planes_mut();
        for (name, found) in planes_on_device().iter().zip(surface.chunks(shape.columns())) {
            match planes.iter_mut().find(|(known, _)| known == name) {
                Some((_, plane)) => assign(plane, found),
                None => mismatch.extend_from_slice(found),
            }
        }
        mismatch
    }
}

fn values<R: Real, D: Dimension>(field: &Array<R, D>) -> Vec<R> {
    field.iter().copied().collect()
}

fn assign<R: Real, D: Dimension>(field: &mut Array<R, D>, found: &[R]) {
    field.iter_mut().zip(found).for_each(|(x, &found)| *x = found);
}

fn expect_untouched<R: Real>(guard: &[R], place: &str) {
    assert!(guard.iter().all(|x| x.is_nan()), "something is written {place}");
}

/// The tiles that are taken for few and for many columns, and the mapping with a thread for a column; on the emulated
/// device without the latter, which has the bits of the CPU version there (`same_bits`).
pub fn mappings<R: OnDevice>(fallout: Sedimentation, nz: usize) -> Vec<Mapping> {
    let tile = |columns| Mapping::Tile(Tile::choose(columns, R::PRECISION, fallout, nz));
    let mut mappings = vec![tile(1), tile(usize::MAX)];
    mappings.dedup();
    if !is_emulated() {
        mappings.push(Mapping::Column);
    }
    mappings
}

/// Sources of the kernels of calls of these lengths without the mass mismatch, and of the diagnosis.
pub fn sources<R: OnDevice>(
    nz: usize,
    fallout: Sedimentation,
    mappings: &[Mapping],
    time_steps: &[f64],
) -> Vec<KernelSource> {
    let calls = |&mapping: &Mapping| {
        time_steps.iter().map(move |&dt| {
            let is_short = minor_steps(R::of(dt)) == R::ONE;
            let variant = KernelVariant { is_short, tracks_mismatch: false, region: None };
            kernels::source(R::PRECISION, nz, fallout, mapping, variant)
        })
    };
    let diagnosis = kernels::diagnosis_source(R::PRECISION, nz, fallout);
    mappings.iter().flat_map(calls).chain([diagnosis]).collect()
}
