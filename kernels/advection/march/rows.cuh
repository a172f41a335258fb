// Memory layout of a row: FIRST elements without a cell, the cells, and FILL - FIRST more elements without a cell.
// Kernels store 0 in elements without a cell, and never use their values. See src/grid/gpu.rs.
#pragma once

// Elements of a row.
__device__ inline int pitch(const TransportArgs& args) { return nx_of(args) + FILL; }

// End of the cells of a row.
__device__ inline int end_of_cells(const TransportArgs& args) { return FIRST + nx_of(args); }

// Difference between the number of elements of a row of x-faces and of a row of cells.
__device__ inline int more_faces() { return WIDE ? CELLS : 1; }

// Indices, among the cells of a thread at the western end of a row, of the first and the second cell of the grid; and
// at the eastern end of the last and the last but one.
__device__ inline int first_cell() { return FIRST; }
__device__ inline int second_cell() { return min(FIRST + 1, CELLS - 1); }
__device__ inline int last_cell() { return CELLS - 1 - (FILL - FIRST); }
__device__ inline int last_but_one() { return max(last_cell() - 1, 0); }
