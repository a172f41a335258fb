// One step of all tracers: a kernel for a stage without limiter, by tiles where STAGES_TILED, and for
// the last stage with one either two passes or, where TILED, one; the tracers before UNLIMITED are
// never limited.
#include "primitives/begin.cuh"
#include "advection/tile/limited.cuh"
#include "advection/tile/stage.cuh"

// What the blocks of tiles have in shared memory.
extern __shared__ Line rooms[];

// Lets a thread march, by code for inner places where it can.
template <void (*MARCH)(const TransportArgs&, const Place&)>
__device__ inline void march(const TransportArgs& args, const Place& place)
{
    if (place.is_inner)
        MARCH(args, inner(args, place));
    else
        MARCH(args, place);
}

// A stage without limiter.
extern "C" __global__ void __launch_bounds__(STAGES_TILED ? STAGE_ROWS * LANES : STAGE_THREADS,
                                             STAGES_TILED ? STAGE_TILES_RESIDENT : STAGE_RESIDENT)
transport_stage(const __grid_constant__ TransportArgs args)
{
    begin(args.marks, MARK_TRANSPORT_STAGE);
    if (STAGES_TILED) return advance_by_tiles(args, TRACERS, rooms);
    Place place;
    if (find_place(args, 0, TRACERS, place)) march<advance>(args, place);
}

// The last stage of the tracers that are never limited, where the others have a kernel of their own.
extern "C" __global__ void __launch_bounds__(STAGES_TILED ? STAGE_ROWS * LANES : STAGE_THREADS,
                                             STAGES_TILED ? STAGE_TILES_RESIDENT : STAGE_RESIDENT)
transport_unlimited(const __grid_constant__ TransportArgs args)
{
    if (!TILED) return;
    begin(args.marks, MARK_TRANSPORT_UNLIMITED);
    if (STAGES_TILED) return advance_by_tiles(args, UNLIMITED, rooms);
    Place place;
    if (find_place(args, 0, UNLIMITED, place)) march<advance>(args, place);
}

// The last stage of the limited tracers in one pass, by tiles.
extern "C" __global__ void __launch_bounds__(TILE_ROWS * LANES, 1)
transport_limit(const __grid_constant__ TransportArgs args)
{
    if (!TILED) return;
    begin(args.marks, MARK_TRANSPORT_LIMIT);
    const TilePlace tile = find_place_in_tile(args, UNLIMITED);
    LimitRoom& room = *reinterpret_cast<LimitRoom*>(&rooms[0].group[tile.place_in_line]);
    if (tile.place.is_inner)
        limit(args, {inner(args, tile.place), tile.first_row, tile.place_in_line, tile.owns}, room);
    else
        limit(args, tile, room);
}

// The last stage: the first pass of the limited tracers, and all of the others.
extern "C" __global__ void __launch_bounds__(LIMITED_THREADS, LIMITED_RESIDENT)
transport_scale(const __grid_constant__ TransportArgs args)
{
    if (TILED) return;
    begin(args.marks, MARK_TRANSPORT_SCALE);
    Place place;
    if (!find_place(args, 0, TRACERS, place)) return;
    if (place.tracer < UNLIMITED)
        march<advance>(args, place);
    else
        march<scale>(args, place);
}

// The last stage: the second pass of the limited tracers.
extern "C" __global__ void __launch_bounds__(LIMITED_THREADS, LIMITED_RESIDENT)
transport_update(const __grid_constant__ TransportArgs args)
{
    if (TILED) return;
    begin(args.marks, MARK_TRANSPORT_UPDATE);
    Place place;
    if (find_place(args, UNLIMITED, TRACERS - UNLIMITED, place)) march<update>(args, place);
}

// Adds what the fluxes of the last stage have carried into the region inside the outermost cells,
// one block for every tracer and level, in the same order in every run.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
transport_entered_acc64(const __grid_constant__ TransportArgs args)
{
    begin(args.marks, MARK_TRANSPORT_ENTERED_ACC64);
    __shared__ double partial[SUM_THREADS];
    const int tracer = static_cast<int>(blockIdx.x) / NZ;
    const int k = static_cast<int>(blockIdx.x) - tracer * NZ;
    const int nx = args.nx, ny = args.ny, thread = static_cast<int>(threadIdx.x);
    const SideValues at = side_values(args, tracer);
    const real* west = args.side_flux + at.west + k * ny;
    const real* east = args.side_flux + at.east + k * ny;
    const real* south = args.side_flux + at.south + k * nx;
    const real* north = args.side_flux + at.north + k * nx;
    const int rim_x = periodic_x() ? 0 : 1, rim_y = periodic_y() ? 0 : 1;
    double sum = 0;
    if (!periodic_x())
        for (int j = rim_y + thread; j < ny - rim_y; j += SUM_THREADS)
            sum += static_cast<double>(west[j]) - static_cast<double>(east[j]);
    if (!periodic_y())
        for (int i = rim_x + thread; i < nx - rim_x; i += SUM_THREADS)
            sum += static_cast<double>(south[i]) - static_cast<double>(north[i]);
    partial[thread] = sum;
    for (int half = SUM_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) partial[thread] += partial[thread + half];
    }
    if (thread == 0) args.entered[blockIdx.x] += static_cast<double>(args.dt) * partial[0];
}
