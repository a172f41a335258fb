//! Photolysis frequencies under a clear sky, J = l cos(χ)^m exp(-n / cos χ) with the zenith angle χ of the sun:
//! the parameterisation of Hayman in the Master Chemical Mechanism 3.2 (Saunders et al. 2003,
//! Atmos. Chem. Phys. 3, 161-180).

/// Parameters of a photolysis frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClearSky {
    /// Name in the mechanisms of WRF-Chem.
    pub name: &'static str,
    /// The reaction.
    pub reaction: &'static str,
    /// l, s-1.
    pub amplitude: f64,
    /// m.
    pub power: f64,
    /// n.
    pub depth: f64,
}

const fn of(name: &'static str, reaction: &'static str, [l, m, n]: [f64; 3]) -> ClearSky {
    ClearSky { name, reaction, amplitude: l, power: m, depth: n }
}

/// Reactions with their own parameters.
#[expect(clippy::approx_constant, reason = "a parameter that happens to be near 1/π")]
pub const CLEAR_SKY: [ClearSky; 19] = [
    of("Pj_o31d", "O3 -> O1D", [6.073e-5, 1.743, 0.474]),
    of("Pj_o33p", "O3 -> O3P", [4.775e-4, 0.298, 0.080]),
    of("Pj_h2o2", "H2O2 -> 2 OH", [1.041e-5, 0.723, 0.279]),
    of("Pj_no2", "NO2 -> NO + O3P", [1.165e-2, 0.244, 0.267]),
    of("Pj_no3o2", "NO3 -> NO", [2.485e-2, 0.168, 0.108]),
    of("Pj_no3o", "NO3 -> NO2 + O3P", [1.747e-1, 0.155, 0.125]),
    of("Pj_hno2", "HNO2 -> OH + NO", [2.644e-3, 0.261, 0.288]),
    of("Pj_hno3", "HNO3 -> OH + NO2", [9.312e-7, 1.230, 0.307]),
    of("Pj_ch2or", "HCHO -> H + HCO", [4.642e-5, 0.762, 0.353]),
    of("Pj_ch2om", "HCHO -> H2 + CO", [6.853e-5, 0.477, 0.323]),
    of("Pj_ch3cho", "CH3CHO", [7.344e-6, 1.202, 0.417]),
    of("Pj_ch3coch3", "acetone", [7.992e-7, 1.578, 0.271]),
    of("Pj_ch3coc2h5", "methyl ethyl ketone", [5.804e-6, 1.092, 0.377]),
    of("Pj_hcocho", "glyoxal, first channel", [6.845e-5, 0.130, 0.201]),
    of("Pj_hcochob", "glyoxal, third channel", [3.802e-5, 0.644, 0.312]),
    of("Pj_ch3cocho", "methylglyoxal", [1.537e-4, 0.170, 0.208]),
    of("Pj_ch3o2h", "CH3OOH", [7.649e-6, 0.682, 0.279]),
    of("Pj_ch3ono2", "CH3ONO2", [1.588e-6, 1.154, 0.318]),
    of("Pj_macr", "methacrolein, one of two channels", [1.140e-5, 0.396, 0.298]),
];

/// Reactions without parameters: the name of the frequency, the name of its substitute, and the reason.
///
/// - HNO4 absorbs about as strongly as H2O2 beyond 290 nm.
/// - The Master Chemical Mechanism uses the frequency of CH3OOH for all hydroperoxides, including peroxyacetic acid.
/// - Unsaturated dicarbonyls (DCB of RADM2) photolyse like the best-known dicarbonyl.
pub const SURROGATES: [(&str, &str, &str); 3] = [
    ("Pj_hno4", "Pj_h2o2", "HNO4 as H2O2"),
    ("Pj_ch3coo2h", "Pj_ch3o2h", "peroxyacetic acid as CH3OOH"),
    ("Pj_hcochest", "Pj_ch3cocho", "unsaturated dicarbonyls as methylglyoxal"),
];

impl ClearSky {
    /// The entry with a name, ignoring case.
    pub fn named(name: &str) -> Option<Self> {
        CLEAR_SKY.into_iter().find(|entry| entry.name.eq_ignore_ascii_case(name))
    }

    /// The entry with a name or that of its substitute, ignoring case; for a substitute with the reason.
    pub fn standing_for(name: &str) -> Option<(Self, Option<&'static str>)> {
        if let Some(own) = Self::named(name) {
            return Some((own, None));
        }
        let (_, other, words) =
            SURROGATES.into_iter().find(|(missing, ..)| missing.eq_ignore_ascii_case(name))?;
        Self::named(other).map(|entry| (entry, Some(words)))
    }

    /// Frequency (s-1) at a zenith angle of the sun with this cosine; 0 below the horizon.
    pub fn frequency(&self, cosine: f64) -> f64 {
        if cosine > 0.0 {
            self.amplitude * cosine.powf(self.power) * (-self.depth / cosine).exp()
        } else {
            0.0
        }
    }
}
