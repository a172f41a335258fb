//! WSM5 cloud microphysics: vapour, cloud water, rain, cloud ice and snow in columns.
//!
//! [`Column::call`] is the scheme's table of contents: it names the processes in their order.
//! Each of them is a pure function of scalars in the file of its kind; signs stand in
//! [`balance`].
//!
//! There are two variants, [`Fallout`]: [`fall`] and [`substep`] hold what only one of them does.

pub mod balance;
pub mod factors;
pub mod fall;
pub mod ice;
pub mod melt;
pub mod params;
pub mod radii;
pub mod reflectivity;
pub mod scheme;
pub mod slope;
pub mod substep;
pub mod warm;

mod columns;

pub use columns::{DiagnosticFields, Fields, Scratch, call, diagnose};

use crate::thermo::{
    conductivity, diffusivity, growth_resistance, heat_capacity, latent_heat, saturation,
    ventilation, viscosity,
};
use fall::Fall;
use params::SchemeConstants;
use scheme::Scheme;
use slope::{Slope, slope_rain, slope_snow, snow_intercept_factor};
use substep::SubSteps;

/// The variant of the scheme, named after how precipitation falls.
///
/// | | `SemiLagrangian` | `Substepped` |
/// |---|---|---|
/// | fall of rain and snow | layers carried down whole, each species by itself | upstream differences in equal sub-steps, as many for rain as for snow |
/// | speed where there is nothing to fall | 0 | that of the smallest drops and flakes; it counts in the number of sub-steps |
/// | melting of snow | once, after the fall, with the new sizes | in every sub-step, with the sizes of the start, and not divided by the density |
/// | intercept of snow | of the present temperature | of the temperature at the start of the minor step |
/// | freezing of rain | with the drop size after the fall; cold counts up to 50 K | with that of the start of the minor step; all cold counts |
/// | saturation | vapour has 0.99 of the pressure at most | no bound |
/// | precipitation of a call | of all minor steps | of the last minor step; only the sums over the run are complete |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fallout {
    /// WRF since 3.2 (JH10).
    #[default]
    SemiLagrangian,
    /// The WRF of July 2008, which the first measurements of this scheme on GPUs were made with.
    Substepped,
}

impl Fallout {
    /// All variants.
    pub const ALL: [Self; 2] = [Self::SemiLagrangian, Self::Substepped];
}

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
    pub fn of(p: &Scheme<R>, air: &Air<R>, onset: &Onset<R>, cell: &Cell<R>) -> Self {
        let (rain, snow) = (cell.qr > R::ZERO, cell.qs > R::ZERO);
        let deposits = cell.t < R::FREEZING && (snow || cell.qi > R::ZERO);
        let t_snow = match p.fallout {
            Fallout::SemiLagrangian => cell.t,
            Fallout::Substepped => onset.t,
        };
        let n0s_factor = if snow { snow_intercept_factor(p, t_snow) } else { R::ONE };
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
    pub rain: R,
    /// Its frozen part, mm.
    pub snow: R,
    /// What the scheme tells of as that of the call, mm; of the last minor step alone where
    /// [`Fallout`] says so, as the two below.
    pub rainncv: R,
    /// Its frozen part, mm.
    pub snowncv: R,
    /// Its frozen fraction, 1.
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
    /// The rain whose drop size decides how fast it freezes, kg kg⁻¹.
    qr_sized: Vec<R>,
    n0s_factor: Vec<R>,
    fall: Fall<R>,
    substeps: SubSteps<R>,
}

impl<R: SchemeConstants> Column<R> {
    /// Work space of a column of `nz` layers.
    pub fn new(nz: usize) -> Self {
        Self {
            cells: vec![Cell::default(); nz],
            air: vec![Air::default(); nz],
            onset: vec![Onset::default(); nz],
            qr_sized: vec![R::ZERO; nz],
            n0s_factor: vec![R::ONE; nz],
            fall: Fall::new(nz),
            substeps: SubSteps::new(nz),
        }
    }

    /// One call of the scheme: `dt` seconds, in minor steps of about two minutes at most.
    ///
    /// [`Column::cells`] and rho, p, dz of [`Column::air`] are the input.
    pub fn call(&mut self, p: &Scheme<R>, dt: R) -> Precipitation<R> {
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
    fn minor_step(&mut self, p: &Scheme<R>, dt_cloud: R, sum: &mut Precipitation<R>) {
        self.start(p);
        let fallen = match p.fallout {
            Fallout::SemiLagrangian => self.carry_down(p, dt_cloud, sum),
            Fallout::Substepped => self.sink(p, dt_cloud),
        };
        self.reach_ground(p, dt_cloud, fallen, sum);

        for (k, (cell, air)) in self.cells.iter_mut().zip(&self.air).enumerate() {
            let onset = &self.onset[k];
            melt::instantaneous(p, dt_cloud, air, self.qr_sized[k], cell);
            if cell.is_clear() && (cell.t >= R::FREEZING || cell.qv <= onset.qsi) {
                // No rate but condensation is other than zero.
                let clipped = melt::condense(p, dt_cloud, air, onset, cell);
                sum.clipped += air.rho * air.dz * clipped;
                continue;
            }
            let coefficients = Coefficients::of(p, air, onset, cell);
            let warm = warm::rates(p, dt_cloud, air, onset, cell, &coefficients);
            let ice = ice::rates(p, dt_cloud, air, onset, cell, &coefficients, warm.prevp);
            let mut clipped = balance::apply(dt_cloud, air, warm, ice, cell);
            clipped += melt::condense(p, dt_cloud, air, onset, cell);
            clipped -= clean_up(cell);
            sum.clipped += air.rho * air.dz * clipped;
        }
    }

    /// Saturation that holds for the whole minor step.
    fn start(&mut self, p: &Scheme<R>) {
        for (k, (cell, air)) in self.cells.iter().zip(&self.air).enumerate() {
            let saturation = saturation(cell.t, air.p, p.vapour_pressure_cap);
            self.onset[k] = Onset { t: cell.t, qsw: saturation.water, qsi: saturation.ice };
        }
    }

    /// Adds what has reached the ground to the sums of the call.
    ///
    /// Units: `fallen` kg m⁻² of rain, snow and ice.
    fn reach_ground(&self, p: &Scheme<R>, dt_cloud: R, fallen: [R; 3], sum: &mut Precipitation<R>) {
        if p.fallout == Fallout::Substepped {
            (sum.rainncv, sum.snowncv, sum.sr) = (R::ZERO, R::ZERO, R::ZERO);
        }
        let depth = self.air[0].dz;
        let [rain, snow, ice] = fallen.map(|mass| mass / depth / dt_cloud);
        let millimetres = |rate: R| rate * depth / R::RHO_WATER * dt_cloud * R::MILLIMETRES;
        let all = rain + snow + ice;
        let frozen = snow + ice;
        if all > R::ZERO {
            sum.rain += millimetres(all);
            sum.rainncv += millimetres(all);
        }
        if frozen > R::ZERO {
            sum.snow += millimetres(frozen);
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
