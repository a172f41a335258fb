//! Linear interpolation in a profile.

/// Value of a profile at a height, linear between heights and constant beyond them; `heights` ascend, and there is a
/// value for each.
pub(crate) fn at_height(heights: &[f64], values: &[f64], z: f64) -> f64 {
    let above = heights.partition_point(|height| *height <= z);
    if above == 0 || above == heights.len() {
        return values[above.saturating_sub(1)];
    }
    let share = (z - heights[above - 1]) / (heights[above] - heights[above - 1]);
    values[above - 1] + share * (values[above] - values[above - 1])
}
