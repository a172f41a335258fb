// Semi-Lagrangian fall of one species in one column, by one warp: see src/wsm5/fall.rs.
//
// A lane has levels, and the interfaces below them.
#pragma once

#include "wsm5/fall.cuh"
#include "wsm5/tile/warp.cuh"

// Interfaces of a lane: lane, lane + WARP, ... up to NZ.
constexpr int INTERFACES = NZ / WARP + 1;
// Whether the last lane has no interface of its own, and does as the lid.
constexpr bool LID_IS_REPEATED = INTERFACES * WARP > NZ + 1;

// The highest power of two below the number of levels, where the search for a layer begins.
constexpr int first_stride(int stride) { return 2 * stride < NZ ? first_stride(2 * stride) : stride; }

// The level of a lane. A lane that has none repeats what that of the highest level does, but for
// writing it down: that takes no time, where a branch does.
__device__ inline int level_of(int m) { return min(lane() + m * WARP, NZ - 1); }

__device__ inline bool has_level(int m) { return lane() + m * WARP < NZ; }

// Heights of the interfaces above the ground, by sums from the ground up: a warp for a column.
__device__ inline void set_heights(Tile& tile)
{
    for (int column = warp(); column < TILE_COLUMNS; column += WARPS) {
        if (lane() == 0) set_height(tile.height, 0, column, 0);
        real below = 0;
#pragma unroll
        for (int m = 0; m < LEVELS; ++m) {
            const real depth = tile.dz[level_of(m)][column];
            const real top = below + prefix_sum(has_level(m) ? depth : real(0));
            if (has_level(m)) set_height(tile.height, level_of(m) + 1, column, top);
            below = __shfl_sync(ALL_LANES, top, WARP - 1);
        }
    }
}

// Speed of an interface before it is limited, from those of the layers.
__device__ inline real interface_speed(const real* u, int k)
{
    const real far_below = u[max(k - 2, 0)], below = u[max(k - 1, 0)];
    const real here = u[min(k, NZ - 1)], above = u[min(k + 1, NZ - 1)];
    const bool is_outer = k == 1 || k == NZ - 1;
    const real w = is_outer ? fall::interface_speed_outer(below, here)
                            : fall::interface_speed_inner(far_below, below, here, above);
    if (k == 0) return here;
    // The top of a group of precipitating layers falls as fast as the layer below it.
    return k == NZ || here == 0 ? below : w;
}

// Depth of a layer as the heights tell it.
__device__ inline real depth_of(const Tile& tile, int k, int column)
{
    return height_at(tile.height, k + 1, column) - height_at(tile.height, k, column);
}

// Moves the interfaces, and finds the density of the layers between them.
//
// An interface that is limited by the one above has w[k] = w[k + 1] - c dz[k], with
// c = FALL_COMPRESSION / dt. So w[k] - c z[k] is nowhere less than any w - c z above: the recursion
// of limited_speed is a maximum, which the lanes find together.
__device__ inline void arrive(real dt_cloud, const real (&content)[LEVELS], const Tile& tile, int column,
                              Fall& work)
{
    const real c = FALL_COMPRESSION / dt_cloud;
    real highest = 0;
    if constexpr (!LID_IS_REPEATED)
        highest = interface_speed(work.mean_speed, NZ) - c * height_at(tile.height, NZ, column);
#pragma unroll
    for (int m = INTERFACES - 1; m >= 0; --m) {
        // Lanes beyond the lid do as it does.
        const int k = min(lane() + m * WARP, NZ);
        const real height = height_at(tile.height, k, column);
        real w = interface_speed(work.mean_speed, k);
        const real own = w - c * height;
        const real from_here = suffix_max(own);
        const real next = __shfl_down_sync(ALL_LANES, from_here, 1);
        // Nothing limits the lid, and the last lane gets its own value as the next one.
        const bool is_topmost = LID_IS_REPEATED && m == INTERFACES - 1;
        const real above =
            is_topmost ? next : lane() == WARP - 1 ? highest : max(next, highest);
        w = above > own ? above + c * height : w;
        const real lowest = __shfl_sync(ALL_LANES, from_here, 0);
        highest = is_topmost ? lowest : max(highest, lowest);
        const real arrived = fall::arrival(height, w, dt_cloud);
        if (lane() + m * WARP <= NZ) work.arrival[k] = arrived;
    }
    if (lane() == 0) work.arrival[NZ + 1] = height_at(tile.height, NZ, column);
    __syncwarp();
#pragma unroll
    for (int m = 0; m < LEVELS; ++m) {
        const int k = level_of(m);
        const real depth = depth_of(tile, k, column);
        const real thickness = work.arrival[k + 1] - work.arrival[k];
        const real arrived = fall::arrived_density(content[m], depth, thickness);
        if (has_level(m)) work.density[k] = arrived;
    }
    if (lane() == 0) work.density[NZ] = 0;
    __syncwarp();
}

// Thickness of an arrived layer, and from the highest to the lid.
__device__ inline real thickness_of(const Fall& work, int k)
{
    return work.arrival[k + 1] - work.arrival[k];
}

// Densities at the edges of the arrived layers.
__device__ inline void set_edges(Fall& work)
{
    const real* q = work.density;
#pragma unroll
    for (int m = 0; m < LEVELS; ++m) {
        const int k = level_of(m), below = max(k - 1, 0);
        const Edges found = fall::edges(q[below], q[k], q[k + 1], thickness_of(work, below),
                                        thickness_of(work, k), thickness_of(work, k + 1));
        if (has_level(m)) work.edges[k] = k == 0 ? Edges{q[0], q[0]} : found;
    }
    __syncwarp();  // the shuffles that follow order threads, not their memory
}

// The arrived layer that holds a height: the number of interfaces that have arrived below it, the
// lowest and the highest aside.
__device__ inline int layer_at(const Fall& work, real height)
{
    int layer = 0;
#pragma unroll
    for (int stride = first_stride(1); stride > 0; stride /= 2)
        if (layer + stride < NZ && work.arrival[layer + stride] < height) layer += stride;
    return layer;
}

// Mean density between two heights, given by their arrived layers and parts of the thickness there.
__device__ inline real mean_between(const Fall& work, int bottom, real t_low, int top, real t_high)
{
    if (bottom == top) return fall::mean_within(work.edges[bottom], t_low, t_high);
    const real* q = work.density;
    real depth = (1 - t_low) * thickness_of(work, bottom);
    real mass = (q[bottom] - fall::integral(work.edges[bottom], t_low)) * thickness_of(work, bottom);
    for (int j = bottom + 1; j < top; ++j) {
        depth += thickness_of(work, j);
        mass += q[j] * thickness_of(work, j);
    }
    depth += t_high * thickness_of(work, top);
    mass += fall::integral(work.edges[top], t_high) * thickness_of(work, top);
    return mass / depth;
}

// Sums the arrived layers up in the layers of the grid.
__device__ inline void remap(const Tile& tile, int column, const Fall& work, real (&content)[LEVELS])
{
    // Where the bottom of a layer lies in the arrived layers.
    int layer[LEVELS];
    real t[LEVELS];
#pragma unroll
    for (int m = 0; m < LEVELS; ++m) {
        const real low = height_at(tile.height, min(lane() + m * WARP, NZ), column);
        layer[m] = layer_at(work, low);
        t[m] = (low - work.arrival[layer[m]]) / thickness_of(work, layer[m]);
    }
#pragma unroll
    for (int m = 0; m < LEVELS; ++m) {
        const int top = next_level(layer, m);
        const real t_high = next_level(t, m);
        content[m] = 0;
        // What lies in a layer whose top is above the bottom of the highest arrived one is lost, as
        // in the original. The highest layer always is such a layer.
        if (lane() + m * WARP < NZ - 1 && top < NZ - 1)
            content[m] = mean_between(work, layer[m], t[m], top, t_high);
    }
}

// Lets a species of a column fall for a minor step.
template <Species KIND>
__device__ inline void sediment(const CloudArgs& a, Tile& tile, int column)
{
    Fall& work = tile.fall[warp()];
    Field& q = KIND == Species::RAIN ? tile.qr : KIND == Species::SNOW ? tile.qs : tile.qi;
    real before[LEVELS], speed[LEVELS], n0s_factor[LEVELS];
#pragma unroll
    for (int m = 0; m < LEVELS; ++m) {
        const int k = level_of(m);
        n0s_factor[m] = 0;
        const Air air = air_in(tile, k, column);
        if (KIND == Species::SNOW) n0s_factor[m] = slope::snow_intercept_factor(a.params, tile.t[k][column]);
        before[m] = air.rho * q[k][column];
        speed[m] = fall_speed<KIND>(a.params, air, q[k][column], n0s_factor[m]);
        if (has_level(m)) work.mean_speed[k] = speed[m];
    }
    __syncwarp();
    arrive(a.dt_cloud, before, tile, column, work);
    // Ice keeps the speed that it has at departure.
    if (KIND != Species::ICE) {
#pragma unroll
        for (int m = 0; m < LEVELS; ++m) {
            const int k = level_of(m);
            const Air air = air_in(tile, k, column);
            const real then =
                fall_speed<KIND>(a.params, air, work.density[k] / air.rho, n0s_factor[m]);
            const real mean = fall::mean_speed(speed[m], then);
            if (has_level(m)) work.mean_speed[k] = mean;
        }
        __syncwarp();
        arrive(a.dt_cloud, before, tile, column, work);
    }
    set_edges(work);
    real content[LEVELS];
    remap(tile, column, work, content);

    Landing landing = {0, 0, 0};
#pragma unroll
    for (int m = 0; m < LEVELS; ++m) {
        const int k = level_of(m);
        if (!has_level(m)) continue;
        const real depth = depth_of(tile, k, column);
        landing.ground += fall::mass_in_ground(work.arrival[k], work.arrival[k + 1],
                                         thickness_of(work, k), work.density[k]);
        landing.residual += (content[m] - before[m]) * depth;
        landing.clipped += fall::land(air_in(tile, k, column), content[m], q[k][column]);
    }
    landing.ground = warp_sum(landing.ground);
    landing.residual = warp_sum(landing.residual) + landing.ground;
    if (__any_sync(ALL_LANES, landing.clipped > 0)) landing.clipped = warp_sum(landing.clipped);
    if (lane() == 0) tile.landing[int(KIND)][column] = landing;
    __syncwarp();  // the next task takes the same work space; shuffles do not order memory
}

// Lets all that falls in the tile fall: a task for each species of a column, taken by whichever warp
// has time.
__device__ inline void fall_in(const CloudArgs& a, Tile& tile)
{
    const Falling falling = tile.falling;
    const int rain = __popc(falling.of(Species::RAIN));
    const int snow = __popc(falling.of(Species::SNOW));
    const int ice = __popc(falling.of(Species::ICE));
    for (;;) {
        int task = 0;
        if (lane() == 0) task = atomicAdd(&tile.next_task, 1);
        task = __shfl_sync(ALL_LANES, task, 0);
        if (task >= rain + snow + ice) break;
        if (task < rain)
            sediment<Species::RAIN>(a, tile, nth_set_bit(falling.of(Species::RAIN), task));
        else if (task < rain + snow)
            sediment<Species::SNOW>(a, tile, nth_set_bit(falling.of(Species::SNOW), task - rain));
        else
            sediment<Species::ICE>(a, tile, nth_set_bit(falling.of(Species::ICE), task - rain - snow));
    }
}
