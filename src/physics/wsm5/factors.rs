//! Factors of the processes: 1 in the scheme itself.

use crate::physics::factors::factors;

factors! {
    /// Factor of the rate, amount or speed of each process.
    pub struct Factors;

    /// Autoconversion.
    praut;
    /// Collection of cloud water by rain.
    pracw;
    /// Condensation on rain and evaporation of it.
    prevp;
    /// Collection of ice by snow.
    psaci;
    /// Collection of cloud water by snow.
    psacw;
    /// Deposition on ice.
    pidep;
    /// Deposition on snow.
    psdep;
    /// Formation of ice.
    pigen;
    /// Aggregation of ice.
    psaut;
    /// Melting of snow.
    psmlt;
    /// Melting of ice.
    pimlt;
    /// Freezing of cloud water in great cold.
    pihmf;
    /// Freezing of cloud water on nuclei.
    pihtf;
    /// Freezing of rain.
    psfrz;
    /// Condensation.
    pcond;
    /// Fall of rain.
    fall_rain;
    /// Fall of snow.
    fall_snow;
    /// Fall of ice.
    fall_ice;
}
