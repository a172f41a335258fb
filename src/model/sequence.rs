//! Interpolation of the input between its frames.
//!
//! Two frames are held in working precision, the one before and the one after the present time;
//! what lies between them is made by the backend, in buffers of its own. The next frame is read meanwhile, as the
//! file has it, and made ready when time passes the one after; all that the run needs have been checked by then.

use std::sync::Arc;

use ndarray::{Array3, Zip, s};
use serde::Serialize;
use tracing::warn;

use super::RunPrecision;
use super::prefetch::PrefetchedFrame;
use crate::constituents::Inflow;
use crate::domain::Domain;
use crate::dry_mass::{AirMass, Winds, longest_time_step};
use crate::error::{Error, Result};
use crate::forcing::blend::blend;
use crate::forcing::{Forcing, TimeInterpolant, weight_between};
use crate::frame::{Frame, FrameSource, PassThrough, promote};
use crate::grid::DividedGrid;
use crate::projection::{
    self, Method, ProjectionReport, terrain_following_velocity, vertical_velocity,
};
use crate::real::Real;
use crate::state::{BoundaryValues, Environment, State};

/// An input frame made ready for the steps.
#[derive(Clone, Debug)]
pub(super) struct PreparedFrame<R> {
    pub(super) forcing: Arc<Forcing<R>>,
    pub(super) winds: Arc<[Array3<R>; 3]>,
    pub(super) given: Arc<PassThrough>,
}

/// Report on an input frame.
#[derive(Clone, Debug, Serialize)]
pub struct FrameReport {
    /// Time, in WRF's form.
    pub time: String,
    /// Report of the wind projection.
    pub projection: ProjectionReport,
    /// The longest time step that its winds admit, s.
    pub max_dt: f64,
    /// Excess of the mass of its columns over those of the first frame, whose mass the run keeps,
    /// in the mean, Pa.
    pub mass_change_mean: f64,
    /// The largest such change of a column in size, Pa.
    pub mass_change_max: f64,
}

/// Projects the winds of a frame and computes what the steps need of it; with the state of the frame. On several ranks each
/// has the volumes of its part of the frame, and the figures are those of the whole. What a grid of
/// many cells no longer needs is dropped on the way: all of it at once would take more memory than the run does.
pub(super) fn prepare<R: RunPrecision>(
    (domain, divided): (&Domain, Option<&DividedGrid>),
    frame: Frame,
    method: &Method,
) -> Result<(PreparedFrame<R>, State<R>, FrameReport)> {
    let (whole, coordinate) = (&domain.grid, &domain.coordinate);
    let change = frame.mu() - &coordinate.mu;
    let mut environment: Environment<R> = frame.environment();
    let time = crate::calendar::format(frame.time);
    let Frame { state, u, v, pressure, geopotential, column_mass, photolysis, .. } = frame;
    let state = state.into_map(promote);
    let winds = Winds { u: promote(u), v: promote(v) };
    let maps = &domain.face_maps;
    let projected =
        projection::project_divided::<R>((whole, divided), coordinate, maps, &winds, method)
            .map_err(|error| match error {
                Error::Input { message, .. } => {
                    Error::input(&domain.path, format!("frame {time}: {message}"))
                }
                other => other,
            })?;
    drop(winds);
    // From here on all is of the part of this rank.
    let part = divided.map(|divided| {
        let part = *divided.own();
        (part, coordinate.part(&part), maps.part(&part))
    });
    let (grid, coordinate, maps) = match &part {
        Some((grid, coordinate, maps)) => (grid, coordinate, maps),
        None => (whole, coordinate, maps),
    };
    let max_dt = longest_time_step(grid.shape, &AirMass::new(grid, coordinate), &projected.flux);
    let max_dt = divided.map_or(max_dt, |divided| divided.least(max_dt));
    let [ph, phb] = &geopotential;
    let height = Zip::from(ph).and(phb).par_map_collect(|&ph, &phb| {
        (f64::from(ph) + f64::from(phb)) / <f64 as crate::constants::Constants>::GRAVITY
    });
    let mut w = vertical_velocity(grid, coordinate, &projected.flux.z, &environment.rho);
    let gliding = terrain_following_velocity(grid, coordinate, maps, &projected.winds, &height);
    drop(height);
    Zip::from(&mut w).and(&gliding).par_for_each(|w, &gliding| *w += R::of(gliding));
    drop(gliding);
    if state.set().has_vertical_wind() {
        environment.w = Some(between_faces(&w));
    }
    let report = FrameReport {
        time,
        projection: projected.report,
        max_dt,
        mass_change_mean: change.mean().unwrap_or(0.0),
        mass_change_max: change.fold(0.0, |most: f64, x| most.max(x.abs())),
    };
    let Winds { u, v } = projected.winds;
    let [u, v] = [u, v].map(|wind| Zip::from(&wind).par_map_collect(|&x| R::of(x)));
    let inflow = state.tracers().map(|(tracer, field)| match tracer.inflow {
        Inflow::Input => Some(BoundaryValues::of(field)),
        Inflow::Constant(value) => {
            Some(BoundaryValues::of(&Array3::from_elem(field.dim(), R::of(value))))
        }
        Inflow::ZeroGradient => None,
    });
    let inflow = inflow.collect();
    let photolysis = photolysis.into_iter().map(promote).collect();
    let prescribed = PreparedFrame {
        forcing: Arc::new(Forcing { flux: projected.flux, environment, inflow, photolysis }),
        winds: Arc::new([u, v, w]),
        given: Arc::new(PassThrough { pressure, geopotential, column_mass }),
    };
    Ok((prescribed, state, report))
}

/// Means of a field on the faces of the layers in their middle. Shape: (nz + 1, ny, nx) to (nz, ny, nx).
fn between_faces<R: Real>(faces: &Array3<R>) -> Array3<R> {
    let (below, above) = (faces.slice(s![..-1, .., ..]), faces.slice(s![1.., .., ..]));
    Zip::from(below).and(above).par_map_collect(|&below, &above| R::HALF * (below + above))
}

/// An input of several frames, at some time of the run.
#[derive(Debug)]
pub(super) struct Sequence<R> {
    method: Method,
    divided: Option<Arc<DividedGrid>>,
    series: Arc<dyn FrameSource>,
    /// Number of the frame before the present time.
    number: usize,
    before: PreparedFrame<R>,
    /// The frame after the present time; `None` beyond the last.
    after: Option<PreparedFrame<R>>,
    /// The frame after that, where the run needs it, on its way.
    ahead: Option<PrefetchedFrame>,
    /// Number of the last frame that the run needs.
    last: usize,
    has_warned: bool,
}

/// A time so little after a frame is that of the frame, s: what rounding makes of a sum of steps.
const SLACK: f64 = 1e-3;

impl<R: RunPrecision> Sequence<R> {
    /// Starts at the first frame, for a run of so many seconds from there.
    pub(super) fn new(
        (method, divided): (Method, Option<Arc<DividedGrid>>),
        series: Arc<dyn FrameSource>,
        first: PreparedFrame<R>,
        second: Option<PreparedFrame<R>>,
        seconds: f64,
    ) -> Self {
        let (number, last) = (series.first(), series.reaching(seconds));
        let (before, after, ahead, has_warned) = (first, second, None, false);
        Self { method, divided, series, number, before, after, ahead, last, has_warned }
    }

    /// Number of the frame before the present time.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// Winds, air and boundary values of a step from `start` to `end`, s since the first frame.
    ///
    /// The horizontal fluxes are those of the middle of the step, the vertical ones follow from
    /// continuity; as the mass of the air is the same in all frames, they are at most what the
    /// stronger of the two frames has, and so is the sum of what leaves a cell. The air and the
    /// boundary values are those of the end, when they are used. Where a frame lies between middle
    /// and end they are that frame's.
    pub(super) fn drive(
        &mut self,
        domain: &Domain,
        [start, end]: [f64; 2],
    ) -> Result<TimeInterpolant<R>> {
        let middle = 0.5 * (start + end);
        self.move_to(domain, middle)?;
        Ok(self.moment(middle, end))
    }

    /// Air of an output at a time; sets the winds and the fields that pass through to it.
    ///
    /// The column mass is left alone: the run keeps that of the first frame.
    pub(super) fn show(
        &mut self,
        domain: &Domain,
        seconds: f64,
        winds: &mut [Array3<R>; 3],
        given: &mut PassThrough,
    ) -> Result<TimeInterpolant<R>> {
        self.move_to(domain, seconds)?;
        let weight = self.weight(seconds);
        let a = &self.before;
        let b = self.after.as_ref().unwrap_or(a);
        for ((out, a), b) in winds.iter_mut().zip(&*a.winds).zip(&*b.winds) {
            blend(out, a, b, weight);
        }
        for part in 0..2 {
            let [a, b] = [&a.given, &b.given];
            blend(&mut given.pressure[part], &a.pressure[part], &b.pressure[part], weight);
            let [a, b] = [&a.geopotential[part], &b.geopotential[part]];
            blend(&mut given.geopotential[part], a, b, weight);
        }
        Ok(self.moment(seconds, seconds))
    }

    /// The frame before the present time.
    pub(super) fn before(&self) -> &Arc<Forcing<R>> {
        &self.before.forcing
    }

    /// Goes back to the first frame.
    pub(super) fn rewind(&mut self, domain: &Domain) -> Result<()> {
        let first = self.series.first();
        if self.number > first {
            self.ahead = None;
            self.after = None;
            self.before = self.prepared(domain, first)?;
            self.after = Some(self.prepared(domain, first + 1)?);
            self.number = first;
        }
        Ok(())
    }

    fn moment(&self, fluxes: f64, air: f64) -> TimeInterpolant<R> {
        TimeInterpolant {
            number: self.number,
            before: Arc::clone(&self.before.forcing),
            after: self.after.as_ref().map(|after| Arc::clone(&after.forcing)),
            flux_weight: self.weight(fluxes),
            air_weight: self.weight(air),
            seconds: air,
            times: self.times(),
        }
    }

    /// Reads on until `seconds` lies between the two frames, or beyond the last.
    fn move_to(&mut self, domain: &Domain, seconds: f64) -> Result<()> {
        while self.after.is_some() && seconds > self.series.seconds(self.number + 1) + SLACK {
            // The frame that is left goes before the next one comes: two at a time.
            if let Some(reached) = self.after.take() {
                self.before = reached;
            }
            self.number += 1;
            let next = self.number + 1;
            if next < self.series.len() {
                let read = self.ahead.take().and_then(|ahead| ahead.take(next));
                let frame = read.unwrap_or_else(|| self.series.frame(next, domain))?;
                self.after =
                    Some(prepare((domain, self.divided.as_deref()), frame, &self.method)?.0);
            }
        }
        let coming = self.number + 2;
        if self.ahead.is_none() && coming <= self.last {
            self.ahead = PrefetchedFrame::begin(&self.series, coming, domain);
        }
        if self.after.is_none() && !self.has_warned {
            warn!(
                "the input ends at {}; its last winds and boundary values are used from then on",
                self.series.time(self.number)
            );
            self.has_warned = true;
        }
        Ok(())
    }

    fn prepared(&self, domain: &Domain, number: usize) -> Result<PreparedFrame<R>> {
        let frame = self.series.frame(number, domain)?;
        Ok(prepare((domain, self.divided.as_deref()), frame, &self.method)?.0)
    }

    /// Interpolation weight of a time between the frame before and the frame after.
    fn weight(&self, seconds: f64) -> f64 {
        weight_between(self.times(), seconds)
    }

    /// Times of the frame before and of the one after; twice the same beyond the last.
    fn times(&self) -> [f64; 2] {
        let after = if self.after.is_some() { self.number + 1 } else { self.number };
        [self.number, after].map(|n| self.series.seconds(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{CaseName, CaseOptions};
    use crate::grid::{Grid, Parts, Side, Sides};
    use crate::ranks::Team;
    use crate::ranks::of_threads::on_each;

    /// A frame whose fields vary from cell to cell.
    fn rough(mut frame: Frame) -> Frame {
        let mut number = 1_u32;
        let mut noise = move || {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (number >> 8) as f32 / (1 << 24) as f32 - 0.5
        };
        for field in [&mut frame.u, &mut frame.v] {
            field.mapv_inplace(|x| x + 4.0 * noise());
        }
        frame.pressure[0].mapv_inplace(|p| p + 20.0 * noise());
        frame.state = frame.state.into_map(|mut field: Array3<f32>| {
            field.mapv_inplace(|x| x * (1.0 + 0.1 * noise()));
            field
        });
        frame
    }

    fn of_part(frame: &Frame, part: &Grid) -> Frame {
        let cells = |field: &Array3<f32>| part.cells(field);
        Frame {
            state: frame.state.map(cells),
            u: part.x_faces(&frame.u),
            v: part.y_faces(&frame.v),
            pressure: frame.pressure.each_ref().map(cells),
            geopotential: frame.geopotential.each_ref().map(cells),
            ..frame.clone()
        }
    }

    /// Every part has the fluxes, the air and the winds of the whole, and every rank its report, to the bit.
    #[test]
    fn parts_are_made_ready_as_the_whole_is() {
        let options =
            CaseOptions { nx: Some(26), ny: Some(24), nz: Some(5), ..CaseOptions::default() };
        let case = CaseName::WarmBubble.make(&options).expect("a case");
        let frame = rough(case.frame(0));
        for [x, y] in [
            [Side::Periodic, Side::Specified],
            [Side::Open, Side::Periodic],
            [Side::Periodic; 2],
            [Side::Specified; 2],
        ] {
            let sides = Sides { west: x, east: x, south: y, north: y };
            let grid = case.domain.grid.with_sides(sides);
            let domain = Domain { grid, ..case.domain.clone() };
            let method = Method::default();
            let whole = prepare::<f32>((&domain, None), frame.clone(), &method).expect("winds");
            let (all, _, report) = whole;
            for cuts in [[&[13][..], &[12][..]], [&[11, 18][..], &[][..]]] {
                let parts = Parts::new(&grid, cuts, [10; 2]);
                let made = on_each(parts.grids().len(), |ranks| {
                    let divided = DividedGrid::new(&Team::new(ranks), parts.clone());
                    let own = of_part(&frame, divided.own());
                    prepare::<f32>((&domain, Some(&divided)), own, &method).expect("winds")
                });
                for (part, (own, _, of_part)) in parts.grids().iter().zip(made) {
                    assert_eq!(format!("{of_part:?}"), format!("{report:?}"), "{sides} {cuts:?}");
                    let (a, b) = (&own.forcing, &all.forcing);
                    assert_eq!(a.flux.x, part.x_faces(&b.flux.x), "{sides} {cuts:?}");
                    assert_eq!(a.flux.y, part.y_faces(&b.flux.y), "{sides} {cuts:?}");
                    assert_eq!(a.flux.z, part.cells(&b.flux.z), "{sides} {cuts:?}");
                    for (a, b) in a.environment.fields().zip(b.environment.fields()) {
                        assert_eq!(*a, part.cells(b));
                    }
                    let owned = part.owned();
                    let w = part.cells(&all.winds[2]);
                    assert_eq!(owned.of(&own.winds[2]), owned.of(&w), "{sides} {cuts:?}");
                }
            }
        }
    }
}
