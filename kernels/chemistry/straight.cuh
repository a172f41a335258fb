// One or several threads for a cell, with the reactions, the factorisation and the solution as straight-line code: the text before
// this file holds `straight_tendencies`, `straight_derivatives`, `straight_factors` and `straight_solution`
// (src/chemistry/gpu/straight.rs), which know the place of every number.
#pragma once
#include "chemistry/room.cuh"

// A species in a loop: some species abreast of each other, the first one of an even number. What depends on the second
// number alone is known when the kernel is compiled.
struct Abreast {
    int half, behind;
};

// Numbers of a cell, one for each species, in pairs: two of a cell stand side by side, then those of the other cells.
struct Column {
    double* first;
    __device__ double& operator[](Abreast place) const
    {
        return first[place.half * (2 * CELLS) + place.behind / 2 * (2 * CELLS) + place.behind % 2];
    }
    __device__ double& operator[](int species) const { return (*this)[Abreast{species / 2, species % 2}]; }
};

// Arrays of a thread's cell that loops go over.
struct Room {
    Column concentrations;   // variable species, then fixed ones, and a 1; right side and solution take their place
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

__device__ inline Room room_of(double* all_scratch, int cell)
{
    double* scratch = scratch_of_block(all_scratch);
    const Column concentrations = column_of<CONCENTRATIONS_SHARED>(scratch, CONCENTRATIONS_AT, cell);
    return {concentrations, scratch + RATES_AT + cell, scratch, cell};
}

__device__ inline Owned owned_of(const Room& room)
{
    const auto [concentrations, rates, scratch, cell] = room;
    Owned own = {column_of<Y_SHARED>(scratch, Y_AT, cell), column_of<F_SHARED>(scratch, F_AT, cell),
                 column_of<false>(scratch, DRIFT_AT, cell), {}};
    straight_stages(cell, scratch, own.k);
    return own;
}

// The concentration and the x of a species at some place of a loop.
template <class Place>
__device__ inline double& concentration_at(const Room& room, Place place, int)
{
    return room.concentrations[place];
}
template <class Place>
__device__ inline double& x_at(const Room& room, Place place, int) { return room.concentrations[place]; }

// Gives away a value for each of a worker's species. ABREAST of them are computed before the first is given away: what
// is read for one does not wait for what is written for another. Behind the last species there is room for some that
// are none.
template <class Value, class Give>
__device__ inline void set_owned(int worker, Value value, Give give)
{
#pragma unroll 1
    for (int half = worker * (SHARE / 2); half < (worker + 1) * (SHARE / 2); half += ABREAST / 2) {
        double values[ABREAST];
#pragma unroll
        for (int i = 0; i < ABREAST; ++i) values[i] = value(Abreast{half, i}, 2 * half + i);
#pragma unroll
        for (int i = 0; i < ABREAST; ++i) give(Abreast{half, i}, 2 * half + i, values[i]);
    }
}

// dy/dt at the present concentrations, once all workers have written them; others than those of the loops may have
// computed it.
__device__ inline void tendencies(const Room& room, Owned&, int worker)
{
    straight_tendencies(room.cell, room.scratch, worker);
    wait_for_workers();
}

__device__ inline void differentiate(const Room& room, int worker)
{
    straight_derivatives(room.cell, room.scratch, worker);
}

__device__ inline bool factorise(const Room& room, int worker, double diagonal)
{
    return straight_factors(room.cell, room.scratch, worker, diagonal);
}

__device__ inline void solve(const Room& room, int worker) { straight_solution(room.cell, room.scratch, worker); }

// The ratio of the error of a species to its tolerance.
__device__ inline double ratio_at(const Room& room, int first, int i) { return room.concentrations[Abreast{first / 2, i}]; }
