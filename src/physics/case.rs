//! Independent columns as data: what a scheme is called with, and what it leaves.

use ndarray::{Array2, Array3, Zip};

use super::Block;
use crate::grid::Shape;
use crate::real::Real;

/// Independent columns, and the calls to make.
#[derive(Clone, Debug)]
pub struct PhysicsCase<R> {
    /// `nx` columns in one row, `nz` levels.
    pub shape: Shape,
    /// The tracers of the scheme; the first is the full potential temperature here. Shape of each: (nz, 1, nx).
    pub tracers: Vec<Array3<R>>,
    /// The fields of the air that the scheme reads. Shape of each: (nz, 1, nx).
    pub air: Vec<Array3<R>>,
    /// The planes at the ground, all 0 at first. Shape of each: (1, nx).
    pub surface: Vec<Array2<R>>,
    /// The fields diagnosed after the last call; none before. Shape of each: (nz, 1, nx).
    pub diagnosed: Vec<Array3<R>>,
    /// Changes of the first two tracers before every call, in their units a second. Shape of each: (nz, 1, nx).
    pub tendencies: [Option<Array3<R>>; 2],
    /// Time step of a call, s.
    pub dt: Option<f64>,
    /// Number of calls.
    pub calls: Option<f64>,
}

impl<R: Real> PhysicsCase<R> {
    /// All columns.
    pub fn block(&mut self) -> Block<'_, R> {
        Block {
            theta_base: R::ZERO,
            tracers: self.tracers.iter_mut().map(|field| field.view_mut()).collect(),
            air: self.air.iter().map(|field| field.view()).collect(),
            surface: self.surface.iter_mut().map(|plane| plane.view_mut()).collect(),
            budget: None,
        }
    }

    /// Adds the prescribed tendencies of a call of `dt` seconds; they do not make vapour negative.
    pub fn force(&mut self, dt: R) {
        let [theta, qv] = &self.tendencies;
        if let Some(tendency) = theta {
            Zip::from(&mut self.tracers[0]).and(tendency).for_each(|theta, &x| *theta += dt * x);
        }
        if let Some(tendency) = qv {
            Zip::from(&mut self.tracers[1])
                .and(tendency)
                .for_each(|qv, &x| *qv = (*qv + dt * x).larger(R::ZERO));
        }
    }
}
