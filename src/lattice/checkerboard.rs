//! Sites of one parity and their neighbours, which all have the other parity.
//!
//! The parity of a site is that of x + y + z + t. Two neighbours along x share a checkerboard index,
//! half of the lexicographic one `((t Z + z) Y + y) X + x`.

use crate::error::{Error, Result};

/// Reals of a spinor: four spin components of three colors.
pub const SPINOR_REALS: usize = 24;
/// Reals of a link.
pub const LINK_REALS: usize = 18;
/// Directions x, y, z, t.
pub const DIRECTIONS: usize = 4;

/// Numbers of sites along x, y, z, t, all even.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extents {
    extents: [usize; DIRECTIONS],
}

/// Even or odd sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// x + y + z + t is even.
    Even,
    /// It is odd.
    Odd,
}

impl Parity {
    /// Both parities.
    pub const BOTH: [Self; 2] = [Self::Even, Self::Odd];

    /// The parity of the neighbours.
    pub fn other(self) -> Self {
        match self {
            Self::Even => Self::Odd,
            Self::Odd => Self::Even,
        }
    }
}

impl Extents {
    /// A lattice of x, y, z and t sites along its directions.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when an extent is odd or 0, or when kernels cannot number the sites.
    pub fn new(extents: [usize; DIRECTIONS]) -> Result<Self> {
        for (name, extent) in ["x", "y", "z", "t"].into_iter().zip(extents) {
            if extent == 0 || !extent.is_multiple_of(2) {
                return Err(Error::Usage(format!(
                    "a lattice of extent {extent} in {name}: even-odd preconditioning needs an even \
                     number of sites, 2 or more, in every direction"
                )));
            }
        }
        let reals = extents.iter().try_fold(2 * DIRECTIONS * LINK_REALS, |n, &e| n.checked_mul(e));
        let [x, y, z, t] = extents;
        if reals.is_none_or(|reals| i32::try_from(reals / LINK_REALS).is_err()) {
            return Err(Error::Usage(format!(
                "a lattice of {x}x{y}x{z}x{t} sites is too large for 32-bit indices"
            )));
        }
        Ok(Self { extents })
    }

    /// Extents along x, y, z, t.
    pub fn along(&self) -> [usize; DIRECTIONS] {
        self.extents
    }

    /// Number of sites.
    pub fn volume(&self) -> usize {
        self.extents.iter().product()
    }

    /// Sites of a parity.
    pub fn half_volume(&self) -> usize {
        self.volume() / 2
    }

    /// Lexicographic index of a site.
    pub fn lexicographic(&self, [x, y, z, t]: [usize; DIRECTIONS]) -> usize {
        let [nx, ny, nz, _] = self.extents;
        ((t * nz + z) * ny + y) * nx + x
    }

    /// Coordinates x, y, z, t of the site of a parity with a checkerboard index.
    pub(crate) fn site_at(&self, index: usize, parity: Parity) -> [usize; DIRECTIONS] {
        let [nx, ny, nz, _] = self.extents;
        let (xh, row) = (index % (nx / 2), index / (nx / 2));
        let [y, z, t] = [row % ny, row / ny % nz, row / (ny * nz)];
        let shift = (y + z + t + usize::from(parity == Parity::Odd)) & 1;
        [2 * xh + shift, y, z, t]
    }

    /// Lexicographic indices of the sites of a parity in checkerboard order.
    pub fn sites(self, parity: Parity) -> impl Iterator<Item = usize> {
        (0..self.half_volume()).map(move |index| self.lexicographic(self.site_at(index, parity)))
    }

    /// The neighbour of a site in a direction, forward or backward: its coordinates.
    pub fn neighbour(
        &self,
        mut site: [usize; DIRECTIONS],
        mu: usize,
        is_ahead: bool,
    ) -> [usize; DIRECTIONS] {
        let extent = self.extents[mu];
        site[mu] = (site[mu] + if is_ahead { 1 } else { extent - 1 }) % extent;
        site
    }
}

/// As 24x24x24x128.
impl std::str::FromStr for Extents {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<usize>> = text.split('x').map(|part| part.parse().ok()).collect();
        let wrong =
            || format!("\"{text}\" are not extents; expected four even numbers, as 32x32x32x32");
        let extents = numbers.and_then(|numbers| numbers.try_into().ok()).ok_or_else(wrong)?;
        Self::new(extents).map_err(|error| format!("{error}: {}", wrong()))
    }
}

impl std::fmt::Display for Extents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z, t] = self.extents;
        write!(f, "{x}x{y}x{z}x{t}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_four_even_numbers_and_nothing_else() {
        let read = |text: &str| text.parse::<Extents>().map(|extents| extents.to_string());
        assert_eq!(read("4x6x8x10"), Ok("4x6x8x10".to_owned()));
        for wrong in ["4x6x8", "4x6x8x10x12", "4x6x8x10x", "4x6x8x10xabc", "4x6x8x9", "4x6x0x8", ""]
        {
            let why = read(wrong).expect_err(wrong);
            assert!(why.contains(wrong) && why.contains("four even numbers"), "{why}");
        }
    }
}
