//! The sedimentation operator, on WRF's own intermediate values, step by step.

use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::physics::wsm5::sedimentation_work::SedimentationWork;
use nwp_mini::physics::wsm5::slope::{fall_speed_rain, fall_speed_snow, snow_intercept_factor};

use super::comparison::{Comparison, ROUNDING};
use super::processes::SMOOTH;
use super::stored::{Row, rows, table};

/// Species in the order of the reference.
const FALLING_SPECIES: [&str; 3] = ["rain", "snow", "ice"];

/// A species on its way down one column, after the whole operator has run.
struct FallenSpecies {
    fall: SedimentationWork<f64, 1>,
    ground: f64,
    column: Vec<Row>,
    species: usize,
}

impl FallenSpecies {
    fn new(column: &[Row], species: usize) -> Option<Self> {
        let p = Scheme::default();
        let mixing_ratio = |row: &Row| {
            let cell = row.start();
            [cell.qr, cell.qs, cell.qi][species]
        };
        if column.iter().all(|row| mixing_ratio(row) <= 0.0) {
            return None;
        }
        let reach = column.len();
        let mut fall = SedimentationWork::new(reach);
        let depths: Vec<_> = column.iter().map(|row| [row.get("input_delz")]).collect();
        fall.set_depths(depths.iter());
        for (k, row) in column.iter().enumerate() {
            let content = row.get("input_den") * mixing_ratio(row);
            let speed = row.get(&format!("vt_{}", FALLING_SPECIES[species]));
            fall.depart(k, |_| (content, speed));
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
        if species != 2 {
            fall.arrive_at_speed(dt, reach);
            for k in 0..reach {
                fall.slow_down(k, |_, content| arrival_speed(k, content));
            }
        }
        let [ground] = fall.arrive_and_land(dt, reach, &mut [0.0]);
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
        format!(
            "interface or layer {k} of {} above {}",
            FALLING_SPECIES[self.species],
            self.column[0].place()
        )
    }

    fn dt(&self) -> f64 {
        self.column[0].dt_cloud()
    }

    /// Largest speed, m s⁻¹: interface speeds are sums of four.
    fn fastest(&self) -> f64 {
        self.fall.mean_speed.iter().fold(0.0, |most, [speed]| speed.max(most))
    }

    /// Uncertainty of the arrival height of an interface: its rounding before, and that of the distance fallen.
    fn height_doubt(&self, k: usize) -> f64 {
        let fallen = self.speed_doubt() * self.dt();
        4.0 * ROUNDING * self.stored("zi")[k] + fallen
    }

    /// Uncertainty of an interface speed. The limit on compression passes a speed down from the layer above, and rounds
    /// it on every level.
    fn speed_doubt(&self) -> f64 {
        let levels = self.column.len() as f64;
        (SMOOTH + levels * 2.0 * ROUNDING) * self.fastest()
    }
}

/// Compares a profile; the tolerance depends on the species, the level and the stored value.
fn compare(
    name: &'static str,
    stored: &str,
    share: f64,
    profile: impl Fn(&FallenSpecies) -> &[[f64; 1]],
    tolerance: impl Fn(&FallenSpecies, usize, f64) -> f64,
) {
    let mut comparison = Comparison::new(name);
    for fallen in FallenSpecies::all() {
        for (k, (&[found], &expected)) in
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
fn density_doubt(fallen: &FallenSpecies, k: usize) -> f64 {
    let top = fallen.height_doubt((k + 1).min(fallen.column.len()));
    SMOOTH + (fallen.height_doubt(k) + top) / fallen.stored("dza")[k].max(f64::MIN_POSITIVE)
}

#[test]
fn density() {
    let tolerance = |f: &FallenSpecies, k: usize, density: f64| {
        if density == 0.0 { 0.0 } else { density_doubt(f, k) * density }
    };
    compare("density", "qa", 0.9, |f| &f.fall.density, tolerance);
}

/// Uncertainty of the density at the edge of an arrived layer; `None` where rounding decides whether the profile is
/// monotone there, and so whether it is uniform.
fn edge_doubt(fallen: &FallenSpecies, k: usize) -> Option<f64> {
    let density = fallen.stored("qa");
    if k == 0 {
        return Some(density_doubt(fallen, k) * density[k]);
    }
    let thickness = fallen.stored("dza");
    let doubt =
        |k: usize| if density[k] == 0.0 { 0.0 } else { density_doubt(fallen, k) * density[k] };
    let near = |a: usize, b: usize| {
        let difference = (density[a] - density[b]).abs();
        difference <= 4.0 * (doubt(a) + doubt(b)) && density[a] + density[b] > 0.0
    };
    let slope = |a: usize, b: usize| (density[a] - density[b]) / (thickness[a] + thickness[b]);
    let rise = 0.5 * (slope(k + 1, k) + slope(k, k - 1)) * thickness[k];
    // Weighted with the thickness over that of the neighbours.
    let reach = |a: usize| thickness[k] / (thickness[k] + thickness[a]);
    let terms = doubt(k)
        + (doubt(k) + doubt(k + 1)) * reach(k + 1)
        + (doubt(k) + doubt(k - 1)) * reach(k - 1);
    let near_zero = (density[k] - rise.abs()).abs() <= 8.0 * terms && density[k] > 0.0;
    let decided = !near(k + 1, k) && !near(k, k - 1) && !near_zero;
    decided.then_some(4.0 * terms)
}

#[test]
fn edges() {
    for (name, stored) in [("upper edge", "qpi"), ("lower edge", "qmi")] {
        let mut comparison = Comparison::new(name);
        let (mut all, mut left_out) = (0, 0);
        for fallen in FallenSpecies::all() {
            let SedimentationWork { bottom, half_rise, thickness, .. } = &fallen.fall;
            let pairs = bottom.iter().zip(half_rise).zip(fallen.stored(stored));
            for (k, (([bottom], [half_rise]), &expected)) in pairs.enumerate() {
                let rise = 2.0 * half_rise * thickness[k][0];
                let found = bottom + if stored == "qpi" { rise } else { 0.0 };
                all += 1;
                let Some(doubt) = edge_doubt(&fallen, k) else {
                    left_out += 1;
                    continue;
                };
                comparison.value(&fallen.place(k), found, expected, doubt);
            }
        }
        println!("{name}: undecided in {left_out} of {all} layers");
        assert!(left_out * 10 < all, "{name}: undecided in {left_out} of {all} layers");
        comparison.finish(0.9);
    }
}

/// Contents of a layer of the grid at the end.
#[test]
fn content() {
    let mut comparison = Comparison::new("content");
    let (mut all, mut left_out) = (0, 0);
    for fallen in FallenSpecies::all() {
        let (arrival, density) = (fallen.stored("za"), fallen.stored("qa"));
        let (height, thickness) = (fallen.stored("zi"), fallen.stored("dza"));
        for (k, (&[found], &expected)) in
            fallen.fall.content.iter().zip(fallen.stored("qn")).enumerate()
        {
            all += 1;
            let (low, high) = (height[k], height[k + 1]);
            let margin = fallen.height_doubt(k + 1);
            let inside = |j: &usize| arrival[*j] <= high + margin && arrival[j + 1] >= low - margin;
            let layers: Vec<usize> = (0..fallen.column.len()).filter(inside).collect();
            if layers.iter().any(|&j| edge_doubt(&fallen, j).is_none()) {
                left_out += 1;
                continue;
            }
            let densest = layers.iter().map(|&j| density[j]).fold(0.0, f64::max);
            let doubt = layers
                .iter()
                .map(|&j| density_doubt(&fallen, j) + margin / thickness[j])
                .fold(margin / (high - low), f64::max);
            comparison.value(&fallen.place(k), found, expected, 8.0 * doubt * densest);
        }
    }
    println!("undecided in {left_out} of {all} layers");
    assert!(left_out * 5 < all, "undecided in {left_out} of {all} layers");
    // The upper part of falling rain is nearly empty compared with the layer below.
    comparison.finish(0.8);
}

#[test]
fn precipitation() {
    let mut comparison = Comparison::new("precipitation");
    for fallen in FallenSpecies::all() {
        let expected = fallen.stored("precip")[0];
        let density = fallen.stored("qa");
        let below = fallen.stored("za").iter().filter(|height| **height < 0.0).count();
        let doubt: f64 = (0..below.min(fallen.column.len()))
            .map(|k| {
                let depth = fallen.stored("dza")[k];
                density[k] * (density_doubt(&fallen, k) * depth + fallen.height_doubt(k))
            })
            .sum();
        comparison.value(&fallen.place(0), fallen.ground, expected, doubt + SMOOTH * expected);
    }
    comparison.finish(0.9);
}
