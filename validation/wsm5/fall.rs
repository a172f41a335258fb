//! The fall operator alone, on WRF's own intermediate values: every step of it.

use nwp_mini::wsm5::fall::Fall;
use nwp_mini::wsm5::params::Wsm5Params;
use nwp_mini::wsm5::slope::{fall_speed_rain, fall_speed_snow, snow_intercept_factor};

use crate::comparison::{Comparison, ROUNDING};
use crate::processes::SMOOTH;
use crate::stored::{Row, rows, table};

/// Species in the order of the reference.
const SPECIES: [&str; 3] = ["rain", "snow", "ice"];

/// A species on its way down one column, after the whole operator has run.
struct Fallen {
    fall: Fall<f64>,
    ground: f64,
    column: Vec<Row>,
    species: usize,
}

impl Fallen {
    fn new(column: &[Row], species: usize) -> Option<Self> {
        let p = Wsm5Params::default();
        let mixing_ratio = |row: &Row| {
            let cell = row.start();
            [cell.qr, cell.qs, cell.qi][species]
        };
        if column.iter().all(|row| mixing_ratio(row) <= 0.0) {
            return None;
        }
        let mut fall = Fall::new(column.len());
        fall.set_depths(column.iter().map(|row| row.get("input_delz")));
        for (k, row) in column.iter().enumerate() {
            fall.content[k] = row.get("input_den") * mixing_ratio(row);
            fall.speed[k] = row.get(&format!("vt_{}", SPECIES[species]));
        }
        let arrival_speed = |k: usize, content: f64| {
            let row = &column[k];
            let (rho, factor) = (row.get("input_den"), row.get("denfac"));
            if species == 0 {
                fall_speed_rain(&p, rho, factor, content / rho)
            } else {
                let n0s_factor = snow_intercept_factor(&p, row.start().t);
                fall_speed_snow(&p, rho, factor, content / rho, n0s_factor)
            }
        };
        let dt = column[0].dt_cloud();
        let passes: Option<&dyn Fn(usize, f64) -> f64> =
            if species == 2 { None } else { Some(&arrival_speed) };
        let ground = fall.sediment(dt, passes).ground;
        Some(Self { fall, ground, column: column.to_vec(), species })
    }

    /// All species in all columns that hold any.
    fn all() -> Vec<Self> {
        let rows: Vec<Row> = rows().collect();
        let columns = rows.chunks(table().levels);
        columns.flat_map(|c| (0..3).filter_map(|species| Self::new(c, species))).collect()
    }

    fn stored(&self, name: &str) -> &'static [f64] {
        self.column[0].fall(&format!("sed_{name}"), self.species)
    }

    fn place(&self, k: usize) -> String {
        format!("{} {:?}, interface or layer {k}", SPECIES[self.species], self.column[0].place())
    }

    fn dt(&self) -> f64 {
        self.column[0].dt_cloud()
    }

    /// Largest speed, m s⁻¹: interface speeds are sums of four.
    fn fastest(&self) -> f64 {
        self.fall.mean_speed.iter().fold(0.0, |most, speed| speed.max(most))
    }

    /// What the height of an interface on arrival may be off by: its rounding before, and what
    /// it has fallen.
    fn height_doubt(&self, k: usize) -> f64 {
        let fallen = self.speed_doubt() * self.dt();
        4.0 * ROUNDING * self.stored("zi")[k] + fallen
    }

    /// What an interface speed may be off by. The limit on compression passes a speed down from
    /// the layer above, and rounds it on every level.
    fn speed_doubt(&self) -> f64 {
        let levels = self.column.len() as f64;
        (SMOOTH + levels * 2.0 * ROUNDING) * self.fastest()
    }
}

/// Compares a profile; the tolerance is told by the species, the level and the stored value.
fn compare(
    name: &'static str,
    stored: &str,
    share: f64,
    profile: impl Fn(&Fallen) -> &[f64],
    tolerance: impl Fn(&Fallen, usize, f64) -> f64,
) {
    let mut comparison = Comparison::new(name);
    for fallen in Fallen::all() {
        for (k, (&found, &expected)) in
            profile(&fallen).iter().zip(fallen.stored(stored)).enumerate()
        {
            comparison.value(&fallen.place(k), found, expected, tolerance(&fallen, k, expected));
        }
    }
    comparison.finish(share);
}

#[test]
fn mean_speed() {
    compare("mean speed", "w_mean", 0.95, |f| &f.fall.mean_speed, |_, _, x| 4.0 * SMOOTH * x.abs());
}

#[test]
fn interface_speed() {
    compare("interface speed", "wi", 0.9, |f| &f.fall.interface_speed, |f, _, _| f.speed_doubt());
}

#[test]
fn arrival() {
    compare("arrival", "za", 0.9, |f| &f.fall.arrival, |f, k, _| f.height_doubt(k));
}

#[test]
fn thickness() {
    compare(
        "thickness",
        "dza",
        0.9,
        |f| &f.fall.thickness,
        |f, k, _| f.height_doubt(k) + f.height_doubt((k + 1).min(f.column.len())),
    );
}

/// Relative doubt of a density on arrival: that of the thickness, and of the content.
fn density_doubt(fallen: &Fallen, k: usize) -> f64 {
    let top = fallen.height_doubt((k + 1).min(fallen.column.len()));
    SMOOTH + (fallen.height_doubt(k) + top) / fallen.stored("dza")[k].abs()
}

#[test]
fn density() {
    compare(
        "density",
        "qa",
        0.9,
        |f| &f.fall.density,
        |f, k, density| density_doubt(f, k) * density.abs(),
    );
}
