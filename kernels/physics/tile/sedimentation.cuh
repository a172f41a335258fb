// Semi-Lagrangian sedimentation in one column, of one species or of all, by lanes of a warp. See
// src/physics/wsm5/sedimentation.rs.
//
// A lane has adjacent levels and the interfaces below them. Lanes above the top of the grid have empty layers of zero
// depth, so that no lane is a special case. Neighbours are read by shuffles, arrived layers through shared memory,
// since any lane may need any layer.
#pragma once

#include "physics/tile/warp.cuh"
#include "physics/tile/work.cuh"
#include "physics/wsm5/sedimentation.cuh"

// The level of a slot of a lane; NZ or more above the top of the grid.
__device__ inline int level_of(int m) { return member() * SLOTS + m; }

__device__ inline bool has_level(int m) { return level_of(m) < NZ; }

// The grid of a column in the layers of a lane.
struct Grid {
    real height[SLOTS];  // of the interface below the layer, above the ground
    real depth[SLOTS];
    Air air[SLOTS];
};

// The thread of a column computes the heights of the tops of its layers.
__device__ inline void set_tops(const Field& depth, Heights& heights, int column)
{
    real top = 0;
#pragma unroll
    for (int k = 0; k < NZ; ++k) heights.top[k][column] = top += depth[k][column];
}

__device__ inline void set_tops(const Field&, Depths&, int) {}

// Heights and depths in a column from the tops of the layers.
__device__ inline void set_heights(const Heights& heights, int column, Grid& grid)
{
    real top[SLOTS];
    // Layers above the top of the grid have the same top.
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) top[m] = heights.top[min(level_of(m), NZ - 1)][column];
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        const real below = from_below(top, m);
        grid.height[m] = level_of(m) > 0 ? below : real(0);
        grid.depth[m] = top[m] - grid.height[m];
    }
}

// Heights and depths in a column from sums of depths from the ground up.
__device__ inline void set_heights(const Depths& depths, int column, Grid& grid)
{
    real top[SLOTS];
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        const real depth = depths.dz[min(level_of(m), NZ - 1)][column];
        top[m] = (m > 0 ? top[m > 0 ? m - 1 : 0] : real(0)) + (has_level(m) ? depth : real(0));
    }
    const real below = sum_below(top[SLOTS - 1]);
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) grid.height[m] = m > 0 ? below + top[m > 0 ? m - 1 : 0] : below;
    // Sums of the same layers in different lanes may differ by rounding.
    const real lid = __shfl_sync(ALL_LANES, grid.height[NZ % SLOTS], NZ / SLOTS, GROUP);
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) grid.height[m] = level_of(m) > NZ ? lid : grid.height[m];
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        const real depth = from_above(grid.height, m) - grid.height[m];
        grid.depth[m] = has_level(m) ? depth : real(0);
    }
}

// Grid of a column for sedimentation.
template <class Tile>
__device__ inline void set_grid(const Tile& tile, int column, Grid& grid)
{
    set_heights(tile.layering, column, grid);
#pragma unroll
    for (int m = 0; m < SLOTS; ++m)
        grid.air[m] = air_of(tile.rho[min(level_of(m), NZ - 1)][column], grid.depth[m]);
}

// COUNT species in the layers of a lane. Loops over the species are the innermost ones, so that their latencies overlap.
template <int COUNT>
struct LayersOf {
    real content[COUNT][SLOTS];  // density
    real arrival[COUNT][SLOTS];  // height at which the interface below arrives
    real thickness[COUNT][SLOTS];
    real density[COUNT][SLOTS];  // after arrival
};

// Those of a task.
typedef LayersOf<KINDS> Layers;

// Largest value of the slots above each slot; computed only if a value exceeds that of the slot below it, since
// otherwise no interface is limited.
template <int COUNT>
__device__ inline void find_limits(const real (&own)[COUNT][SLOTS], real (&above)[COUNT][SLOTS])
{
#pragma unroll
    for (int s = 0; s < COUNT; ++s) {
        bool is_exceeded = false;
#pragma unroll
        for (int m = 0; m < SLOTS; ++m) {
            above[s][m] = from_above(own[s], m);
            is_exceeded |= above[s][m] > own[s][m];
        }
        if (__any_sync(ALL_LANES, is_exceeded)) max_above(own[s], above[s]);
    }
}

// Moves the interfaces of the first COUNT species of a task, and computes the density of the layers between them.
//
// An interface that is limited by the one above has w[k] = w[k + 1] - c dz[k] with c = FALL_COMPRESSION / dt. In terms
// of v = w - c z, this is v[k] = v[k + 1], and the limiter ensures that v[k] is at least v[k + 1]: the recursion of
// limited_speed is a suffix maximum of v, computed by a scan over the lanes.
template <int COUNT>
__device__ inline void arrive(real dt_cloud, const Grid& grid, const real (&u)[KINDS][SLOTS], Layers& layers)
{
    const real c = FALL_COMPRESSION / dt_cloud;
    real w[COUNT][SLOTS], own[COUNT][SLOTS], above[COUNT][SLOTS], u_below[COUNT][SLOTS];
#pragma unroll
    for (int m = 0; m < SLOTS; ++m)
#pragma unroll
        for (int s = 0; s < COUNT; ++s) u_below[s][m] = from_below(u[s], m);
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        const int k = level_of(m);
#pragma unroll
        for (int s = 0; s < COUNT; ++s) {
            const real inner = sedimentation::interface_speed_inner(from_below(u_below[s], m), u_below[s][m], u[s][m],
                                                           from_above(u[s], m));
            const real outer = sedimentation::interface_speed_outer(u_below[s][m], u[s][m]);
            // At the lowest slot from_below returns the slot's own speed, so that the interface at the ground has that
            // speed.
            w[s][m] = k <= 1 || k == NZ - 1 ? outer : inner;
            // The top of a group of precipitating layers falls as fast as the layer below it.
            if (u[s][m] == 0) w[s][m] = u_below[s][m];
            own[s][m] = w[s][m] - c * grid.height[m];
        }
    }
    find_limits(own, above);
#pragma unroll
    for (int m = 0; m < SLOTS; ++m)
#pragma unroll
        for (int s = 0; s < COUNT; ++s) {
            if (above[s][m] > own[s][m]) w[s][m] = above[s][m] + c * grid.height[m];
            layers.arrival[s][m] = sedimentation::arrival(grid.height[m], w[s][m], dt_cloud);
        }
#pragma unroll
    for (int m = 0; m < SLOTS; ++m)
#pragma unroll
        for (int s = 0; s < COUNT; ++s) {
            layers.thickness[s][m] = from_above(layers.arrival[s], m) - layers.arrival[s][m];
            const real density =
                sedimentation::arrived_density(layers.content[s][m], grid.depth[m], layers.thickness[s][m]);
            layers.density[s][m] = has_level(m) ? density : real(0);
        }
}

// Stores the arrived layers for all lanes.
template <int COUNT>
__device__ inline void write_down(const LayersOf<COUNT>& layers, SedimentationWork (&work)[KINDS])
{
    real rise[COUNT][SLOTS];
#pragma unroll
    for (int m = 0; m < SLOTS; ++m)
#pragma unroll
        for (int s = 0; s < COUNT; ++s)
            rise[s][m] =
                sedimentation::rise(layers.density[s][m], from_above(layers.density[s], m), layers.thickness[s][m],
                           from_above(layers.thickness[s], m));
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        const int k = level_of(m);
#pragma unroll
        for (int s = 0; s < COUNT; ++s) {
            // The gradient below the lowest layer is set to zero, which makes its density uniform.
            const real rise_below = from_below(rise[s], m);
            const LayerProfile profile = sedimentation::profile(layers.density[s][m], layers.thickness[s][m],
                                                  k == 0 ? real(0) : rise_below, rise[s][m]);
            const real arrival = layers.arrival[s][m];
            work[s].arrival[k] = arrival;
            if (k <= NZ) work[s].arrived[k] = {profile, arrival, layers.density[s][m] * layers.thickness[s][m]};
        }
    }
    __syncwarp();
}

// Index of the first arrived interface, from the second on, that is not below the bottom of a layer of the grid: that
// bottom is in the arrived layer below it. Since no interface moves up, the index is at least that of the layer, and
// does not decrease with height.
template <int COUNT>
__device__ inline void find_next(const SedimentationWork (&work)[KINDS], const LayersOf<COUNT>& layers, int m,
                                 real height, int (&next)[COUNT][SLOTS])
{
    const int k = level_of(m);
#pragma unroll
    for (int s = 0; s < COUNT; ++s) {
        // Starts one before the first candidate.
        int start = min(k, NZ);
        if (!(layers.arrival[s][m] < height)) start = max(start - 1, 0);
        next[s][m] = m > 0 ? max(start, next[s][m > 0 ? m - 1 : 0] - 1) : start;
    }
    if constexpr (COUNT == 1) {
#pragma unroll 1
        do ++next[0][m];
        while (work[0].arrival[next[0][m]] < height);
    } else {
#pragma unroll
        for (int s = 0; s < COUNT; ++s) ++next[s][m];
        bool is_found;
#pragma unroll 1
        do {
            is_found = true;
#pragma unroll
            for (int s = 0; s < COUNT; ++s)
                if (work[s].arrival[next[s][m]] < height) ++next[s][m], is_found = false;
        } while (!is_found);
    }
}

// Remaps the arrived layers to the layers of the grid.
template <int COUNT>
__device__ inline void remap(const Grid& grid, const LayersOf<COUNT>& layers, const SedimentationWork (&work)[KINDS],
                             real (&content)[COUNT][SLOTS])
{
    // Height of the bottom of a layer above the bottom of the arrived layer it is in, and the mass of that arrived
    // layer below it.
    int next[COUNT][SLOTS];
    real z[COUNT][SLOTS], mass_below[COUNT][SLOTS];
    Arrived arrived[COUNT][SLOTS];
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        find_next(work, layers, m, grid.height[m], next);
#pragma unroll
        for (int s = 0; s < COUNT; ++s) {
            const Arrived& here = arrived[s][m] = work[s].arrived[next[s][m] - 1];
            z[s][m] = grid.height[m] - here.arrival;
            mass_below[s][m] = sedimentation::mass_up_to(here.profile, z[s][m]);
        }
    }
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
#pragma unroll
        for (int s = 0; s < COUNT; ++s) {
            const Arrived& here = arrived[s][m];
            const int next_above = from_above(next[s], m);
            const real within = sedimentation::mean_within(here.profile, z[s][m], from_above(z[s], m));
            real mass = here.mass - mass_below[s][m];
#pragma unroll 1
            for (int j = next[s][m]; j < next_above - 1; ++j) mass += work[s].arrived[j].mass;
            mass += from_above(mass_below[s], m);
            // The depths of the parts add up to the depth of the layer, and need not be summed.
            content[s][m] = next[s][m] == next_above ? within : mass / grid.depth[m];
            // As in the original, the content of a layer is lost if its top is above the bottom of the highest arrived
            // layer. This always holds for the highest layer.
            if (next_above >= NZ || level_of(m) >= NZ - 1) content[s][m] = 0;
        }
    }
}

// Remaps COUNT species to the grid, and stores them in the fields of the tile (`field_of`), with the water that has
// reached the ground. `kind` has the species of each.
template <int COUNT, class Tile, class Kind>
__device__ inline void land(Tile& tile, const Grid& grid, const LayersOf<COUNT>& layers, const Kind& kind, int column,
                            bool is_own)
{
    SedimentationWork(&work)[KINDS] = tile.fall[group()];
    write_down(layers, work);
    real content[COUNT][SLOTS];
    remap(grid, layers, work, content);

    // Budget terms of all species are added up together.
    real residual = 0, clipped = 0, ground[COUNT] = {};
    bool is_below_zero = false;
#pragma unroll
    for (int m = 0; m < SLOTS; ++m)
#pragma unroll
        for (int s = 0; s < COUNT; ++s) {
            residual += (content[s][m] - layers.content[s][m]) * grid.depth[m];
            is_below_zero |= content[s][m] < 0;
            if (has_level(m) && is_own)
                sedimentation::store_content(grid.air[m], content[s][m], field_of(tile, kind(s))[level_of(m)][column]);
        }
    residual = group_sum(residual);
#pragma unroll
    for (int s = 0; s < COUNT; ++s) {
        // Arrived interfaces are in ascending order: without one below the ground at the lowest level, nothing reaches
        // the ground.
        if (__any_sync(ALL_LANES, member() == 0 && layers.arrival[s][0] < 0)) {
#pragma unroll
            for (int m = 0; m < SLOTS; ++m) {
                const real top = layers.arrival[s][m] + layers.thickness[s][m];
                if (has_level(m))
                    ground[s] += sedimentation::mass_in_ground(layers.arrival[s][m], top, layers.thickness[s][m],
                                                      layers.density[s][m]);
            }
            ground[s] = group_sum(ground[s]);
            residual += ground[s];
        }
    }
    if (__any_sync(ALL_LANES, is_below_zero)) {
        // Clipping is rare; its sum is computed only here.
        real landed;
#pragma unroll
        for (int m = 0; m < SLOTS; ++m)
#pragma unroll
            for (int s = 0; s < COUNT; ++s) clipped += sedimentation::store_content(grid.air[m], content[s][m], landed);
        clipped = group_sum(clipped);
    }
    if (member() == 0 && is_own) {
#pragma unroll
        for (int s = 0; s < COUNT; ++s)
            tile.landing[int(kind(s))][column] = {ground[s], s == 0 ? residual : 0, s == 0 ? clipped : 0};
    }
    __syncwarp();  // the next task uses the same work space, and shuffles do not order memory accesses
}
