//! The margins of a part of a grid, refreshed by messages of the ranks that own their cells.

use std::sync::Arc;

use crate::backend::Neighbours;
use crate::error::Result;
use crate::grid::{Parts, Piece};
use crate::ranks::packing::{bytes, pack, unpack};
use crate::ranks::{Ranks, Received, Sent};
use crate::real::Real;
use crate::state::State;

/// Columns that a rank has in common with another one: one message each way a step.
#[derive(Debug)]
struct Peer {
    rank: usize,
    /// Pieces of the margin of that rank, by their places there.
    theirs: Vec<Piece>,
    /// Pieces of the own margin.
    mine: Vec<Piece>,
    sent: Vec<u8>,
    received: Vec<u8>,
}

/// Neighbours on other ranks.
#[derive(Debug)]
pub(super) struct RemoteNeighbours {
    ranks: Arc<dyn Ranks>,
    peers: Vec<Peer>,
    /// Pieces that this rank itself owns, on an axis that its margin goes around.
    own: Vec<Piece>,
}

impl RemoteNeighbours {
    /// The neighbours of the part that has the number of this rank.
    pub(super) fn new(ranks: &Arc<dyn Ranks>, parts: &Parts) -> Self {
        let own_rank = ranks.rank();
        let of = |part: usize, from: usize| {
            let pieces = parts.pieces(part).into_iter();
            pieces.filter(|piece| piece.from == from).collect::<Vec<_>>()
        };
        let peers = (0..ranks.size()).filter(|rank| *rank != own_rank).map(|rank| Peer {
            rank,
            theirs: of(rank, own_rank),
            mine: of(own_rank, rank),
            sent: Vec::new(),
            received: Vec::new(),
        });
        let is_peer = |peer: &Peer| !(peer.theirs.is_empty() && peer.mine.is_empty());
        Self {
            ranks: Arc::clone(ranks),
            peers: peers.filter(is_peer).collect(),
            own: of(own_rank, own_rank),
        }
    }
}

impl<R: Real> Neighbours<R> for RemoteNeighbours {
    fn refresh(&mut self, state: &mut State<R>) -> Result<()> {
        let Self { ranks, peers, own } = self;
        for Peer { theirs, mine, sent, received, .. } in peers.iter_mut() {
            sent.clear();
            for field in state.fields() {
                for piece in theirs.iter() {
                    pack(piece.source.of(field), sent);
                }
            }
            let levels = state.theta().dim().0;
            let cells: usize = mine.iter().map(|piece| piece.target.shape(levels).cells()).sum();
            received.resize(bytes::<R>(cells * state.fields().len()), 0);
        }
        let (mut sends, mut receives): (Vec<Sent<'_>>, Vec<Received<'_>>) = (vec![], vec![]);
        for Peer { rank, sent, received, .. } in peers.iter_mut() {
            sends.push((*rank, sent));
            receives.push((*rank, received));
        }
        ranks.exchange(&sends, &mut receives);
        for Peer { mine, received, .. } in peers.iter() {
            let mut rest = &received[..];
            for field in state.fields_mut() {
                for piece in mine {
                    rest = unpack(rest, piece.target.of_mut(field));
                }
            }
        }
        for field in state.fields_mut() {
            for piece in own.iter() {
                let cells = piece.source.of(field).to_owned();
                piece.target.of_mut(field).assign(&cells);
            }
        }
        Ok(())
    }
}
