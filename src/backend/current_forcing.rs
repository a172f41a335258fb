//! The forcing of the present step on the CPU.

use std::sync::Arc;

use crate::forcing::Forcing;

/// Winds, air and sides that drive the steps at present.
#[derive(Debug)]
pub(super) enum CurrentForcing<R> {
    /// A frame of the input as it is, shared.
    Frame(Arc<Forcing<R>>),
    /// One that lies between two frames, made here.
    ForcingInterpolator(Box<Forcing<R>>),
}

impl<R: Clone> CurrentForcing<R> {
    pub(super) fn get(&self) -> &Forcing<R> {
        match self {
            Self::Frame(frame) => frame,
            Self::ForcingInterpolator(made) => made,
        }
    }

    /// The buffer for what lies between frames.
    pub(super) fn between(&mut self) -> &mut Forcing<R> {
        if let Self::Frame(frame) = self {
            let Forcing { flux, environment, inflow, .. } = &**frame;
            *self = Self::ForcingInterpolator(Box::new(Forcing {
                flux: flux.clone(),
                environment: environment.clone(),
                inflow: inflow.clone(),
                // The light between two frames is interpolated when the chemistry is due.
                photolysis: Vec::new(),
            }));
        }
        match self {
            Self::ForcingInterpolator(made) => made,
            Self::Frame(_) => unreachable!("replaced above"),
        }
    }
}
