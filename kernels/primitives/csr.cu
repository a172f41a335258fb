// Products of a sparse matrix and vectors, y = A x, from a straightforward version to the one in use. An entry is a
// column and a value, eight or twelve bytes that are read once, for two operations. The product is therefore
// memory-bound, provided that entries are read contiguously, that many loads are in flight, and that the load is
// balanced over the threads. Several right-hand sides are x_stride and y_stride apart. Every row is added up in an
// order that depends on the matrix only. See src/primitives/gpu/csr.rs.
#include "primitives/csr/row.cuh"
#include "primitives/csr/tile.cuh"

// Older devices need a few more registers for the same code, so that fewer blocks fit.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr int RESIDENT = TILE_RESIDENT > 2 ? TILE_RESIDENT - 2 : 1;
#else
constexpr int RESIDENT = TILE_RESIDENT;
#endif

// One thread for each row. Neighbouring threads read entries that are a row apart, so that every warp needs as many
// memory transactions as it has rows, and takes as long as its longest row.
extern "C" __global__ void __launch_bounds__(CSR_THREADS)
csr_thread(const __grid_constant__ CsrArgs args)
{
    const long long row = static_cast<long long>(blockIdx.x) * CSR_THREADS + threadIdx.x;
    wait_and_admit_next();
    if (row >= args.rows) return;
    const real* x = args.x + blockIdx.y * args.x_stride;
    real sum = 0;
    for (int e = args.starts[row]; e < args.starts[row + 1]; ++e)
        sum += args.values[e] * __ldg(x + args.columns[e]);
    args.y[blockIdx.y * args.y_stride + row] = sum;
}

// A block reads the entries of its rows contiguously, as many as fit its shared memory, and stores their products
// there; then each thread adds up the products of its row. Memory is read in whole cache lines. But the block either
// loads or adds between two barriers, a short row waits for the longest row of the block, and a block of short rows has
// little to load.
extern "C" __global__ void __launch_bounds__(CSR_THREADS)
csr_cached(const __grid_constant__ CsrArgs args)
{
    __shared__ real products[CSR_CACHE];
    const int first = blockIdx.x * CSR_THREADS, end = min(first + CSR_THREADS, args.rows);
    const int row = min(first + static_cast<int>(threadIdx.x), end);
    wait_and_admit_next();
    const int begin_row = args.starts[row], end_row = args.starts[min(row + 1, end)];
    const int last = args.starts[end];
    const real* x = args.x + blockIdx.y * args.x_stride;
    real sum = 0;
    for (int chunk = args.starts[first]; chunk < last; chunk += CSR_CACHE) {
        const int chunk_end = min(chunk + CSR_CACHE, last);
        for (int e = chunk + threadIdx.x; e < chunk_end; e += CSR_THREADS)
            products[e - chunk] = args.values[e] * __ldg(x + args.columns[e]);
        __syncthreads();
        for (int e = max(begin_row, chunk); e < min(end_row, chunk_end); ++e) sum += products[e - chunk];
        __syncthreads();
    }
    if (row < end) args.y[blockIdx.y * args.y_stride + row] = sum;
}

// One warp for each row: its lanes read entries contiguously and add up their sums in five steps. Good for rows of a
// hundred entries; with seven entries in a row 25 lanes are idle.
extern "C" __global__ void __launch_bounds__(CSR_THREADS) csr_warp(const __grid_constant__ CsrArgs args)
{
    row_by_lanes<WARP>(args);
}

// The same with fewer lanes for a row, about the number of its entries: a warp has several rows.
extern "C" __global__ void __launch_bounds__(CSR_THREADS) csr_lanes_2(const __grid_constant__ CsrArgs args)
{
    row_by_lanes<2>(args);
}
extern "C" __global__ void __launch_bounds__(CSR_THREADS) csr_lanes_4(const __grid_constant__ CsrArgs args)
{
    row_by_lanes<4>(args);
}
extern "C" __global__ void __launch_bounds__(CSR_THREADS) csr_lanes_8(const __grid_constant__ CsrArgs args)
{
    row_by_lanes<8>(args);
}
extern "C" __global__ void __launch_bounds__(CSR_THREADS) csr_lanes_16(const __grid_constant__ CsrArgs args)
{
    row_by_lanes<16>(args);
}

// Rows in two bins. The first blocks have the listed long rows, with one warp for each; in the other blocks a thread
// has one row, and skips long ones. No warp waits for a long row of one of its lanes, and short rows are as fast as
// with one thread for each row.
extern "C" __global__ void __launch_bounds__(CSR_THREADS) csr_bins(const __grid_constant__ CsrArgs args)
{
    wait_and_admit_next();
    constexpr int WARPS = CSR_THREADS / WARP;
    const int blocks_of_long = (args.long_count + WARPS - 1) / WARPS;
    if (static_cast<int>(blockIdx.x) < blocks_of_long) {
        const int number = blockIdx.x * WARPS + threadIdx.x / WARP;
        if (number < args.long_count) row_of_warp(args, args.long_rows[number]);
    } else {
        const long long block = static_cast<int>(blockIdx.x) - blocks_of_long;
        const long long row = block * CSR_THREADS + threadIdx.x;
        if (row >= args.rows) return;
        const int end = args.starts[row + 1];
        int e = args.starts[row];
        if (end - e > SHORT_ROW) return;
        const real* x = args.x + blockIdx.y * args.x_stride;
        real sum = 0;
        for (; e < end; ++e) sum += args.values[e] * __ldg(x + args.columns[e]);
        args.y[blockIdx.y * args.y_stride + row] = sum;
    }
}

// Tiles of whole rows with about the same number of entries, whatever the lengths of rows; the list of tiles is
// computed once for a matrix. A thread has TILE_ROUNDS times four entries, loaded sixteen bytes with one instruction
// and all in flight together, and stores the products in shared memory. Then each row is added up by as many lanes as
// the tile has for it, a long row by a whole warp. A row that is longer than a tile is cut into pieces, whose sums
// `csr_join` adds up.
extern "C" __global__ void __launch_bounds__(TILE_THREADS, RESIDENT)
csr_tiles(const __grid_constant__ CsrArgs args)
{
    product_of_tile<1>(args);
}

// Tiles for several right-hand sides: the entries stay in registers for CSR_SIDES of them.
extern "C" __global__ void __launch_bounds__(TILE_THREADS, 1)
csr_tiles_several(const __grid_constant__ CsrArgs args)
{
    product_of_tile<CSR_SIDES>(args);
}

// Adds up the pieces of the rows that were cut, one warp for each row.
extern "C" __global__ void __launch_bounds__(CSR_THREADS) csr_join(const __grid_constant__ CsrArgs args)
{
    const int number = (blockIdx.x * CSR_THREADS + threadIdx.x) / WARP;
    wait_and_admit_next();
    if (number >= args.cut_rows) return;
    const int lane = threadIdx.x % WARP;
    const int* cut = args.cuts + CUT_WORDS * number;
    const int row = cut[0], first = cut[1], end = cut[2];
    const real* partials = args.partials + static_cast<long long>(blockIdx.y) * args.pieces;
    real sum = 0;
    for (int piece = first + lane; piece < end; piece += WARP) sum += partials[piece];
    sum = sum_of_lanes<WARP>(sum);
    if (lane == 0) args.y[blockIdx.y * args.y_stride + row] = sum;
}
