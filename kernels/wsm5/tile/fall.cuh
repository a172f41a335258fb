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

// Heights of the interfaces below the levels of a lane above the ground, by sums from the ground up.
__device__ inline void set_heights(const Tile& tile, int column, real (&height)[SLOTS])
{
    real top[SLOTS];
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        const real depth = tile.dz[min(level_of(m), NZ - 1)][column];
        top[m] = (m > 0 ? top[m > 0 ? m - 1 : 0] : real(0)) + (has_level(m) ? depth : real(0));
    }
    const real below = sum_below(top[SLOTS - 1]);
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) height[m] = m > 0 ? below + top[m > 0 ? m - 1 : 0] : below;
    // Sums of the same layers by several lanes may differ by roundings.
    const real lid = __shfl_sync(ALL_LANES, height[NZ % SLOTS], NZ / SLOTS, GROUP);
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) height[m] = level_of(m) > NZ ? lid : height[m];
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

// Fall speeds of a species in the layers of a lane.
template <Species KIND>
__device__ inline void set_speeds(const Wsm5Params& p, const Air (&air)[SLOTS], const real (&q)[SLOTS],
                                  const real (&n0s_factor)[SLOTS], real (&speed)[SLOTS])
{
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) speed[m] = fall_speed<KIND>(p, air[m], q[m], n0s_factor[m]);
}

// The same of a species that is known at run time only: the code of the fall is there once.
__device__ inline void set_speeds(const Wsm5Params& p, Species kind, const Air (&air)[SLOTS],
                                  const real (&q)[SLOTS], const real (&n0s_factor)[SLOTS],
                                  real (&speed)[SLOTS])
{
    if (kind == Species::RAIN) set_speeds<Species::RAIN>(p, air, q, n0s_factor, speed);
    else if (kind == Species::SNOW) set_speeds<Species::SNOW>(p, air, q, n0s_factor, speed);
    else set_speeds<Species::ICE>(p, air, q, n0s_factor, speed);
}

// Lets a species of a column fall for a minor step. A group whose column is another's does the same
// without leaving anything.
__device__ inline void sediment(const CloudArgs& a, Tile& tile, Species kind, int column, bool is_own)
{
    Fall& work = tile.fall[group()];
    Field& q = kind == Species::RAIN ? tile.qr : kind == Species::SNOW ? tile.qs : tile.qi;
    Layers layers;
    Air air[SLOTS];
    real here[SLOTS], speed[SLOTS], n0s_factor[SLOTS];
    set_heights(tile, column, layers.height);
#pragma unroll
    for (int m = 0; m < SLOTS; ++m) {
        const int k = min(level_of(m), NZ - 1);
        air[m] = air_in(tile, k, column);
        here[m] = has_level(m) ? q[k][column] : real(0);
        layers.content[m] = air[m].rho * here[m];
        const real depth = from_above(layers.height, m) - layers.height[m];
        layers.depth[m] = has_level(m) ? depth : real(0);
        n0s_factor[m] = 0;
    }
    if (kind == Species::SNOW) {
#pragma unroll
        for (int m = 0; m < SLOTS; ++m)
            n0s_factor[m] = slope::snow_intercept_factor(a.params, tile.t[min(level_of(m), NZ - 1)][column]);
    }
    set_speeds(a.params, kind, air, here, n0s_factor, speed);
    arrive(a.dt_cloud, speed, layers);
    // Ice keeps the speed that it has at departure.
    if (kind != Species::ICE) {
        real then[SLOTS], mean[SLOTS];
#pragma unroll
        for (int m = 0; m < SLOTS; ++m) here[m] = layers.density[m] / air[m].rho;
        set_speeds(a.params, kind, air, here, n0s_factor, then);
#pragma unroll
        for (int m = 0; m < SLOTS; ++m) mean[m] = fall::mean_speed(speed[m], then[m]);
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
    if (member() == 0 && is_own) tile.landing[int(kind)][column] = landing;
    __syncwarp();  // the next task takes the same work space; shuffles do not order memory
}

// The columns that the groups of a warp have of those that hold a species, from the one with the number
// `first` on. Where there are none left, a group does what the one before it does, for nobody.
__device__ inline int column_of_group(unsigned columns, int first, bool& is_own)
{
    int column = nth_set_bit(columns, first), mine = column;
    is_own = true;
#pragma unroll
    for (int g = 1; g < GROUPS; ++g) {
        const unsigned rest = columns & ~((2u << column) - 1);
        if (rest != 0) column = __ffs(rest) - 1;
        if (lane() / GROUP >= g) {
            is_own = rest != 0;
            mine = column;
        }
    }
    return mine;
}

// Lets all that falls in the tile fall: tasks of some columns of a species, taken by whichever warp
// has time.
__device__ inline void fall_in(const CloudArgs& a, Tile& tile)
{
    const Falling falling = tile.falling;
    const auto tasks = [&](Species kind) { return (__popc(falling.of(kind)) + GROUPS - 1) / GROUPS; };
    const int rain = tasks(Species::RAIN), snow = rain + tasks(Species::SNOW), ice = snow + tasks(Species::ICE);

    // The first task of a warp is its own.
    for (int next = warp();;) {
        const int task = __shfl_sync(ALL_LANES, next, 0);
        if (task >= ice) break;
        Species kind = Species::RAIN;
        unsigned columns = falling.of(Species::RAIN);
        int before = 0;
        if (task >= rain) kind = Species::SNOW, columns = falling.of(Species::SNOW), before = rain;
        if (task >= snow) kind = Species::ICE, columns = falling.of(Species::ICE), before = snow;
        bool is_own;
        const int column = column_of_group(columns, (task - before) * GROUPS, is_own);
        sediment(a, tile, kind, column, is_own);
        if (lane() == 0) next = atomicAdd(&tile.next_task, 1);
    }
}
