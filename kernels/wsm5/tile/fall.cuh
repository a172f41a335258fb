// Semi-Lagrangian fall of one species in one column, by one warp: see src/wsm5/fall.rs.
//
// A lane has levels, and the interfaces below them; lanes above the lid have layers of no depth that
// hold nothing, so that nobody asks which lane has what. Neighbours are asked by shuffles; what has
// arrived is looked up in shared memory, where any lane may need any layer.
#pragma once

#include "wsm5/fall.cuh"
#include "wsm5/tile/warp.cuh"

// The level of a slot of a lane, or above the lid.
__device__ inline int level_of(int m) { return member() * SLOTS + m; }

__device__ inline bool has_level(int m) { return level_of(m) < NZ; }

// Heights of the interfaces above the ground in some columns, by sums from the ground up: a warp for
// a column.
__device__ inline void set_heights(Tile& tile, unsigned columns)
{
    const int count = __popc(columns);
    for (int n = warp(); n < count; n += WARPS) {
        const int column = nth_set_bit(columns, n);
        if (lane() == 0) set_height(tile.height, 0, column, 0);
        real below = 0;
#pragma unroll
        for (int m = 0; m < LEVELS; ++m) {
            const int k = lane() + m * WARP;
            const real top = below + prefix_sum(k < NZ ? tile.dz[min(k, NZ - 1)][column] : real(0));
            if (k < NZ) set_height(tile.height, k + 1, column, top);
            below = __shfl_sync(ALL_LANES, top, WARP - 1);
        }
    }
}

// A species in the layers of a lane.
struct Layers {
    real height[SLOTS];   // of the interface below
    real depth[SLOTS];
    real content[SLOTS];  // density
    real arrival[SLOTS];  // where the interface below arrives
    real thickness[SLOTS];
    real density[SLOTS];  // where it has arrived
};

// Moves the interfaces, and finds the density of the layers between them.
//
// An interface that is limited by the one above has w[k] = w[k + 1] - c dz[k], with
// c = FALL_COMPRESSION / dt. So w[k] - c z[k] is nowhere less than any w - c z above: the recursion
// of limited_speed is a maximum, which the lanes find together.
__device__ inline void arrive(real dt_cloud, const real (&u)[SLOTS], Layers& layers)
{
    const real c = FALL_COMPRESSION / dt_cloud;
    real w[SLOTS], own[SLOTS], above[SLOTS], u_below[SLOTS];
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) u_below[m] = from_below(u, m);
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        const int k = level_of(m);
        const real inner =
            fall::interface_speed_inner(from_below(u_below, m), u_below[m], u[m], from_above(u, m));
        const real outer = fall::interface_speed_outer(u_below[m], u[m]);
        // The lowest place is told its own speed as that from below, which is that of the ground.
        w[m] = k <= 1 || k == NZ - 1 ? outer : inner;
        // The top of a group of precipitating layers falls as fast as the layer below it.
        if (u[m] == 0) w[m] = u_below[m];
        own[m] = w[m] - c * layers.height[m];
    }
    max_above(own, above);
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        if (above[m] > own[m]) w[m] = above[m] + c * layers.height[m];
        layers.arrival[m] = fall::arrival(layers.height[m], w[m], dt_cloud);
    }
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        layers.thickness[m] = from_above(layers.arrival, m) - layers.arrival[m];
        const real density =
            fall::arrived_density(layers.content[m], layers.depth[m], layers.thickness[m]);
        layers.density[m] = has_level(m) ? density : real(0);
    }
}

// Writes down what has arrived, for all lanes to look at.
__device__ inline void write_down(const Layers& layers, Fall& work)
{
    real rise[SLOTS];
#pragma unroll
    for (int m = 0; m < SLOTS; ++m)
        rise[m] = fall::rise(layers.density[m], from_above(layers.density, m), layers.thickness[m],
                              from_above(layers.thickness, m));
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        const int k = level_of(m);
        Edges edges = fall::edges(layers.density[m], layers.thickness[m], from_below(rise, m), rise[m]);
        if (k == 0) edges = Edges{layers.density[m], layers.density[m]};
        work.arrival[k] = layers.arrival[m];
        if (k <= NZ) work.arrived[k] = {edges, layers.thickness[m], layers.density[m]};
    }
    __syncwarp();
}

// The arrived layer that holds the bottom of a layer of the grid: the number of interfaces that have
// arrived below it, the lowest aside. Since nothing rises, those of the layers below are among them.
__device__ inline int layer_at(const Fall& work, int k, real arrival, real height)
{
    int layer = min(k, NZ);
    if (!(arrival < height)) layer = max(layer - 1, 0);
#pragma unroll 1
    while (work.arrival[layer + 1] < height) ++layer;
    return layer;
}

// Sums the arrived layers up in the layers of the grid.
__device__ inline void remap(const Layers& layers, const Fall& work, real (&content)[SLOTS])
{
    // Where the bottom of a layer lies in the arrived layers, and what lies below it there.
    int layer[SLOTS];
    real t[SLOTS], depth_below[SLOTS], mass_below[SLOTS];
    Arrived arrived[SLOTS];
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        layer[m] = layer_at(work, level_of(m), layers.arrival[m], layers.height[m]);
        arrived[m] = work.arrived[layer[m]];
        t[m] = (layers.height[m] - work.arrival[layer[m]]) / arrived[m].thickness;
        depth_below[m] = t[m] * arrived[m].thickness;
        mass_below[m] = fall::integral(arrived[m].edges, t[m]) * arrived[m].thickness;
    }
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        const int top = from_above(layer, m);
        const real within = fall::mean_within(arrived[m].edges, t[m], from_above(t, m));
        real depth = (1 - t[m]) * arrived[m].thickness;
        real mass = (arrived[m].density - fall::integral(arrived[m].edges, t[m])) * arrived[m].thickness;
#pragma unroll 1
        for (int j = layer[m] + 1; j < top; ++j) {
            depth += work.arrived[j].thickness;
            mass += work.arrived[j].density * work.arrived[j].thickness;
        }
        depth += from_above(depth_below, m);
        mass += from_above(mass_below, m);
        content[m] = layer[m] == top ? within : mass / depth;
        // What lies in a layer whose top is above the bottom of the highest arrived one is lost, as
        // in the original. The highest layer always is such a layer.
        if (top >= NZ - 1 || level_of(m) >= NZ - 1) content[m] = 0;
    }
}

// Lets a species of a column fall for a minor step. A group whose column is another's does the same
// without leaving anything.
template <Species KIND>
__device__ inline void sediment(const CloudArgs& a, Tile& tile, int column, bool is_own)
{
    Fall& work = tile.fall[group()];
    Field& q = KIND == Species::RAIN ? tile.qr : KIND == Species::SNOW ? tile.qs : tile.qi;
    Layers layers;
    Air air[SLOTS];
    real speed[SLOTS], n0s_factor[SLOTS];
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        const int k = min(level_of(m), NZ - 1);
        layers.height[m] = height_at(tile.height, min(level_of(m), NZ), column);
        air[m] = air_in(tile, k, column);
        n0s_factor[m] = KIND == Species::SNOW ? slope::snow_intercept_factor(a.params, tile.t[k][column]) : real(0);
        const real here = has_level(m) ? q[k][column] : real(0);
        layers.content[m] = air[m].rho * here;
        speed[m] = fall_speed<KIND>(a.params, air[m], here, n0s_factor[m]);
    }
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        const real depth = from_above(layers.height, m) - layers.height[m];
        layers.depth[m] = has_level(m) ? depth : real(0);
    }
    arrive(a.dt_cloud, speed, layers);
    // Ice keeps the speed that it has at departure.
    if (KIND != Species::ICE) {
        real mean[SLOTS];
#pragma unroll
        for (int m = 0; m < SLOTS; ++m) {
            const real then =
                fall_speed<KIND>(a.params, air[m], layers.density[m] / air[m].rho, n0s_factor[m]);
            mean[m] = fall::mean_speed(speed[m], then);
        }
        arrive(a.dt_cloud, mean, layers);
    }
    write_down(layers, work);
    real content[SLOTS];
    remap(layers, work, content);

    Landing landing = {0, 0, 0};
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        landing.residual += (content[m] - layers.content[m]) * layers.depth[m];
        if (has_level(m) && is_own) landing.clipped += fall::land(air[m], content[m], q[level_of(m)][column]);
    }
    // Interfaces arrive in their order: nothing reaches the ground where the lowest does not.
    if (__any_sync(ALL_LANES, member() == 0 && layers.arrival[0] < 0)) {
#pragma unroll
        for (int m = 0; m < SLOTS; ++m) {
            const real top = layers.arrival[m] + layers.thickness[m];
            if (has_level(m))
                landing.ground += fall::mass_in_ground(layers.arrival[m], top, layers.thickness[m],
                                                       layers.density[m]);
        }
        landing.ground = group_sum(landing.ground);
    }
    landing.residual = group_sum(landing.residual) + landing.ground;
    if (__any_sync(ALL_LANES, landing.clipped > 0)) landing.clipped = group_sum(landing.clipped);
    if (member() == 0 && is_own) tile.landing[int(KIND)][column] = landing;
    __syncwarp();  // the next task takes the same work space; shuffles do not order memory
}

// Lets a species fall in the next columns that hold it, one for each group of the warp.
template <Species KIND>
__device__ inline void sediment_some(const CloudArgs& a, Tile& tile, unsigned columns, int first)
{
    int column = nth_set_bit(columns, first);
    bool is_own = member() == lane();
#pragma unroll
    for (int g = 1; g < GROUPS; ++g) {
        const int other = nth_set_bit(columns, first + g);
        if (lane() / GROUP == g && other >= 0) {
            column = other;
            is_own = true;
        }
    }
    sediment<KIND>(a, tile, column, is_own);
}

// Lets all that falls in the tile fall: tasks of some columns of a species, taken by whichever warp
// has time.
__device__ inline void fall_in(const CloudArgs& a, Tile& tile)
{
    const Falling falling = tile.falling;
    const auto tasks = [&](Species kind) { return (__popc(falling.of(kind)) + GROUPS - 1) / GROUPS; };
    const int rain = tasks(Species::RAIN), snow = tasks(Species::SNOW), ice = tasks(Species::ICE);
    for (;;) {
        int task = 0;
        if (lane() == 0) task = atomicAdd(&tile.next_task, 1);
        task = __shfl_sync(ALL_LANES, task, 0);
        if (task >= rain + snow + ice) break;
        if (task < rain)
            sediment_some<Species::RAIN>(a, tile, falling.of(Species::RAIN), task * GROUPS);
        else if (task < rain + snow)
            sediment_some<Species::SNOW>(a, tile, falling.of(Species::SNOW), (task - rain) * GROUPS);
        else
            sediment_some<Species::ICE>(a, tile, falling.of(Species::ICE), (task - rain - snow) * GROUPS);
    }
}
