//! Generated links: unit matrices, and random matrices of SU(3); and the distance of links from SU(3).

use super::checkerboard::{DIRECTIONS, Extents, LINK_REALS};
use super::link::{Link, third_row};
use super::number::Complex;

/// The complex numbers of a link, from its 18 reals.
///
/// # Panics
///
/// When the slice is shorter.
pub fn link_of(reals: &[f64]) -> Link<f64> {
    std::array::from_fn(|row| {
        std::array::from_fn(|column| {
            let at = 2 * (3 * row + column);
            Complex { re: reals[at], im: reals[at + 1] }
        })
    })
}

/// Largest magnitude of a component of `U U† - 1` and of `det U - 1`.
pub fn distance_from_su3(u: &Link<f64>) -> f64 {
    let mut largest = 0.0_f64;
    for row in 0..3 {
        for other in 0..3 {
            let unit = if row == other { 1.0 } else { 0.0 };
            let difference = product_plus(-unit, &u[row], &u[other]);
            largest = largest.max(difference.re.hypot(difference.im));
        }
    }
    // det U is the scalar product of the third row and the cross product of the others.
    let mut rebuilt = *u;
    third_row(&mut rebuilt);
    let difference = product_plus(-1.0, &u[2], &rebuilt[2]);
    largest.max(difference.re.hypot(difference.im))
}

/// `summand + Σ a conj(b)`
fn product_plus(summand: f64, a: &[Complex<f64>; 3], b: &[Complex<f64>; 3]) -> Complex<f64> {
    let mut sum = Complex { re: summand, im: 0.0 };
    for (a, b) in a.iter().zip(b) {
        sum.re += a.re * b.re + a.im * b.im;
        sum.im += a.im * b.re - a.re * b.im;
    }
    sum
}

/// Links all equal to the unit matrix: a free field.
pub fn unit_links(extents: Extents) -> Vec<f64> {
    let unit: [f64; LINK_REALS] =
        std::array::from_fn(|n| if n.is_multiple_of(8) { 1.0 } else { 0.0 });
    unit.repeat(DIRECTIONS * extents.volume())
}

/// Random links from numbers between -1 and 1: two orthonormal random rows, and the third row that follows from them.
pub fn random_links(extents: Extents, mut random: impl FnMut() -> f64) -> Vec<f64> {
    let mut links = Vec::with_capacity(DIRECTIONS * extents.volume() * LINK_REALS);
    for _ in 0..DIRECTIONS * extents.volume() {
        let u = random_link(&mut random);
        links.extend(u.iter().flatten().flat_map(|z| [z.re, z.im]));
    }
    links
}

/// A matrix of SU(3) from numbers between -1 and 1.
pub fn random_link(random: &mut impl FnMut() -> f64) -> Link<f64> {
    let mut u: Link<f64> = Link::default();
    for row in 0..2 {
        // Short rows lose significant digits.
        loop {
            for z in &mut u[row] {
                *z = Complex { re: random(), im: random() };
            }
            if row == 1 {
                let [first, second, _] = &mut u;
                let Complex { re, im } = product_plus(0.0, second, first);
                for (a, b) in first.iter().zip(second.iter_mut()) {
                    b.re -= a.re * re - a.im * im;
                    b.im -= a.re * im + a.im * re;
                }
            }
            let norm = u[row].iter().map(|z| z.re * z.re + z.im * z.im).sum::<f64>().sqrt();
            if norm > 0.5 {
                u[row] = u[row].map(|z| z.scaled(1.0 / norm));
                break;
            }
        }
    }
    third_row(&mut u);
    u
}
