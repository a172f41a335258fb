// Part of a matrix with one short side.
#pragma once

// Pitch of a line of the long side: an odd number, so that the elements of the short side are in different banks.
constexpr int THIN_PITCH = THIN_LENGTH + 1;

// Part of the matrix that a block transposes.
struct ThinTile {
    long long matrix;  // first element of the matrix
    int first;         // of the long side
    int length;        // along the long side
};

__device__ inline ThinTile thin_tile(int side, int along)
{
    const int tiles = (along + THIN_LENGTH - 1) / THIN_LENGTH;
    const int number = blockIdx.x / tiles, first = blockIdx.x % tiles * THIN_LENGTH;
    return {static_cast<long long>(number) * side * along, first, min(THIN_LENGTH, along - first)};
}

// Iterates over the elements of a contiguous piece in steps of THIN_THREADS, and updates their coordinates without
// divisions.
struct ThinWalk {
    int along;
    int side;

    __device__ inline explicit ThinWalk(int sides)
    {
        along = threadIdx.x / sides;
        side = threadIdx.x % sides;
    }
    __device__ inline void step(int sides)
    {
        along += THIN_THREADS / sides;
        side += THIN_THREADS % sides;
        if (side >= sides) {
            side -= sides;
            ++along;
        }
    }
};
