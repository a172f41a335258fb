// The microphysics, a block of threads for a tile of columns whose mapping changes from phase to phase.
//
// What the processes are, and in which order they act, stands in src/wsm5/mod.rs.

#include "primitives/mark.cuh"
#include "wsm5/tile/act.cuh"
#include "wsm5/tile/fall.cuh"
#include "wsm5/tile/load.cuh"
#include "wsm5/tile/sink.cuh"
#include "wsm5/tile/store.cuh"

// Older devices take a few registers more for the same, which would not fit.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr int BLOCKS = TILE_BLOCKS > 1 ? TILE_BLOCKS - 1 : 1;
#else
constexpr int BLOCKS = TILE_BLOCKS;
#endif

extern "C" __global__ void __launch_bounds__(TILE_THREADS, BLOCKS)
    wsm5_tile(__grid_constant__ const CloudArgs a)
{
    mark(a.marks, MARK_WSM5_TILE);
    __shared__ Tile tile;
    const Position at = position(a);
    // One thread for each column looks after its sums.
    const bool is_accountant = at.row == 0;
    if (is_accountant) {
        tile.place[at.column] = at.place;
        tile.sum[at.column] = {0, 0, 0, 0, 0, 0, 0};
        for (int s = 0; s < SPECIES; ++s) tile.landing[s][at.column] = {0, 0, 0};
    }
    if (threadIdx.x == 0) {
        tile.falling = {{0, 0, 0}};
        tile.active_count = 0;
        tile.next_task = 0;
    }
    __syncthreads();
    unsigned active = load(a, at, tile);
    begin_step(at, tile);
    if (!__syncthreads_or(active != 0)) {
        if (is_accountant && at.is_inside()) store_surface(a, at.place, {0, 0, 0, 0, 0, 0, 0}, 0);
        return;
    }
    if (FALLOUT == Fallout::SemiLagrangian) {
        set_heights(tile);
        __syncthreads();
    }
    // Columns in which something has fallen in any minor step.
    unsigned fell = 0;
    for (int step = 1;; ++step) {
        const unsigned falls = tile.falling.any();
        fell |= falls;
        if (falls != 0) {
            if (FALLOUT == Fallout::SemiLagrangian) fall_in(a, tile);
            else sink_in(a, tile);
            __syncthreads();
        }
        list_active(at, tile, active);
        if (is_accountant && at.is_inside()) gather(a, tile, at.column);
        __syncthreads();
        act(a, step == 1, tile);
        __syncthreads();
        if (step >= a.minor_steps) break;
        if (threadIdx.x == 0) {
            tile.falling = {{0, 0, 0}};
            tile.active_count = 0;
            tile.next_task = 0;
        }
        __syncthreads();
        begin_step(at, tile);
        __syncthreads();
    }
    store_cells(a, at, tile, active, fell);
    __syncthreads();
    if (is_accountant && at.is_inside()) {
        Precipitation sum = tile.sum[at.column];
        real mass_mismatch = 0;
        for (int k = 0; k < NZ; ++k) {
            sum.clipped += tile.clipped[k][at.column];
            mass_mismatch += tile.rho[k][at.column];
        }
        store_surface(a, at.place, sum, mass_mismatch);
    }
}
