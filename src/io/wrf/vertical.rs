//! The vertical coordinate of a WRF file, classic or hybrid.

use ndarray::Array2;
use tracing::debug;

use super::source::TimeReader;
use crate::dry_mass::MassCoordinate;
use crate::error::Result;
use crate::io::layout::Axes;
use crate::io::reader::{Reader, try_map};

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

/// Names of the profiles in the layers, and of those at the z-faces.
pub(super) const LAYER_PROFILES: [&str; 9] =
    ["ZNU", "DNW", "RDNW", "DN", "RDN", "FNM", "FNP", "C1H", "C2H"];
/// See [`LAYER_PROFILES`].
pub(super) const FACE_PROFILES: [&str; 3] = ["ZNW", "C1F", "C2F"];

impl Vertical {
    /// The coordinate with these profiles in the layers and at the z-faces, in the order of [`Vertical::profiles`].
    pub(in crate::io) fn of_profiles(
        [znu, dnw, rdnw, dn, rdn, fnm, fnp, c1h, c2h]: [Vec<f64>; 9],
        [znw, c1f, c2f]: [Vec<f64>; 3],
        p_top: f64,
    ) -> Self {
        Self { znw, znu, dnw, rdnw, dn, rdn, fnm, fnp, c1h, c2h, c1f, c2f, p_top }
    }

    /// The profiles in the layers and at the z-faces.
    pub(in crate::io) fn profiles(&self) -> ([&[f64]; 9], [&[f64]; 3]) {
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

    /// Reads the profiles, and derives missing ones from the eta levels.
    pub(super) fn read(source: &TimeReader<'_>) -> Result<Self> {
        let layer = |name: &str| source.profile(name, Axes::Layer);
        let face = |name: &str| source.profile(name, Axes::Face);
        let rdnw = match (layer("RDNW")?, layer("DNW")?, face("ZNW")?) {
            (Some(rdnw), _, _) => rdnw,
            (None, Some(dnw), _) => reciprocals(&dnw),
            (None, None, Some(znw)) => reciprocals(&differences(&znw)),
            (None, None, None) => return Err(source.reader.error("has no ZNW, DNW or RDNW")),
        };
        let dnw = layer("DNW")?.unwrap_or_else(|| reciprocals(&rdnw));
        let znw = face("ZNW")?.unwrap_or_else(|| {
            let levels = dnw.iter().scan(1.0, |eta, d| {
                *eta += d;
                Some(*eta)
            });
            std::iter::once(1.0).chain(levels).collect()
        });
        check_levels(source.reader, &rdnw, &dnw, &znw)?;
        check_hybrid(source, layer("C1H")?.is_some())?;
        let p_top = source.scalar("P_TOP")?.unwrap_or(0.0);
        let derived = Self::derived(znw, [dnw, rdnw], p_top);
        let or = |found: Option<Vec<f64>>, name: &str, derived: &[f64]| {
            found.unwrap_or_else(|| {
                debug!("{name} is not in the file and is derived from the eta levels");
                derived.to_vec()
            })
        };
        let (layers, faces) = derived.profiles();
        let layers = std::array::from_fn(|n| (LAYER_PROFILES[n], layers[n]));
        let faces = std::array::from_fn(|n| (FACE_PROFILES[n], faces[n]));
        let layers = try_map(layers, |(name, derived)| Ok(or(layer(name)?, name, derived)))?;
        let faces = try_map(faces, |(name, derived)| Ok(or(face(name)?, name, derived)))?;
        Ok(Self::of_profiles(layers, faces, p_top))
    }

    /// The classic coordinate for these eta levels, from 1 at the ground to 0 at the lid, and this pressure at the lid,
    /// Pa.
    pub fn classic(znw: Vec<f64>, p_top: f64) -> Self {
        let dnw = differences(&znw);
        let rdnw = reciprocals(&dnw);
        Self::derived(znw, [dnw, rdnw], p_top)
    }

    /// The same, with the thickness of the layers and its reciprocal.
    fn derived(znw: Vec<f64>, [dnw, rdnw]: [Vec<f64>; 2], p_top: f64) -> Self {
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
fn differences(values: &[f64]) -> Vec<f64> {
    values.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

fn reciprocals(values: &[f64]) -> Vec<f64> {
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

/// Tolerance between the eta levels of a file and its layer thicknesses, relative to a layer.
///
/// Both are rounded to single precision, which is 1e-4 of a layer with a thickness of 1e-3.
const LEVEL_TOLERANCE: f64 = 1e-3;

/// Fails if eta does not decrease upward, or if the profiles contradict each other.
pub(in crate::io) fn check_levels(
    reader: &Reader,
    rdnw: &[f64],
    dnw: &[f64],
    znw: &[f64],
) -> Result<()> {
    let layers = differences(znw);
    for (k, &thickness) in layers.iter().enumerate() {
        if [rdnw[k], dnw[k], thickness].iter().any(|x| *x >= 0.0 || !x.is_finite()) {
            return Err(reader.error(format!(
                "eta (ZNW, DNW, RDNW) does not fall from face {k} to face {}; it must fall from 1 \
                 at the ground to 0 at the lid",
                k + 1
            )));
        }
    }
    for (k, &thickness) in layers.iter().enumerate() {
        for (name, other) in [("DNW", dnw[k]), ("1 / RDNW", 1.0 / rdnw[k])] {
            if (other / thickness - 1.0).abs() > LEVEL_TOLERANCE {
                return Err(reader.error(format!(
                    "layer {k} has the eta thickness {other} by {name} and {thickness} by ZNW; \
                     they must agree"
                )));
            }
        }
    }
    Ok(())
}

/// Fails if a file with the hybrid coordinate lacks the coefficients of its layers.
fn check_hybrid(source: &TimeReader<'_>, has_c1h: bool) -> Result<()> {
    let option = source.reader.number("HYBRID_OPT")?.unwrap_or(0.0);
    if option > 0.0 && !has_c1h {
        return Err(source.reader.error(format!(
            "is on the hybrid coordinate (attribute HYBRID_OPT is {option}) and lacks C1H; the \
             mass of its layers needs C1H and C2H"
        )));
    }
    Ok(())
}
