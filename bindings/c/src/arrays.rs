//! Arrays of a host as views.

use ndarray::{ArrayView3, ArrayViewMut2, ArrayViewMut3};
use nwp_mini::error::Result;
use nwp_mini_host::strided::{self, Side, check_distinct};

use crate::call::refused;

/// Columns in arrays of a host: their numbers, and elements between neighbours. (i,k,j), (k,j,i) and (j,i,k), tiles and
/// halos differ in these numbers only. The pointer to a field is that to its lowest cell of the first column, k = 0
/// being the ground; strides may be negative.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Columns of a row.
    pub ni: i64,
    /// Rows.
    pub nj: i64,
    /// Levels.
    pub nk: i64,
    /// Elements of a field from column to column.
    pub stride_i: i64,
    /// Elements of a field from row to row.
    pub stride_j: i64,
    /// Elements of a field from a level to the one above.
    pub stride_k: i64,
    /// Elements of a plane at the ground from column to column.
    pub plane_i: i64,
    /// Elements of a plane at the ground from row to row.
    pub plane_j: i64,
}

/// Shape and strides that were checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// Levels, rows, columns of a row.
    field: [Side; 3],
    /// Rows, columns of a row.
    plane: [Side; 2],
}

impl Block {
    /// Checks numbers and strides: all cells are different elements of memory.
    pub(crate) fn places(&self, bytes: usize) -> Result<Places> {
        let Self { ni, nj, nk, stride_i, stride_j, stride_k, plane_i, plane_j } = *self;
        let count = |name: &str, value: i64| {
            usize::try_from(value)
                .map_err(|_| refused(format!("block: {name} is {value}; 0 or more is needed")))
        };
        let (columns, rows, levels) = (count("ni", ni)?, count("nj", nj)?, count("nk", nk)?);
        let field = [(levels, stride_k), (rows, stride_j), (columns, stride_i)];
        let plane = [(rows, plane_j), (columns, plane_i)];
        if rows * columns > 0 {
            let of_block = |text| refused(format!("block: {text}"));
            check_distinct(&field, ["stride_k", "stride_j", "stride_i"], bytes)
                .map_err(of_block)?;
            check_distinct(&plane, ["plane_j", "plane_i"], bytes).map_err(of_block)?;
        }
        Ok(Places { field, plane })
    }
}

impl Places {
    /// Levels, rows, and columns of a row.
    pub(crate) fn dim(&self) -> [usize; 3] {
        self.field.map(|(count, _)| count)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.plane.iter().any(|(count, _)| *count == 0)
    }

    /// A field to be read.
    ///
    /// # Safety
    ///
    /// As [`Places::field_mut`], without changes while the view lives.
    pub(crate) unsafe fn field<'a, T>(&self, pointer: *const T) -> ArrayView3<'a, T> {
        // SAFETY: promised by the caller; a view for reading is made of it.
        unsafe { strided::volume(pointer.cast_mut(), &self.field).deref_into_view() }
    }

    /// A field to be read and written.
    ///
    /// # Safety
    ///
    /// All cells lie in memory that stays as long as the view, and nobody else reads or writes them meanwhile.
    pub(crate) unsafe fn field_mut<'a, T>(&self, pointer: *mut T) -> ArrayViewMut3<'a, T> {
        // SAFETY: promised by the caller.
        unsafe { strided::volume(pointer, &self.field).deref_into_view_mut() }
    }

    /// A plane to be read and written.
    ///
    /// # Safety
    ///
    /// As [`Places::field_mut`].
    pub(crate) unsafe fn plane_mut<'a, T>(&self, pointer: *mut T) -> ArrayViewMut2<'a, T> {
        // SAFETY: promised by the caller; all cells were found to be different elements.
        unsafe { strided::plane(pointer, &self.plane).deref_into_view_mut() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: Block = Block {
        ni: 3,
        nj: 2,
        nk: 4,
        stride_i: 1,
        stride_j: 20,
        stride_k: 5,
        plane_i: 1,
        plane_j: 5,
    };

    #[test]
    fn views_are_the_cells_of_the_host() {
        let mut memory: Vec<f32> = (0..40).map(|n| n as f32).collect();
        let places = BLOCK.places(4).unwrap();
        // SAFETY: all cells lie inside the vector.
        let view = unsafe { places.field_mut(memory.as_mut_ptr()) };
        assert_eq!(view.dim(), (4, 2, 3));
        for ((k, j, i), value) in view.indexed_iter() {
            assert_eq!(*value, (i + 20 * j + 5 * k) as f32);
        }
        // From the top down.
        let down = Block { stride_k: -5, ..BLOCK }.places(4).unwrap();
        // SAFETY: as above, the lowest level is behind the others.
        let view = unsafe { down.field(memory.as_ptr().add(15)) };
        for ((k, j, i), value) in view.indexed_iter() {
            assert_eq!(*value, (i + 20 * j + 15 - 5 * k) as f32);
        }
    }

    #[test]
    fn cells_that_share_memory_are_refused() {
        let refused = |block: Block| block.places(4).unwrap_err().to_string();
        assert!(refused(Block { ni: -1, ..BLOCK }).contains("ni is -1"));
        assert!(refused(Block { stride_k: 2, ..BLOCK }).contains("stride_k is 2"));
        assert!(refused(Block { stride_i: 0, ..BLOCK }).contains("stride_i is 0"));
        assert!(refused(Block { plane_j: 2, ..BLOCK }).contains("plane_j is 2"));
        assert!(refused(Block { stride_j: i64::MAX, ..BLOCK }).contains("more than memory"));
        assert!(Block { ni: 0, stride_k: 0, ..BLOCK }.places(4).unwrap().is_empty());
        // A stride that is not used may be anything.
        assert!(Block { nj: 1, stride_j: 0, plane_j: 0, ..BLOCK }.places(4).is_ok());
    }
}
