//! Factors of the processes: 1 in the scheme itself.

use crate::physics::factors::factors;

factors! {
    /// Factor of the rate, amount or speed of each process.
    pub struct Wsm6Factors;

    /// Autoconversion.
    praut;
    /// Collection of cloud water by rain.
    pracw;
    /// Condensation on rain and evaporation of it.
    prevp;
    /// Collection of ice by rain.
    praci;
    /// Freezing of rain that collects ice.
    piacr;
    /// Collection of ice by snow.
    psaci;
    /// Collection of ice by graupel.
    pgaci;
    /// Collection of cloud water by snow, as far as it enters the mean.
    psacw;
    /// Collection of cloud water by graupel, as far as it enters the mean.
    pgacw;
    /// Collection of cloud water by snow and by graupel, each at the mean rate.
    paacw;
    /// Collection of snow by rain.
    pracs;
    /// Collection of rain by snow.
    psacr;
    /// Collection of rain by graupel.
    pgacr;
    /// Melting of snow by the water that it collects.
    pseml;
    /// Melting of graupel by the water that it collects.
    pgeml;
    /// Deposition on ice.
    pidep;
    /// Deposition on snow.
    psdep;
    /// Deposition on graupel.
    pgdep;
    /// Formation of ice.
    pigen;
    /// Aggregation of ice.
    psaut;
    /// Aggregation of snow.
    pgaut;
    /// Evaporation of melting snow.
    psevp;
    /// Evaporation of melting graupel.
    pgevp;
    /// Melting of snow.
    psmlt;
    /// Melting of graupel.
    pgmlt;
    /// Melting of ice.
    pimlt;
    /// Freezing of cloud water in great cold.
    pihmf;
    /// Freezing of cloud water on nuclei.
    pihtf;
    /// Freezing of rain.
    pgfrz;
    /// Condensation.
    pcond;
    /// Fall of rain.
    fall_rain;
    /// Fall of snow and graupel.
    fall_rimed;
    /// Fall of ice.
    fall_ice;
}
