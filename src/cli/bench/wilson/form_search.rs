//! The rungs on the GPU, each with its fastest kernel configuration.

use tracing::debug;

use super::forms::{SHAPES, around, cached, described, shaped, with_sides};
use super::row::{RealsPerSite, Row};
use super::subject::Subject;
use crate::cli::bench::ladder::patient_graph;
use crate::cli::bench::measurement::{Processor, Timing, median};
use crate::cli::bench::record::Record;
use crate::device::{Buffer, Gpu, Resources};
use crate::error::Result;
use crate::lattice::gpu::ladder::{self, Fields, LowerRung, Rung};
use crate::lattice::gpu::{
    GpuDirac, KernelConfig, LatticePrecision, Load, Operator, TWO_ROWS, source,
};
use crate::lattice::number::Vectorised;
use crate::lattice::{Dirac, LINK_REALS, Parity, SPINOR_REALS, Stop};

/// Calls of a graph.
const CALLS: usize = 20;
/// Timed launches of a graph in the search.
const TRIALS: u32 = 5;
/// Numbers of right-hand sides.
const SIDES: [usize; 3] = [2, 4, 8];

/// Search for the fastest kernel configurations of a lattice on a device.
pub(super) struct FormSearch<'a, R> {
    pub(super) gpu: &'a Gpu,
    /// Bandwidth of a copy, bytes read and written a second.
    pub(super) copy: f64,
    pub(super) runs: u32,
    pub(super) subject: &'a Subject<R>,
}

/// The kernels of a form, with fields of several right-hand sides in its layout.
pub(super) struct LaidOutFields<R> {
    pub(super) operator: Operator<R>,
    pub(super) input: Buffer<R>,
    pub(super) out: Buffer<R>,
}

impl<R: LatticePrecision> LaidOutFields<R> {
    /// Queues the hopping term, with so many bytes of unused shared memory in each block.
    pub(super) fn hop(&self, shared_bytes: u32) -> Result<()> {
        let Self { operator, input, out } = self;
        operator.hop(Parity::Even, false, input, out, shared_bytes)
    }
}

/// State of a search: the least time with its form, and the fields of the last form.
struct Tried<R> {
    best: Option<(f64, KernelConfig)>,
    laid: Option<LaidOutFields<R>>,
}

/// The winner of a search.
struct Winner {
    form: KernelConfig,
    times: Vec<f64>,
    resources: Resources,
    fault: Option<String>,
}

impl<R: LatticePrecision + Vectorised> FormSearch<'_, R> {
    /// A row of a form: every site of a right-hand side needs so many reals.
    pub(super) fn row(
        &self,
        name: &str,
        form: KernelConfig,
        sides: usize,
        times: Vec<f64>,
        resources: &Resources,
    ) -> Row {
        let links = (8 * form.link_reals) as f64 / sides as f64;
        let spinors = if form.is_diagonal { 168.0 } else { 192.0 };
        let moved = RealsPerSite { without_reuse: spinors + links + 24.0, ideal: 48.0 + links };
        let sites = self.subject.extents.half_volume() * sides;
        self.row_of(name, sites, moved, times).of_kernel(resources, described(&form))
    }

    /// A row of the device.
    fn row_of(&self, name: &str, sites: usize, moved: RealsPerSite, times: Vec<f64>) -> Row {
        let place = (&Processor::gpu(self.gpu, self.copy), Timing::Graph);
        Row::new::<R>(name.to_owned(), self.subject.extents, sites, moved, place, times)
    }

    /// Time of a call in a graph of many, s.
    pub(super) fn times(&self, runs: u32, launch: impl Fn() -> Result<()>) -> Result<Vec<f64>> {
        launch()?;
        patient_graph(self.gpu, runs, CALLS, |_| launch())
    }

    /// Measures all rungs for one right-hand side and for several; returns the fastest form for one.
    pub(super) fn measure_rungs(&self, record: &mut Record) -> Result<KernelConfig> {
        let mut before = self.lower_rungs(record)?;
        let extents = self.subject.extents;
        let plain = KernelConfig { is_hop_alone: true, ..KernelConfig::plain(extents) };
        let mut step =
            |name: &str, forms: Vec<KernelConfig>, record: &mut Record| -> Result<KernelConfig> {
                let winner = self.best(forms, 1)?;
                let form = winner.form;
                before = self.report(name, winner, 1, before, record)?;
                Ok(form)
            };
        step("registers", shaped(plain), record)?;
        let rebuilt = KernelConfig { link_reals: TWO_ROWS, ..plain };
        step("12-real", shaped(rebuilt), record)?;
        let diagonal = KernelConfig { is_diagonal: true, ..rebuilt };
        step("diagonal-t", shaped(diagonal), record)?;
        let precision = R::PRECISION;
        let best = step("cache", cached(precision, extents, TWO_ROWS), record)?;
        let stored = |form: KernelConfig| KernelConfig { is_backward_stored: true, ..form };
        let forms = around(best).into_iter().map(stored).collect();
        step("backward-stored", forms, record)?;
        // The same for whole links, for comparison with published results.
        let whole = self.best(cached(precision, extents, LINK_REALS), 1)?;
        self.report("cache, 18 reals", whole, 1, None, record)?;
        for reals in [TWO_ROWS, LINK_REALS] {
            for sides in SIDES {
                let winner = self.best(with_sides(precision, best, reals, sides), sides)?;
                let name = format!("rhs {sides}, {reals} reals");
                let single = KernelConfig { link_reals: reals, ..best };
                let differs = self.differs_from_single(&winner.form, &single, sides)?;
                let fault = winner.fault.clone().or(differs);
                self.report(&name, Winner { fault, ..winner }, sides, None, record)?;
            }
        }
        Ok(best)
    }

    /// The fastest of some forms, then of the neighbours of the fastest.
    fn best(&self, forms: Vec<KernelConfig>, sides: usize) -> Result<Winner> {
        let is_tuned = forms.iter().any(|form| form.chunk < self.subject.extents.half_volume());
        let mut tried = Tried { best: None, laid: None };
        let mut form = self.try_all(forms, sides, &mut tried)?;
        if is_tuned && !form.loops_sides && sides == 1 {
            form = self.try_all(around(form), sides, &mut tried)?;
        }
        let laid = self.lay(form, sides, tried.laid)?;
        laid.out.poison()?;
        let times = self.times(self.runs, || laid.hop(0))?;
        let mut whole = self.subject.psi.clone();
        let of_side = self.subject.extents.half_volume() * SPINOR_REALS;
        let field = laid.out.to_vec()?;
        // The last right-hand side, which represents all: they are equal.
        form.pick_spinors(Parity::Even, &field[field.len() - of_side..], &mut whole);
        let fault = self.subject.fault(&whole);
        Ok(Winner { form, times, resources: laid.operator.resources(0)?, fault })
    }

    /// Times some forms, of which there must be one; returns the fastest of all forms that were tried.
    fn try_all(
        &self,
        forms: Vec<KernelConfig>,
        sides: usize,
        tried: &mut Tried<R>,
    ) -> Result<KernelConfig> {
        let sources = forms.iter().map(|form| source(form, R::PRECISION)).collect();
        self.gpu.compile_ahead(sources)?;
        for form in forms {
            let laid = self.lay(form, sides, tried.laid.take())?;
            let resources = laid.operator.resources(0)?;
            let time = if resources.blocks == 0 {
                f64::INFINITY
            } else {
                median(self.times(TRIALS, || laid.hop(0))?)
            };
            debug!(
                "{:.2} us, {} registers, {} local: {}",
                time * 1e6,
                resources.registers,
                resources.local_bytes,
                described(&form)
            );
            if tried.best.is_none_or(|(least, _)| time < least) {
                tried.best = Some((time, form));
            }
            tried.laid = Some(laid);
        }
        Ok(tried.best.map(|(_, form)| form).expect("there are forms"))
    }

    /// Fields in the layout of a form, shared with another form of the same layout.
    pub(super) fn lay(
        &self,
        form: KernelConfig,
        sides: usize,
        before: Option<LaidOutFields<R>>,
    ) -> Result<LaidOutFields<R>> {
        let gauge = self.subject.gauge();
        if let Some(laid) = before.filter(|laid| laid.operator.form().lies_as(&form)) {
            let links = laid.operator.links();
            let operator = Operator::with_links(self.gpu, links, gauge.antiperiodic_t, form)?;
            return Ok(LaidOutFields { operator, ..laid });
        }
        let operator = Operator::new(self.gpu, gauge, form)?;
        let one = form.lay_spinors(Parity::Odd, &self.subject.psi);
        let input = self.gpu.upload(&one.repeat(sides))?;
        let out = self.gpu.zeros(input.len())?;
        Ok(LaidOutFields { operator, input, out })
    }

    /// First difference of several right-hand sides from a single one.
    fn differs_from_single(
        &self,
        form: &KernelConfig,
        single: &KernelConfig,
        sides: usize,
    ) -> Result<Option<String>> {
        // Different right-hand sides, so that a mix-up is detected.
        let psi = |side: usize| -> Vec<R> {
            self.subject.psi.iter().map(|&x| x * R::of(1.0 + side as f64 / 7.0)).collect()
        };
        let several = Operator::<R>::new(self.gpu, self.subject.gauge(), *form)?;
        let alone = Operator::<R>::new(self.gpu, self.subject.gauge(), *single)?;
        let laid = |form: &KernelConfig| {
            (0..sides).map(|side| form.lay_spinors(Parity::Odd, &psi(side))).collect::<Vec<_>>()
        };
        let input = self.gpu.upload(&laid(form).concat())?;
        let out = self.gpu.zeros(input.len())?;
        several.hop(Parity::Even, false, &input, &out, 0)?;
        let field = out.to_vec()?;
        let of_side = field.len() / sides;
        for (side, one) in laid(single).into_iter().enumerate() {
            let input = self.gpu.upload(&one)?;
            let out = self.gpu.zeros(input.len())?;
            alone.hop(Parity::Even, false, &input, &out, 0)?;
            let (mut found, mut expected) = (self.subject.psi.clone(), self.subject.psi.clone());
            form.pick_spinors(Parity::Even, &field[side * of_side..][..of_side], &mut found);
            single.pick_spinors(Parity::Even, &out.to_vec()?, &mut expected);
            let differing = found.iter().zip(&expected).filter(|(a, b)| a != b).count();
            if differing > 0 {
                return Ok(Some(format!(
                    "{differing} numbers of right-hand side {side} differ from those of a call by itself"
                )));
            }
        }
        Ok(None)
    }

    /// The rungs with kernels of their own; returns the time of the last one for a site.
    fn lower_rungs(&self, record: &mut Record) -> Result<Option<f64>> {
        let extents = self.subject.extents;
        let sources = SHAPES.map(|shape| ladder::source(extents, R::PRECISION, shape)).into();
        self.gpu.compile_ahead(sources)?;
        let mut before = None;
        for rung in Rung::ALL {
            let gauge = self.subject.gauge();
            let mut fields = Fields::new(self.gpu, rung, gauge, &self.subject.psi)?;
            let mut best: Option<(f64, [usize; 2])> = None;
            for shape in SHAPES {
                let lower = LowerRung::new(self.gpu, rung, gauge, fields, shape)?;
                let time = median(self.times(TRIALS, || lower.launch())?);
                debug!("{:.2} us {} {shape:?} {:?}", time * 1e6, rung.name(), lower.resources()?);
                if best.is_none_or(|(least, _)| time < least) {
                    best = Some((time, shape));
                }
                fields = lower.into_fields();
            }
            let (_, shape) = best.expect("there are shapes");
            fields.out.poison()?;
            let lower = LowerRung::new(self.gpu, rung, gauge, fields, shape)?;
            let times = self.times(self.runs, || lower.launch())?;
            let mut whole = self.subject.psi.clone();
            rung.pick_spinors(extents, Parity::Even, &lower.out().to_vec()?, &mut whole);
            let fault = self.subject.fault(&whole);
            // Links of the whole lattice are used twice.
            let ideal = if rung == Rung::Aos { 120.0 } else { 192.0 };
            let moved = RealsPerSite { without_reuse: 360.0, ideal };
            let shape_text = format!("{} threads, {} resident", shape[0], shape[1]);
            let row = self
                .row_of(rung.name(), rung.sites(extents), moved, times)
                .of_kernel(&lower.resources()?, shape_text);
            before = show(row, fault, before, record)?;
        }
        Ok(before)
    }

    fn report(
        &self,
        name: &str,
        winner: Winner,
        sides: usize,
        before: Option<f64>,
        record: &mut Record,
    ) -> Result<Option<f64>> {
        let Winner { form, times, resources, fault } = winner;
        show(self.row(name, form, sides, times, &resources), fault, before, record)
    }

    /// Times an iteration of the solver.
    pub(super) fn solver(&self, best: KernelConfig, record: &mut Record) -> Result<()> {
        let extents = self.subject.extents;
        let bound = (extents.half_volume() * 840 * size_of::<R>()) as f64 / self.copy;
        let mut fastest: Option<(f64, Row)> = None;
        let usual = KernelConfig::choose(R::PRECISION, extents, best.link_reals);
        let mut forms = Vec::new();
        for sites in [64, 128, 256] {
            let form = usual.with_block(sites);
            for warps in [12, 16, 20] {
                let resident = 32 * warps / sites;
                for link_load in [Load::Once, Load::Past] {
                    forms.push(KernelConfig {
                        spinor_load: Load::Kept,
                        link_load,
                        resident,
                        ..form
                    });
                }
            }
        }
        for form in forms {
            let dirac = GpuDirac::<R>::with(self.gpu, self.subject.gauge(), form)?;
            let b = dirac.load(Parity::Even, &self.subject.psi)?;
            let stop = Stop { tolerance: 0.0, most: 1 << 16 };
            let iteration = dirac.iteration(KAPPA, &b, stop)?;
            let times = iteration.times(&b, self.runs)?;
            let time = median(times.clone());
            let moved = RealsPerSite { without_reuse: 840.0, ideal: 840.0 };
            let row = self
                .row_of("CG iteration", extents.half_volume(), moved, times)
                .of_kernel(&dirac.operator().resources(0)?, described(&form));
            debug!("iteration {:.1} us: {}", time * 1e6, described(&form));
            if fastest.as_ref().is_none_or(|(least, _)| time < *least) {
                fastest = Some((time, row));
            }
        }
        if let Some((time, row)) = fastest {
            let line = format!(
                "{}\n  an iteration takes {:.2} times its 840 reals a site at the speed of a copy",
                row.line(),
                time / bound
            );
            record.show(&line, &row)?;
        }
        Ok(())
    }
}

/// Hopping parameter of the timed iterations: the matrix is far from singular.
const KAPPA: f64 = 0.12;

/// Prints and records a row; returns its time for a site.
fn show(
    mut row: Row,
    fault: Option<String>,
    before: Option<f64>,
    record: &mut Record,
) -> Result<Option<f64>> {
    let of_site = row.measured.median_s / row.sites as f64;
    row.is_right = fault.is_none();
    row.step_speed_up = before.map(|before| before / of_site);
    record.show(&row.line(), &row)?;
    let variant = &row.measured.variant;
    record.faults.extend(fault.map(|fault| format!("wilson, {variant}: {fault}")));
    Ok(Some(of_site))
}
