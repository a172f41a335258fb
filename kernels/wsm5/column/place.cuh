// Columns in the fields.
#pragma once

// Where a column lies in a level of the fields.
__device__ inline int place_of(const CloudArgs& a, int number)
{
    // A product instead of a quotient: see `reciprocal` in src/gpu/wsm5.rs.
    const int row = __umulhi(2u * number, a.row_factor) >> a.row_shift;
    return a.first + row * (a.nx - a.width) + number;
}
