//! Semi-Lagrangian sedimentation in columns side by side (SIMD), or in one.
//!
//! The columns overlap different arrived layers, so the loops run over the layers that any column needs, and each
//! column selects its own.

use std::ops::Range;

use crate::physics::wsm5::params::SchemeConstants;
use crate::physics::wsm5::sedimentation::{
    LayerProfile, arrival, arrived_density, interface_speed_inner, interface_speed_outer,
    limited_speed, mass_in_ground, mass_up_to, mean_speed, mean_within, profile, rise,
};
use crate::simd::{Row, all, any, each};

/// Work space of sedimentation in `N` columns of K layers.
#[derive(Clone, Debug)]
pub struct SedimentationWork<R, const N: usize> {
    /// Density of the species in the air. Shape: (K). Units: kg m⁻³.
    pub content: Vec<Row<R, N>>,
    /// Terminal velocity at the start of the step. Shape: (K). Units: m s⁻¹, downward.
    speed: Vec<Row<R, N>>,
    /// Mean of the speeds at departure and arrival. Shape: (K). Units: m s⁻¹.
    pub mean_speed: Vec<Row<R, N>>,
    /// Density of the species in the arrived layers, 0 above. Shape: (K + 1). Units: kg m⁻³.
    pub density: Vec<Row<R, N>>,
    /// Thickness of the arrived layers, and the distance from the highest of them to the lid. Shape: (K + 1). Units: m.
    pub thickness: Vec<Row<R, N>>,
    /// Density at the bottom of the arrived layers ([`LayerProfile`]). Shape: (K). Units: kg m⁻³.
    pub bottom: Vec<Row<R, N>>,
    /// Half of its gradient with height. Shape: (K). Units: kg m⁻⁴.
    pub half_rise: Vec<Row<R, N>>,
    /// Height of the interfaces above the ground. Shape: (K + 1). Units: m.
    height: Vec<Row<R, N>>,
    /// Speed of the interfaces. Shape: (K + 1). Units: m s⁻¹.
    pub interface_speed: Vec<Row<R, N>>,
    /// Arrival heights of the interfaces. Shape: (K + 1). Units: m.
    pub arrival: Vec<Row<R, N>>,
}

/// Values of each column at one of the arrived layers.
#[derive(Clone, Copy)]
struct ArrivedLayer<R, const N: usize> {
    arrival: Row<R, N>,
    thickness: Row<R, N>,
    density: Row<R, N>,
    bottom: Row<R, N>,
    half_rise: Row<R, N>,
}

impl<R: SchemeConstants, const N: usize> SedimentationWork<R, N> {
    /// Work space of columns of `nz` layers.
    pub fn new(nz: usize) -> Self {
        let rows = |count| vec![[R::ZERO; N]; count];
        Self {
            content: rows(nz),
            speed: rows(nz),
            mean_speed: rows(nz),
            density: rows(nz + 1),
            thickness: rows(nz + 1),
            bottom: rows(nz),
            half_rise: rows(nz),
            height: rows(nz + 1),
            interface_speed: rows(nz + 1),
            arrival: rows(nz + 1),
        }
    }

    /// Sets the heights of the interfaces from the depths of the layers, from the ground up, m.
    #[inline(always)]
    pub fn set_depths<'a>(&mut self, depths: impl Iterator<Item = &'a Row<R, N>>) {
        let mut top = [R::ZERO; N];
        for (height, depth) in self.height[1..].iter_mut().zip(depths) {
            top = each(|l| top[l] + depth[l]);
            *height = top;
        }
    }

    /// Sets content and terminal velocity of layer k at departure.
    #[inline(always)]
    pub fn depart(&mut self, k: usize, start: impl Fn(usize) -> (R, R)) {
        let (mut content, mut speed) = ([R::ZERO; N], [R::ZERO; N]);
        for l in 0..N {
            (content[l], speed[l]) = start(l);
        }
        (self.content[k], self.speed[k], self.mean_speed[k]) = (content, speed, speed);
    }

    /// Sets the speed of layer k to the mean of its terminal velocities at departure and at its density on arrival.
    #[inline(always)]
    pub fn slow_down(&mut self, k: usize, arrival_speed: impl Fn(usize, R) -> R) {
        let (speed, density) = (&self.speed[k], &self.density[k]);
        self.mean_speed[k] = each(|l| mean_speed(speed[l], arrival_speed(l, density[l])));
    }

    /// Moves the interfaces; sets thickness and density of the layers between them.
    #[inline(always)]
    pub fn arrive_at_speed(&mut self, dt_cloud: R, active_layers: usize) {
        self.set_interface_speeds(active_layers, dt_cloud);
        // Slices, so that their lengths are checked once.
        let (z, w) = (&self.height[..=active_layers], &self.interface_speed[..=active_layers]);
        let arrived = &mut self.arrival[..=active_layers];
        for k in 0..=active_layers {
            let (z, w) = (&z[k], &w[k]);
            arrived[k] = each(|l| arrival(z[l], w[l], dt_cloud));
        }
        let content = &self.content[..active_layers];
        let (thicknesses, densities) =
            (&mut self.thickness[..active_layers], &mut self.density[..active_layers]);
        for k in 0..active_layers {
            let (bottom, top) = (&arrived[k], &arrived[k + 1]);
            let (low, high, content) = (&z[k], &z[k + 1], &content[k]);
            let thickness = each(|l| top[l] - bottom[l]);
            let density = each(|l| arrived_density(content[l], high[l] - low[l], thickness[l]));
            (thicknesses[k], densities[k]) = (thickness, density);
        }
        let (lid, highest) = (&self.height[active_layers], &self.arrival[active_layers]);
        self.thickness[active_layers] = each(|l| lid[l] - highest[l]);
        self.density[active_layers] = [R::ZERO; N];
    }

    /// Sedimentation of the content, remapped to the layers of the grid.
    ///
    /// Adds the water that the scheme creates to `residual`; returns the precipitation at the ground, kg m⁻².
    #[inline(always)]
    pub fn arrive_and_land(
        &mut self,
        dt_cloud: R,
        active_layers: usize,
        residual: &mut Row<R, N>,
    ) -> Row<R, N> {
        // As in the original nothing falls in a column whose contents sum up to nothing. Unless all are zero, some are
        // negative, which needs a factor of melting above 1; then columns side by side differ from a single one.
        if N == 1 && self.content[..active_layers].iter().map(|row| row[0]).sum::<R>() <= R::ZERO {
            return [R::ZERO; N];
        }
        let before = self.column_mass(active_layers);
        self.arrive_at_speed(dt_cloud, active_layers);
        self.set_profiles(active_layers);
        self.remap(active_layers);
        let ground = self.accumulate_precipitation(active_layers);
        let after = self.column_mass(active_layers);
        *residual = each(|l| residual[l] + (after[l] + ground[l] - before[l]));
        ground
    }

    #[inline(always)]
    fn column_mass(&self, active_layers: usize) -> Row<R, N> {
        let mut mass = [R::ZERO; N];
        let (z, content) = (&self.height[..=active_layers], &self.content[..active_layers]);
        for k in 0..active_layers {
            let (low, high, content) = (&z[k], &z[k + 1], &content[k]);
            mass = each(|l| mass[l] + content[l] * (high[l] - low[l]));
        }
        mass
    }

    #[inline(always)]
    fn set_interface_speeds(&mut self, nz: usize, dt_cloud: R) {
        let (u, z) = (&self.mean_speed[..nz], &self.height[..=nz]);
        let w = &mut self.interface_speed[..=nz];
        w[0] = u[0];
        w[nz] = u[nz - 1];
        for k in 1..nz {
            let (below, here) = (&u[k - 1], &u[k]);
            // The top of a group of precipitating layers falls as fast as the layer below it.
            let unless_empty = |l: usize, w: R| if here[l] == R::ZERO { below[l] } else { w };
            w[k] = if k == 1 || k == nz - 1 {
                each(|l| unless_empty(l, interface_speed_outer(below[l], here[l])))
            } else {
                let (below_2, above_2) = (&u[k - 2], &u[k + 1]);
                each(|l| {
                    let w = interface_speed_inner(below_2[l], below[l], here[l], above_2[l]);
                    unless_empty(l, w)
                })
            };
        }
        let mut above = w[nz];
        for k in (0..nz).rev() {
            let (low, high, speed) = (&z[k], &z[k + 1], &w[k]);
            above = each(|l| limited_speed(speed[l], above[l], high[l] - low[l], dt_cloud));
            w[k] = above;
        }
    }

    #[inline(always)]
    fn set_profiles(&mut self, nz: usize) {
        let (q, d) = (&self.density[..=nz], &self.thickness[..=nz]);
        let (bottoms, half_rises) = (&mut self.bottom[..nz], &mut self.half_rise[..nz]);
        let mut below: Row<_, N> = each(|l| rise(q[0][l], q[1][l], d[0][l], d[1][l]));
        (bottoms[0], half_rises[0]) = (q[0], [R::ZERO; N]);
        for k in 1..nz {
            let (q, q_above, d, d_above) = (&q[k], &q[k + 1], &d[k], &d[k + 1]);
            let above = each(|l| rise(q[l], q_above[l], d[l], d_above[l]));
            let (mut bottom, mut half_rise) = ([R::ZERO; N], [R::ZERO; N]);
            for l in 0..N {
                let profile = profile(q[l], d[l], below[l], above[l]);
                bottom[l] = profile.bottom;
                half_rise[l] = profile.half_rise;
            }
            (bottoms[k], half_rises[k]) = (bottom, half_rise);
            below = above;
        }
    }

    /// Remaps the content of the arrived layers to the layers of the grid.
    #[inline(always)]
    fn remap(&mut self, nz: usize) {
        // Lowest arrived layer that any column needs.
        let mut first = 0;
        for k in 0..nz {
            let (low, high) = (&self.height[k], &self.height[k + 1]);
            while first + 1 < nz && all::<N>(|l| low[l] > self.arrival[first + 1][l]) {
                first += 1;
            }
            let mut bottom = [first as i32; N];
            let mut top = [first as i32; N];
            let mut last = first;
            while last + 1 < nz && any::<N>(|l| high[l] > self.arrival[last + 1][l]) {
                last += 1;
                let arrival = &self.arrival[last];
                bottom = each(|l| bottom[l] + i32::from(low[l] > arrival[l]));
                top = each(|l| top[l] + i32::from(high[l] > arrival[l]));
            }
            let content = self.mean_between([bottom, top], first..last + 1, [low, high]);
            let (lid, highest) = (&self.arrival[nz], &self.arrival[nz - 1]);
            let highest_index = (nz - 1) as i32;
            // Content is lost from a layer whose top is above the bottom of the highest arrived layer, as in the
            // original.
            let is_lost =
                |l: usize| low[l] >= lid[l] || top[l] == highest_index && high[l] > highest[l];
            self.content[k] = each(|l| if is_lost(l) { R::ZERO } else { content[l] });
        }
    }

    /// Mean density between the heights `low` and `high`, which lie in the arrived layers `bottom` and
    /// `top` of the range `layers`.
    #[inline(always)]
    fn mean_between(
        &self,
        [bottom, top]: [Row<i32, N>; 2],
        layers: Range<usize>,
        [low, high]: [&Row<R, N>; 2],
    ) -> Row<R, N> {
        let below = self.select_layer(&bottom, &layers);
        let above = self.select_layer(&top, &layers);
        let z_low: Row<_, N> = each(|l| low[l] - below.arrival[l]);
        let mut depth: Row<_, N> = each(|l| below.thickness[l] - z_low[l]);
        let mut mass: Row<_, N> = each(|l| {
            let profile = LayerProfile { bottom: below.bottom[l], half_rise: below.half_rise[l] };
            below.density[l] * below.thickness[l] - mass_up_to(profile, z_low[l])
        });
        for j in layers.start + 1..layers.end.max(layers.start + 1) - 1 {
            let (d, q, j) = (&self.thickness[j], &self.density[j], j as i32);
            let is_between = |l: usize| bottom[l] < j && j < top[l];
            depth = each(|l| depth[l] + if is_between(l) { d[l] } else { R::ZERO });
            mass = each(|l| mass[l] + if is_between(l) { q[l] * d[l] } else { R::ZERO });
        }
        each(|l| {
            let z_high = high[l] - above.arrival[l];
            let profile = LayerProfile { bottom: above.bottom[l], half_rise: above.half_rise[l] };
            let depth = depth[l] + z_high;
            let mass = mass[l] + mass_up_to(profile, z_high);
            let within = mean_within(profile, z_low[l], z_high);
            if bottom[l] == top[l] { within } else { mass / depth }
        })
    }

    /// Values at the arrived layer that each column selects from `layers`.
    #[inline(always)]
    fn select_layer(&self, wanted: &Row<i32, N>, layers: &Range<usize>) -> ArrivedLayer<R, N> {
        ArrivedLayer {
            arrival: choose(&self.arrival, wanted, layers),
            thickness: choose(&self.thickness, wanted, layers),
            density: choose(&self.density, wanted, layers),
            bottom: choose(&self.bottom, wanted, layers),
            half_rise: choose(&self.half_rise, wanted, layers),
        }
    }

    /// Mass that has passed the ground, kg m⁻².
    #[inline(always)]
    fn accumulate_precipitation(&self, nz: usize) -> Row<R, N> {
        let mut ground = [R::ZERO; N];
        for k in 0..nz {
            let (bottom, top) = (&self.arrival[k], &self.arrival[k + 1]);
            if !any::<N>(|l| bottom[l] < R::ZERO) {
                break;
            }
            let (thickness, density) = (&self.thickness[k], &self.density[k]);
            ground =
                each(|l| ground[l] + mass_in_ground(bottom[l], top[l], thickness[l], density[l]));
        }
        ground
    }
}

/// The element that each column selects from the rows of `layers`.
#[inline(always)]
fn choose<R: SchemeConstants, const N: usize>(
    rows: &[Row<R, N>],
    wanted: &Row<i32, N>,
    layers: &Range<usize>,
) -> Row<R, N> {
    if N == 1 {
        return each(|l| rows[wanted[l] as usize][l]);
    }
    let mut found = [R::ZERO; N];
    for j in layers.clone() {
        let row = &rows[j];
        // A sum with one nonzero term: a selection between two rows would be compiled to indexed loads.
        found = each(|l| found[l] + if wanted[l] == j as i32 { row[l] } else { R::ZERO });
    }
    found
}
