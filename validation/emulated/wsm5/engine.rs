//! The kernels of the microphysics, on a device emulated by arrays on the host.

use std::sync::LazyLock;

use ndarray::{ArrayView1, Dimension};

use nwp_mini::cuda_abi::{Bytes, DevicePointer, ReadPointer};
use nwp_mini::dry_mass::gpu::LayeredPointers;
use nwp_mini::gpu::prelude::{Configuration, prelude};
use nwp_mini::grid::Shape;
use nwp_mini::real::Precision;
use nwp_mini::state::gpu::status_word::NonFiniteValue;
use nwp_mini::state::{CloudDiagnostics, Environment};
use nwp_mini::wsm5::gpu::column_map::Region as Given;
use nwp_mini::wsm5::gpu::{
    DiagnosisArgs, KernelConstants, KernelVariant, Mapping, Wsm5Args, diagnosis,
};
use nwp_mini::wsm5::minor_steps;
use nwp_mini::wsm5::reflectivity::Bins;
use nwp_mini::wsm5::scheme::Scheme;

use super::emulator::{Element, Program, Records};
use super::weather::{Mass, NAMES, Precision as Whole, Region, Weather};

/// The fields of the air, in the order that the device has them in.
const AIR: [&str; 4] = ["rho", "exner", "p", "dz"];

/// The note of no flaw, and the number of steps before the notes.
const NO_FLAW: u64 = u64::MAX;
pub(crate) const STEPS_BEFORE: u64 = 41;

/// A precision that programs exchange numbers in.
pub(crate) trait Exchanged: Whole + KernelConstants + Element + Bytes {
    const KIND: Precision;
}

impl Exchanged for f32 {
    const KIND: Precision = Precision::F32;
}

impl Exchanged for f64 {
    const KIND: Precision = Precision::F64;
}

/// The weather as the programs take it and give it back.
trait InRecords<R> {
    /// The fields, by name.
    fn records(&self) -> Records;

    /// Takes over the results of a program.
    fn take(&mut self, records: &Records);

    /// The arguments of the kernels, without addresses.
    fn args(&self, p: &Scheme<R>, dt: R, region: &Region, together: usize) -> Wsm5Args<R>
    where
        R: KernelConstants;
}

impl<R: Exchanged> InRecords<R> for Weather<R> {
    fn records(&self) -> Records {
        let mut records = Records::default();
        for (name, field) in NAMES.into_iter().zip(self.state.fields()) {
            put(&mut records, name, field);
        }
        for (name, plane) in self.planes() {
            put(&mut records, name, plane);
        }
        let Environment { rho, exner, p, dz } = &self.air;
        for (name, field) in AIR.into_iter().zip([rho, exner, p, dz]) {
            put(&mut records, name, field);
        }
        let Mass { with_mu, without_mu, c1, c2, per_area } = &self.mass;
        let planes = [("with_mu", with_mu), ("without_mu", without_mu), ("per_area", per_area)];
        for (name, plane) in planes {
            put(&mut records, name, plane);
        }
        records.put("c1", c1);
        records.put("c2", c2);
        records.put("mass_mismatch", &vec![R::nan(); per_area.len()]);
        records.put("notes", &[NO_FLAW, STEPS_BEFORE]);
        records
    }

    fn take(&mut self, records: &Records) {
        for (name, field) in NAMES.into_iter().zip(self.state.fields_mut()) {
            take(records, name, field);
        }
        for (name, plane) in self.planes_mut() {
            take(records, name, plane);
        }
    }

    fn args(&self, p: &Scheme<R>, dt: R, region: &Region, together: usize) -> Wsm5Args<R> {
        let steps = minor_steps(dt);
        let Shape { nx, ny, .. } = self.shape();
        let (to, from) = (DevicePointer::default(), ReadPointer::default());
        let (rows, columns) = (region.rows.clone(), region.columns.clone());
        Wsm5Args {
            region: Given::within([ny, nx], rows, columns, together),
            theta: to,
            qv: to,
            qc: to,
            qr: to,
            qi: to,
            qs: to,
            rho: from,
            exner: from,
            p: from,
            dz: from,
            rain: to,
            fallen: to,
            rainncv: to,
            snow: to,
            snowncv: to,
            sr: to,
            fall_residual: to,
            clipped: to,
            mass_mismatch: to,
            marks: DevicePointer::default(),
            mass: LayeredPointers::default(),
            per_area: from,
            notes: DevicePointer::default(),
            params: p.params,
            theta_base: self.theta_base,
            dt_cloud: dt / steps,
            minor_steps: steps.to_i32().expect("a number of steps"),
            step: 1,
            theta_number: 0,
            water_number: 1,
            filler: 0,
        }
    }
}

fn put<R: Element, D: Dimension>(records: &mut Records, name: &str, field: &ndarray::Array<R, D>) {
    records.put(name, &field.iter().copied().collect::<Vec<R>>());
}

fn take<R: Element, D: Dimension>(records: &Records, name: &str, field: &mut ndarray::Array<R, D>) {
    let values: Vec<R> = records.take(name);
    let values = ArrayView1::from(&values).into_shape_with_order(field.raw_dim());
    field.assign(&values.expect("as many elements as were given"));
}

/// Joins fields in sequence to another array.
fn join<R: Element>(records: &mut Records, name: &str, parts: &[&str]) {
    let all: Vec<R> = parts.iter().flat_map(|part| records.take(part)).collect();
    records.put(name, &all);
}

/// Takes them apart again.
fn part<R: Element>(records: &mut Records, name: &str, parts: &[&str]) {
    let all: Vec<R> = records.take(name);
    for (part, values) in parts.iter().zip(all.chunks_exact(all.len() / parts.len())) {
        records.put(part, values);
    }
}

/// Additional compiler options: no fused products, as in Rust, and checks of every access to an array and of every
/// conversion.
const OPTIONS: [&str; 4] = [
    "-ffp-contract=off",
    "-fsanitize=undefined,float-cast-overflow",
    "-fno-sanitize-recover=all",
    "-ftrivial-auto-var-init=pattern",
];

type LazyProgram = LazyLock<Program, Box<dyn FnOnce() -> Program + Send>>;

/// The kernels of a mapping, compiled for the host.
pub(crate) struct EmulatedWsm5 {
    mapping: Mapping,
    /// The region that the programs are compiled for, if any.
    made_for: Option<Given>,
    /// For calls of one minor step and for longer ones, each compiled when there is such a call.
    programs: [LazyProgram; 2],
    shared_bytes: Option<usize>,
}

impl EmulatedWsm5 {
    pub(crate) fn compile<R: Exchanged>(p: &Scheme<R>, nz: usize, mapping: Mapping) -> Self {
        Self::compile_with(p, nz, mapping, "", &[])
    }

    /// Compiles the kernels for one region of a grid.
    pub(crate) fn compile_for<R: Exchanged>(
        p: &Scheme<R>,
        shape: Shape,
        mapping: Mapping,
        region: &Region,
    ) -> Self {
        let Region { rows, columns } = region.clone();
        let given = Given::within([shape.ny, shape.nx], rows, columns, mapping.together());
        Self::compile_all(p, shape.nz, mapping, Some(given), "_made_for", &[])
    }

    /// Compiles the kernels with further options for the compiler, under another name.
    pub(crate) fn compile_with<R: Exchanged>(
        p: &Scheme<R>,
        nz: usize,
        mapping: Mapping,
        name: &str,
        options: &[&str],
    ) -> Self {
        Self::compile_all(p, nz, mapping, None, name, options)
    }

    fn compile_all<R: Exchanged>(
        p: &Scheme<R>,
        nz: usize,
        mapping: Mapping,
        made_for: Option<Given>,
        name: &str,
        options: &[&str],
    ) -> Self {
        let about = match mapping {
            Mapping::Column => "column".to_owned(),
            Mapping::Tile(tile) => format!("tile{}x{}", tile.columns, tile.threads),
        };
        let name = format!("wsm5_{about}_{}_{nz}_{:?}{name}", R::NAME, p.fallout);
        let entry = format!("-DENTRY=\"{}\"", mapping.file());
        let kernel = format!("-DKERNEL={}", mapping.kernel());
        let mut options = [&OPTIONS, options].concat();
        options.extend([entry.as_str(), kernel.as_str()]);
        let shared_bytes = match mapping {
            Mapping::Column => None,
            Mapping::Tile(tile) => {
                options.push("-DTILE");
                Some(tile.shared_bytes(R::KIND, p.fallout, nz))
            }
        };
        let options: Vec<String> = options.into_iter().map(str::to_owned).collect();
        let fallout = p.fallout;
        let variant = KernelVariant { region: made_for, ..KernelVariant::RUN };
        let programs = [("short", variant), ("long", KernelVariant { is_short: false, ..variant })];
        let programs = programs.map(|(calls, variant)| {
            let (name, options) = (format!("{name}_{calls}"), options.clone());
            LazyLock::new(Box::new(move || {
                let constants = mapping.constants(R::KIND, nz, fallout, variant);
                let text = prelude(&Configuration { precision: R::KIND, nz, fallout, constants });
                let options: Vec<&str> = options.iter().map(String::as_str).collect();
                Program::compile(&name, "emulated/wsm5/engine.cpp", &text, &options)
            }) as Box<dyn FnOnce() -> Program + Send>)
        });
        Self { mapping, made_for, programs, shared_bytes }
    }

    /// The mapping of columns to threads.
    pub(crate) fn mapping(&self) -> Mapping {
        self.mapping
    }

    /// One call of `dt` seconds.
    pub(crate) fn call<R: Exchanged>(
        &self,
        p: &Scheme<R>,
        dt: R,
        weather: &mut Weather<R>,
        region: &Region,
        seed: u64,
    ) {
        self.attempt(p, dt, weather, region, seed).unwrap_or_else(|why| panic!("{why}"));
    }

    /// Runs the kernels; an error if they do not end.
    pub(crate) fn attempt<R: Exchanged>(
        &self,
        p: &Scheme<R>,
        dt: R,
        weather: &mut Weather<R>,
        region: &Region,
        seed: u64,
    ) -> Result<(), String> {
        let found = self.run(p, dt, weather, region, seed)?;
        assert_eq!(flaw_of(&found), None, "all values are finite");
        let before = weather.clone();
        weather.take(&found);
        let mass_mismatch: Vec<R> = found.take("mass_mismatch");
        weather.check_mass_mismatch(&before, &mass_mismatch, region)?;
        if let Some(expected) = self.shared_bytes {
            let bytes = found.take::<i32>("shared_bytes")[0] as usize;
            assert!(bytes <= expected && expected < bytes + 64, "{bytes} bytes, not {expected}");
        }
        Ok(())
    }
}

impl EmulatedWsm5 {
    /// The flaw that a call notes.
    pub(crate) fn flaw<R: Exchanged>(
        &self,
        p: &Scheme<R>,
        dt: R,
        weather: &Weather<R>,
        region: &Region,
        seed: u64,
    ) -> Result<Option<NonFiniteValue>, String> {
        Ok(flaw_of(&self.run(p, dt, weather, region, seed)?))
    }

    /// Runs a call and returns its records.
    fn run<R: Exchanged>(
        &self,
        p: &Scheme<R>,
        dt: R,
        weather: &Weather<R>,
        region: &Region,
        seed: u64,
    ) -> Result<Records, String> {
        let args = weather.args(p, dt, region, self.mapping.together());
        assert!(
            self.made_for.is_none_or(|made_for| made_for == args.region),
            "the region of the kernels"
        );
        let mut records = weather.records();
        let water = &NAMES[1..];
        if self.made_for.is_some() {
            join::<R>(&mut records, "water", water);
            join::<R>(&mut records, "air", &AIR);
        }
        let mut bytes = Vec::new();
        args.write(&mut bytes);
        records.put_bytes("args", bytes);
        records.put(
            "launch",
            &self.mapping.blocks(args.region.count as usize).map(|count| count as i32),
        );
        records.put("shared_bytes", &[0_i32]);
        let [short, long] = &self.programs;
        let program = if args.minor_steps == 1 { short } else { long };
        let mut found = program.attempt(&records, seed)?;
        if self.made_for.is_some() {
            part::<R>(&mut found, "water", water);
        }
        Ok(found)
    }
}

/// The flaw in the notes.
fn flaw_of(records: &Records) -> Option<NonFiniteValue> {
    NonFiniteValue::of(records.take::<u64>("notes")[0])
}

/// The kernel that diagnoses reflectivity and radii, compiled for the host.
pub(crate) struct Diagnosis {
    program: Program,
}

impl Diagnosis {
    pub(crate) fn compile<R: Exchanged>(p: &Scheme<R>, nz: usize) -> Self {
        let configuration = Configuration {
            precision: R::KIND,
            nz,
            fallout: p.fallout,
            constants: diagnosis::constants(),
        };
        let entry = format!("-DENTRY=\"{}\"", diagnosis::FILE);
        let kernel = format!("-DKERNEL={}", diagnosis::KERNEL);
        let mut options = OPTIONS.to_vec();
        options.extend([entry.as_str(), kernel.as_str(), "-DDIAGNOSIS"]);
        let name = format!("diagnosis_{}_{nz}", R::NAME);
        let text = prelude(&configuration);
        Self { program: Program::compile(&name, "emulated/wsm5/engine.cpp", &text, &options) }
    }

    /// Diagnoses all columns; values that are not written stay NaN.
    pub(crate) fn run<R: Exchanged>(
        &self,
        p: &Scheme<R>,
        weather: &Weather<R>,
        seed: u64,
    ) -> CloudDiagnostics<R> {
        let shape = weather.shape();
        let (to, region) = (DevicePointer::default(), Region::whole(shape));
        let args = DiagnosisArgs {
            cloud: weather.args(p, R::ONE, &region, 1),
            refl_10cm: to,
            re_cloud: to,
            re_ice: to,
            re_snow: to,
            bins: Bins::default(),
        };
        let mut records = weather.records();
        let mut bytes = Vec::new();
        args.write(&mut bytes);
        records.put_bytes("args", bytes);
        let blocks = diagnosis::blocks(shape.columns());
        records.put("launch", &blocks.map(|count| count as i32));
        let mut out = CloudDiagnostics::zeros(shape);
        let names = ["refl_10cm", "re_cloud", "re_ice", "re_snow"];
        for name in names {
            records.put(name, &vec![R::nan(); shape.cells()]);
        }
        let found = self.program.run(&records, seed);
        let CloudDiagnostics { refl_10cm, re_cloud, re_ice, re_snow } = &mut out;
        for (name, field) in names.into_iter().zip([refl_10cm, re_cloud, re_ice, re_snow]) {
            take(&found, name, field);
        }
        out
    }
}
