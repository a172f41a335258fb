//! WSM5 cloud microphysics: vapour, cloud water, rain, cloud ice and snow in columns.
//!
//! [`Column::call`] is the scheme's table of contents: it names the processes in their order.
//! Each of them is a pure function of scalars in the file of its kind; signs stand in
//! [`balance`].

pub mod balance;
pub mod fall;
pub mod ice;
pub mod melt;
pub mod params;
pub mod radii;
pub mod reflectivity;
pub mod slope;
pub mod warm;

mod columns;

pub use columns::{DiagnosticFields, Fields, Scratch, call, diagnose};

use crate::thermo::{
    conductivity, diffusivity, growth_resistance, heat_capacity, latent_heat, saturation,
    ventilation, viscosity,
};
use fall::{Fall, Fallen};
use params::{SchemeConstants, Wsm5Params};
use slope::{
    Slope, fall_speed_ice, fall_speed_rain, fall_speed_snow, ice_number, slope_rain, slope_snow,
    snow_intercept_factor,
};

/// What a cell holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cell<R> {
    /// Temperature, K.
    pub t: R,
    /// Vapour, kg kg⁻¹.
    pub qv: R,
    /// Cloud water, kg kg⁻¹.
    pub qc: R,
    /// Rain, kg kg⁻¹.
    pub qr: R,
    /// Cloud ice, kg kg⁻¹.
    pub qi: R,
    /// Snow, kg kg⁻¹.
    pub qs: R,
}

impl<R: SchemeConstants> Cell<R> {
    /// Whether the cell holds nothing but vapour.
    #[inline]
    fn is_clear(&self) -> bool {
        let none = |q: R| q <= R::ZERO;
        none(self.qc) && none(self.qr) && none(self.qi) && none(self.qs)
    }
}

/// The air of a cell: what stays the same during a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Air<R> {
    /// Density of dry air, kg m⁻³.
    pub rho: R,
    /// Pressure, Pa.
    pub p: R,
    /// Depth of the layer, m.
    pub dz: R,
    /// √(rho0 / rho), which thin air lets fall faster by (WRF `denfac`), 1.
    pub density_factor: R,
    /// Specific heat at the start of the call (WRF `cpm`), J kg⁻¹ K⁻¹.
    pub heat_capacity: R,
    /// Latent heat of vaporisation at the start of the call (WRF `xl`), J kg⁻¹.
    pub latent_heat: R,
}

/// What a cell had at the start of a minor step and is used until its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Onset<R> {
    /// Temperature, K.
    pub t: R,
    /// Saturation over water, kg kg⁻¹.
    pub qsw: R,
    /// Saturation over ice, kg kg⁻¹.
    pub qsi: R,
}

/// What several rates of a cell share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coefficients<R> {
    /// Slope of the rain size distribution.
    pub rain: Slope<R>,
    /// Slope of the snow size distribution.
    pub snow: Slope<R>,
    /// Factor of the snow intercept (WRF `n0sfac`), 1.
    pub n0s_factor: R,
    /// Resistance to growth in vapour over water (WRF `work1(:,:,1)`), s m⁻².
    pub resistance_water: R,
    /// Resistance to growth in vapour over ice (WRF `work1(:,:,2)`), s m⁻².
    pub resistance_ice: R,
    /// Ventilation of falling particles (WRF `work2`), s¹ᐟ² m⁻¹.
    pub ventilation: R,
}

impl<R: SchemeConstants> Coefficients<R> {
    /// The coefficients of a cell; zeros where no rate looks at them.
    #[inline]
    pub fn of(p: &Wsm5Params<R>, air: &Air<R>, onset: &Onset<R>, cell: &Cell<R>) -> Self {
        let (rain, snow) = (cell.qr > R::ZERO, cell.qs > R::ZERO);
        let deposits = cell.t < R::FREEZING && (snow || cell.qi > R::ZERO);
        let n0s_factor = if snow { snow_intercept_factor(p, cell.t) } else { R::ONE };
        let slopes = Self {
            rain: slope_rain(p, air.rho, cell.qr),
            snow: slope_snow(p, air.rho, cell.qs, n0s_factor),
            n0s_factor,
            ..Self::default()
        };
        if !(rain || deposits) {
            return slopes;
        }
        let viscosity = viscosity(cell.t, air.rho);
        let conductivity = conductivity(viscosity, air.rho);
        let diffusivity = diffusivity(cell.t, air.p);
        let resistance = |latent_heat, saturation| {
            growth_resistance(latent_heat, cell.t, air.rho, conductivity, diffusivity, saturation)
        };
        Self {
            resistance_water: if rain { resistance(air.latent_heat, onset.qsw) } else { R::ZERO },
            resistance_ice: if deposits {
                resistance(R::L_SUBLIMATION, onset.qsi)
            } else {
                R::ZERO
            },
            ventilation: if rain || snow {
                ventilation(viscosity, diffusivity, air.rho)
            } else {
                R::ZERO
            },
            ..slopes
        }
    }
}

/// What one call brings to the ground, and what it makes of nothing or loses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Precipitation<R> {
    /// All precipitation of the call, mm.
    pub rainncv: R,
    /// Its frozen part, mm.
    pub snowncv: R,
    /// Frozen fraction, 1.
    pub sr: R,
    /// Water that the fall scheme has made beyond what it was given, kg m⁻².
    pub fall_residual: R,
    /// Water that clipping at zero has made, kg m⁻².
    pub clipped: R,
}

/// One column at work, from the ground up.
#[derive(Clone, Debug)]
pub struct Column<R> {
    /// What the cells hold.
    pub cells: Vec<Cell<R>>,
    /// Their air.
    pub air: Vec<Air<R>>,
    onset: Vec<Onset<R>>,
    qr_fallen: Vec<R>,
    n0s_factor: Vec<R>,
    fall: Fall<R>,
}

impl<R: SchemeConstants> Column<R> {
    /// Work space of a column of `nz` layers.
    pub fn new(nz: usize) -> Self {
        Self {
            cells: vec![Cell::default(); nz],
            air: vec![Air::default(); nz],
            onset: vec![Onset::default(); nz],
            qr_fallen: vec![R::ZERO; nz],
            n0s_factor: vec![R::ONE; nz],
            fall: Fall::new(nz),
        }
    }

    /// One call of the scheme: `dt` seconds, in minor steps of about two minutes at most.
    ///
    /// [`Column::cells`] and rho, p, dz of [`Column::air`] are the input.
    pub fn call(&mut self, p: &Wsm5Params<R>, dt: R) -> Precipitation<R> {
        let mut sum = Precipitation::default();
        self.set_out(&mut sum);
        let steps = minor_steps(dt);
        let dt_cloud = dt / steps;
        for _ in 0..steps.to_usize().unwrap_or(1) {
            self.minor_step(p, dt_cloud, &mut sum);
        }
        sum
    }

    /// Clips negative condensate and fixes what stays the same during the call.
    fn set_out(&mut self, sum: &mut Precipitation<R>) {
        for (cell, air) in self.cells.iter_mut().zip(&mut self.air) {
            for q in [&mut cell.qc, &mut cell.qr, &mut cell.qi, &mut cell.qs] {
                if *q < R::ZERO {
                    sum.clipped -= air.rho * air.dz * *q;
                    *q = R::ZERO;
                }
            }
            air.density_factor = (R::ONE / air.rho * R::RHO_REFERENCE).sqrt();
            air.heat_capacity = heat_capacity(cell.qv);
            air.latent_heat = latent_heat(cell.t);
        }
        self.fall.set_depths(self.air.iter().map(|air| air.dz));
    }

    /// One minor step: the processes of the scheme in their order.
    fn minor_step(&mut self, p: &Wsm5Params<R>, dt_cloud: R, sum: &mut Precipitation<R>) {
        self.start();
        let rain = self.fall_rain(p, dt_cloud, sum);
        let snow = self.fall_snow(p, dt_cloud, sum);
        for (k, (cell, air)) in self.cells.iter_mut().zip(&self.air).enumerate() {
            self.qr_fallen[k] = cell.qr;
            melt::melt_snow(p, dt_cloud, air, cell);
        }
        let ice = self.fall_ice(p, dt_cloud, sum);
        self.reach_ground(dt_cloud, [rain, snow, ice], sum);

        for (k, (cell, air)) in self.cells.iter_mut().zip(&self.air).enumerate() {
            let onset = &self.onset[k];
            melt::instantaneous(p, dt_cloud, air, self.qr_fallen[k], cell);
            if cell.is_clear() && (cell.t >= R::FREEZING || cell.qv <= onset.qsi) {
                // No rate but condensation is other than zero.
                let clipped = melt::condense(dt_cloud, air, onset, cell);
                sum.clipped += air.rho * air.dz * clipped;
                continue;
            }
            let coefficients = Coefficients::of(p, air, onset, cell);
            let warm = warm::rates(p, dt_cloud, air, onset, cell, &coefficients);
            let ice = ice::rates(p, dt_cloud, air, onset, cell, &coefficients, warm.prevp);
            let mut clipped = balance::apply(dt_cloud, air, warm, ice, cell);
            clipped += melt::condense(dt_cloud, air, onset, cell);
            clipped -= clean_up(cell);
            sum.clipped += air.rho * air.dz * clipped;
        }
    }

    /// Saturation that holds for the whole minor step.
    fn start(&mut self) {
        for (k, (cell, air)) in self.cells.iter().zip(&self.air).enumerate() {
            let saturation = saturation(cell.t, air.p);
            self.onset[k] = Onset { t: cell.t, qsw: saturation.water, qsi: saturation.ice };
        }
    }

    fn fall_rain(&mut self, p: &Wsm5Params<R>, dt_cloud: R, sum: &mut Precipitation<R>) -> R {
        let reach = self.reach(|cell| cell.qr);
        if reach == 0 {
            return R::ZERO;
        }
        let air = &self.air;
        let speed = |k: usize, qr: R| fall_speed_rain(p, air[k].rho, air[k].density_factor, qr);
        for (k, cell) in self.cells[..reach].iter().enumerate() {
            self.fall.content[k] = air[k].rho * cell.qr;
            self.fall.speed[k] = speed(k, cell.qr);
        }
        let arrival_speed = |k: usize, content: R| speed(k, content / air[k].rho);
        let fallen = self.fall.sediment(reach, dt_cloud, Some(&arrival_speed));
        self.land(reach, fallen, |cell| &mut cell.qr, sum)
    }

    fn fall_snow(&mut self, p: &Wsm5Params<R>, dt_cloud: R, sum: &mut Precipitation<R>) -> R {
        let reach = self.reach(|cell| cell.qs);
        if reach == 0 {
            return R::ZERO;
        }
        for (factor, cell) in self.n0s_factor.iter_mut().zip(&self.cells[..reach]) {
            *factor = snow_intercept_factor(p, cell.t);
        }
        let (air, n0s_factor) = (&self.air, &self.n0s_factor);
        let speed = |k: usize, qs: R| {
            fall_speed_snow(p, air[k].rho, air[k].density_factor, qs, n0s_factor[k])
        };
        for (k, cell) in self.cells[..reach].iter().enumerate() {
            self.fall.content[k] = air[k].rho * cell.qs;
            self.fall.speed[k] = speed(k, cell.qs);
        }
        let arrival_speed = |k: usize, content: R| speed(k, content / air[k].rho);
        let fallen = self.fall.sediment(reach, dt_cloud, Some(&arrival_speed));
        self.land(reach, fallen, |cell| &mut cell.qs, sum)
    }

    fn fall_ice(&mut self, p: &Wsm5Params<R>, dt_cloud: R, sum: &mut Precipitation<R>) -> R {
        let reach = self.reach(|cell| cell.qi);
        if reach == 0 {
            return R::ZERO;
        }
        for (k, cell) in self.cells[..reach].iter().enumerate() {
            let rho = self.air[k].rho;
            self.fall.content[k] = rho * cell.qi;
            self.fall.speed[k] = fall_speed_ice(p, rho, cell.qi, ice_number(rho, cell.qi));
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

    /// Adds what has reached the ground to the sums of the call.
    ///
    /// Units: `fallen` kg m⁻² of rain, snow and ice.
    fn reach_ground(&self, dt_cloud: R, fallen: [R; 3], sum: &mut Precipitation<R>) {
        let depth = self.air[0].dz;
        let [rain, snow, ice] = fallen.map(|mass| mass / depth / dt_cloud);
        let millimetres = |rate: R| rate * depth / R::RHO_WATER * dt_cloud * R::MILLIMETRES;
        let all = rain + snow + ice;
        let frozen = snow + ice;
        if all > R::ZERO {
            sum.rainncv += millimetres(all);
        }
        if frozen > R::ZERO {
            sum.snowncv += millimetres(frozen);
        }
        if all > R::ZERO {
            sum.sr = sum.snowncv / (sum.rainncv + R::PRECIPITATION_MIN);
        }
    }
}

/// Number of minor steps in a call: the nearest to `dt` / 120 s, halves rounded up, at least 1.
pub fn minor_steps<R: SchemeConstants>(dt: R) -> R {
    (dt / R::DT_CLOUD_MAX).round().larger(R::ONE)
}

/// Removes cloud water and ice too little to count; returns what that takes, kg kg⁻¹.
#[inline]
fn clean_up<R: SchemeConstants>(cell: &mut Cell<R>) -> R {
    let mut removed = R::ZERO;
    for q in [&mut cell.qc, &mut cell.qi] {
        if *q <= R::Q_MIN {
            removed += *q;
            *q = R::ZERO;
        }
    }
    removed
}
