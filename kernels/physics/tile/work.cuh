// Shared memory of sedimentation, and the air of a cell of a tile.
#pragma once

#include "physics/tile/shape.cuh"
#include "physics/wsm5/cell.cuh"

// An arrived layer.
struct alignas(4 * sizeof(real)) Arrived {
    LayerProfile profile;
    real arrival;  // of its bottom
    real mass;
};

// Work space of sedimentation in one column. Arrays as in src/physics/wsm5/sedimentation_work.rs.
struct SedimentationWork {
    Arrived arrived[NZ + 1];
    real arrival[SLOTS * GROUP];
};

// Columns of the tile with a species, one bit for each.
struct Falling {
    unsigned species[FALLING_SPECIES];

    __device__ unsigned of(Species kind) const { return species[int(kind)]; }

    __device__ unsigned any() const
    {
        unsigned columns = species[0];
#pragma unroll
        for (int s = 1; s < FALLING_SPECIES; ++s) columns |= species[s];
        return columns;
    }
};

// The columns with each species, listed for the tasks of sedimentation.
struct Listed {
    int count[FALLING_SPECIES];
    unsigned char column[FALLING_SPECIES][TILE_COLUMNS];
};

// Results of the sedimentation of a species in a minor step, other than the cells, kg m-2.
struct Landing {
    real ground;    // precipitation at the ground
    real residual;  // water that sedimentation has created
    real clipped;   // water that clipping at zero has added
};

// The columns with a species, or with any if a task has all species.
template <class Tile>
__device__ inline unsigned columns_of(const Tile& tile, Species kind)
{
    return KINDS == 1 ? tile.falling.of(kind) : tile.falling.any();
}

// Resets the lists of the preceding minor step.
template <class Tile>
__device__ inline void begin_minor_step(Tile& tile)
{
    tile.falling = {};
    tile.warm_count = tile.cold_count = 0;
}

// Depth of a layer in a column of the tile.
template <class Args, class Tile>
__device__ inline real depth_in(const Args& a, const Tile& tile, int k, int column)
{
    return depth_of(a, tile.layering, k, column, tile.place[column]);
}

// The air of a cell for sedimentation: density, depth and density factor.
__device__ inline Air air_of(real rho, real dz)
{
    Air air = {rho, 0, dz, 0, 0, 0};
    cell::set_call_invariants(Cell{}, air);
    return air;
}
