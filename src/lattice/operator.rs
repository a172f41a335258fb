//! The hopping term on the CPU: a thread has a range of places in all virtual nodes, a vector register has the lanes of
//! a place.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::checkerboard::{DIRECTIONS, Extents, LINK_REALS, Parity, SPINOR_REALS};
use super::dirac::{Dirac, GaugeField, Stop, preconditioned};
use super::half_spinor::{project, reconstruct};
use super::link::{Link, column_times, row_times};
use super::number::{Complex, Number, Vectorised};
use super::virtual_nodes::{LANES, VirtualNodes};
use crate::error::Result;
use crate::primitives::reduce::sum_of_squares;
use crate::simd::run_best_in_registers;

/// Numbers of a spinor of all lanes.
const SPINOR: usize = SPINOR_REALS * LANES;
/// Numbers of a link of all lanes.
const LINK: usize = LINK_REALS * LANES;
/// Neighbours of a site.
const NEIGHBOURS: usize = 2 * DIRECTIONS;
/// Fewest places of a thread.
const PLACES: usize = 16;

/// Links of a lattice on the CPU.
#[derive(Clone, Debug)]
pub struct CpuDirac<R> {
    nodes: VirtualNodes,
    /// Of each parity: (place, mu, real, lane).
    links: [Vec<R>; 2],
    /// Factors of hops across the end in t, forward and backward, for each lane.
    end_signs: [[R; LANES]; 2],
}

/// Buffer for neighbours that cross lanes.
struct Scratch<R> {
    spinors: Vec<[R; SPINOR]>,
    links: Vec<[R; LINK]>,
}

impl<R: Vectorised> Scratch<R> {
    fn new() -> Self {
        Self {
            spinors: vec![[R::ZERO; SPINOR]; NEIGHBOURS],
            links: vec![[R::ZERO; LINK]; DIRECTIONS],
        }
    }
}

/// Neighbours and links of a site.
struct Stencil<'a, R> {
    /// Spinors of the neighbours: forward and backward for each direction.
    spinors: [&'a [R]; NEIGHBOURS],
    /// Links, in the same order.
    links: [&'a [R]; NEIGHBOURS],
    /// Factors of the hops in t.
    end_signs: [Option<&'a [R; LANES]>; 2],
}

impl<R: Vectorised> CpuDirac<R> {
    /// Reorders links for the virtual nodes.
    ///
    /// # Errors
    ///
    /// Those of [`VirtualNodes::new`].
    pub fn new(gauge: GaugeField<'_>) -> Result<Self> {
        let GaugeField { extents, links, antiperiodic_t } = gauge;
        let nodes = VirtualNodes::new(extents)?;
        let of_site = |site: usize, n: usize| {
            let (mu, real) = (n / LINK_REALS, n % LINK_REALS);
            R::of(links[(mu * extents.volume() + site) * LINK_REALS + real])
        };
        let links =
            Parity::BOTH.map(|parity| nodes.distribute(parity, DIRECTIONS * LINK_REALS, of_site));
        let sign = |is_ahead| {
            nodes
                .is_at_end(is_ahead)
                .map(|is_end| if is_end && antiperiodic_t { -R::ONE } else { R::ONE })
        };
        let end_signs = [true, false].map(sign);
        Ok(Self { nodes, links, end_signs })
    }

    /// The neighbours of a place of the given parity, and the links to them.
    #[inline(always)]
    fn stencil<'a>(
        &'a self,
        parity: Parity,
        place: usize,
        input: &'a [R],
        scratch: &'a mut Scratch<R>,
    ) -> Stencil<'a, R> {
        let at = self.nodes.part.site_at(place, parity);
        let here = &self.links[parity as usize][place * DIRECTIONS * LINK..];
        let there = &self.links[parity.other() as usize];
        let mut spinors: [&[R]; NEIGHBOURS] = [&[]; NEIGHBOURS];
        let mut links: [&[R]; NEIGHBOURS] = [&[]; NEIGHBOURS];
        let rooms = scratch.spinors.chunks_exact_mut(2).zip(&mut scratch.links);
        for (mu, (room, link_room)) in rooms.enumerate() {
            // Across the border of the part, in the order of the lanes there.
            for (way, room) in room.iter_mut().enumerate() {
                let neighbour = self.nodes.neighbour(at, mu, way == 0);
                let spinor = &input[neighbour.index * SPINOR..][..SPINOR];
                spinors[2 * mu + way] = if neighbour.is_across {
                    permute(spinor, self.nodes.permutation(mu, way == 0), room);
                    room
                } else {
                    spinor
                };
            }
            links[2 * mu] = &here[mu * LINK..][..LINK];
            let behind = self.nodes.neighbour(at, mu, false);
            let link = &there[(behind.index * DIRECTIONS + mu) * LINK..][..LINK];
            links[2 * mu + 1] = if behind.is_across {
                permute(link, self.nodes.permutation(mu, false), link_room);
                link_room
            } else {
                link
            };
        }
        let end = |way: usize| {
            let last = if way == 0 { self.nodes.part.along()[3] - 1 } else { 0 };
            (at[3] == last).then_some(&self.end_signs[way])
        };
        Stencil { spinors, links, end_signs: [end(0), end(1)] }
    }
}

#[inline(always)]
fn permute<R: Copy>(from: &[R], permutation: &[usize; LANES], to: &mut [R]) {
    for (from, to) in from.chunks_exact(LANES).zip(to.chunks_exact_mut(LANES)) {
        for (to, lane) in to.iter_mut().zip(permutation) {
            *to = from[*lane];
        }
    }
}

/// The hopping term at one place.
struct Site<'a, R> {
    dirac: &'a CpuDirac<R>,
    parity: Parity,
    place: usize,
    is_dagger: bool,
    input: &'a [R],
    base: Option<(&'a [R], R)>,
    scratch: &'a mut Scratch<R>,
    out: &'a mut [R],
}

impl<R: Vectorised> WithSimd for Site<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { dirac, parity, place, is_dagger, input, base, scratch, out } = self;
        let stencil = dirac.stencil(parity, place, input, scratch);
        for part in 0..LANES / R::lanes::<S>() {
            if is_dagger {
                hop::<S, R, 1, -1>(simd, &stencil, part, base, out);
            } else {
                hop::<S, R, -1, 1>(simd, &stencil, part, base, out);
            }
        }
    }
}

/// A complex number of a spinor or of a link, in some lanes.
#[inline(always)]
fn number<S: Simd, R: Vectorised>(
    simd: S,
    registers: &[R::Register<S>],
    n: usize,
    part: usize,
) -> Complex<R::Vector<S>> {
    let parts = LANES / R::lanes::<S>();
    Complex {
        re: R::vector(simd, registers[2 * n * parts + part]),
        im: R::vector(simd, registers[(2 * n + 1) * parts + part]),
    }
}

/// `D psi` for some lanes of a place, with the given signs of g in the forward and backward terms.
//
// No closures with vector values here or below: inside a function such as `map` they would be compiled without the
// instruction set of these functions.
#[inline(always)]
fn hop<S: Simd, R: Vectorised, const AHEAD: i32, const BEHIND: i32>(
    simd: S,
    stencil: &Stencil<'_, R>,
    part: usize,
    base: Option<(&[R], R)>,
    out: &mut [R],
) {
    let zero = R::splat(simd, R::ZERO);
    let mut sum = [[Complex { re: zero, im: zero }; 4]; 3];
    add_hop::<S, R, 0, true, AHEAD>(simd, stencil, part, &mut sum);
    add_hop::<S, R, 0, false, BEHIND>(simd, stencil, part, &mut sum);
    add_hop::<S, R, 1, true, AHEAD>(simd, stencil, part, &mut sum);
    add_hop::<S, R, 1, false, BEHIND>(simd, stencil, part, &mut sum);
    add_hop::<S, R, 2, true, AHEAD>(simd, stencil, part, &mut sum);
    add_hop::<S, R, 2, false, BEHIND>(simd, stencil, part, &mut sum);
    add_hop::<S, R, 3, true, AHEAD>(simd, stencil, part, &mut sum);
    add_hop::<S, R, 3, false, BEHIND>(simd, stencil, part, &mut sum);
    let parts = LANES / R::lanes::<S>();
    if let Some((field, factor)) = base {
        let (field, factor) = (R::registers::<S>(field), R::splat(simd, factor));
        for (color, spins) in sum.iter_mut().enumerate() {
            for (spin, term) in spins.iter_mut().enumerate() {
                let own = number::<S, R>(simd, field, 3 * spin + color, part);
                let Complex { re, im } = *term;
                *term = Complex { re: factor.fused(re, own.re), im: factor.fused(im, own.im) };
            }
        }
    }
    let out = R::registers_mut::<S>(out);
    for (color, spins) in sum.iter().enumerate() {
        for (spin, term) in spins.iter().enumerate() {
            let at = 2 * (3 * spin + color) * parts + part;
            out[at] = R::register(term.re);
            out[at + parts] = R::register(term.im);
        }
    }
}

/// Adds the term of the neighbour in direction MU, forward or backward, with 1 + SIGN g_MU.
#[inline(always)]
fn add_hop<S: Simd, R: Vectorised, const MU: usize, const FORWARD: bool, const SIGN: i32>(
    simd: S,
    stencil: &Stencil<'_, R>,
    part: usize,
    sum: &mut [[Complex<R::Vector<S>>; 4]; 3],
) {
    let way = usize::from(!FORWARD);
    let registers = LANES / R::lanes::<S>();
    let psi = &R::registers::<S>(stencil.spinors[2 * MU + way])[..SPINOR_REALS * registers];
    let links = &R::registers::<S>(stencil.links[2 * MU + way])[..LINK_REALS * registers];
    let zero = Complex { re: R::splat(simd, R::ZERO), im: R::splat(simd, R::ZERO) };
    let (mut h0, mut h1) = ([zero; 3], [zero; 3]);
    for color in 0..3 {
        let of_color = [
            number::<S, R>(simd, psi, color, part),
            number::<S, R>(simd, psi, 3 + color, part),
            number::<S, R>(simd, psi, 6 + color, part),
            number::<S, R>(simd, psi, 9 + color, part),
        ];
        [h0[color], h1[color]] = project::<MU, SIGN, _>(of_color);
    }
    if MU == 3
        && let Some(signs) = stencil.end_signs[way]
    {
        let sign = R::vector(simd, R::registers::<S>(signs)[part]);
        for color in 0..3 {
            h0[color] = h0[color].scaled(sign);
            h1[color] = h1[color].scaled(sign);
        }
    }
    let mut u: Link<R::Vector<S>> = [[zero; 3]; 3];
    for (row, numbers) in u.iter_mut().enumerate() {
        for (column, link) in numbers.iter_mut().enumerate() {
            *link = number::<S, R>(simd, links, 3 * row + column, part);
        }
    }
    for (color, spins) in sum.iter_mut().enumerate() {
        let r = if FORWARD {
            [row_times(&u, color, &h0), row_times(&u, color, &h1)]
        } else {
            [column_times(&u, color, &h0), column_times(&u, color, &h1)]
        };
        reconstruct::<MU, SIGN, _>(r, spins);
    }
}

impl<R: Vectorised> Dirac<R> for CpuDirac<R> {
    type Half = Vec<R>;

    fn extents(&self) -> Extents {
        self.nodes.whole
    }

    fn zeros(&self) -> Result<Vec<R>> {
        Ok(vec![R::ZERO; self.nodes.part.half_volume() * SPINOR])
    }

    fn load(&self, parity: Parity, psi: &[R]) -> Result<Vec<R>> {
        Ok(self.nodes.distribute(parity, SPINOR_REALS, |site, n| psi[site * SPINOR_REALS + n]))
    }

    fn store(&self, parity: Parity, half: &Vec<R>, psi: &mut [R]) -> Result<()> {
        let to_site = |site: usize, n: usize, value| psi[site * SPINOR_REALS + n] = value;
        self.nodes.collect(parity, SPINOR_REALS, half, to_site);
        Ok(())
    }

    fn hop(
        &self,
        parity: Parity,
        is_dagger: bool,
        input: &Vec<R>,
        base: Option<(&Vec<R>, f64)>,
        out: &mut Vec<R>,
    ) -> Result<()> {
        let base = base.map(|(field, coefficient)| (&field[..], R::of(coefficient)));
        out.par_chunks_mut(SPINOR).with_min_len(PLACES).enumerate().for_each_init(
            Scratch::new,
            |scratch, (place, out)| {
                let base = base.map(|(field, factor)| (&field[place * SPINOR..][..SPINOR], factor));
                let site =
                    Site { dirac: self, parity, place, is_dagger, input, base, scratch, out };
                run_best_in_registers(site);
            },
        );
        Ok(())
    }

    fn norm2(&self, half: &Vec<R>) -> Result<f64> {
        // Small lattices are replicated over lanes, a power of two times, so that nothing is rounded.
        let copies = LANES / self.nodes.parts();
        Ok(sum_of_squares(half) / copies as f64)
    }

    fn residual2(&self, kappa: f64, x: &Vec<R>, b: &Vec<R>) -> Result<f64> {
        let mut rest = self.zeros()?;
        preconditioned(self, kappa, false, x, &mut rest)?;
        rest.iter_mut().zip(b).for_each(|(m_x, b)| *m_x = *b - *m_x);
        self.norm2(&rest)
    }

    fn conjugate_gradient(&self, kappa: f64, b: &Vec<R>, stop: Stop) -> Result<(Vec<R>, Vec<f64>)> {
        let (mut x, mut r, mut s, mut q) = (self.zeros()?, b.clone(), self.zeros()?, self.zeros()?);
        let mut odd = self.zeros()?;
        let mut multiply = |is_dagger, from: &Vec<R>, to: &mut Vec<R>| -> Result<f64> {
            self.hop(Parity::Odd, is_dagger, from, None, &mut odd)?;
            self.hop(Parity::Even, is_dagger, &odd, Some((from, -kappa * kappa)), to)?;
            self.norm2(to)
        };
        let mut squares = vec![self.norm2(b)?];
        let limit = stop.tolerance * stop.tolerance * squares[0];
        let mut energy = multiply(true, &r, &mut s)?;
        let mut p = s.clone();
        // NaN fails the comparison too.
        while squares.last().is_some_and(|&square| square > limit) && squares.len() <= stop.most {
            let length = R::of(energy / multiply(false, &p, &mut q)?);
            add_scaled(length, &p, &mut x);
            add_scaled(-length, &q, &mut r);
            squares.push(self.norm2(&r)?);
            let before = energy;
            energy = multiply(true, &r, &mut s)?;
            let keep = R::of(energy / before);
            let pairs = p.par_iter_mut().with_min_len(PLACES * SPINOR).zip(&s);
            pairs.for_each(|(p, s)| *p = keep.fused(*p, *s));
        }
        Ok((x, squares))
    }
}

/// `y += factor x`
fn add_scaled<R: Vectorised>(factor: R, x: &[R], y: &mut [R]) {
    let pairs = y.par_iter_mut().with_min_len(PLACES * SPINOR).zip(x);
    pairs.for_each(|(y, x)| *y = factor.fused(*x, *y));
}
