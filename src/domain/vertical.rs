//! The vertical coordinate, classic or hybrid.

use ndarray::Array2;

use crate::dry_mass::MassCoordinate;

/// Profiles of the eta coordinate, from the ground up. Length of each: nz, unless stated otherwise. Units: 1, unless
/// stated otherwise.
#[derive(Clone, Debug)]
pub struct Vertical {
    /// Eta of the z-faces, 1 at the ground and 0 at the lid (WRF `ZNW`). Length: nz + 1.
    pub znw: Vec<f64>,
    /// Eta of the layers (WRF `ZNU`).
    pub znu: Vec<f64>,
    /// Eta thickness of the layers, negative (WRF `DNW`).
    pub dnw: Vec<f64>,
    /// Its reciprocal (WRF `RDNW`).
    pub rdnw: Vec<f64>,
    /// Eta distance of the layers, negative; entry 0 unused (WRF `DN`).
    pub dn: Vec<f64>,
    /// Its reciprocal (WRF `RDN`).
    pub rdn: Vec<f64>,
    /// Weight of layer k at z-face k; entry 0 unused (WRF `FNM`).
    pub fnm: Vec<f64>,
    /// Weight of layer k-1 at z-face k; entry 0 unused (WRF `FNP`).
    pub fnp: Vec<f64>,
    /// Hybrid coefficient of the column mass in the layers (WRF `C1H`).
    pub c1h: Vec<f64>,
    /// Constant part of the hybrid coefficient in the layers (WRF `C2H`), Pa.
    pub c2h: Vec<f64>,
    /// Hybrid coefficient of the column mass at the z-faces (WRF `C1F`). Length: nz + 1.
    pub c1f: Vec<f64>,
    /// Constant part of the hybrid coefficient at the z-faces (WRF `C2F`), Pa. Length: nz + 1.
    pub c2f: Vec<f64>,
    /// Pressure at the lid (WRF `P_TOP`), Pa.
    pub p_top: f64,
}

impl Vertical {
    /// The coordinate with these profiles in the layers and at the z-faces, in the order of [`Vertical::profiles`].
    pub(crate) fn of_profiles(
        [znu, dnw, rdnw, dn, rdn, fnm, fnp, c1h, c2h]: [Vec<f64>; 9],
        [znw, c1f, c2f]: [Vec<f64>; 3],
        p_top: f64,
    ) -> Self {
        Self { znw, znu, dnw, rdnw, dn, rdn, fnm, fnp, c1h, c2h, c1f, c2f, p_top }
    }

    /// The profiles in the layers and at the z-faces.
    pub(crate) fn profiles(&self) -> ([&[f64]; 9], [&[f64]; 3]) {
        let Self { znw, znu, dnw, rdnw, dn, rdn, fnm, fnp, c1h, c2h, c1f, c2f, .. } = self;
        ([znu, dnw, rdnw, dn, rdn, fnm, fnp, c1h, c2h], [znw, c1f, c2f])
    }

    /// The mass coordinate with this column mass (Pa), map factors along x and y, and mass of a cell by pressure
    /// difference (m s²).
    pub fn coordinate(
        &self,
        mu: Array2<f64>,
        [map_x, map_y]: [Array2<f64>; 2],
        unit: f64,
    ) -> MassCoordinate {
        MassCoordinate {
            mu,
            map_x,
            map_y,
            c1: self.c1h.clone(),
            c2: self.c2h.clone(),
            rdnw: self.rdnw.clone(),
            fnm: self.fnm.clone(),
            fnp: self.fnp.clone(),
            unit,
        }
    }

    /// The classic coordinate for these eta levels, from 1 at the ground to 0 at the lid, and this pressure at the lid,
    /// Pa.
    pub fn classic(znw: Vec<f64>, p_top: f64) -> Self {
        let dnw = differences(&znw);
        let rdnw = reciprocals(&dnw);
        Self::derived(znw, [dnw, rdnw], p_top)
    }

    /// The same, with the thickness of the layers and its reciprocal.
    pub(crate) fn derived(znw: Vec<f64>, [dnw, rdnw]: [Vec<f64>; 2], p_top: f64) -> Self {
        let nz = dnw.len();
        Self {
            znu: znw.windows(2).map(|z| 0.5 * (z[0] + z[1])).collect(),
            dn: between(&dnw, distance),
            rdn: between(&dnw, |below, above| 1.0 / distance(below, above)),
            fnm: between(&dnw, weight_above),
            fnp: between(&dnw, weight_below),
            c1h: vec![1.0; nz],
            c2h: vec![0.0; nz],
            c1f: vec![1.0; nz + 1],
            c2f: vec![0.0; nz + 1],
            p_top,
            znw,
            dnw,
            rdnw,
        }
    }
}

/// Differences of neighbouring values, upward.
pub(crate) fn differences(values: &[f64]) -> Vec<f64> {
    values.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

pub(crate) fn reciprocals(values: &[f64]) -> Vec<f64> {
    values.iter().map(|x| 1.0 / x).collect()
}

/// A value from the thicknesses of every layer and the one below it; layer 0 has none below.
fn between(dnw: &[f64], value: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    std::iter::once(0.0).chain(dnw.windows(2).map(|d| value(d[0], d[1]))).collect()
}

/// Eta distance of two layers.
fn distance(below: f64, above: f64) -> f64 {
    0.5 * (below + above)
}

/// Weight of the upper of two layers at the face between them.
fn weight_above(below: f64, above: f64) -> f64 {
    below / (below + above)
}

/// Weight of the lower of two layers at the face between them.
fn weight_below(below: f64, above: f64) -> f64 {
    above / (below + above)
}
