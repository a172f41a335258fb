//! Quantities that a scheme diagnoses or gathers, beside what a run carries.

/// Precipitation that a plane at the ground gathers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precipitating {
    /// All of it.
    All,
    /// A part that is frozen.
    Frozen,
}

/// A plane at the ground, or a volume that is diagnosed from the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Name in files of columns, in restart files, and of the field of a scheme.
    pub name: &'static str,
    /// Name of the variable in the output; `None` if it is not written.
    pub variable: Option<&'static str>,
    /// Units, as in the output.
    pub units: &'static str,
    /// Description in a few words.
    pub description: &'static str,
    /// CF standard name, if there is one.
    pub standard_name: Option<&'static str>,
    /// The statistics over time that its values represent, as in the output, if they are one.
    pub cell_methods: Option<&'static str>,
    /// Precipitation since the start of the run, of which a plane holds the part.
    pub gathers: Option<Precipitating>,
}

impl Diagnostic {
    /// A quantity that the output has as `variable`.
    pub const fn new(name: &'static str, variable: &'static str, units: &'static str) -> Self {
        Self { variable: Some(variable), ..Self::internal(name, units) }
    }

    /// A quantity that the output does not have.
    pub const fn internal(name: &'static str, units: &'static str) -> Self {
        Self {
            name,
            variable: None,
            units,
            description: name,
            standard_name: None,
            cell_methods: None,
            gathers: None,
        }
    }

    /// The same with a description.
    #[must_use]
    pub const fn described(self, description: &'static str) -> Self {
        Self { description, ..self }
    }

    /// The same with a CF standard name.
    #[must_use]
    pub const fn standard(self, name: &'static str) -> Self {
        Self { standard_name: Some(name), ..self }
    }

    /// The same plane of precipitation since the start of the run.
    #[must_use]
    pub const fn gathering(self, part: Precipitating) -> Self {
        Self { gathers: Some(part), ..self }
    }
}
