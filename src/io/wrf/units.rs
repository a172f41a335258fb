//! Quantities of the variables of a WRF file.

use crate::units::Quantity;

/// The quantity of a variable; `None` for variables that the program does not know, which keep the units of the file.
pub(crate) fn of(name: &str) -> Option<Quantity> {
    Some(match name {
        "P" | "PB" | "MU" | "MUB" | "P_TOP" | "C2H" | "C2F" | "PSFC" => Quantity::PRESSURE,
        "T" | "THM" => Quantity::THETA_PERTURBATION,
        "T2" | "TSK" => Quantity::TEMPERATURE,
        "QVAPOR" | "QCLOUD" | "QRAIN" | "QICE" | "QSNOW" | "QGRAUP" | "QHAIL" => {
            Quantity::MASS_RATIO
        }
        "U" | "V" | "W" => Quantity::WIND,
        "PH" | "PHB" => Quantity::GEOPOTENTIAL,
        "HGT" => Quantity::LENGTH,
        "XLAT" | "XLONG" | "XLAT_M" | "XLONG_M" => Quantity::DEGREES,
        "F" => Quantity::FREQUENCY,
        "RAINNC" | "RAINC" | "RAINSH" | "SNOWNC" | "GRAUPELNC" | "HAILNC" => {
            Quantity::PRECIPITATION
        }
        "REFL_10CM" => Quantity::REFLECTIVITY,
        "SINALPHA" | "COSALPHA" | "ZNU" | "ZNW" | "DN" | "DNW" | "RDN" | "RDNW" | "FNM" | "FNP"
        | "C1H" | "C1F" => Quantity::NUMBER,
        name if name.starts_with("MAPFAC_") => Quantity::NUMBER,
        _ => return None,
    })
}
