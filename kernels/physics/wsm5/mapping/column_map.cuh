// Mapping of threads to columns in the fields.
#pragma once

// The columns of the threads: compile-time constants if the kernel is compiled for a region, else its arguments.
__device__ inline Region region_of(const Wsm5Args& a)
{
    if (REGION_COUNT == 0) return a.region;
    return {REGION_NX,    REGION_LEVEL,  REGION_FIRST, REGION_WIDTH,
            REGION_COUNT, REGION_BEFORE, REGION_OWN,   unsigned(REGION_ROW_FACTOR),
            REGION_ROW_SHIFT};
}

// The row of a column within the region; `number` is the index of the column among those of the threads.
__device__ inline int row_of(const Region& region, int number)
{
    // A multiplication instead of a division: see `reciprocal` in src/physics/wsm5/gpu/column_map.rs.
    return __umulhi(2u * number, region.row_factor) >> region.row_shift;
}

// Offset of a column in a level of the fields.
__device__ inline int place_of(const Wsm5Args& a, int number)
{
    const Region region = region_of(a);
    return region.first + row_of(region, number) * (region.nx - region.width) + number;
}

// Offset of a cell of a column in the fields.
__device__ inline int cell_of(const Wsm5Args& a, int k, int place) { return k * region_of(a).level + place; }

// The fields of the state and of the air.
struct Fields {
    real *theta, *qv, *qc, *qr, *qi, *qs;
    const real *rho, *exner, *p, *dz;
};

// Pointers of the fields: the arguments of the kernel; or, in a kernel for a region, constant distances from two
// pointers, if these are less than 8 MiB, the range of the constant offset of a load.
__device__ inline Fields fields_of(const Wsm5Args& a)
{
    constexpr long long SIZE = 1ll * NZ * REGION_LEVEL, MOST_ELEMENTS = (1 << 23) / sizeof(real);
    if (SIZE == 0 || 5 * SIZE > MOST_ELEMENTS)
        return {a.theta, a.qv, a.qc, a.qr, a.qi, a.qs, a.rho, a.exner, a.p, a.dz};
    return {a.theta, a.qv, a.qv + SIZE, a.qv + 2 * SIZE, a.qv + 3 * SIZE, a.qv + 4 * SIZE,
            a.rho, a.rho + SIZE, a.rho + 2 * SIZE, a.rho + 3 * SIZE};
}

// True if a column belongs to the region; false for one beside it that only completes a memory sector.
__device__ inline bool has_work(const Wsm5Args& a, int number)
{
    const Region region = region_of(a);
    const int column = number - row_of(region, number) * region.width;
    return unsigned(column - region.before) < unsigned(region.own);
}
