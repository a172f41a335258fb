// The microphysics with a block of threads for each tile of columns; the mapping of threads to cells changes from phase
// to phase, as in kernels/physics/wsm5/tile.cu.
//
// Processes and their order: src/physics/wsm6/mod.rs.

#include "primitives/pdl_wait.cuh"
#include "physics/wsm6/tile/processes.cuh"
#include "physics/wsm6/tile/speeds.cuh"
#include "physics/tile/tasks.cuh"

extern "C" __global__ void __launch_bounds__(TILE_THREADS, BLOCKS)
    wsm6_tile(__grid_constant__ const Wsm6Args a)
{
    begin(a.marks, MARK_WSM6_TILE);
    __shared__ Tile tile;
    const Position at = position(a);
    LoadedCell found[PREFETCH];
    prefetch(a, at, 0, found);
    if (has_column_sums(at)) column_sums_begin(a, at, tile);
    if (threadIdx.x == 0) {
        begin_minor_step(tile);
        tile.clips = 0;
    }
    __syncthreads();
    Contents contents = {};
    Origin origin = {};
    unsigned active = load(a, at, found, tile, contents, origin);
    mark_falling_columns(contents, tile);
    // The vote tells the compiler that all lanes agree.
    const bool is_any = __any_sync(ALL_LANES, __syncthreads_or(active != 0));
    if (is_any && HEIGHTS_KEPT) {
        if (has_column_sums(at)) {
            set_tops(tile.depth, tile.layering, at.column);
            if (COLUMNS_LISTED) list_columns(tile, at.column);
        }
        __syncthreads();
    }
    real clipped = 0;
    for (int step = 1;; ++step) {
        // If no cell can change, one step is equivalent to all.
        const bool is_last = ONE_STEP || !is_any || step >= a.minor_steps;
        if (is_any) {
            if (tile.falling.any() != 0) {
                fall_in(a, tile);
                __syncthreads();
            }
            mark_active(at, is_last, tile, active);
            if (LISTED) {
                list_active(active, at, tile);
                __syncthreads();
            }
            run_processes(a, at, origin, active, step == 1, is_last, tile);
        }
        if (is_column_sums_owner(at, tile)) {
            Wsm6Precipitation sum = step == 1 ? Wsm6Precipitation{} : tile.sum[at.column];
            if (is_any) gather(a, tile, at.column, sum);
            if (is_last) store_surface(a, tile.place[at.column], sum, 0);
            else tile.sum[at.column] = sum;
            clipped = sum.clipped;
        }
        if (!is_any) return;
        __syncthreads();
        if (is_last) break;
        if (threadIdx.x == 0) begin_minor_step(tile);
        __syncthreads();
        mark_falling_columns(reload_contents(at, tile), tile);
        __syncthreads();
        if (COLUMNS_LISTED) {
            if (has_column_sums(at)) list_columns(tile, at.column);
            __syncthreads();
        }
    }
    if (warp() == WARPS - 1) column_sums_end(a, tile, at, clipped);
}
