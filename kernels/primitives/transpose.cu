// Transposition of a matrix, from a straightforward version to the one in use. Memory is accessed in sectors of 32
// bytes, best in cache lines of 128; an access to 4 bytes of a sector costs as much as one to all of it. A
// transposition reads along rows and writes along columns, so that one of the two is not contiguous unless a block
// transposes a tile in shared memory. The matrices of a batch follow one another. See src/primitives/gpu/transpose.rs.
#include "primitives/pdl_wait.cuh"
#include "primitives/transpose/thin.cuh"
#include "primitives/transpose/tile.cuh"
#include "primitives/vector_load.cuh"

// The bound: a copy of the same number of bytes. Several wide loads of a thread are in flight together, since
// throughput grows with the number of bytes in flight.
extern "C" __global__ void __launch_bounds__(COPY_THREADS)
transpose_copy(const __grid_constant__ TransposeArgs args)
{
    constexpr int LOADS = COPY_LOADS, W = Wide<real>::COUNT;
    const long long count = static_cast<long long>(args.matrices) * args.rows * args.columns;
    const long long wide = count / W;
    const long long first = static_cast<long long>(blockIdx.x) * COPY_THREADS * LOADS + threadIdx.x;
    Wide<real> held[LOADS];
#pragma unroll
    for (int n = 0; n < LOADS; ++n)
        if (first + n * COPY_THREADS < wide) held[n] = load_once(args.from + (first + n * COPY_THREADS) * W);
#pragma unroll
    for (int n = 0; n < LOADS; ++n)
        if (first + n * COPY_THREADS < wide) store_once(args.to + (first + n * COPY_THREADS) * W, held[n]);
    const long long rest = wide * W + threadIdx.x;
    if (blockIdx.x == 0 && rest < count) args.to[rest] = args.from[rest];
}

// One thread for each element. Loads are optimal: a warp reads a line of 128 bytes. But its 32 results go to 32 rows,
// each in another sector.
extern "C" __global__ void __launch_bounds__(LADDER_TILE * LADDER_TILE)
transpose_naive(const __grid_constant__ TransposeArgs args)
{
    const TilePlace place = tile_in_order(args, LADDER_TILE);
    const int x = threadIdx.x % LADDER_TILE, y = threadIdx.x / LADDER_TILE;
    const int row = place.row + y, column = place.column + x;
    if (row < args.rows && column < args.columns)
        place.to[at(column, row, args.rows)] = place.from[at(row, column, args.columns)];
}

// The worst access pattern: a warp follows a diagonal, so that neither its loads nor its stores are contiguous. Only
// the caches, which keep the lines that neighbouring warps read, help.
extern "C" __global__ void __launch_bounds__(LADDER_TILE * LADDER_TILE)
transpose_strided(const __grid_constant__ TransposeArgs args)
{
    const TilePlace place = tile_in_order(args, LADDER_TILE);
    const int x = threadIdx.x % LADDER_TILE, y = threadIdx.x / LADDER_TILE;
    const int row = place.row + (x + y) % LADDER_TILE, column = place.column + x;
    if (row < args.rows && column < args.columns)
        place.to[at(column, row, args.rows)] = place.from[at(row, column, args.columns)];
}

// A block reads rows into shared memory and writes columns from it: loads and stores have whole lines. But a column of
// the tile is in one bank of the shared memory, and the 32 threads of a warp are served one after the other.
extern "C" __global__ void __launch_bounds__(LADDER_TILE * LADDER_TILE)
transpose_tiled(const __grid_constant__ TransposeArgs args)
{
    __shared__ real tile[LADDER_TILE][LADDER_TILE];
    const TilePlace place = tile_in_order(args, LADDER_TILE);
    const int x = threadIdx.x % LADDER_TILE, y = threadIdx.x / LADDER_TILE;
    if (place.row + y < args.rows && place.column + x < args.columns)
        tile[y][x] = place.from[at(place.row + y, place.column + x, args.columns)];
    __syncthreads();
    if (place.row + x < args.rows && place.column + y < args.columns)
        place.to[at(place.column + y, place.row + x, args.rows)] = tile[x][y];
}

// With one unused column more, a column of the tile uses all banks. Remaining limits: a thread waits for its one
// element, passes it on and exits, and a block of 1024 threads is slow to be replaced.
extern "C" __global__ void __launch_bounds__(LADDER_TILE * LADDER_TILE)
transpose_padded(const __grid_constant__ TransposeArgs args)
{
    __shared__ real tile[LADDER_TILE][LADDER_TILE + 1];
    const TilePlace place = tile_in_order(args, LADDER_TILE);
    const int x = threadIdx.x % LADDER_TILE, y = threadIdx.x / LADDER_TILE;
    if (place.row + y < args.rows && place.column + x < args.columns)
        tile[y][x] = place.from[at(place.row + y, place.column + x, args.columns)];
    __syncthreads();
    if (place.row + x < args.rows && place.column + y < args.columns)
        place.to[at(place.column + y, place.row + x, args.rows)] = tile[x][y];
}

// A thread has several rows of the tile, with all loads in flight together: fewer threads with more loads each, and
// shared index arithmetic. The remaining limit: four bytes for each instruction.
extern "C" __global__ void __launch_bounds__(UNROLLED_TILE * UNROLLED_LINES)
transpose_unrolled(const __grid_constant__ TransposeArgs args)
{
    wait_and_admit_next();
    transpose_tile(args, tile_in_order(args, UNROLLED_TILE));
}

// The same in another order of the blocks. On devices that distribute memory to few channels in large pieces, blocks
// below one another wrote to the same channel; newer devices scatter addresses, and the order makes little difference,
// or is worse for the caches.
extern "C" __global__ void __launch_bounds__(UNROLLED_TILE * UNROLLED_LINES)
transpose_diagonal(const __grid_constant__ TransposeArgs args)
{
    transpose_tile(args, tile_on_diagonal(args, UNROLLED_TILE));
}

// The version in use if rows and columns are many and multiples of sixteen bytes, and the matrices of double precision
// not small; otherwise `transpose_unrolled` is or, if either are few, `transpose_thin_rows` or
// `transpose_thin_columns`. A thread transposes squares of 4 x 4 numbers (2 x 2 in double precision) in its registers,
// at no cost, and all accesses have sixteen bytes: rows of squares from memory, their columns through shared memory,
// lines of the result to memory. Blocks follow one another downwards, so that those that run together write the same rows
// of the result from end to end; of all orders this is the fastest one, presumably since memory pages that are written in
// pieces cost more than those that are read in pieces.
//
// The tile stores each of its columns as a line of HEIGHT wide numbers. Eight threads that write together have adjacent
// squares, that is eight columns at one height, in the same banks. The numbers of a line are therefore permuted,
// differently for each square: index `down` is exchanged for `down ^ across`. Eight threads that read together are
// adjacent in a line and again access eight different banks.
extern "C" __global__ void __launch_bounds__(WIDE_THREADS, WIDE_RESIDENT)
transpose_wide(const __grid_constant__ TransposeArgs args)
{
    constexpr int W = Wide<real>::COUNT, BANKS = 8;
    constexpr int HEIGHT = WIDE_TILE / W, SQUARES = HEIGHT * HEIGHT / WIDE_THREADS;
    static_assert(HEIGHT % BANKS == 0 && SQUARES * WIDE_THREADS == HEIGHT * HEIGHT, "a tile of whole squares");
    __shared__ Wide<real> tile[WIDE_TILE * HEIGHT];

    const int across = count_of_tiles(args.columns, WIDE_TILE), down = count_of_tiles(args.rows, WIDE_TILE);
    const int line = blockIdx.x / down;
    const TilePlace place = tile_at(args, line / across, blockIdx.x % down, line % across, WIDE_TILE);

    wait_and_admit_next();
    Wide<real> squares[SQUARES][W];
#pragma unroll
    for (int s = 0; s < SQUARES; ++s) {
        const int square = s * WIDE_THREADS + threadIdx.x;
        const int row = place.row + square / HEIGHT * W, column = place.column + square % HEIGHT * W;
        if (row < args.rows && column < args.columns) {
            const real* from = place.from + at(row, column, args.columns);
#pragma unroll
            for (int n = 0; n < W; ++n)
                squares[s][n] = load_once(from + static_cast<long long>(n) * args.columns);
        }
    }
#pragma unroll
    for (int s = 0; s < SQUARES; ++s) {
        const int square = s * WIDE_THREADS + threadIdx.x;
        const int level = square / HEIGHT, side = square % HEIGHT;
#pragma unroll
        for (int m = 0; m < W; ++m) {
            Wide<real> turned;
#pragma unroll
            for (int n = 0; n < W; ++n) turned.at[n] = squares[s][n].at[m];
            tile[(side * W + m) * HEIGHT + (level ^ side % BANKS)] = turned;
        }
    }
    __syncthreads();
#pragma unroll
    for (int n = 0; n < SQUARES * W; ++n) {
        const int item = n * WIDE_THREADS + threadIdx.x;
        const int line = item / HEIGHT, level = item % HEIGHT;
        const int row = place.row + level * W, column = place.column + line;
        if (row < args.rows && column < args.columns)
            store_once(place.to + at(column, row, args.rows), tile[line * HEIGHT + (level ^ line / W % BANKS)]);
    }
}

// The versions in use if a matrix has few rows or few columns, where tiles of squares would be mostly empty. A block
// takes all of the short side and THIN_LENGTH of the long one; its loads or stores are then contiguous across the ends
// of rows. See `thin_tile`.
extern "C" __global__ void __launch_bounds__(THIN_THREADS)
transpose_thin_rows(const __grid_constant__ TransposeArgs args)
{
    const ThinTile tile = thin_tile(args.rows, args.columns);
    __shared__ real kept[THIN_MOST * THIN_PITCH];
    const real* from = args.from + tile.matrix + tile.first;
    wait_and_admit_next();
    for (int n = threadIdx.x; n < args.rows * THIN_LENGTH; n += THIN_THREADS) {
        const int row = n / THIN_LENGTH, column = n % THIN_LENGTH;
        if (column < tile.length) kept[row * THIN_PITCH + column] = from[at(row, column, args.columns)];
    }
    __syncthreads();
    real* to = args.to + tile.matrix + at(tile.first, 0, args.rows);
    ThinWalk walk(args.rows);
    for (int n = threadIdx.x; n < args.rows * tile.length; n += THIN_THREADS, walk.step(args.rows))
        to[n] = kept[walk.side * THIN_PITCH + walk.along];
}

// The reverse: a contiguous piece becomes a few long rows.
extern "C" __global__ void __launch_bounds__(THIN_THREADS)
transpose_thin_columns(const __grid_constant__ TransposeArgs args)
{
    const ThinTile tile = thin_tile(args.columns, args.rows);
    __shared__ real kept[THIN_MOST * THIN_PITCH];
    const real* from = args.from + tile.matrix + at(tile.first, 0, args.columns);
    ThinWalk walk(args.columns);
    wait_and_admit_next();
    for (int n = threadIdx.x; n < args.columns * tile.length; n += THIN_THREADS, walk.step(args.columns))
        kept[walk.side * THIN_PITCH + walk.along] = from[n];
    __syncthreads();
    real* to = args.to + tile.matrix + tile.first;
    for (int n = threadIdx.x; n < args.columns * THIN_LENGTH; n += THIN_THREADS) {
        const int column = n / THIN_LENGTH, row = n % THIN_LENGTH;
        if (row < tile.length) to[at(column, row, args.rows)] = kept[column * THIN_PITCH + row];
    }
}

// Counts the elements that are not in their place, by a straightforward comparison.
extern "C" __global__ void __launch_bounds__(COPY_THREADS)
transpose_faults(const __grid_constant__ TransposeArgs args)
{
    const long long n = static_cast<long long>(blockIdx.x) * COPY_THREADS + threadIdx.x;
    const long long matrix = static_cast<long long>(args.rows) * args.columns;
    if (n >= args.matrices * matrix) return;
    const int row = n % matrix / args.columns, column = n % args.columns;
    // NaN is not equal to anything, and counts as a fault.
    const bool is_right = args.to[n / matrix * matrix + at(column, row, args.rows)] == args.from[n];
    if (!is_right) atomicAdd(args.faults, 1);
}
