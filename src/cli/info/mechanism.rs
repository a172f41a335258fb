//! A mechanism of reactions, and the kernels that the GPUs here would have for it.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use super::TuningFacts;
use crate::chemistry::coupled::Light;
use crate::chemistry::gpu::{ThreadMapping, check, tuning};
use crate::chemistry::mechanism::RateCode;
use crate::cli::chemistry::read_mechanism;
use crate::device;
use crate::error::Result;
use crate::os_text::Shown;
use crate::real::Precision;

/// Endings of the names of files that hold mechanisms.
const ENDINGS: [&str; 3] = ["kpp", "def", "eqn"];

/// Report on a mechanism.
#[derive(Debug, Serialize)]
pub(super) struct MechanismFacts {
    path: String,
    name: String,
    variable_species: usize,
    fixed_species: usize,
    reactions: usize,
    photolysis_frequencies: usize,
    /// Entries of the factors, and products of a factorisation.
    factor_entries: usize,
    factor_products: usize,
    /// Words for frequencies that a clear sky has from others; `None` where it lacks some.
    clear_sky: Option<Vec<&'static str>>,
    /// Frequencies that it lacks.
    unknown_light: Vec<String>,
    kernels: Vec<KernelFacts>,
    /// Why no GPU can have it, where none can.
    problem: Option<String>,
}

/// The form of the kernels on a GPU.
#[derive(Debug, Serialize)]
struct KernelFacts {
    gpu: String,
    lu: &'static str,
    form: String,
    /// The number of cells that it counts from.
    from_cells: usize,
    is_measured: bool,
}

/// True of the name of a file that holds a mechanism.
pub(super) fn is_mechanism(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|found| ENDINGS.iter().any(|ending| ending.eq_ignore_ascii_case(found)))
}

impl MechanismFacts {
    /// Reads a mechanism.
    pub(super) fn new(
        path: &Path,
        devices: &[device::Device],
        tunings: &[TuningFacts],
    ) -> Result<Self> {
        let (mechanism, kinetics) = read_mechanism(path, &RateCode::default())?;
        let (clear_sky, unknown_light) = match Light::clear_sky(&mechanism) {
            Ok((_, words)) => (Some(words), Vec::new()),
            Err(unknown) => (None, unknown),
        };
        let knob = tuning::name(&kinetics);
        let mut kernels = Vec::new();
        for device in devices {
            let of_device = tunings.iter().find(|facts| facts.gpu == device.name);
            let tuned = of_device.and_then(|facts| facts.tuning.as_ref());
            let precision = Precision::F64.name();
            let fact = |form: String, from_cells, is_measured| KernelFacts {
                gpu: device.name.clone(),
                lu: precision,
                form,
                from_cells,
                is_measured,
            };
            let choices = tuned.iter().flat_map(|tuning| &tuning.choices);
            let choices = choices
                .filter(|choice| choice.knob == knob && choice.precision == precision)
                .map(|choice| fact(choice.setting.clone(), choice.from_columns, true));
            let before = kernels.len();
            kernels.extend(choices);
            if kernels.len() == before {
                let form = ThreadMapping::fastest(&kinetics, device.shared_bytes as usize);
                kernels.push(fact(form.to_string(), 1, false));
            }
        }
        Ok(Self {
            path: path.shown().into_owned(),
            name: mechanism.name.clone(),
            variable_species: kinetics.variables(),
            fixed_species: kinetics.fixed.len(),
            reactions: kinetics.reactions(),
            photolysis_frequencies: mechanism.photolysis.len(),
            factor_entries: kinetics.lu.entries(),
            factor_products: kinetics.lu.operations().1,
            clear_sky,
            unknown_light,
            kernels,
            problem: check(&kinetics).err(),
        })
    }

    pub(super) fn print(&self, out: &mut impl Write) -> Result<()> {
        writeln!(out, "file           {}", self.path)?;
        writeln!(
            out,
            "mechanism      {}: {} variable and {} fixed species, {} reactions",
            self.name, self.variable_species, self.fixed_species, self.reactions
        )?;
        writeln!(
            out,
            "factors        {} entries, {} products to make them",
            self.factor_entries, self.factor_products
        )?;
        let sky = match &self.clear_sky {
            None => format!("nothing is known of {}", self.unknown_light.join(", ")),
            Some(words) if words.is_empty() => "knows all of them".to_owned(),
            Some(words) => format!("knows all of them; {}", words.join(", ")),
        };
        writeln!(
            out,
            "light          {} photolysis frequencies; a clear sky {sky}",
            self.photolysis_frequencies
        )?;
        match &self.problem {
            Some(problem) => writeln!(out, "GPU kernels    none: {problem}")?,
            None if self.kernels.is_empty() => writeln!(out, "GPU kernels    no GPU here")?,
            None => {}
        }
        for (at, KernelFacts { gpu, lu, form, from_cells, is_measured }) in
            self.kernels.iter().enumerate()
        {
            let head = if at == 0 { "GPU kernels" } else { "" };
            let origin = if *is_measured { "measured" } else { "built in" };
            writeln!(
                out,
                "{head:<15}{gpu}: {form}, factors in {lu}, from {from_cells} cells ({origin})"
            )?;
        }
        writeln!(
            out,
            "resources      nwp-mini kernels --mechanism {} compiles the kernels and lists them",
            self.path
        )?;
        Ok(())
    }
}
