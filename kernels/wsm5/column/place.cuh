// Columns in the fields.
#pragma once

// The row of a column, counted from the first to work on; `number` is that of the column among those that threads are
// given.
__device__ inline int row_of(const CloudArgs& a, int number)
{
    // A product instead of a quotient: see `reciprocal` in src/gpu/wsm5.rs.
    return __umulhi(2u * number, a.row_factor) >> a.row_shift;
}

// Where a column lies in a level of the fields.
__device__ inline int place_of(const CloudArgs& a, int number)
{
    return a.first + row_of(a, number) * (a.nx - a.width) + number;
}

// Whether a column is one to work on, and not one beside them that makes up a whole sector.
__device__ inline bool has_work(const CloudArgs& a, int number)
{
    const int column = number - row_of(a, number) * a.width;
    return unsigned(column - a.before) < unsigned(a.own);
}
