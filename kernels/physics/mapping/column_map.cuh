// Mapping of threads to columns in the fields. The arguments of the kernel, `Args`, have a region.
#pragma once

// The columns of the threads: compile-time constants if the kernel is compiled for a region, else its arguments.
template <class Args>
__device__ inline Region region_of(const Args& a)
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
template <class Args>
__device__ inline int place_of(const Args& a, int number)
{
    const Region region = region_of(a);
    return region.first + row_of(region, number) * (region.nx - region.width) + number;
}

// Offset of a cell of a column in the fields.
template <class Args>
__device__ inline int cell_of(const Args& a, int k, int place)
{
    return k * region_of(a).level + place;
}

// True if a column belongs to the region; false for one beside it that only completes a memory sector.
template <class Args>
__device__ inline bool has_work(const Args& a, int number)
{
    const Region region = region_of(a);
    const int column = number - row_of(region, number) * region.width;
    return unsigned(column - region.before) < unsigned(region.own);
}
