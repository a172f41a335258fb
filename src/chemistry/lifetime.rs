//! Lifetimes of species in a reference state: clean air at the ground at noon.
//!
//! A lifetime is the concentration divided by the loss by all reactions, and so depends on the reaction partners. The
//! state has typical daytime concentrations of the partners that most species react with; species without one have the
//! initial value of the mechanism, or zero.

use super::cells::{Cells, rate_constants};
use super::clear_sky::ClearSky;
use super::kinetics::Kinetics;
use super::mechanism::Mechanism;
use super::mechanism::expression::Input;
use super::mechanism::quantity::{Origin, Quantity};

/// Temperature of the reference state, K.
pub const TEMPERATURE: f64 = 298.15;
/// Number density of its air (1013.25 hPa), molecules cm-3.
pub const AIR: f64 = 2.46e19;
/// Cosine of the zenith angle of its sun, 45 degrees.
pub const ZENITH_COSINE: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Local solar time, noon, s.
const NOON: f64 = 43_200.0;
/// Hydrolysis of N2O5 in half-saturated air, s-1.
const HYDROLYSIS: f64 = 2.8e-3;

/// Number density of water vapour in it, molecules cm-3.
const WATER: f64 = 3.9e17;
/// Relative humidity, 1.
const HUMIDITY: f64 = 0.5;

/// Typical concentrations at noon in clean continental air, molecules cm-3, and the names of the species in mechanisms;
/// orders of magnitude as in Seinfeld and Pandis (Atmospheric Chemistry and Physics, chapter 6).
const CONCENTRATIONS: [(&[&str], f64); 14] = [
    (&["OH", "HO"], 1e6),
    (&["HO2"], 1e8),
    (&["O3"], 7.4e11),
    (&["NO"], 2.5e9),
    (&["NO2"], 1e10),
    (&["NO3"], 1e7),
    (&["MO2", "C_O2", "CH3O2"], 1e8),
    (&["ACO3", "C2O3", "CCO_O2"], 1e7),
    (&["CO"], 3e12),
    (&["CH4"], 4.4e13),
    (&["H2O"], WATER),
    (&["M", "AIR"], AIR),
    (&["O2"], 0.209 * AIR),
    (&["H2"], 1.3e13),
];

/// The lifetime of a species.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lifetime {
    /// Species of the mechanism.
    pub species: usize,
    /// Time, s; infinite without loss.
    pub time: f64,
    /// The reaction with the largest loss, if there is one.
    pub main_loss: Option<usize>,
}

/// Lifetimes, and the rates that they were computed with.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Lifetimes of the variable species in the order of declaration.
    pub lifetimes: Vec<Lifetime>,
    /// Rate constants of all reactions.
    pub rates: Vec<f64>,
    /// Photolysis frequencies without a value, which count as 0.
    pub dark: Vec<String>,
}

/// Concentration of a species in the reference state, molecules cm-3.
pub(crate) fn concentration(mechanism: &Mechanism, species: usize) -> f64 {
    let species = &mechanism.species[species];
    let known = CONCENTRATIONS
        .iter()
        .find(|(names, _)| names.iter().any(|name| name.eq_ignore_ascii_case(&species.name)));
    known.map_or_else(|| species.initial.unwrap_or(0.0).max(0.0), |&(_, value)| value)
}

/// A quantity that rates name, in the reference state; not a number if only the host knows it.
pub(crate) fn quantity_in_reference(mechanism: &Mechanism, quantity: &Quantity) -> f64 {
    match quantity.origin {
        Origin::Water => WATER,
        Origin::Humidity => HUMIDITY,
        Origin::Air => AIR,
        Origin::Oxygen => super::coupling::OXYGEN * AIR,
        Origin::Nitrogen => super::coupling::NITROGEN * AIR,
        Origin::Species(species) => concentration(mechanism, species),
        Origin::Host(_) => f64::NAN,
    }
}

/// A cell in the reference state, without species.
pub(crate) fn reference_cell(mechanism: &Mechanism) -> Cells {
    let frequency =
        |name: &String| ClearSky::named(name).map_or(0.0, |j| j.frequency(ZENITH_COSINE));
    let quantity = |quantity: &Quantity| quantity_in_reference(mechanism, quantity);
    Cells {
        temperature: vec![TEMPERATURE],
        air_factor: vec![AIR / super::rates::PER_AIR_FACTOR],
        air_density: vec![AIR],
        hydrolysis: vec![HYDROLYSIS],
        photolysis: mechanism.photolysis.iter().map(frequency).collect(),
        quantities: mechanism.quantities.iter().map(quantity).collect(),
        start: vec![NOON],
        first_step: Vec::new(),
        ..Cells::default()
    }
}

/// True of the reactions whose rates depend on what only the host knows.
pub(crate) fn uses_of_host(mechanism: &Mechanism, kinetics: &Kinetics) -> Vec<bool> {
    let is_host = |input: Input| match input {
        Input::Quantity(number) => {
            matches!(mechanism.quantities[number].origin, Origin::Host(_))
        }
        _ => false,
    };
    kinetics.rates.users(is_host)
}

/// Lifetimes of all variable species that take part in a reaction.
pub fn lifetimes(mechanism: &Mechanism, kinetics: &Kinetics) -> Reference {
    let dark: Vec<String> = mechanism
        .photolysis
        .iter()
        .filter(|name| ClearSky::named(name).is_none())
        .cloned()
        .collect();
    let cell = reference_cell(mechanism);
    let rates = rate_constants(kinetics, &cell);
    let y: Vec<f64> = (0..mechanism.species.len()).map(|s| concentration(mechanism, s)).collect();

    let mut order: Vec<usize> = kinetics.variable.clone();
    order.sort_unstable();
    let mut losses = vec![Vec::new(); mechanism.species.len()];
    for (number, reaction) in mechanism.reactions.iter().enumerate() {
        reaction.reactants.iter().for_each(|&(species, _)| losses[species].push(number));
    }
    let lifetimes = order
        .into_iter()
        .map(|species| {
            let mut loss = 0.0;
            let mut largest = (0.0, None);
            for &r in &losses[species] {
                let reaction = &mechanism.reactions[r];
                let Some(&(_, own)) = reaction.reactants.iter().find(|&&(s, _)| s == species)
                else {
                    continue;
                };
                let partners = reaction.reactants.iter().map(|&(s, l)| {
                    let power = if s == species { l - 1 } else { l };
                    y[s].powi(power.cast_signed())
                });
                let net = reaction.net().iter().find(|&&(s, _)| s == species).map_or(0.0, |x| x.1);
                let part = rates[r] * partners.product::<f64>() * (-net).min(f64::from(own));
                if part > 0.0 {
                    loss += part;
                    if part > largest.0 {
                        largest = (part, Some(r));
                    }
                }
            }
            Lifetime { species, time: 1.0 / loss, main_loss: largest.1 }
        })
        .collect();
    Reference { lifetimes, rates, dark }
}

/// A time in a suitable unit.
pub fn in_words(seconds: f64) -> String {
    const UNITS: [(f64, &str); 7] = [
        (31_557_600.0, "a"),
        (86_400.0, "d"),
        (3_600.0, "h"),
        (60.0, "min"),
        (1.0, "s"),
        (1e-3, "ms"),
        (1e-6, "us"),
    ];
    if !seconds.is_finite() {
        return "no loss".to_owned();
    }
    let unit = UNITS.iter().find(|(length, _)| seconds >= *length);
    let &(length, name) = unit.unwrap_or(&(1e-9, "ns"));
    let value = seconds / length;
    if value >= 1e4 { format!("{value:.1e} {name}") } else { format!("{value:.3} {name}") }
}
