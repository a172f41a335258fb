//! Backends that stand for another one than the CPU's.

use ndarray::{Array, Dimension};
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::backend::{
    Attached, Backend, Captured, Gathered, Observed, PhaseTimes, Precipitation, Products, Profiles,
    Standing, Summary, TracerAmount, WaterChange, check_finite,
};
use nwp_mini::error::Result;
use nwp_mini::forcing::Moment;
use nwp_mini::primitives::reduce::{Extrema, Statistics};
use nwp_mini::state::{CloudDiagnostics, State, Surface};
use rayon::ThreadPool;

/// The CPU in a pool of its own.
pub(crate) struct Pooled {
    pub(crate) pool: ThreadPool,
    pub(crate) cpu: Cpu<f32>,
}

impl Observed<f32> for Pooled {
    fn attach(&mut self, attached: &Attached<f32>) -> Result<()> {
        self.cpu.attach(attached)
    }

    fn sample(&mut self, operator: usize, moment: &Moment<f32>) -> Result<()> {
        self.pool.install(|| self.cpu.sample(operator, moment))
    }

    fn collect_sample(&mut self, operator: usize, wait: bool) -> Result<Option<Products<f32>>> {
        self.cpu.collect_sample(operator, wait)
    }

    fn profile(&mut self, moment: &Moment<f32>) -> Result<()> {
        self.pool.install(|| self.cpu.profile(moment))
    }

    fn collect_profiles(&mut self, wait: bool) -> Result<Option<Profiles<f32>>> {
        self.cpu.collect_profiles(wait)
    }
}

impl Backend<f32> for Pooled {
    fn kind(&self) -> &'static str {
        "pooled"
    }

    fn describe(&self) -> String {
        self.pool.install(|| self.cpu.describe())
    }

    fn device(&self) -> String {
        "a stand-in".to_owned()
    }

    fn restore(&mut self, state: &State<f32>) -> Result<()> {
        self.cpu.restore(state)
    }

    fn resume(&mut self, gathered: &Gathered<f32>) -> Result<()> {
        self.cpu.resume(gathered)
    }

    fn standing(&mut self, step: usize) -> Result<Standing<f32>> {
        self.cpu.standing(step)
    }

    fn drive(&mut self, moment: &Moment<f32>) -> Result<()> {
        self.pool.install(|| self.cpu.drive(moment))
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        self.pool.install(|| self.cpu.step(dt))
    }

    fn check(&mut self, step: usize, wait: bool) -> Result<()> {
        self.cpu.check(step, wait)
    }

    fn capture(&mut self, moment: &Moment<f32>) -> Result<()> {
        self.pool.install(|| self.cpu.capture(moment))
    }

    fn collect(&mut self, wait: bool) -> Result<Option<Captured<f32>>> {
        self.cpu.collect(wait)
    }

    fn water(&mut self) -> Result<f64> {
        self.pool.install(|| self.cpu.water())
    }

    fn water_changes(&mut self) -> Result<WaterChange> {
        self.cpu.water_changes()
    }

    fn passive(&mut self) -> Result<Vec<TracerAmount>> {
        self.cpu.passive()
    }

    fn precipitation(&mut self) -> Result<Precipitation> {
        self.cpu.precipitation()
    }

    fn times(&mut self) -> Result<PhaseTimes> {
        self.cpu.times()
    }
}

/// A run in double precision whose output is rounded to single: what a backend without any
/// rounding of its own would give.
pub(crate) struct Wide(pub(crate) Cpu<f64>);

fn narrow_level(level: &Statistics<f64>) -> Statistics<f32> {
    let extrema = level.extrema.map(|Extrema { min, min_at, max, max_at }| Extrema {
        min: min as f32,
        min_at,
        max: max as f32,
        max_at,
    });
    Statistics { extrema, sum: level.sum, squares: level.squares, nans: level.nans }
}

fn narrow<D: Dimension>(field: &Array<f64, D>) -> Array<f32, D> {
    field.mapv(|x| x as f32)
}

impl Observed<f32> for Wide {
    fn attach(&mut self, attached: &Attached<f32>) -> Result<()> {
        assert!(
            attached.operators.is_empty() && attached.weights.is_none(),
            "nothing is sampled here"
        );
        Ok(())
    }

    fn sample(&mut self, _operator: usize, _moment: &Moment<f32>) -> Result<()> {
        unreachable!("no operator is attached")
    }

    fn collect_sample(&mut self, _operator: usize, _wait: bool) -> Result<Option<Products<f32>>> {
        unreachable!("no operator is attached")
    }

    fn profile(&mut self, _moment: &Moment<f32>) -> Result<()> {
        unreachable!("no weights are attached")
    }

    fn collect_profiles(&mut self, _wait: bool) -> Result<Option<Profiles<f32>>> {
        Ok(None)
    }
}

impl Backend<f32> for Wide {
    fn kind(&self) -> &'static str {
        "wide"
    }

    fn describe(&self) -> String {
        "double precision".to_owned()
    }

    fn device(&self) -> String {
        "a stand-in".to_owned()
    }

    fn restore(&mut self, state: &State<f32>) -> Result<()> {
        self.0.restore(&state.widened())
    }

    fn resume(&mut self, gathered: &Gathered<f32>) -> Result<()> {
        self.0.resume(&gathered.widened())
    }

    fn standing(&mut self, step: usize) -> Result<Standing<f32>> {
        let Standing { state, gathered } = self.0.standing(step)?;
        let state = state.map(narrow);
        let surface = Surface::of(gathered.surface.planes().map(narrow));
        let Gathered { changes, passive, chemistry, parts, .. } = gathered;
        let first_steps = Vec::new();
        let gathered = Gathered { surface, changes, passive, chemistry, first_steps, parts };
        Ok(Standing { state, gathered })
    }

    fn drive(&mut self, moment: &Moment<f32>) -> Result<()> {
        self.0.drive(&moment.widened())
    }

    fn step(&mut self, dt: f64) -> Result<()> {
        self.0.step(dt)
    }

    fn check(&mut self, step: usize, _wait: bool) -> Result<()> {
        check_finite(self.0.state(), step)
    }

    fn capture(&mut self, moment: &Moment<f32>) -> Result<()> {
        self.0.capture(&moment.widened())
    }

    fn collect(&mut self, wait: bool) -> Result<Option<Captured<f32>>> {
        let Some(Captured { state, diagnostics, surface, summary }) = self.0.collect(wait)? else {
            return Ok(None);
        };
        let CloudDiagnostics { refl_10cm, re_cloud, re_ice, re_snow } = &diagnostics;
        let [refl_10cm, re_cloud, re_ice, re_snow] =
            [refl_10cm, re_cloud, re_ice, re_snow].map(narrow);
        Ok(Some(Captured {
            state: state.map(narrow),
            diagnostics: CloudDiagnostics { refl_10cm, re_cloud, re_ice, re_snow },
            surface: Surface {
                rain: narrow(&surface.rain),
                fallen: narrow(&surface.fallen),
                rainncv: narrow(&surface.rainncv),
                snow: narrow(&surface.snow),
                snowncv: narrow(&surface.snowncv),
                sr: narrow(&surface.sr),
                fall_residual: narrow(&surface.fall_residual),
                clipped: narrow(&surface.clipped),
            },
            summary: Summary {
                levels: summary.levels.iter().map(narrow_level).collect(),
                contents: narrow(&summary.contents),
                outflow: summary.outflow,
                water: summary.water,
                changes: summary.changes,
            },
        }))
    }

    fn water(&mut self) -> Result<f64> {
        self.0.water()
    }

    fn water_changes(&mut self) -> Result<WaterChange> {
        self.0.water_changes()
    }

    fn passive(&mut self) -> Result<Vec<TracerAmount>> {
        self.0.passive()
    }

    fn precipitation(&mut self) -> Result<Precipitation> {
        self.0.precipitation()
    }

    fn times(&mut self) -> Result<PhaseTimes> {
        self.0.times()
    }
}
