// One step of all tracers. A stage without limiter is one kernel; with STAGES_TILED it works by tiles, and a second
// kernel computes the groups at the sides in x. The last stage with a limiter is one kernel by tiles if TILED, else two
// passes. The tracers before UNLIMITED are never limited.
#include "advection/tile/limited.cuh"
#include "advection/tile/stage.cuh"
#include "primitives/pdl_wait.cuh"
#include "step_end/inflow.cuh"

// Shared memory of the blocks of tiles.
extern __shared__ Line smem_lines[];

// Marches a thread, with the code for inner places if the place is one.
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
    if (STAGES_TILED) return advance_by_tiles(args, TRACERS, smem_lines);
    Place place;
    if (find_place(args, 0, TRACERS, place)) march<advance>(args, place);
}

// The rest of such a stage by tiles: the groups at the sides in x.
extern "C" __global__ void __launch_bounds__(STAGE_THREADS, STAGE_RESIDENT)
transport_sides(const __grid_constant__ TransportArgs args)
{
    if (!STAGES_TILED || periodic_x()) return;
    begin(args.marks, MARK_TRANSPORT_SIDES);
    Place place;
    if (find_place_at_side(args, place)) advance(args, place);
}

// The last stage of the tracers that are never limited, if the limited ones have a kernel of their own.
extern "C" __global__ void __launch_bounds__(STAGES_TILED ? STAGE_ROWS * LANES : STAGE_THREADS,
                                             STAGES_TILED ? STAGE_TILES_RESIDENT : STAGE_RESIDENT)
transport_unlimited(const __grid_constant__ TransportArgs args)
{
    if (!TILED) return;
    begin(args.marks, MARK_TRANSPORT_UNLIMITED);
    if (STAGES_TILED) return advance_by_tiles(args, UNLIMITED, smem_lines);
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
    LimitSmem& smem = *reinterpret_cast<LimitSmem*>(&smem_lines[0].group[tile.place_in_line]);
    if (tile.place.is_inner)
        limit(args, {inner(args, tile.place), tile.first_row, tile.place_in_line, tile.owns}, smem);
    else
        limit(args, tile, smem);
}

// The last stage: the first pass of the limited tracers, and the whole stage of the other tracers.
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

// Adds the inflow if the transport runs alone; in a run the kernel that ends the step does it.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
transport_entered_acc64(const __grid_constant__ TransportArgs args)
{
    begin(args.marks, MARK_TRANSPORT_ENTERED_ACC64);
    add_inflow(args, 1, 0, static_cast<int>(blockIdx.x));
}
