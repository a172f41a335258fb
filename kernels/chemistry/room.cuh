// Arrays of a block. A block has CELLS cells and WORKERS threads for each of them; the values of
// all its cells lie side by side, so that the threads of a warp, which have one cell each, reach them together.
//
// Threads come in rows of LANES, a power of two; those beyond the last cell are idle: they have a number of a worker
// that has nothing to do, and wait with the others.
#pragma once

// As large as the launch says.
extern __shared__ double shared_room[];

// Arrays of a thread's cell: element i stands at [i * CELLS].
struct Room {
    double* concentrations;   // VARIABLES species, FIXED ones, and a 1
    Entry* x;                 // right side, then solution
    Entry* factors;           // of I/(h gamma) - J; inverses on the diagonal
    double* reactions;        // rates of the reactions
    double* partials;         // their derivatives
    double* rates;            // rate constants
};

// The column of a worker in the lists; idle threads share the last one, which is empty.
__device__ inline int column_of(int worker) { return worker < WORKERS ? worker : WORKERS; }
constexpr int COLUMNS = WORKERS + 1;

// An element of an array at a distance in bytes, which the tables have, so that an addition gives its address.
template <class T>
__device__ inline T& at(T* array, unsigned distance)
{
    return *reinterpret_cast<T*>(reinterpret_cast<char*>(array) + distance);
}

// The beginning of an array for a cell: in shared memory, or in the block's part of the scratch in global memory.
template <class T, bool IS_SHARED>
__device__ inline T* array_of(double* scratch, int place, int cell)
{
    if constexpr (IS_SHARED) return reinterpret_cast<T*>(shared_room + place) + cell;
    else return reinterpret_cast<T*>(scratch + place) + cell;
}

__device__ inline Room room_of(double* all_scratch, int cell)
{
    double* scratch = all_scratch + static_cast<long long>(blockIdx.x) * SCRATCH_DOUBLES;
    return {
        array_of<double, CONCENTRATIONS_SHARED>(scratch, CONCENTRATIONS_AT, cell),
        array_of<Entry, X_SHARED>(scratch, X_AT, cell),
        array_of<Entry, FACTORS_SHARED>(scratch, FACTORS_AT, cell),
        array_of<double, REACTIONS_SHARED>(scratch, REACTIONS_AT, cell),
        array_of<double, PARTIALS_SHARED>(scratch, PARTIALS_AT, cell),
        array_of<double, RATES_SHARED>(scratch, RATES_AT, cell),
    };
}

// Waits until the other workers of all cells have come here; a single worker has nobody to wait for.
__device__ inline void wait_for_workers()
{
    if constexpr (WORKERS > 1) __syncthreads();
}
