//! An extratropical cyclone by formulas: a vortex in gradient-wind balance, with moist ascent on its eastern side.

use super::column::{Column, Sounding};
use super::flow::{Flow, half_sine};
use super::{
    CaseDefaults, CaseOptions, IdealisedCase, air, centre, domain, extent, fitting, steady,
};
use crate::constants::Constants;
use crate::grid::{Side, Sides};
use crate::thermo;
use ndarray::Array2;

/// The grid of `data/soc.nc`.
pub(super) const USUAL: CaseDefaults =
    CaseDefaults { cells: [71, 58, 27], dx: 30_000.0, sides: Sides::all(Side::Specified) };

const LID: f64 = 16_000.0;
const SURFACE: f64 = 101_000.0;
/// Fraction of its dry mass that the central column lacks: 50 hPa.
const DEFICIT: f64 = 0.05;
/// Approximate radius of maximum wind, m.
const RADIUS: f64 = 300_000.0;
/// Coriolis parameter at 43 degrees north, s⁻¹.
const CORIOLIS: f64 = 1e-4;
/// Maximum ascent, m s⁻¹, and height of its top, m.
const UPDRAFT: f64 = 0.15;
const TOP: f64 = 10_000.0;
/// Relative humidity at the maximum ascent.
const HUMID: f64 = 0.98;

/// Potential temperature of the surroundings at a height in m, K: 4 K/km in the troposphere.
fn theta(z: f64) -> f64 {
    285.0 + 4e-3 * z.min(TOP) + 16e-3 * (z - TOP).max(0.0)
}

/// Relative humidity of the surroundings at a height in m.
fn humidity(z: f64) -> f64 {
    (0.75 - 0.35 * (z / TOP)).max(0.1)
}

/// Vertical profile of the core's temperature excess, between 0 and 1.
fn warmth(z: f64) -> f64 {
    (std::f64::consts::PI * (z / TOP).min(1.0)).sin()
}

/// The vortex: a mass deficit and a warm core, both proportional to `exp(-r²/2R²)`, such that the pressure gradient
/// vanishes at the lid.
#[derive(Clone)]
struct Vortex {
    base: Column,
    radius: f64,
    /// Temperature excess of the core, K.
    core: f64,
}

impl Vortex {
    fn new(nz: usize, radius: f64) -> Self {
        let vapour = |z, saturation| humidity(z) * saturation;
        let base = Column::of(&Sounding { surface: SURFACE, theta, vapour }, LID, nz);
        let mut vortex = Self { base, radius, core: 0.0 };
        // The height of the lid grows in proportion to the temperature excess, up to a few per cent.
        for _ in 0..20 {
            let lacking = LID - vortex.column(0.0).z_face[nz];
            let cold = vortex.core;
            let gained = |core: f64| Self { core, ..vortex.clone() }.column(0.0).z_face[nz];
            vortex.core += lacking / (gained(cold + 1.0) - gained(cold));
        }
        vortex
    }

    /// Strength of the vortex at a radius, relative to its maximum.
    fn strength(&self, r: f64) -> f64 {
        (-0.5 * (r / self.radius).powi(2)).exp()
    }

    /// The column at a radius, with the humidity of the surroundings.
    fn column(&self, r: f64) -> Column {
        self.moist(r, |_, humidity| humidity)
    }

    /// The same with another humidity, as a function of height (m) and of the humidity of the surroundings.
    fn moist(&self, r: f64, other: impl Fn(f64, f64) -> f64) -> Column {
        let strength = self.strength(r);
        let mut thin = self.base.clone();
        thin.mass.iter_mut().for_each(|mass| *mass *= 1.0 - DEFICIT * strength);
        let z = &self.base.z;
        thin.filled(
            |k| self.base.theta[k] + self.core * strength * warmth(z[k]),
            |k, saturation| other(z[k], humidity(z[k])) * saturation,
        )
    }

    /// Tangential wind at a radius, in each layer, m s⁻¹, counterclockwise.
    ///
    /// `v²/r + f v = ∂φ/∂r + α ∂p/∂r` on a surface of eta; if there is no gradient wind, half of the inertial speed.
    fn wind(&self, r: f64) -> Vec<f64> {
        /// Half the interval of the radial differences, in radii.
        const HALF: f64 = 1e-3;
        let step = HALF * self.radius;
        let [inner, here, outer] = [r - step, r, r + step].map(|r| self.column(r));
        let middle = |column: &Column, k: usize| {
            0.5 * f64::GRAVITY * (column.z_face[k] + column.z_face[k + 1])
        };
        (0..here.mass.len())
            .map(|k| {
                let phi = middle(&outer, k) - middle(&inner, k);
                let alpha = thermo::specific_volume(here.theta[k], here.qv[k], here.p[k])
                    / (1.0 + here.qv[k]);
                let force = (phi + alpha * (outer.p[k] - inner.p[k])) / (2.0 * step);
                let inertial = 0.5 * CORIOLIS * r;
                (inertial * inertial + r * force).max(0.0).sqrt() - inertial
            })
            .collect()
    }
}

/// Mass that circulates within a radius, as a table.
struct Circulation {
    step: f64,
    /// Values by layer at each radius, kg s⁻¹.
    psi: Vec<Vec<f64>>,
    /// Radial derivative, kg m⁻¹ s⁻¹.
    slope: Vec<Vec<f64>>,
}

impl Circulation {
    fn new(vortex: &Vortex, step: f64, farthest: f64) -> Self {
        let count = (farthest / step).ceil() as usize + 2;
        let slope: Vec<Vec<f64>> = (0..count)
            .map(|n| {
                let r = n as f64 * step;
                let mass = 1.0 - DEFICIT * vortex.strength(r);
                let layers = vortex.wind(r).into_iter().zip(&vortex.base.mass);
                layers.map(|(wind, layer)| wind * layer * mass).collect()
            })
            .collect();
        let mut psi = vec![vec![0.0; vortex.base.mass.len()]];
        for pair in slope.windows(2) {
            let inner = psi.last().expect("begun above");
            let means = pair[0].iter().zip(&pair[1]).map(|(a, b)| 0.5 * (a + b));
            let outer = inner.iter().zip(means).map(|(psi, mean)| psi + mean * step).collect();
            psi.push(outer);
        }
        Self { step, psi, slope }
    }

    /// By a parabola from the preceding row, whose derivative is linear.
    fn at(&self, k: usize, r: f64) -> f64 {
        let row = ((r / self.step) as usize).min(self.psi.len() - 2);
        let beyond = r - row as f64 * self.step;
        let [a, b] = [self.slope[row][k], self.slope[row + 1][k]];
        self.psi[row][k] + beyond * (a + 0.5 * (b - a) * beyond / self.step)
    }
}

/// The cyclone, at the centre of the grid.
///
/// `g = √e x/R exp(-r²/2R²)`: ascent ahead of the low and equal descent behind it. The humidity reaches 98 % at the
/// maximum ascent.
pub(super) fn make(options: &CaseOptions) -> IdealisedCase {
    let grid = options.grid(USUAL);
    let nz = grid.shape.nz;
    let radius = fitting(RADIUS, &grid, &extent(&grid));
    let vortex = Vortex::new(nz, radius);
    let base = &vortex.base;
    let plane = (grid.shape.ny, grid.shape.nx);
    let mu = Array2::from_shape_fn(plane, |(j, i)| {
        let [x, y] = centre(&grid, [j, i]);
        let strength = vortex.strength(x.hypot(y));
        f64::GRAVITY * base.dry_mass() * (1.0 - DEFICIT * strength)
    });
    let domain = domain(grid, base, mu);
    let root_e = 0.5_f64.exp();
    let air = air(&domain, base, |x, y| {
        let r = x.hypot(y);
        let ascent = (root_e * x / radius).max(0.0) * vortex.strength(r);
        Some(vortex.moist(r, |_, humidity| humidity + ascent * (HUMID - humidity)))
    });
    let [width, height] = extent(&grid);
    let step = 0.125 * grid.dx.min(grid.dy).min(radius);
    let circulation = Circulation::new(&vortex, step, 0.5 * width.hypot(height));
    let most = options.updraft.unwrap_or(UPDRAFT);
    let rising = half_sine(&base.z_face, &base.face_density(), most, TOP);
    let winds = Flow::at_rest(&grid, &domain.coordinate)
        .add_rotation(|k, x, y| circulation.at(k, x.hypot(y)))
        .add_overturning(&rising, |x, y| [root_e * radius * vortex.strength(x.hypot(y)), 0.0])
        .winds();
    IdealisedCase::new(options, winds, domain, air, steady())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deep, strong low near the ground that vanishes at the lid; the wind satisfies the balance of forces, computed
    /// from columns somewhat farther apart.
    #[test]
    fn the_vortex_is_in_balance() {
        let vortex = Vortex::new(27, RADIUS);
        assert!((vortex.column(0.0).z_face[27] - LID).abs() < 1e-6);
        // Warmer than in nature, since the pressure gradient vanishes at the lid: a third of the excess in the mean.
        assert!((15.0..25.0).contains(&vortex.core), "{}", vortex.core);
        let wind = vortex.wind(RADIUS);
        assert!((20.0..50.0).contains(&wind[0]), "{wind:?}");
        assert!(wind[26].abs() < 0.2 * wind[0], "{wind:?}");

        let [inner, here, outer] = [0.98, 1.0, 1.02].map(|part| vortex.column(part * RADIUS));
        for (k, wind) in wind.iter().enumerate() {
            let phi = |c: &Column| 0.5 * 9.81 * (c.z_face[k] + c.z_face[k + 1]);
            let rho = here.mass[k] / (here.z_face[k + 1] - here.z_face[k]) * (1.0 + here.qv[k]);
            let force = phi(&outer) - phi(&inner) + (outer.p[k] - inner.p[k]) / rho;
            let needed = wind * wind / RADIUS + CORIOLIS * wind;
            assert!((force / (0.04 * RADIUS) - needed).abs() < 0.02 * wind.abs() * CORIOLIS + 1e-6);
        }
    }
}
