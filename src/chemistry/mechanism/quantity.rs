//! Quantities of a cell that rates name, beyond temperature, air, sunlight and photolysis.

/// The origin of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// `C_H2O`: number density of water vapour, molecules cm-3.
    Water,
    /// `rh`: relative humidity, 0 to 1.
    Humidity,
    /// `M`: number density of air, molecules cm-3, where no species has this name.
    Air,
    /// `O2`, where no species has this name.
    Oxygen,
    /// `N2`, where no species has this name.
    Nitrogen,
    /// Concentration of a species at the start, molecules cm-3.
    Species(usize),
    /// Set by the model that has the chemistry: of an array, the element counted from 0.
    Host(Option<usize>),
}

/// A quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Name in the spelling of its first use; of an element, that of the array.
    pub name: String,
    /// Origin.
    pub origin: Origin,
}

impl Quantity {
    /// Its name for messages, with the index of an element.
    pub fn label(&self) -> String {
        match self.origin {
            Origin::Host(Some(element)) => format!("{}({})", self.name, element + 1),
            _ => self.name.clone(),
        }
    }
}
