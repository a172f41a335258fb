// Memory layout of a row: FIRST places without a cell, its cells, and the rest of FILL such places. Kernels store 0
// there, and their contents are never used. See src/grid/gpu.rs.
#pragma once

// Places of a row.
__device__ inline int pitch(const TransportArgs& args) { return nx_of(args) + FILL; }

// The first place behind the cells of a row.
__device__ inline int end_of_cells(const TransportArgs& args) { return FIRST + nx_of(args); }

// Places that a row of x-faces has more than one of cells.
__device__ inline int more_faces() { return WIDE ? CELLS : 1; }

// Which of the cells of a thread at the western end of a row is the first that there is, and the second; and at
// the eastern end the last, and the one before it.
__device__ inline int first_cell() { return FIRST; }
__device__ inline int second_cell() { return min(FIRST + 1, CELLS - 1); }
__device__ inline int last_cell() { return CELLS - 1 - (FILL - FIRST); }
__device__ inline int last_but_one() { return max(last_cell() - 1, 0); }
