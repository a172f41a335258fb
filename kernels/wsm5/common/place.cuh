// Columns in the fields.
#pragma once

// The columns that threads are given: those that the kernel is made for, or else those that it is told of.
__device__ inline Region region_of(const CloudArgs& a)
{
    if (REGION_COUNT == 0) return a.region;
    return {REGION_NX,    REGION_LEVEL,  REGION_FIRST, REGION_WIDTH,
            REGION_COUNT, REGION_BEFORE, REGION_OWN,   unsigned(REGION_ROW_FACTOR),
            REGION_ROW_SHIFT};
}

// The row of a column, counted from the first to work on; `number` is that of the column among those that threads are
// given.
__device__ inline int row_of(const Region& region, int number)
{
    // A product instead of a quotient: see `reciprocal` in src/wsm5/gpu/column_map.rs.
    return __umulhi(2u * number, region.row_factor) >> region.row_shift;
}

// Offset of a column in a level of the fields.
__device__ inline int place_of(const CloudArgs& a, int number)
{
    const Region region = region_of(a);
    return region.first + row_of(region, number) * (region.nx - region.width) + number;
}

// Offset of a cell of a column in the fields.
__device__ inline int cell_of(const CloudArgs& a, int k, int place) { return k * region_of(a).level + place; }

// The fields of the state and of the air.
struct Fields {
    real *theta, *qv, *qc, *qr, *qi, *qs;
    const real *rho, *exner, *p, *dz;
};

// As the kernel is told of them; or, where it is made for a region, by how far they lie behind one another, as long as
// loads reach them all from one address, to which they add a constant of less than 8 MiB.
__device__ inline Fields fields_of(const CloudArgs& a)
{
    constexpr long long SIZE = 1ll * NZ * REGION_LEVEL, REACH = (1 << 23) / sizeof(real);
    if (SIZE == 0 || 5 * SIZE > REACH) return {a.theta, a.qv, a.qc, a.qr, a.qi, a.qs, a.rho, a.exner, a.p, a.dz};
    return {a.theta, a.qv, a.qv + SIZE, a.qv + 2 * SIZE, a.qv + 3 * SIZE, a.qv + 4 * SIZE,
            a.rho, a.rho + SIZE, a.rho + 2 * SIZE, a.rho + 3 * SIZE};
}

// True if a column is one to work on, and not one beside them that makes up a whole sector.
__device__ inline bool has_work(const CloudArgs& a, int number)
{
    const Region region = region_of(a);
    const int column = number - row_of(region, number) * region.width;
    return unsigned(column - region.before) < unsigned(region.own);
}
