//! Diagnostics of a frame of output: extrema, means, the Courant number, the water budget.

use ndarray::Array3;
use serde::Serialize;

use super::budget::Water;
use crate::backend::Summary;
use crate::constituents::Constituents;
use crate::grid::Shape;
use crate::primitives::reduce::{Extrema, Statistics};
use crate::real::Real;

/// Diagnostics of one frame.
#[derive(Clone, Debug, Serialize)]
pub struct FrameFigures {
    /// Time since the start of the run, s.
    pub seconds: f64,
    /// The largest Courant number: the fraction of a cell's air that leaves it in a time step.
    pub courant: Located,
    /// The fields of the state.
    pub fields: Vec<FieldFigures>,
    /// Column content of each species of water.
    pub contents: Vec<ContentFigures>,
    /// The water budget from the start to this frame.
    pub water: Water,
}

/// A value, in the units of its field, and its first position.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Located {
    /// The value.
    pub value: f64,
    /// Its cell, (k, j, i).
    pub at: [usize; 3],
}

/// Statistics of a field, in the units of the tracer.
#[derive(Clone, Debug, Serialize)]
pub struct FieldFigures {
    /// Its name.
    pub name: &'static str,
    /// The smallest value.
    pub min: Located,
    /// The largest value.
    pub max: Located,
    /// The mean of all cells.
    pub mean: f64,
    /// The root mean square of all cells.
    pub rms: f64,
    /// Statistics of each level, from the ground up.
    pub profile: LevelStatistics,
}

/// Statistics of the levels of a field, from the ground up, in its units. Length of each: nz.
#[derive(Clone, Debug, Serialize)]
pub struct LevelStatistics {
    /// Means.
    pub mean: Vec<f64>,
    /// Root mean squares.
    pub rms: Vec<f64>,
    /// Smallest values.
    pub min: Vec<f64>,
    /// Largest values.
    pub max: Vec<f64>,
}

/// Statistics of the column content of a species of water, kg m⁻².
#[derive(Clone, Debug, Serialize)]
pub struct ContentFigures {
    /// Name of the species.
    pub name: &'static str,
    /// The mean of all columns.
    pub mean: f64,
    /// The largest.
    pub max: f64,
    /// Position of the maximum, (j, i).
    pub max_at: [usize; 2],
}

impl FrameFigures {
    /// Diagnostics from the summary of a frame. `set` are the tracers, `seconds` the time since the start, `dt` the
    /// time step, s, and `start` the water at the start, kg.
    pub fn new<R: Real>(
        summary: &Summary<R>,
        set: &Constituents,
        shape: Shape,
        seconds: f64,
        dt: f64,
        start: f64,
    ) -> Self {
        let names = set.iter().map(|tracer| tracer.name);
        let fields = names.clone().zip(summary.levels.chunks(shape.nz));
        let contents = names.skip(set.water().start).zip(summary.contents.outer_iter());
        Self {
            seconds,
            courant: Located {
                value: f64::from(summary.outflow.rate) * dt,
                at: summary.outflow.cell,
            },
            fields: fields.map(|(name, levels)| FieldFigures::new(name, levels, shape)).collect(),
            contents: contents
                .map(|(name, plane)| {
                    let sum: f64 = plane.iter().map(|x| x.f64()).sum();
                    let first = ([0, 0], R::ZERO);
                    let (max_at, max) = plane.indexed_iter().fold(first, |most, ((j, i), &x)| {
                        if x > most.1 { ([j, i], x) } else { most }
                    });
                    let mean = sum / shape.columns() as f64;
                    ContentFigures { name, mean, max: max.f64(), max_at }
                })
                .collect(),
            water: Water::closed(start, &summary.changes, summary.water),
        }
    }

    /// Mean and root mean square of the levels. Shape: (field, 2, nz).
    pub fn profiles(&self) -> Array3<f64> {
        let nz = self.fields.first().map_or(0, |field| field.profile.mean.len());
        let values = self.fields.iter().flat_map(|field| {
            let LevelStatistics { mean, rms, .. } = &field.profile;
            [mean, rms].into_iter().flatten().copied()
        });
        Array3::from_shape_vec((self.fields.len(), 2, nz), values.collect())
            .expect("as many levels in every profile")
    }
}

impl FieldFigures {
    fn new<R: Real>(name: &'static str, levels: &[Statistics<R>], shape: Shape) -> Self {
        let columns = shape.columns();
        let nan = Located { value: f64::NAN, at: [0; 3] };
        let place = |k: usize, value: R, at: usize| Located {
            value: value.f64(),
            at: [k, at / shape.nx, at % shape.nx],
        };
        let extrema: Vec<[Located; 2]> = levels
            .iter()
            .enumerate()
            .map(|(k, level)| {
                level.extrema.map_or([nan; 2], |Extrema { min, min_at, max, max_at }| {
                    [place(k, min, min_at), place(k, max, max_at)]
                })
            })
            .collect();
        let smaller = |a: Located, b: Located| if b.value < a.value { b } else { a };
        let larger = |a: Located, b: Located| if b.value > a.value { b } else { a };
        let mean = |sum: f64, count: usize| sum / count as f64;
        let all = |part: fn(&Statistics<R>) -> f64| {
            mean(levels.iter().map(part).sum(), columns * levels.len())
        };
        Self {
            name,
            min: extrema.iter().map(|&[min, _]| min).reduce(smaller).unwrap_or(nan),
            max: extrema.iter().map(|&[_, max]| max).reduce(larger).unwrap_or(nan),
            mean: all(|level| level.sum),
            rms: all(|level| level.squares).sqrt(),
            profile: LevelStatistics {
                mean: levels.iter().map(|level| mean(level.sum, columns)).collect(),
                rms: levels.iter().map(|level| mean(level.squares, columns).sqrt()).collect(),
                min: extrema.iter().map(|[min, _]| min.value).collect(),
                max: extrema.iter().map(|[_, max]| max.value).collect(),
            },
        }
    }
}
