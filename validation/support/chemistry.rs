//! A mechanism with the results that KPP has for it.

use netcdf::File;
use nwp_mini::chemistry::cells::{Cells, RateUpdate, Settings};
use nwp_mini::chemistry::kinetics::Kinetics;
use nwp_mini::chemistry::mechanism::{self, Mechanism};
use nwp_mini::chemistry::rosenbrock::{METHODS, Method, Tolerances};

use crate::{project, reference};

/// Mechanisms of the reference data, and their paths.
pub const MECHANISMS: [(&str, &str); 4] = [
    ("small_strato", "data/chemistry/small_strato.kpp"),
    ("cbm4", "data/reference/chemistry/cbm4.kpp"),
    ("radm2", "data/chemistry/radm2.kpp"),
    ("saprc99", "data/reference/chemistry/saprc99.kpp"),
];

/// Runs of the reference data.
pub const RUNS: [&str; 9] = [
    "ros2_600",
    "ros3_600",
    "ros4_600",
    "rodas3_600",
    "rodas4_600",
    "rodas3_3600",
    "wrf_60",
    "wrf_600",
    "wrf_3600",
];

/// A mechanism with reference data.
pub struct Case {
    pub name: &'static str,
    pub mechanism: Mechanism,
    pub kinetics: Kinetics,
    file: File,
}

/// A run of the reference data.
pub struct Run {
    pub name: String,
    pub settings: Settings,
    /// Concentrations by cell and species.
    pub y: Vec<f64>,
    /// Eight counters of a cell.
    pub counters: Vec<f64>,
    /// Time reached, last and next step of a cell.
    pub steps: Vec<f64>,
}

impl Case {
    pub fn all() -> Vec<Self> {
        MECHANISMS.iter().map(|(name, _)| Self::named(name)).collect()
    }

    pub fn named(name: &str) -> Self {
        let (name, path) = MECHANISMS.iter().find(|(known, _)| *known == name).expect(name);
        let reading = mechanism::read(&project().join(path)).expect(path);
        let (mechanism, _) = reading.mechanism().unwrap_or_else(|e| panic!("{path} {e}"));
        let kinetics = Kinetics::new(&mechanism).expect(path);
        Self { name, mechanism, kinetics, file: reference("kpp") }
    }

    /// The values of a variable of this mechanism; `None` if it does not exist.
    pub fn optional(&self, name: &str) -> Option<Vec<f64>> {
        let variable = self.file.variable(&format!("{}_{name}", self.name))?;
        Some(variable.get_values(..).expect(name))
    }

    pub fn values(&self, name: &str) -> Vec<f64> {
        self.optional(name).unwrap_or_else(|| panic!("{}_{name}", self.name))
    }

    pub fn whole(&self, name: &str) -> Vec<usize> {
        self.values(name).into_iter().map(|x| x as usize).collect()
    }

    /// Lines of a text variable.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let name = format!("{}_{name}", self.name);
        let variable = self.file.variable(&name).expect(&name);
        let bytes = variable.get_raw_values(..).expect(&name);
        let text = |row: &[u8]| String::from_utf8_lossy(row).trim_matches(['\0', ' ']).to_owned();
        bytes.chunks(variable.dimensions()[1].len()).map(text).collect()
    }

    pub fn cells(&self) -> Cells {
        let temperature = self.values("temp");
        let count = temperature.len();
        let air_factor = self.values("cfactor");
        let air_density =
            self.optional("c_m").unwrap_or_else(|| air_factor.iter().map(|x| x * 1e6).collect());
        let mut photolysis = Vec::new();
        if let Some(frequencies) = self.optional("jval") {
            let variable = self.file.variable(&format!("{}_jval", self.name)).unwrap();
            let names: String =
                variable.attribute("names").unwrap().value().unwrap().try_into().unwrap();
            let names: Vec<&str> = names.split_whitespace().collect();
            let places: Vec<usize> = self
                .mechanism
                .photolysis
                .iter()
                .map(|name| names.iter().position(|known| known == name).expect(name))
                .collect();
            for of_cell in frequencies.chunks(names.len()) {
                photolysis.extend(places.iter().map(|&place| of_cell[place]));
            }
        }
        Cells {
            variable: self.values("y0"),
            fixed: self.values("fix"),
            temperature,
            air_factor,
            air_density,
            hydrolysis: self.optional("rc_n2o5").unwrap_or_else(|| vec![0.0; count]),
            photolysis,
            quantities: Vec::new(),
            start: self.optional("tstart").unwrap_or_else(|| vec![0.0; count]),
            first_step: Vec::new(),
        }
    }

    /// A run, if it is in the reference data.
    pub fn run(&self, mode: &str, name: &str) -> Option<Run> {
        let named = |what: &str| format!("{mode}_{name}_{what}");
        let y = self.optional(&named("y"))?;
        let variable = self.file.variable(&format!("{}_{mode}_{name}_y", self.name)).unwrap();
        let attribute = |name: &str| -> f64 {
            variable.attribute(name).expect(name).value().unwrap().try_into().expect(name)
        };
        let method: Method = METHODS[attribute("method") as usize - 1];
        let settings = Settings {
            method,
            tolerances: Tolerances { relative: attribute("rtol"), absolute: attribute("atol") },
            interval: attribute("dt"),
            first_step: attribute("hstart"),
            rates: if mode == "au" { RateUpdate::Frozen } else { RateUpdate::Updated },
        };
        Some(Run {
            name: format!("{} {mode} {name}", self.name),
            settings,
            y,
            counters: self.values(&named("stat")),
            steps: self.optional(&named("h")).unwrap_or_default(),
        })
    }
}

/// Some cells in some order.
pub fn picked(cells: &Cells, order: &[usize]) -> Cells {
    let count = cells.len();
    let pick = |values: &[f64]| -> Vec<f64> {
        let each = values.len() / count;
        order.iter().flat_map(|&cell| values[cell * each..][..each].to_vec()).collect()
    };
    Cells {
        variable: pick(&cells.variable),
        fixed: pick(&cells.fixed),
        temperature: pick(&cells.temperature),
        air_factor: pick(&cells.air_factor),
        air_density: pick(&cells.air_density),
        hydrolysis: pick(&cells.hydrolysis),
        photolysis: pick(&cells.photolysis),
        quantities: pick(&cells.quantities),
        start: pick(&cells.start),
        first_step: Vec::new(),
    }
}

/// Difference relative to the expected value.
pub fn relative(found: f64, expected: f64) -> f64 {
    if found == expected { 0.0 } else { (found - expected).abs() / expected.abs() }
}
