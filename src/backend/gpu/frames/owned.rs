//! The owned columns of a frame that was captured with the margin of its part.

use ndarray::s;

use crate::backend::CapturedFrame;
use crate::dry_mass::Outflow;
use crate::grid::{Grid, Window};
use crate::real::Real;

/// The owned columns of a frame, with places in the global grid; the outflow is that of the owned cells already, by their
/// places in a window of them.
pub(super) fn owned<R: Real>(grid: &Grid, frame: CapturedFrame<R>) -> CapturedFrame<R> {
    if grid.is_whole() {
        return frame;
    }
    let CapturedFrame { state, diagnostics, surface, mut summary } = frame;
    let owned = grid.owned();
    let Window { rows, columns } = owned.clone();
    let contents = summary.contents.slice(s![.., rows, columns]);
    summary.contents = contents.as_standard_layout().into_owned();
    let Outflow { rate, cell: [k, j, i] } = summary.outflow;
    let [j, i] = grid.global_column([owned.rows.start + j, owned.columns.start + i]);
    summary.outflow = Outflow { rate, cell: [k, j, i] };
    CapturedFrame {
        state: state.within(&owned),
        diagnostics: diagnostics.within(&owned),
        surface: surface.within(&owned),
        summary,
    }
}
