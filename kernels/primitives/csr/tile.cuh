// Tiles of rows of a sparse matrix, one for each block. Their list is computed in src/primitives/row_tiles.rs.
#pragma once

#include "primitives/csr/row.cuh"
#include "primitives/vector_load.cuh"

// Entries that a thread reads with one instruction: sixteen bytes of columns.
constexpr int AT_A_TIME = Wide<int>::COUNT;

// Several rows, or a piece of one.
struct RowTile {
    int row;    // the first
    int rows;   // their number; -1 - n for piece n
    int first;  // entry
    int end;    // entry beyond the last

    __device__ inline bool is_piece() const { return rows < 0; }
    __device__ inline int piece() const { return -1 - rows; }
    // First of the stored entries: loads of sixteen bytes begin at multiples of AT_A_TIME.
    __device__ inline int base() const { return first / AT_A_TIME * AT_A_TIME; }
};

__device__ inline RowTile row_tile(const CsrArgs& args, int number)
{
    const int4 found = __ldg(reinterpret_cast<const int4*>(args.tiles) + number);
    return {found.x, found.y, found.z, found.w};
}

// Entries of a tile that a thread holds.
struct TileEntries {
    Wide<int> columns[TILE_ROUNDS];
    Wide<real> values[TILE_ROUNDS][AT_A_TIME / Wide<real>::COUNT];
};

// The first entry of a thread in a round.
__device__ inline int entry_of(const RowTile& tile, int round)
{
    return tile.base() + (round * TILE_THREADS + threadIdx.x) * AT_A_TIME;
}

// Reads the entries. Entries before the first and after the last belong to other tiles or are padding; they are not
// added up.
__device__ inline void read_entries(const CsrArgs& args, const RowTile& tile, TileEntries& entries)
{
    constexpr int W = Wide<real>::COUNT;
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; ++round) {
        const int e = entry_of(tile, round);
        if (e >= tile.end) continue;
        entries.columns[round] = load_once(args.columns + e);
#pragma unroll
        for (int n = 0; n < AT_A_TIME / W; ++n) entries.values[round][n] = load_once(args.values + e + n * W);
    }
}

// Entries of a block in shared memory, in order from the base on: the products with a right-hand side, or the values
// and the columns, whose products are computed when they are added up.
//
// Products that are computed early are those of threads with adjacent entries of any rows: many loads are in flight
// together, but within a row of 27 neighbours each thread reads another part of the vector. LATE, the threads of
// neighbouring rows read neighbouring elements of the vector, entry by entry.
template <bool LATE>
struct Kept {
    const real* terms;
    const int* columns;
    const real* x;

    __device__ inline real at(int entry) const
    {
        if constexpr (LATE)
            return terms[entry] * __ldg(x + columns[entry]);
        else
            return terms[entry];
    }
};

// Stores the products with the right-hand side.
__device__ inline void keep_products(const RowTile& tile, const TileEntries& entries, const real* x,
                                     Wide<real>* terms)
{
    constexpr int W = Wide<real>::COUNT, PARTS = AT_A_TIME / W;
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; ++round) {
        if (entry_of(tile, round) >= tile.end) continue;
#pragma unroll
        for (int n = 0; n < PARTS; ++n) {
            Wide<real> products;
#pragma unroll
            for (int m = 0; m < W; ++m)
                products.at[m] =
                    entries.values[round][n].at[m] * __ldg(x + entries.columns[round].at[n * W + m]);
            terms[(round * TILE_THREADS + threadIdx.x) * PARTS + n] = products;
        }
    }
}

// Stores values and columns.
__device__ inline void keep_entries(const RowTile& tile, const TileEntries& entries, Wide<real>* terms,
                                    Wide<int>* columns)
{
    constexpr int PARTS = AT_A_TIME / Wide<real>::COUNT;
#pragma unroll
    for (int round = 0; round < TILE_ROUNDS; ++round) {
        if (entry_of(tile, round) >= tile.end) continue;
        const int place = round * TILE_THREADS + threadIdx.x;
        columns[place] = entries.columns[round];
#pragma unroll
        for (int n = 0; n < PARTS; ++n) terms[place * PARTS + n] = entries.values[round][n];
    }
}

// Distribution of the rows of a tile among the threads of the block: 2^shift lanes add up a row, as many as the block
// has for each.
__device__ inline int shift_of_lanes(const RowTile& tile)
{
    int shift = 0;
    while ((1 << shift) < WARP && (2 << shift) * tile.rows <= TILE_THREADS) ++shift;
    return shift;
}

// Range of a row in the stored entries.
struct KeptRow {
    int begin;
    int end;
};

// Row `number` of the tile; empty after the last row.
__device__ inline KeptRow kept_row(const CsrArgs& args, const RowTile& tile, int number)
{
    if (number >= tile.rows) return {0, 0};
    const int* starts = args.starts + tile.row + number;
    return {starts[0] - tile.base(), starts[1] - tile.base()};
}

// The sum of the row of each group of 2^shift lanes; the first lane of the group gets it. All lanes of the warp call
// it. A row with many entries for each of its lanes gets the whole warp.
template <bool LATE>
__device__ inline real sum_of_row(KeptRow row, int shift, const Kept<LATE>& kept)
{
    const int lanes = 1 << shift, lane = threadIdx.x & (lanes - 1), own = threadIdx.x % WARP;
    const bool is_long = row.end - row.begin > LONG_ROW << shift;
    real sum = 0;
    if (!is_long)
        for (int e = row.begin + lane; e < row.end; e += lanes) sum += kept.at(e);
    for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_down_sync(WHOLE_WARP, sum, step, lanes);
    unsigned waiting = __ballot_sync(WHOLE_WARP, is_long && lane == 0);
    while (waiting != 0) {
        const int owner = __ffs(waiting) - 1;
        waiting &= waiting - 1;
        const int begin = __shfl_sync(WHOLE_WARP, row.begin, owner);
        const int end = __shfl_sync(WHOLE_WARP, row.end, owner);
        real part = 0;
        for (int e = begin + own; e < end; e += WARP) part += kept.at(e);
        part = __shfl_sync(WHOLE_WARP, sum_of_lanes<WARP>(part), 0);
        if (own == owner) sum = part;
    }
    return sum;
}

// The sum of a piece of a row; all threads of the block call it, and get it.
template <bool LATE>
__device__ inline real sum_of_piece(const RowTile& tile, const Kept<LATE>& kept)
{
    constexpr int WARPS = TILE_THREADS / WARP;
    __shared__ real of_warp[WARPS];
    const int base = tile.base();
    real sum = 0;
    for (int e = tile.first - base + threadIdx.x; e < tile.end - base; e += TILE_THREADS) sum += kept.at(e);
    sum = sum_of_lanes<WARP>(sum);
    if (threadIdx.x % WARP == 0) of_warp[threadIdx.x / WARP] = sum;
    __syncthreads();
    real all = 0;
    for (int warp = 0; warp < WARPS; ++warp) all += of_warp[warp];
    return all;
}

// The products of a tile with SIDES right-hand sides, or with the remaining ones if fewer. Of several, products are
// computed early: late ones would read the columns once for each.
template <int SIDES>
__device__ inline void product_of_tile(const CsrArgs& args)
{
    constexpr bool LATE = GATHER_LATE != 0 && SIDES == 1;
    constexpr int PLACES = TILE_THREADS * TILE_ROUNDS;
    __shared__ Wide<real> terms[PLACES * (AT_A_TIME / Wide<real>::COUNT)];
    __shared__ Wide<int> columns[LATE ? PLACES : 1];
    static_assert(sizeof(terms) + (LATE ? sizeof(columns) : 0) <= CSR_TILE_BYTES, "as Rust counts it");
    wait_and_admit_next();
    const RowTile tile = row_tile(args, blockIdx.x);
    TileEntries entries;
    read_entries(args, tile, entries);
    // The first rows are prefetched here, so that they have arrived when the products have.
    const int shift = shift_of_lanes(tile), above = TILE_THREADS >> shift, own = threadIdx.x >> shift;
    const KeptRow first_row = kept_row(args, tile, own);
    const int first = blockIdx.y * SIDES, count = min(SIDES, args.sides - first);
    for (int n = 0; n < (SIDES == 1 ? 1 : count); ++n) {
        const int side = first + n;
        if (n > 0) __syncthreads();  // other threads may still be adding up the previous products
        const Kept<LATE> kept = {terms[0].at, columns[0].at, args.x + side * args.x_stride};
        if (LATE) keep_entries(tile, entries, terms, columns);
        else keep_products(tile, entries, kept.x, terms);
        __syncthreads();
        if (tile.is_piece()) {
            const real sum = sum_of_piece(tile, kept);
            if (threadIdx.x == 0) args.partials[static_cast<long long>(side) * args.pieces + tile.piece()] = sum;
            continue;
        }
        real* y = args.y + side * args.y_stride + tile.row;
        KeptRow row = first_row;
        for (int number = own; number - own < tile.rows; number += above) {
            if (number > own) row = kept_row(args, tile, number);
            const real sum = sum_of_row(row, shift, kept);
            if (number < tile.rows && (threadIdx.x & ((1 << shift) - 1)) == 0) y[number] = sum;
        }
    }
}
