//! Semi-Lagrangian sedimentation in one column, with a search for the arrived layers.

use nwp_mini::physics::wsm5::params::SchemeConstants;
use nwp_mini::physics::wsm5::scheme::Scheme;
use nwp_mini::physics::wsm5::sedimentation::{
    LayerProfile, active_layers, arrival, arrived_density, interface_speed_inner,
    interface_speed_outer, limited_speed, mass_in_ground, mass_up_to, mean_speed, mean_within,
    profile, rise, store_content,
};
use nwp_mini::physics::wsm5::slope::{
    fall_speed_ice, fall_speed_rain, fall_speed_snow, ice_number, snow_intercept_factor,
};
use nwp_mini::physics::wsm5::{Cell, Precipitation, melt};

use super::Column;

/// Work space of sedimentation in one column of K layers.
#[derive(Clone, Debug)]
pub(super) struct Fall<R> {
    /// Density of the species in the air. Shape: (K). Units: kg m⁻³.
    content: Vec<R>,
    /// Terminal velocity at the start of the step. Shape: (K). Units: m s⁻¹, downward.
    speed: Vec<R>,
    /// Height of the interfaces above the ground. Shape: (K + 1). Units: m.
    height: Vec<R>,
    /// Mean of the speeds at departure and arrival. Shape: (K). Units: m s⁻¹.
    mean_speed: Vec<R>,
    /// Speed of the interfaces. Shape: (K + 1). Units: m s⁻¹.
    interface_speed: Vec<R>,
    /// Arrival heights of the interfaces. Shape: (K + 1). Units: m.
    arrival: Vec<R>,
    /// Thickness of the arrived layers, and the distance from the highest of them to the lid. Shape: (K + 1). Units: m.
    thickness: Vec<R>,
    /// Density of the species in the arrived layers, 0 above. Shape: (K + 1). Units: kg m⁻³.
    density: Vec<R>,
    /// Densities within the arrived layers. Shape: (K).
    profile: Vec<LayerProfile<R>>,
}

/// Results of sedimentation besides the new content. Units of both: kg m⁻².
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fallen<R> {
    /// Mass that has reached the ground.
    ground: R,
    /// Mass that the scheme adds to the column beyond its content (< 0: loses).
    residual: R,
}

impl<R: SchemeConstants> Fall<R> {
    /// Work space of a column of `nz` layers.
    pub(super) fn new(nz: usize) -> Self {
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
            profile: vec![LayerProfile::default(); nz],
        }
    }

    /// Sets the heights of the interfaces from the depths of the layers, from the ground up, m.
    pub(super) fn set_depths(&mut self, depths: impl Iterator<Item = R>) {
        let mut top = R::ZERO;
        for (height, depth) in self.height[1..].iter_mut().zip(depths) {
            top += depth;
            *height = top;
        }
    }

    /// Sedimentation of [`Fall::content`] for `dt_cloud` seconds at [`Fall::speed`].
    ///
    /// Only the lowest `active_layers` layers take part; if these are not all layers, the two highest of them must be empty.
    ///
    /// If `arrival_speed` is given, it returns the terminal velocity of a species in layer k at its density on arrival,
    /// and the layers move at the mean of the velocities at departure and on arrival.
    pub(super) fn sediment(
        &mut self,
        active_layers: usize,
        dt_cloud: R,
        arrival_speed: Option<&dyn Fn(usize, R) -> R>,
    ) -> Fallen<R> {
        let before = self.column_mass(active_layers);
        if self.content[..active_layers].iter().copied().sum::<R>() <= R::ZERO {
            return Fallen::default();
        }
        self.mean_speed[..active_layers].copy_from_slice(&self.speed[..active_layers]);
        self.arrive(active_layers, dt_cloud);
        if let Some(arrival_speed) = arrival_speed {
            for k in 0..active_layers {
                let then = arrival_speed(k, self.density[k]);
                self.mean_speed[k] = mean_speed(self.speed[k], then);
            }
            self.arrive(active_layers, dt_cloud);
        }
        self.set_profiles(active_layers);
        self.remap(active_layers);
        let ground = self.accumulate_precipitation(active_layers);
        Fallen { ground, residual: self.column_mass(active_layers) + ground - before }
    }

    /// Mass of the species in the column, kg m⁻².
    fn column_mass(&self, nz: usize) -> R {
        let depths = self.height.windows(2).map(|z| z[1] - z[0]);
        self.content[..nz].iter().zip(depths).map(|(&content, depth)| content * depth).sum()
    }

    /// Moves the interfaces; sets thickness and density of the layers between them.
    fn arrive(&mut self, nz: usize, dt_cloud: R) {
        self.set_interface_speeds(nz, dt_cloud);
        for k in 0..=nz {
            self.arrival[k] = arrival(self.height[k], self.interface_speed[k], dt_cloud);
        }
        for k in 0..nz {
            self.thickness[k] = self.arrival[k + 1] - self.arrival[k];
            let depth = self.height[k + 1] - self.height[k];
            self.density[k] = arrived_density(self.content[k], depth, self.thickness[k]);
        }
        self.thickness[nz] = self.height[nz] - self.arrival[nz];
        self.density[nz] = R::ZERO;
    }

    /// Speeds of the interfaces from those of the layers.
    fn set_interface_speeds(&mut self, nz: usize, dt_cloud: R) {
        let (u, w) = (&self.mean_speed, &mut self.interface_speed);
        w[0] = u[0];
        w[1] = interface_speed_outer(u[0], u[1]);
        for k in 2..nz - 1 {
            w[k] = interface_speed_inner(u[k - 2], u[k - 1], u[k], u[k + 1]);
        }
        w[nz - 1] = interface_speed_outer(u[nz - 2], u[nz - 1]);
        w[nz] = u[nz - 1];
        // The top of a group of precipitating layers falls as fast as the layer below it.
        for k in 1..nz {
            if u[k] == R::ZERO {
                w[k] = u[k - 1];
            }
        }
        for k in (0..nz).rev() {
            let depth = self.height[k + 1] - self.height[k];
            w[k] = limited_speed(w[k], w[k + 1], depth, dt_cloud);
        }
    }

    /// Densities within the arrived layers.
    fn set_profiles(&mut self, nz: usize) {
        let (q, d) = (&self.density, &self.thickness);
        self.profile[0] = LayerProfile { bottom: q[0], half_rise: R::ZERO };
        let mut below = rise(q[0], q[1], d[0], d[1]);
        for k in 1..nz {
            let above = rise(q[k], q[k + 1], d[k], d[k + 1]);
            self.profile[k] = profile(q[k], d[k], below, above);
            below = above;
        }
    }

    /// Remaps the content of the arrived layers to the layers of the grid.
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
            // The search does not examine the highest arrived interface: content is lost from a layer whose top is
            // above the bottom of the highest arrived layer, as in the original.
            if top == nz && high > self.arrival[nz - 1] {
                continue;
            }
            self.content[k] = self.mean_between(bottom, top - 1, low, high);
        }
    }

    /// Mean density between two heights that lie in the arrived layers `bottom` and `top`.
    fn mean_between(&self, bottom: usize, top: usize, low: R, high: R) -> R {
        let (d, q) = (&self.thickness, &self.density);
        let z_low = low - self.arrival[bottom];
        let z_high = high - self.arrival[top];
        if bottom == top {
            return mean_within(self.profile[bottom], z_low, z_high);
        }
        let mut depth = d[bottom] - z_low;
        let mut mass = q[bottom] * d[bottom] - mass_up_to(self.profile[bottom], z_low);
        for j in bottom + 1..top {
            depth += d[j];
            mass += q[j] * d[j];
        }
        depth += z_high;
        mass += mass_up_to(self.profile[top], z_high);
        mass / depth
    }

    /// Mass that has passed the ground, kg m⁻².
    fn accumulate_precipitation(&self, nz: usize) -> R {
        let mut ground = R::ZERO;
        for k in 0..nz {
            if self.arrival[k] >= R::ZERO {
                break;
            }
            let (bottom, top) = (self.arrival[k], self.arrival[k + 1]);
            ground += mass_in_ground(bottom, top, self.thickness[k], self.density[k]);
        }
        ground
    }
}

impl<R: SchemeConstants> Column<R> {
    /// Sedimentation of rain and snow, melting of snow, and sedimentation of ice.
    ///
    /// Returns the precipitation as rain, snow and ice at the ground, kg m⁻².
    pub(super) fn sediment_semi_lagrangian(
        &mut self,
        p: &Scheme<R>,
        dt_cloud: R,
        sum: &mut Precipitation<R>,
    ) -> [R; 3] {
        let rain = self.fall_rain(p, dt_cloud, sum);
        let snow = self.fall_snow(p, dt_cloud, sum);
        for (k, (cell, air)) in self.cells.iter_mut().zip(&self.air).enumerate() {
            self.qr_for_slope[k] = cell.qr;
            melt::melt_snow(p, dt_cloud, air, cell);
        }
        let ice = self.fall_ice(p, dt_cloud, sum);
        [rain, snow, ice]
    }

    fn fall_rain(&mut self, p: &Scheme<R>, dt_cloud: R, sum: &mut Precipitation<R>) -> R {
        let active_layers = self.active_layers(|cell| cell.qr);
        if active_layers == 0 {
            return R::ZERO;
        }
        let air = &self.air;
        let speed = |k: usize, qr: R| {
            p.factors.fall_rain * fall_speed_rain(p, air[k].rho, air[k].density_factor, qr)
        };
        for (k, cell) in self.cells[..active_layers].iter().enumerate() {
            self.fall.content[k] = air[k].rho * cell.qr;
            self.fall.speed[k] = speed(k, cell.qr);
        }
        let arrival_speed = |k: usize, content: R| speed(k, content / air[k].rho);
        let fallen = self.fall.sediment(active_layers, dt_cloud, Some(&arrival_speed));
        self.store_content(active_layers, fallen, |cell| &mut cell.qr, sum)
    }

    fn fall_snow(&mut self, p: &Scheme<R>, dt_cloud: R, sum: &mut Precipitation<R>) -> R {
        let active_layers = self.active_layers(|cell| cell.qs);
        if active_layers == 0 {
            return R::ZERO;
        }
        for (factor, cell) in self.n0s_factor.iter_mut().zip(&self.cells[..active_layers]) {
            *factor = snow_intercept_factor(p, cell.t);
        }
        let (air, n0s_factor) = (&self.air, &self.n0s_factor);
        let speed = |k: usize, qs: R| {
            p.factors.fall_snow
                * fall_speed_snow(p, air[k].rho, air[k].density_factor, qs, n0s_factor[k])
        };
        for (k, cell) in self.cells[..active_layers].iter().enumerate() {
            self.fall.content[k] = air[k].rho * cell.qs;
            self.fall.speed[k] = speed(k, cell.qs);
        }
        let arrival_speed = |k: usize, content: R| speed(k, content / air[k].rho);
        let fallen = self.fall.sediment(active_layers, dt_cloud, Some(&arrival_speed));
        self.store_content(active_layers, fallen, |cell| &mut cell.qs, sum)
    }

    fn fall_ice(&mut self, p: &Scheme<R>, dt_cloud: R, sum: &mut Precipitation<R>) -> R {
        let active_layers = self.active_layers(|cell| cell.qi);
        if active_layers == 0 {
            return R::ZERO;
        }
        for (k, cell) in self.cells[..active_layers].iter().enumerate() {
            let rho = self.air[k].rho;
            self.fall.content[k] = rho * cell.qi;
            let speed = fall_speed_ice(p, rho, cell.qi, ice_number(rho, cell.qi));
            self.fall.speed[k] = p.factors.fall_ice * speed;
        }
        let fallen = self.fall.sediment(active_layers, dt_cloud, None);
        self.store_content(active_layers, fallen, |cell| &mut cell.qi, sum)
    }

    /// Number of layers that take part in the sedimentation of a species; 0 if it is absent.
    fn active_layers(&self, species: impl Fn(&Cell<R>) -> R) -> usize {
        let highest = self.cells.iter().rposition(|cell| species(cell) > R::ZERO);
        highest.map_or(0, |k| active_layers(k, self.cells.len()))
    }

    /// Stores the content after sedimentation in the cells; returns the precipitation at the ground, kg m⁻².
    fn store_content(
        &mut self,
        active_layers: usize,
        fallen: Fallen<R>,
        species: impl Fn(&mut Cell<R>) -> &mut R,
        sum: &mut Precipitation<R>,
    ) -> R {
        for (k, (cell, air)) in self.cells[..active_layers].iter_mut().zip(&self.air).enumerate() {
            sum.clipped += store_content(air, self.fall.content[k], species(cell));
        }
        sum.fall_residual += fallen.residual;
        fallen.ground
    }
}
