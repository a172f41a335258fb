//! The parts of a grid side by side in one process, with their states posted for each other.

pub mod storm;

use std::sync::{Arc, Mutex};

use nwp_mini::backend::Neighbours;
use nwp_mini::error::Result;
use nwp_mini::grid::{Parts, Piece};
use nwp_mini::state::State;

/// The states of all parts at the start of a step.
#[derive(Clone, Debug, Default)]
pub struct Board<R>(Arc<Mutex<Vec<State<R>>>>);

impl<R: Copy> Board<R> {
    /// Posts the states of all parts, in their order.
    pub fn post(&self, states: Vec<State<R>>) {
        *self.0.lock().expect("nobody panics with the board in hand") = states;
    }

    /// The neighbours of a part, as far as they are on the board.
    pub fn neighbours(&self, parts: &Parts, part: usize) -> Posted<R> {
        Posted { board: self.clone(), pieces: parts.pieces(part) }
    }
}

/// The pieces of a part's margin, taken from what is posted.
#[derive(Debug)]
pub struct Posted<R> {
    board: Board<R>,
    pieces: Vec<Piece>,
}

impl<R: Copy + Send + std::fmt::Debug> Neighbours<R> for Posted<R> {
    fn refresh(&mut self, state: &mut State<R>) -> Result<()> {
        let posted = self.board.0.lock().expect("nobody panics with the board in hand");
        for piece in &self.pieces {
            let owner = posted[piece.from].fields();
            for (mine, theirs) in state.fields_mut().iter_mut().zip(owner) {
                piece.copy(theirs, mine);
            }
        }
        Ok(())
    }
}
