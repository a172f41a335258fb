//! Constituents, planes and volumes that several schemes have, with the names of WRF.
//!
//! A scheme declares its fields by their names in files of columns. What is not here it describes itself.

use super::{Constituent, Diagnostic, Kind, Limiter, Phase, Precipitating};

/// Potential temperature less 300 K.
pub const THETA: Constituent = Constituent {
    column: "th",
    units: "K",
    description: "perturbation potential temperature theta-t0",
    words: "potential temperature",
    kind: Kind::Temperature,
    // Any value is valid: zero is not a bound.
    limiter: Some(Limiter::None),
    absent: super::Absent::Refused,
    ..Constituent::water("theta", "T", Phase::Vapour)
};

/// Water vapour.
pub const VAPOUR: Constituent = Constituent {
    column: "q",
    description: "Water vapor mixing ratio",
    words: "vapour",
    standard_names: [Some("humidity_mixing_ratio"), Some("atmosphere_mass_content_of_water_vapor")],
    absent: super::Absent::Refused,
    ..Constituent::water("qv", "QVAPOR", Phase::Vapour)
};

/// Cloud water.
pub const CLOUD_WATER: Constituent = Constituent {
    description: "Cloud water mixing ratio",
    words: "cloud water",
    standard_names: [
        Some("cloud_liquid_water_mixing_ratio"),
        Some("atmosphere_mass_content_of_cloud_liquid_water"),
    ],
    ..Constituent::water("qc", "QCLOUD", Phase::Liquid)
};

/// Rain.
pub const RAIN: Constituent = Constituent {
    description: "Rain water mixing ratio",
    words: "rain",
    ..Constituent::water("qr", "QRAIN", Phase::Liquid)
};

/// Cloud ice.
pub const CLOUD_ICE: Constituent = Constituent {
    description: "Ice mixing ratio",
    words: "cloud ice",
    standard_names: [Some("cloud_ice_mixing_ratio"), Some("atmosphere_mass_content_of_cloud_ice")],
    ..Constituent::water("qi", "QICE", Phase::Frozen)
};

/// Snow.
pub const SNOW: Constituent = Constituent {
    description: "Snow mixing ratio",
    words: "snow",
    ..Constituent::water("qs", "QSNOW", Phase::Frozen)
};

/// Graupel.
pub const GRAUPEL: Constituent = Constituent {
    description: "Graupel mixing ratio",
    words: "graupel",
    ..Constituent::water("qg", "QGRAUP", Phase::Frozen)
};

/// The constituents.
pub const CONSTITUENTS: [Constituent; 7] =
    [THETA, VAPOUR, CLOUD_WATER, RAIN, CLOUD_ICE, SNOW, GRAUPEL];

/// The planes at the ground and the diagnosed volumes.
pub const DIAGNOSTICS: [Diagnostic; 11] = [
    Diagnostic {
        cell_methods: Some("XTIME: sum"),
        ..Diagnostic::new("rain", "RAINNC", "mm")
            .described("ACCUMULATED TOTAL GRID SCALE PRECIPITATION")
            .standard("lwe_thickness_of_stratiform_precipitation_amount")
            .gathering(Precipitating::All)
    },
    Diagnostic::new("snow", "SNOWNC", "mm")
        .described("ACCUMULATED TOTAL GRID SCALE SNOW AND ICE")
        .gathering(Precipitating::Frozen),
    Diagnostic::new("graupel", "GRAUPELNC", "mm")
        .described("ACCUMULATED TOTAL GRID SCALE GRAUPEL")
        .gathering(Precipitating::Frozen),
    Diagnostic::new("sr", "SR", "1").described("fraction of frozen precipitation"),
    Diagnostic::internal("rainncv", "mm"),
    Diagnostic::internal("snowncv", "mm"),
    Diagnostic::internal("graupelncv", "mm"),
    Diagnostic::new(REFLECTIVITY, "REFL_10CM", "dBZ")
        .described("Radar reflectivity (lamda = 10 cm)")
        .standard("equivalent_reflectivity_factor"),
    Diagnostic::new("re_cloud", "RE_CLOUD", "m").described("Effective radius cloud water"),
    Diagnostic::new("re_ice", "RE_ICE", "m").described("Effective radius cloud ice"),
    Diagnostic::new("re_snow", "RE_SNOW", "m").described("Effective radius snow"),
];

/// Name of the reflectivity, whose maximum in a column is written beside profiles.
pub const REFLECTIVITY: &str = "refl_10cm";

/// Name of the vertical wind among the fields of the air.
pub const VERTICAL_WIND: &str = "w";

/// The constituent with this name in files of columns.
pub fn constituent(column: &str) -> Option<Constituent> {
    CONSTITUENTS.into_iter().find(|known| known.column == column)
}

/// The plane or volume of this name.
pub fn diagnostic(name: &str) -> Option<Diagnostic> {
    DIAGNOSTICS.into_iter().find(|known| known.name == name)
}
