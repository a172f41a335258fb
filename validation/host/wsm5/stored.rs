//! The intermediate values of single calls of WRF's scheme: one row for each cell and minor step.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use netcdf::AttributeValue;
use nwp_mini::constants::Constants;
use nwp_mini::physics::wsm5::ice::IceRates;
use nwp_mini::physics::wsm5::slope::Slope;
use nwp_mini::physics::wsm5::warm::WarmRates;
use nwp_mini::physics::wsm5::{Air, Cell, Coefficients, StepStart};
use nwp_mini::thermo::{heat_capacity, latent_heat};

use super::case::{INPUTS, ON_LEVELS, OUTPUTS, group, values};
use super::support;

/// Origin of a row.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Time step of the call, s.
    pub dt: f64,
    /// Minor step of the call.
    pub step: usize,
    /// Level.
    pub k: usize,
    /// Column.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dt, step, k, column } = self;
        write!(f, "dt={dt}, minor step {step}, level {k} of column {column}")
    }
}

/// All values, by name and row; a column's rows follow one another from the ground up.
pub struct Table {
    values: HashMap<String, Vec<f64>>,
    /// Origin of each row.
    pub places: Vec<Place>,
    /// Values at interfaces, at the ground or of a species: (name, dt, step, species, column).
    profiles: HashMap<(String, u32, usize, usize, usize), Vec<f64>>,
    /// Number of levels.
    pub levels: usize,
    /// Number of rows of a minor step.
    per_step: usize,
}

/// A row of a [`Table`].
#[derive(Clone, Copy)]
pub struct Row {
    table: &'static Table,
    index: usize,
}

/// The values that the reference file has; read once.
pub fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(read)
}

/// Every row.
pub fn rows() -> impl Iterator<Item = Row> {
    let table = table();
    (0..table.places.len()).map(move |index| Row { table, index })
}

fn read() -> Table {
    let file = support::reference("wsm5");
    let rates = group(&file, "process_rates");
    let inputs = INPUTS.map(|name| (name, values::<f32>(&rates, name, ..)));
    let (levels, columns) = (inputs[0].1.shape()[0], inputs[0].1.shape()[1]);
    let mut table = Table {
        values: HashMap::new(),
        places: vec![],
        profiles: HashMap::new(),
        levels,
        per_step: levels * columns,
    };
    for name in ["dt060", "dt300"] {
        let group = rates.group(name).expect("a time step");
        let dt = match group.attribute("dt").expect("dt").value().expect("dt") {
            AttributeValue::Float(dt) => dt.into(),
            AttributeValue::Double(dt) => dt,
            other => panic!("dt is {other:?}"),
        };
        let stored: Vec<_> = group
            .variables()
            .filter(|v| v.dimensions()[0].name() == "loop")
            .map(|v| (v.name(), values::<f32>(&group, &v.name(), ..)))
            .collect();
        let last = &OUTPUTS[..ON_LEVELS];
        let last: Vec<_> =
            last.iter().map(|name| (name, values::<f32>(&group, name, ..))).collect();
        let steps = stored[0].1.shape()[0];
        for (step, column) in (0..steps).flat_map(|s| (0..columns).map(move |c| (s, c))) {
            for k in 0..levels {
                table.places.push(Place { dt, step, k, column });
                for (name, field) in &inputs {
                    let value = f64::from(field[[k, column]]);
                    table.values.entry(format!("input_{name}")).or_default().push(value);
                }
                for (name, field) in stored.iter().filter(|(name, _)| !name.starts_with("sed_")) {
                    let value = f64::from(field[[step, k, column]]);
                    table.values.entry(name.clone()).or_default().push(value);
                }
                for (name, field) in &last {
                    let value = f64::from(field[[k, column]]);
                    table.values.entry(format!("final_{name}")).or_default().push(value);
                }
            }
            for (name, field) in stored.iter().filter(|(name, _)| name.starts_with("sed_")) {
                for species in 0..field.shape()[1] {
                    let profile = if field.ndim() == 3 {
                        vec![f64::from(field[[step, species, column]])]
                    } else {
                        let levels = 0..field.shape()[2];
                        levels.map(|k| f64::from(field[[step, species, k, column]])).collect()
                    };
                    table
                        .profiles
                        .insert((name.clone(), dt as u32, step, species, column), profile);
                }
            }
        }
    }
    table
}

impl Row {
    /// A stored value.
    pub fn get(&self, name: &str) -> f64 {
        let column = self.table.values.get(name);
        column.unwrap_or_else(|| panic!("no intermediate value {name}"))[self.index]
    }

    /// Origin of the row.
    pub fn place(&self) -> Place {
        self.table.places[self.index]
    }

    /// A value at the end of the minor step before, if there is one.
    fn before(&self, name: &str) -> Option<f64> {
        let earlier = self.index.checked_sub(self.table.per_step)?;
        (self.place().step > 0).then(|| self.table.values[name][earlier])
    }

    /// Length of the minor step, s.
    pub fn dt_cloud(&self) -> f64 {
        let dt = self.place().dt;
        dt / (dt / 120.0).round().max(1.0)
    }

    /// Temperature at entry, rounded as WRF rounds it.
    fn t_entry(&self) -> f64 {
        f64::from(self.get("input_th") as f32 * self.get("input_pii") as f32)
    }

    /// Contents of the cell at the start of the minor step.
    pub fn start(&self) -> Cell<f64> {
        let value = |stored: &str, input: &str| {
            self.before(stored).unwrap_or_else(|| self.get(&format!("input_{input}")).max(0.0))
        };
        // Traces are removed after the values are stored.
        let clean = |q: f64| if q <= f64::Q_MIN { 0.0 } else { q };
        let first = self.place().step == 0;
        let remaining = |q: f64| if first { q } else { clean(q) };
        Cell {
            t: self.before("t_end").unwrap_or_else(|| self.t_entry()),
            qv: self.before("q_end").unwrap_or_else(|| self.get("input_q")),
            qc: remaining(value("qc_end", "qc")),
            qr: value("qr_after_update", "qr"),
            qi: remaining(value("qi_end", "qi")),
            qs: value("qs_after_update", "qs"),
        }
    }

    /// The air of the cell.
    pub fn air(&self) -> Air<f64> {
        Air {
            rho: self.get("input_den"),
            p: self.get("input_p"),
            dz: self.get("input_delz"),
            density_factor: self.get("denfac"),
            heat_capacity: heat_capacity(self.get("input_q")),
            latent_heat: latent_heat(self.t_entry()),
        }
    }

    /// Saturation at the start of the minor step.
    pub fn step_start(&self) -> StepStart<f64> {
        StepStart { t: self.start().t, qsw: self.get("qsw_start"), qsi: self.get("qsi_start") }
    }

    /// Contents of the cell after the changes named by a suffix, with the vapour of the start if none is stored.
    pub fn cell(&self, suffix: &str) -> Cell<f64> {
        let value = |name: &str| self.get(&format!("{name}_{suffix}"));
        let stored = self.table.values.contains_key(&format!("q_{suffix}"));
        Cell {
            t: value("t"),
            qv: if stored { value("q") } else { self.start().qv },
            qc: value("qc"),
            qr: value("qr"),
            qi: value("qi"),
            qs: value("qs"),
        }
    }

    /// Common coefficients of the rates.
    pub fn coefficients(&self) -> Coefficients<f64> {
        let slope = |species: &str| Slope {
            length: self.get(&format!("rslope_{species}")),
            power: self.get(&format!("rslopeb_{species}")),
        };
        Coefficients {
            rain: slope("rain"),
            snow: slope("snow"),
            n0s_factor: self.get("n0sfac"),
            resistance_water: self.get("diffac_water"),
            resistance_ice: self.get("diffac_ice"),
            ventilation: self.get("venfac"),
        }
    }

    /// The rates, before they are limited ("_raw") or after ("").
    pub fn rates(&self, suffix: &str) -> (WarmRates<f64>, IceRates<f64>) {
        let rate = |name: &str| self.get(&format!("{name}{suffix}"));
        let warm = WarmRates { praut: rate("praut"), pracw: rate("pracw"), prevp: rate("prevp") };
        let ice = IceRates {
            psaci: rate("psaci"),
            psacw: rate("psacw"),
            pidep: rate("pidep"),
            psdep: rate("psdep"),
            pigen: rate("pigen"),
            psaut: rate("psaut"),
        };
        (warm, ice)
    }

    /// Excess of vapour over a saturation, kg kg⁻¹ s⁻¹.
    pub fn excess(&self, saturation: f64) -> f64 {
        (self.start().qv.max(f64::Q_MIN) - saturation) / self.dt_cloud()
    }

    /// A profile of the fall of a species through the column whose lowest cell this is.
    pub fn fall(&self, name: &str, species: usize) -> &'static [f64] {
        let Place { dt, step, column, .. } = self.place();
        let key = (name.to_owned(), dt as u32, step, species, column);
        self.table.profiles.get(&key).unwrap_or_else(|| panic!("no profile {key:?}"))
    }
}
