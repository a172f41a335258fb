//! Outputs of a backend: frames, products of operators, profiles and checkpoints.

use std::sync::Arc;

use super::Summary;
use crate::primitives::csr::Csr;
use crate::state::{Checkpoint, CloudDiagnostics, State, Surface};

/// An output of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A frame of output of a member.
    Frame(usize),
    /// Products of an operator, by its index in [`SamplingRequest::operators`], with the fields and their
    /// diagnostics, level by level. No field leaves the device.
    Products(usize),
    /// All columns, each contiguous, and their totals.
    Profiles,
    /// The state and all sums after a step. It is complete when [`capture`](super::Backend::capture) returns, and does
    /// not depend on its moment.
    Checkpoint(usize),
}

/// A completed output.
#[derive(Clone, Debug)]
pub enum CollectedOutput<R> {
    /// That of [`Output::Frame`].
    Frame(Box<CapturedFrame<R>>),
    /// That of [`Output::Products`].
    Products(Products<R>),
    /// That of [`Output::Profiles`].
    Profiles(Profiles<R>),
    /// That of [`Output::Checkpoint`].
    Checkpoint(Box<Checkpoint<R>>),
}

impl<R> CollectedOutput<R> {
    /// The frame; `None` for another output.
    pub fn frame(self) -> Option<CapturedFrame<R>> {
        if let Self::Frame(frame) = self { Some(*frame) } else { None }
    }

    /// The products; `None` for another output.
    pub fn products(self) -> Option<Products<R>> {
        if let Self::Products(products) = self { Some(products) } else { None }
    }

    /// The profiles; `None` for another output.
    pub fn profiles(self) -> Option<Profiles<R>> {
        if let Self::Profiles(profiles) = self { Some(profiles) } else { None }
    }

    /// The checkpoint; `None` for another output.
    pub fn checkpoint(self) -> Option<Checkpoint<R>> {
        if let Self::Checkpoint(checkpoint) = self { Some(*checkpoint) } else { None }
    }
}

/// The part of a frame of output that a backend computes.
#[derive(Clone, Debug)]
pub struct CapturedFrame<R> {
    /// Tracers.
    pub state: State<R>,
    /// Reflectivity and effective radii.
    pub diagnostics: CloudDiagnostics<R>,
    /// Precipitation.
    pub surface: Surface<R>,
    /// Sums and extrema of the frame.
    pub summary: Summary<R>,
}

/// Outputs of a run beside frames.
#[derive(Clone, Debug, Default)]
pub struct SamplingRequest<R> {
    /// Operators, which [`Output::Products`] identifies by their indices in the list. Each maps a level of the grid,
    /// columns as `c = j nx + i`, to its target points.
    pub operators: Vec<Arc<Csr<R>>>,
    /// Weights of the cells in the totals of [`Profiles`]; `None` if they are not requested.
    /// Shape: (ny, nx, nz).
    pub weights: Option<Arc<Vec<R>>>,
}

/// Products of an operator with the fields. Units: those of the fields, where its weights have none.
#[derive(Clone, Debug, PartialEq)]
pub struct Products<R> {
    /// Of the fields of the scheme, of [`CloudDiagnostics`](crate::state::CloudDiagnostics), and of the passive tracers.
    /// Shape of each: (nz, places).
    pub volumes: Vec<Vec<R>>,
    /// Of the planes that the output has, [`Surface::shown`](crate::state::Surface::shown). Shape of each: (places).
    pub planes: Vec<Vec<R>>,
}

/// The columns of a state, each contiguous, and their totals. Units of the fields: their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Profiles<R> {
    /// The fields of the scheme, those of [`CloudDiagnostics`](crate::state::CloudDiagnostics), and the passive tracers.
    /// Shape of each: (ny, nx, nz).
    pub volumes: Vec<Vec<R>>,
    /// Sums over the levels of weight times each species of water. Shape of each: (ny, nx).
    pub totals: Vec<Vec<R>>,
    /// Largest reflectivity of each column, dBZ, if it is diagnosed. Shape: (ny, nx).
    pub strongest: Option<Vec<R>>,
}
