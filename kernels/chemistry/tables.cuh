// Arrays of a cell for kernels that follow the tables of a mechanism, with any number of workers.
#pragma once
#include "chemistry/block_memory.cuh"

// Arrays of a thread's cell.
struct CellArrays {
    double* concentrations;   // VARIABLES species, FIXED ones, and a 1
    double* x;                 // right side, then solution
    double* factors;           // LU factors of I/(h gamma) - J; inverses on the diagonal
    double* reactions;        // rates of the reactions
    double* partials;         // their derivatives
    double* rates;            // rate constants
};

// The column of a worker in the lists; idle threads share the last one, which is empty.
__device__ inline int column_of(int worker) { return worker < WORKERS ? worker : WORKERS; }
constexpr int COLUMNS = WORKERS + 1;

// An element of an array at a byte offset, as stored in the tables, so that its address takes one addition.
template <class T>
__device__ inline T& at(T* array, unsigned distance)
{
    return *reinterpret_cast<T*>(reinterpret_cast<char*>(array) + distance);
}

__device__ inline CellArrays arrays_of(double* all_scratch, int cell)
{
    double* scratch = scratch_of_block(all_scratch);
    return {
        array_of<double, CONCENTRATIONS_SHARED>(scratch, CONCENTRATIONS_AT, cell),
        array_of<double, X_SHARED>(scratch, X_AT, cell),
        array_of<double, FACTORS_SHARED>(scratch, FACTORS_AT, cell),
        array_of<double, REACTIONS_SHARED>(scratch, REACTIONS_AT, cell),
        array_of<double, PARTIALS_SHARED>(scratch, PARTIALS_AT, cell),
        array_of<double, RATES_SHARED>(scratch, RATES_AT, cell),
    };
}

// A worker's species: values that no other worker reads or writes, in registers if they are few.
struct Owned {
    double y[OWNED];         // at the beginning of the step
    double f[OWNED];         // dy/dt of the latest stage
    double drift[OWNED];     // its derivative with respect to time
    double k[STAGES][OWNED];
};

__device__ inline Owned owned_of(const CellArrays&) { return {}; }

// The concentration and the x of a species.
__device__ inline double& concentration_at(const CellArrays& arrays, int, int species)
{
    return arrays.concentrations[species * CELLS];
}
__device__ inline double& x_at(const CellArrays& arrays, int, int species) { return arrays.x[species * CELLS]; }

// Calls an action with the index of each of a worker's species, and the species.
template <class Action>
__device__ inline void for_owned(int worker, Action action)
{
#pragma unroll OWNED_UNROLLED
    for (int place = 0; place < OWNED; ++place) {
        const int species = OWNED_SPECIES[column_of(worker) * OWNED + place];
        if (species != NO_SPECIES) action(place, species);
    }
}

// Passes a value for each of a worker's species to `give`.
template <class Value, class Give>
__device__ inline void set_owned(int worker, Value value, Give give)
{
    for_owned(worker, [&](int place, int species) { give(place, species, value(place, species)); });
}

// The ratio of the error of a species to its tolerance.
__device__ inline double ratio_at(const CellArrays& arrays, int first, int i)
{
    return arrays.concentrations[(first + i) * CELLS];
}
