//! Arrays of a host as views: any strides, negative ones included.

use ndarray::{Axis, Dimension, Ix2, Ix3, RawArrayViewMut, ShapeBuilder};

/// An axis: its length, and elements from one to the next.
pub type Side = (usize, i64);

/// Fails if two cells share an element, or memory cannot hold all of them. `names` are those of the strides, `bytes` the
/// size of an element.
///
/// # Errors
///
/// The stride that is wrong, in words.
pub fn check_distinct<const N: usize>(
    sides: &[Side; N],
    names: [&str; N],
    bytes: usize,
) -> Result<(), String> {
    let mut long: [(u64, usize, &str); N] =
        std::array::from_fn(|at| (sides[at].1.unsigned_abs(), sides[at].0, names[at]));
    long.sort_unstable();
    // Elements that the shorter strides reach, the first one included.
    let mut reach: u64 = 1;
    for (stride, count, name) in long.into_iter().filter(|(_, count, _)| *count > 1) {
        if stride < reach {
            return Err(format!(
                "{name} is {stride}, but the axes inside it take {reach} elements; cells would share memory"
            ));
        }
        let more = stride.checked_mul(count as u64 - 1).and_then(|more| reach.checked_add(more));
        let most = isize::MAX as u64 / bytes as u64;
        reach = more
            .filter(|reach| *reach <= most)
            .ok_or_else(|| format!("{count} times {name} = {stride} is more than memory holds"))?;
    }
    Ok(())
}

/// A field of levels, rows and columns, from the pointer to its first cell.
///
/// # Safety
///
/// All cells lie in one piece of memory that stays as long as the view.
pub unsafe fn volume<T>(pointer: *mut T, sides: &[Side; 3]) -> RawArrayViewMut<T, Ix3> {
    let (lowest, [(nk, k), (nj, j), (ni, i)]) = spread(sides);
    // SAFETY: promised by the caller; strides are positive.
    let view = unsafe {
        RawArrayViewMut::from_shape_ptr((nk, nj, ni).strides((k, j, i)), pointer.offset(lowest))
    };
    turned(view, sides)
}

/// A plane of rows and columns, likewise.
///
/// # Safety
///
/// As [`volume`].
pub unsafe fn plane<T>(pointer: *mut T, sides: &[Side; 2]) -> RawArrayViewMut<T, Ix2> {
    let (lowest, [(nj, j), (ni, i)]) = spread(sides);
    // SAFETY: as above.
    let view = unsafe {
        RawArrayViewMut::from_shape_ptr((nj, ni).strides((j, i)), pointer.offset(lowest))
    };
    turned(view, sides)
}

/// The view with the axes turned whose strides are negative.
fn turned<T, D: Dimension>(
    mut view: RawArrayViewMut<T, D>,
    sides: &[Side],
) -> RawArrayViewMut<T, D> {
    for (axis, (count, stride)) in sides.iter().enumerate() {
        if *stride < 0 && *count > 1 {
            view.invert_axis(Axis(axis));
        }
    }
    view
}

/// Elements from the first cell to that with the lowest address, and lengths and strides from there. An axis of a single
/// cell has stride 1, whatever the host says.
fn spread<const N: usize>(sides: &[Side; N]) -> (isize, [(usize, usize); N]) {
    let back = sides.iter().filter(|(_, stride)| *stride < 0);
    let lowest = back.map(|(count, stride)| *stride as isize * (*count as isize - 1).max(0)).sum();
    let shape = sides
        .map(|(count, stride)| (count, if count > 1 { stride.unsigned_abs() as usize } else { 1 }));
    (lowest, shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_share_memory_are_found() {
        let check = |sides| check_distinct(&sides, ["k", "j", "i"], 4);
        assert_eq!(check([(4, 5), (2, 20), (3, 1)]), Ok(()));
        assert_eq!(check([(4, -5), (2, 20), (3, 1)]), Ok(()));
        assert!(check([(4, 2), (2, 20), (3, 1)]).unwrap_err().starts_with("k is 2"));
        assert!(check([(4, 5), (2, 20), (3, 0)]).unwrap_err().starts_with("i is 0"));
        assert!(check([(4, 5), (2, i64::MAX), (3, 1)]).unwrap_err().contains("more than memory"));
        // A stride that is not used may be anything.
        assert_eq!(check([(4, 5), (1, 0), (3, 1)]), Ok(()));
    }
}
