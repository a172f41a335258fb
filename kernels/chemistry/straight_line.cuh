// One or several threads for each cell, with the reactions, the factorisation and the solution as straight-line code:
// the text before this file contains `straight_tendencies`, `straight_derivatives`, `straight_factors` and
// `straight_solution` (src/chemistry/gpu/straight_line/), with constant addresses.
#pragma once
#include "chemistry/block_memory.cuh"

// A species in an unrolled loop: `half` is half the number of the first species of an iteration, an even number, and
// `behind` the offset of the species, a compile-time constant.
struct SpeciesIndex {
    int half, behind;
};

// One number for each species of a cell, in pairs: the two of a cell are adjacent, followed by those of the other
// cells.
struct Column {
    double* first;
    __device__ double& operator[](SpeciesIndex place) const
    {
        return first[place.half * (2 * CELLS) + place.behind / 2 * (2 * CELLS) + place.behind % 2];
    }
    __device__ double& operator[](int species) const { return (*this)[SpeciesIndex{species / 2, species % 2}]; }
};

// Arrays of a thread's cell for loops.
struct CellArrays {
    Column concentrations;   // variable species, fixed ones, and a 1; right side and solution take their place
    double* rates;           // rate constants
    double* scratch;         // the block's part of the scratch in global memory
    int cell;
};

struct Owned {
    Column y;         // at the beginning of the step
    Column f;         // dy/dt of the latest stage
    Column drift;     // its derivative with respect to time
    Column k[STAGES];
};

template <bool IS_SHARED>
__device__ inline Column column_of(double* scratch, int place, int cell)
{
    return {array_of<double, IS_SHARED>(scratch, place, 2 * cell)};
}

__device__ inline CellArrays arrays_of(double* all_scratch, int cell)
{
    double* scratch = scratch_of_block(all_scratch);
    const Column concentrations = column_of<CONCENTRATIONS_SHARED>(scratch, CONCENTRATIONS_AT, cell);
    return {concentrations, scratch + RATES_AT + cell, scratch, cell};
}

__device__ inline Owned owned_of(const CellArrays& arrays)
{
    const auto [concentrations, rates, scratch, cell] = arrays;
    Owned own = {column_of<Y_SHARED>(scratch, Y_AT, cell), column_of<F_SHARED>(scratch, F_AT, cell),
                 column_of<false>(scratch, DRIFT_AT, cell), {}};
    straight_stages(cell, scratch, own.k);
    return own;
}

// The concentration and the x of a species, by its position in a loop.
template <class Place>
__device__ inline double& concentration_at(const CellArrays& arrays, Place place, int)
{
    return arrays.concentrations[place];
}
template <class Place>
__device__ inline double& x_at(const CellArrays& arrays, Place place, int) { return arrays.concentrations[place]; }

// Passes a value for each of a worker's species to `give`. BATCH values are computed before the first is passed on,
// so that reads for one species do not wait for writes of another. Arrays are padded behind the last species.
template <class Value, class Give>
__device__ inline void set_owned(int worker, Value value, Give give)
{
#pragma unroll 1
    for (int half = worker * (SHARE / 2); half < (worker + 1) * (SHARE / 2); half += BATCH / 2) {
        double values[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; ++i) values[i] = value(SpeciesIndex{half, i}, 2 * half + i);
#pragma unroll
        for (int i = 0; i < BATCH; ++i) give(SpeciesIndex{half, i}, 2 * half + i, values[i]);
    }
}

// dy/dt at the current concentrations, once all workers have written them. The worker that computes dy/dt of a species
// need not be the one that has the species in loops.
__device__ inline void tendencies(const CellArrays& arrays, Owned&, int worker)
{
    straight_tendencies(arrays.cell, arrays.scratch, worker);
    WAIT_FOR_WORKERS();
}

__device__ inline void differentiate(const CellArrays& arrays, int worker)
{
    straight_derivatives(arrays.cell, arrays.scratch, worker);
}

__device__ inline bool factorise(const CellArrays& arrays, int worker, double diagonal)
{
    return straight_factors(arrays.cell, arrays.scratch, worker, diagonal);
}

__device__ inline void solve(const CellArrays& arrays, int worker)
{
    straight_solution(arrays.cell, arrays.scratch, worker);
}

// The ratio of the error of a species to its tolerance.
__device__ inline double ratio_at(const CellArrays& arrays, int first, int i)
{
    return arrays.concentrations[SpeciesIndex{first / 2, i}];
}
