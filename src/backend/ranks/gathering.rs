//! Fields of the whole grid, gathered on the first rank from the windows that the ranks own.

use ndarray::{Array2, Array3, Axis};

use crate::grid::{Grid, Shape, Window};
use crate::ranks::packing::{bytes, pack, unpack};
use crate::ranks::{Ranks, Received};
use crate::real::Real;

/// Columns of the grid by the rank that has them.
#[derive(Clone, Debug)]
pub(super) struct Gathering {
    /// Columns and rows of the whole.
    columns: [usize; 2],
    /// The columns of each rank, in the numbers of the whole; `None` where it has nothing to give.
    windows: Vec<Option<Window>>,
}

impl Gathering {
    /// All columns of a grid, from one of so many ranks.
    pub(super) fn of_one(grid: &Grid, owner: usize, ranks: usize) -> Self {
        let Shape { nx, ny, .. } = grid.shape;
        let whole = Window { rows: 0..ny, columns: 0..nx };
        let windows = (0..ranks).map(|rank| (rank == owner).then(|| whole.clone()));
        Self { columns: [nx, ny], windows: windows.collect() }
    }

    /// A field of so many levels on the first rank, of the columns of this rank, which has none where it has nothing to
    /// give; a field without columns on the others.
    pub(super) fn volume<R: Real>(
        &self,
        ranks: &dyn Ranks,
        levels: usize,
        mine: Option<&Array3<R>>,
    ) -> Array3<R> {
        if ranks.rank() > 0 {
            if let Some(mine) = mine {
                let mut message = Vec::with_capacity(bytes::<R>(mine.len()));
                pack(mine, &mut message);
                ranks.exchange(&[(0, &message)], &mut []);
            }
            return Array3::zeros((levels, 0, 0));
        }
        let [nx, ny] = self.columns;
        let mut whole = Array3::zeros((levels, ny, nx));
        if let (Some(window), Some(mine)) = (&self.windows[0], mine) {
            window.of_mut(&mut whole).assign(mine);
        }
        let others: Vec<_> = self.windows.iter().enumerate().skip(1).collect();
        let others = others.into_iter().filter_map(|(rank, window)| Some((rank, window.as_ref()?)));
        let mut messages: Vec<_> = others
            .map(|(rank, window)| (rank, window, vec![0; bytes::<R>(window.shape(levels).cells())]))
            .collect();
        let mut received: Vec<Received<'_>> =
            messages.iter_mut().map(|(rank, _, message)| (*rank, &mut message[..])).collect();
        ranks.exchange(&[], &mut received);
        for (_, window, message) in &messages {
            unpack(message, window.of_mut(&mut whole));
        }
        whole
    }

    /// The same of a plane.
    pub(super) fn plane<R: Real>(&self, ranks: &dyn Ranks, mine: Option<&Array2<R>>) -> Array2<R> {
        let mine = mine.map(|plane| plane.clone().insert_axis(Axis(0)));
        self.volume(ranks, 1, mine.as_ref()).remove_axis(Axis(0))
    }
}
