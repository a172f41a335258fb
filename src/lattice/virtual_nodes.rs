//! Memory layout of the fields on the CPU: the lattice is cut into [`LANES`] equal parts, one for each lane of a vector
//! register.
//!
//! All parts have even extents, so that the same place in every part has the same parity, and neighbours in one part
//! are neighbours in all parts. Data crosses lanes at the border of the parts only. Small lattices are cut into fewer
//! parts; then several lanes hold the same numbers.

use super::checkerboard::{DIRECTIONS, Extents, Parity};
use crate::error::Result;

/// Number of parts: single-precision lanes of AVX-512.
pub const LANES: usize = 16;

/// Permutation: for each lane, the lane that its neighbours come from.
pub type Permutation = [usize; LANES];

/// Division of a lattice into parts.
#[derive(Clone, Debug)]
pub struct VirtualNodes {
    /// The whole lattice.
    pub whole: Extents,
    /// A part.
    pub part: Extents,
    /// Parts along each direction.
    cuts: [usize; DIRECTIONS],
    /// For each direction, forward and backward: the permutation across the border of the part.
    permutations: [[Permutation; 2]; DIRECTIONS],
}

/// The neighbour of a place.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    /// Its checkerboard index in the part.
    pub index: usize,
    /// `true` if it is across the border of the part.
    pub is_across: bool,
}

impl VirtualNodes {
    /// Cuts a lattice in half along the longest direction, of equal ones the slowest, until there is a part for each
    /// lane.
    ///
    /// # Errors
    ///
    /// Never for even extents.
    pub fn new(whole: Extents) -> Result<Self> {
        let (mut extents, mut cuts) = (whole.along(), [1; DIRECTIONS]);
        let mut parts = 1;
        // Halves of parts must have even extents. The longest direction is cut first, so that few sites are at borders.
        while parts < LANES {
            let longest = (0..DIRECTIONS).rev().filter(|&mu| extents[mu].is_multiple_of(4));
            let Some(mu) = longest.max_by_key(|&mu| (extents[mu], mu)) else { break };
            extents[mu] /= 2;
            cuts[mu] *= 2;
            parts *= 2;
        }
        let mut nodes = Self {
            whole,
            part: Extents::new(extents)?,
            cuts,
            permutations: [[[0; LANES]; 2]; DIRECTIONS],
        };
        for mu in 0..DIRECTIONS {
            for (way, step) in [(0, 1), (1, cuts[mu] - 1)] {
                nodes.permutations[mu][way] = std::array::from_fn(|lane| {
                    let mut node = nodes.node(lane);
                    node[mu] = (node[mu] + step) % cuts[mu];
                    lane / parts * parts + nodes.lane(node)
                });
            }
        }
        Ok(nodes)
    }

    /// Number of different parts; with fewer than lanes, several lanes hold the same part.
    pub fn parts(&self) -> usize {
        self.cuts.iter().product()
    }

    /// Position of the part of a lane, along each direction.
    fn node(&self, lane: usize) -> [usize; DIRECTIONS] {
        let mut rest = lane % self.parts();
        self.cuts.map(|cuts| {
            let at = rest % cuts;
            rest /= cuts;
            at
        })
    }

    fn lane(&self, node: [usize; DIRECTIONS]) -> usize {
        node.iter().zip(self.cuts).rev().fold(0, |lane, (at, cuts)| lane * cuts + at)
    }

    /// Coordinates in the whole lattice of a place in the part of a lane.
    pub(crate) fn site(&self, place: [usize; DIRECTIONS], lane: usize) -> [usize; DIRECTIONS] {
        let (node, part) = (self.node(lane), self.part.along());
        std::array::from_fn(|mu| node[mu] * part[mu] + place[mu])
    }

    /// Lanes in which a place is at the end of the whole lattice along t, forward or backward.
    pub(crate) fn is_at_end(&self, is_ahead: bool) -> [bool; LANES] {
        let last = self.cuts[3] - 1;
        std::array::from_fn(|lane| self.node(lane)[3] == if is_ahead { last } else { 0 })
    }

    /// Permutation of the lanes across the border of the parts.
    pub(crate) fn permutation(&self, mu: usize, is_ahead: bool) -> &Permutation {
        &self.permutations[mu][usize::from(!is_ahead)]
    }

    /// The neighbour of a place, forward or backward.
    pub fn neighbour(&self, place: [usize; DIRECTIONS], mu: usize, is_ahead: bool) -> Neighbour {
        let there = self.part.neighbour(place, mu, is_ahead);
        let end = if is_ahead { self.part.along()[mu] - 1 } else { 0 };
        Neighbour { index: self.part.lexicographic(there) / 2, is_across: place[mu] == end }
    }

    /// Reorders a field of `reals` numbers a site of one parity from the lexicographic order of the sites to that of
    /// the parts: (place, number, lane).
    pub(crate) fn distribute<R: Copy + Default>(
        &self,
        parity: Parity,
        reals: usize,
        of_site: impl Fn(usize, usize) -> R,
    ) -> Vec<R> {
        let places = self.part.half_volume();
        let mut field = vec![R::default(); places * reals * LANES];
        for place in 0..places {
            let at = self.part.site_at(place, parity);
            for lane in 0..LANES {
                let site = self.whole.lexicographic(self.site(at, lane));
                for n in 0..reals {
                    field[(place * reals + n) * LANES + lane] = of_site(site, n);
                }
            }
        }
        field
    }

    /// The inverse of that order.
    pub fn collect<R: Copy>(
        &self,
        parity: Parity,
        reals: usize,
        field: &[R],
        mut to_site: impl FnMut(usize, usize, R),
    ) {
        for place in 0..self.part.half_volume() {
            let at = self.part.site_at(place, parity);
            for lane in 0..self.parts() {
                let site = self.whole.lexicographic(self.site(at, lane));
                for n in 0..reals {
                    to_site(site, n, field[(place * reals + n) * LANES + lane]);
                }
            }
        }
    }
}
