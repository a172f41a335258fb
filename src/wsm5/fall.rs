//! Semi-Lagrangian fall of precipitation, piecewise linear (JH10).
//!
//! Layers are carried down with their own speed to where they arrive, keep their mass there, and
//! are summed up again in the layers of the grid. No time step is too long: what falls through
//! many layers in one step arrives in the right one.

use crate::wsm5::params::SchemeConstants;
use crate::wsm5::scheme::Scheme;
use crate::wsm5::slope::{
    fall_speed_ice, fall_speed_rain, fall_speed_snow, ice_number, snow_intercept_factor,
};
use crate::wsm5::{Cell, Column, Precipitation, melt};

/// Work space of the fall in one column of K layers.
#[derive(Clone, Debug)]
pub struct Fall<R> {
    /// Density of the species in the air. Shape: (K). Units: kg m⁻³.
    pub content: Vec<R>,
    /// Fall speed at the start of the step. Shape: (K). Units: m s⁻¹, downward.
    pub speed: Vec<R>,
    /// Height of the interfaces above the ground. Shape: (K + 1). Units: m.
    height: Vec<R>,
    /// Mean of the speeds at departure and arrival. Shape: (K). Units: m s⁻¹.
    pub mean_speed: Vec<R>,
    /// Speed of the interfaces. Shape: (K + 1). Units: m s⁻¹.
    pub interface_speed: Vec<R>,
    /// Where the interfaces arrive. Shape: (K + 1). Units: m.
    pub arrival: Vec<R>,
    /// Thickness of the arrived layers, and from the highest to the lid. Shape: (K + 1). Units: m.
    pub thickness: Vec<R>,
    /// Density of the species in the arrived layers, 0 above. Shape: (K + 1). Units: kg m⁻³.
    pub density: Vec<R>,
    /// Density at the lower edge of an arrived layer. Shape: (K). Units: kg m⁻³.
    pub lower: Vec<R>,
    /// Density at the upper edge of an arrived layer. Shape: (K). Units: kg m⁻³.
    pub upper: Vec<R>,
}

/// What a fall step leaves besides the new content. Units of both: kg m⁻².
#[derive(Clone, Copy, Debug, Default)]
pub struct Fallen<R> {
    /// Mass that has reached the ground.
    pub ground: R,
    /// Mass that the scheme has made in the column beyond what it was given (< 0: lost).
    pub residual: R,
}

impl<R: SchemeConstants> Fall<R> {
    /// Work space of a column of `nz` layers.
    pub fn new(nz: usize) -> Self {
        let layers = || vec![R::ZERO; nz];
        let interfaces = || vec![R::ZERO; nz + 1];
        Self {
            content: layers(),
            speed: layers(),
            height: interfaces(),
            mean_speed: layers(),
            interface_speed: interfaces(),
            arrival: interfaces(),
            thickness: interfaces(),
            density: interfaces(),
            lower: layers(),
            upper: layers(),
        }
    }

    /// Takes over the depths of the layers, from the ground up, m.
    pub fn set_depths(&mut self, depths: impl Iterator<Item = R>) {
        let mut top = R::ZERO;
        for (height, depth) in self.height[1..].iter_mut().zip(depths) {
            top += depth;
            *height = top;
        }
    }

    /// Lets [`Fall::content`] fall for `dt_cloud` seconds at [`Fall::speed`].
    ///
    /// Only the lowest `reach` layers take part; where these are not all, the two highest of them
    /// must be empty.
    ///
    /// Where `arrival_speed` is given, it tells the fall speed of a species in layer k at the
    /// density it arrives with, and the layers move at the mean of both speeds.
    pub fn sediment(
        &mut self,
        reach: usize,
        dt_cloud: R,
        arrival_speed: Option<&dyn Fn(usize, R) -> R>,
    ) -> Fallen<R> {
        let before = self.column_mass(reach);
        if self.content[..reach].iter().copied().sum::<R>() <= R::ZERO {
            return Fallen::default();
        }
        self.mean_speed[..reach].copy_from_slice(&self.speed[..reach]);
        self.arrive(reach, dt_cloud);
        if let Some(arrival_speed) = arrival_speed {
            for k in 0..reach {
                let then = arrival_speed(k, self.density[k]);
                self.mean_speed[k] = R::HALF * (self.speed[k] + then);
            }
            self.arrive(reach, dt_cloud);
        }
        self.set_edges(reach);
        self.remap(reach);
        let ground = self.rain_out(reach);
        Fallen { ground, residual: self.column_mass(reach) + ground - before }
    }

    /// Mass of the species in the column, kg m⁻².
    fn column_mass(&self, nz: usize) -> R {
        let depths = self.height.windows(2).map(|z| z[1] - z[0]);
        self.content[..nz].iter().zip(depths).map(|(&content, depth)| content * depth).sum()
    }

    /// Moves the interfaces, and finds the thickness and density of the layers between them.
    fn arrive(&mut self, nz: usize, dt_cloud: R) {
        self.set_interface_speeds(nz, dt_cloud);
        for k in 0..=nz {
            self.arrival[k] = self.height[k] - self.interface_speed[k] * dt_cloud;
        }
        for k in 0..nz {
            self.thickness[k] = self.arrival[k + 1] - self.arrival[k];
            let depth = self.height[k + 1] - self.height[k];
            self.density[k] = self.content[k] * depth / self.thickness[k];
        }
        self.thickness[nz] = self.height[nz] - self.arrival[nz];
        self.density[nz] = R::ZERO;
    }

    /// Speeds of the interfaces from those of the layers, third order inside, and limited so that
    /// no layer loses more than a twentieth of its depth.
    fn set_interface_speeds(&mut self, nz: usize, dt_cloud: R) {
        let (u, w) = (&self.mean_speed, &mut self.interface_speed);
        w[0] = u[0];
        w[1] = R::HALF * (u[1] + u[0]);
        for k in 2..nz - 1 {
            w[k] = R::INTERFACE_NEAR * (u[k] + u[k - 1]) - R::INTERFACE_FAR * (u[k + 1] + u[k - 2]);
        }
        w[nz - 1] = R::HALF * (u[nz - 1] + u[nz - 2]);
        w[nz] = u[nz - 1];
        // The top of a group of precipitating layers falls as fast as the layer below it.
        for k in 1..nz {
            if u[k] == R::ZERO {
                w[k] = u[k - 1];
            }
        }
        for k in (0..nz).rev() {
            let depth = self.height[k + 1] - self.height[k];
            let compression = (w[k + 1] - w[k]) * dt_cloud / depth;
            if compression > R::FALL_COMPRESSION {
                w[k] = w[k + 1] - R::FALL_COMPRESSION * depth / dt_cloud;
            }
        }
    }

    /// Densities at the edges of the arrived layers: linear where the profile is monotone, else
    /// flat.
    fn set_edges(&mut self, nz: usize) {
        let (q, d) = (&self.density, &self.thickness);
        self.lower[0] = q[0];
        self.upper[0] = q[0];
        for k in 1..nz {
            let above = (q[k + 1] - q[k]) / (d[k + 1] + d[k]);
            let below = (q[k] - q[k - 1]) / (d[k - 1] + d[k]);
            self.lower[k] = q[k];
            self.upper[k] = q[k];
            if above * below > R::ZERO {
                let upper = q[k] + R::HALF * (above + below) * d[k];
                let lower = R::TWO * q[k] - upper;
                if upper >= R::ZERO && lower >= R::ZERO {
                    self.lower[k] = lower;
                    self.upper[k] = upper;
                }
            }
        }
    }

    /// Sums the arrived layers up in the layers of the grid.
    fn remap(&mut self, nz: usize) {
        let (mut bottom, mut top) = (0, 0);
        for k in 0..nz {
            let (low, high) = (self.height[k], self.height[k + 1]);
            self.content[k] = R::ZERO;
            if low >= self.arrival[nz] {
                continue;
            }
            while bottom < nz - 1 && low > self.arrival[bottom + 1] {
                bottom += 1;
            }
            while top < nz && high > self.arrival[top] {
                top += 1;
            }
            // The search does not look at the highest arrived interface: what lies in a layer
            // whose top is above the highest arrived layer's bottom is lost, as in the original.
            if top == nz && high > self.arrival[nz - 1] {
                continue;
            }
            self.content[k] = self.mean_between(bottom, top - 1, low, high);
        }
    }

    /// Mean density between two heights that lie in the arrived layers `bottom` and `top`.
    fn mean_between(&self, bottom: usize, top: usize, low: R, high: R) -> R {
        let (d, q) = (&self.thickness, &self.density);
        let t_low = (low - self.arrival[bottom]) / d[bottom];
        let t_high = (high - self.arrival[top]) / d[top];
        if bottom == top {
            // The difference of two integrals over the difference of their bounds, divided out.
            let curvature = R::HALF * (self.upper[bottom] - self.lower[bottom]);
            return curvature * (t_high + t_low) + self.lower[bottom];
        }
        let mut depth = (R::ONE - t_low) * d[bottom];
        let mut mass = (q[bottom] - self.integral(bottom, t_low)) * d[bottom];
        for j in bottom + 1..top {
            depth += d[j];
            mass += q[j] * d[j];
        }
        depth += t_high * d[top];
        mass += self.integral(top, t_high) * d[top];
        mass / depth
    }

    /// Integral of an arrived layer's density from its bottom to the fraction `t` of its
    /// thickness, over that thickness.
    fn integral(&self, layer: usize, t: R) -> R {
        let curvature = R::HALF * (self.upper[layer] - self.lower[layer]);
        curvature * t * t + self.lower[layer] * t
    }

    /// Mass that has arrived below the ground, kg m⁻².
    fn rain_out(&self, nz: usize) -> R {
        let mut ground = R::ZERO;
        for k in 0..nz {
            if self.arrival[k] >= R::ZERO {
                break;
            }
            if self.arrival[k + 1] >= R::ZERO {
                ground += self.density[k] * (R::ZERO - self.arrival[k]);
                break;
            }
            ground += self.density[k] * self.thickness[k];
        }
        ground
    }
}

impl<R: SchemeConstants> Column<R> {
    /// Lets rain and snow fall, melts snow, and lets ice fall.
    ///
    /// Returns what of rain, snow and ice has reached the ground, kg m⁻².
    pub(super) fn carry_down(
        &mut self,
        p: &Scheme<R>,
        dt_cloud: R,
        sum: &mut Precipitation<R>,
    ) -> [R; 3] {
        let rain = self.fall_rain(p, dt_cloud, sum);
        let snow = self.fall_snow(p, dt_cloud, sum);
        for (k, (cell, air)) in self.cells.iter_mut().zip(&self.air).enumerate() {
            self.qr_sized[k] = cell.qr;
            melt::melt_snow(p, dt_cloud, air, cell);
        }
        let ice = self.fall_ice(p, dt_cloud, sum);
        [rain, snow, ice]
    }

    fn fall_rain(&mut self, p: &Scheme<R>, dt_cloud: R, sum: &mut Precipitation<R>) -> R {
        let reach = self.reach(|cell| cell.qr);
        if reach == 0 {
            return R::ZERO;
        }
        let air = &self.air;
        let speed = |k: usize, qr: R| {
            p.factors.fall_rain * fall_speed_rain(p, air[k].rho, air[k].density_factor, qr)
        };
        for (k, cell) in self.cells[..reach].iter().enumerate() {
            self.fall.content[k] = air[k].rho * cell.qr;
            self.fall.speed[k] = speed(k, cell.qr);
        }
        let arrival_speed = |k: usize, content: R| speed(k, content / air[k].rho);
        let fallen = self.fall.sediment(reach, dt_cloud, Some(&arrival_speed));
        self.land(reach, fallen, |cell| &mut cell.qr, sum)
    }

    fn fall_snow(&mut self, p: &Scheme<R>, dt_cloud: R, sum: &mut Precipitation<R>) -> R {
        let reach = self.reach(|cell| cell.qs);
        if reach == 0 {
            return R::ZERO;
        }
        for (factor, cell) in self.n0s_factor.iter_mut().zip(&self.cells[..reach]) {
            *factor = snow_intercept_factor(p, cell.t);
        }
        let (air, n0s_factor) = (&self.air, &self.n0s_factor);
        let speed = |k: usize, qs: R| {
            p.factors.fall_snow
                * fall_speed_snow(p, air[k].rho, air[k].density_factor, qs, n0s_factor[k])
        };
        for (k, cell) in self.cells[..reach].iter().enumerate() {
            self.fall.content[k] = air[k].rho * cell.qs;
            self.fall.speed[k] = speed(k, cell.qs);
        }
        let arrival_speed = |k: usize, content: R| speed(k, content / air[k].rho);
        let fallen = self.fall.sediment(reach, dt_cloud, Some(&arrival_speed));
        self.land(reach, fallen, |cell| &mut cell.qs, sum)
    }

    fn fall_ice(&mut self, p: &Scheme<R>, dt_cloud: R, sum: &mut Precipitation<R>) -> R {
        let reach = self.reach(|cell| cell.qi);
        if reach == 0 {
            return R::ZERO;
        }
        for (k, cell) in self.cells[..reach].iter().enumerate() {
            let rho = self.air[k].rho;
            self.fall.content[k] = rho * cell.qi;
            let speed = fall_speed_ice(p, rho, cell.qi, ice_number(rho, cell.qi));
            self.fall.speed[k] = p.factors.fall_ice * speed;
        }
        let fallen = self.fall.sediment(reach, dt_cloud, None);
        self.land(reach, fallen, |cell| &mut cell.qi, sum)
    }

    /// Number of layers that a species can take part in the fall of: those up to the highest one
    /// that holds some, and two more, which its interfaces look at. What lies above does not move.
    fn reach(&self, species: impl Fn(&Cell<R>) -> R) -> usize {
        let highest = self.cells.iter().rposition(|cell| species(cell) > R::ZERO);
        // The interface speeds are of third order only in four layers or more.
        highest.map_or(0, |k| (k + 3).max(4).min(self.cells.len()))
    }

    /// Puts what has fallen back into the cells; returns what has reached the ground, kg m⁻².
    fn land(
        &mut self,
        reach: usize,
        fallen: Fallen<R>,
        species: impl Fn(&mut Cell<R>) -> &mut R,
        sum: &mut Precipitation<R>,
    ) -> R {
        for (k, (cell, air)) in self.cells[..reach].iter_mut().zip(&self.air).enumerate() {
            let content = self.fall.content[k];
            *species(cell) = (content / air.rho).larger(R::ZERO);
            if content < R::ZERO {
                sum.clipped -= content * air.dz;
            }
        }
        sum.fall_residual += fallen.residual;
        fallen.ground
    }
}
