// The tile of a block, and its transposition through shared memory.
#pragma once

// Part of the matrices that a block transposes: a tile of one matrix of the batch.
struct TilePlace {
    const real* from;
    real* to;
    int row;     // first of the tile
    int column;
};

__device__ inline int count_of_tiles(int extent, int tile) { return (extent + tile - 1) / tile; }

// The tile in line `down` and column `across` of the tiles of matrix `number`.
__device__ inline TilePlace tile_at(const TransposeArgs& args, int number, int down, int across, int tile)
{
    const long long first = static_cast<long long>(number) * args.rows * args.columns;
    return {args.from + first, args.to + first, down * tile, across * tile};
}

// Tiles in reading order, along the rows.
__device__ inline TilePlace tile_in_order(const TransposeArgs& args, int tile)
{
    const int across = count_of_tiles(args.columns, tile), down = count_of_tiles(args.rows, tile);
    const int line = blockIdx.x / across;
    return tile_at(args, line / down, line % down, blockIdx.x % across, tile);
}

// Tiles along diagonals: blocks that run together read different columns and write different rows, so that traffic is
// balanced on both sides.
__device__ inline TilePlace tile_on_diagonal(const TransposeArgs& args, int tile)
{
    const int across = count_of_tiles(args.columns, tile), down = count_of_tiles(args.rows, tile);
    const int number = blockIdx.x / (across * down), rest = blockIdx.x % (across * down);
    const int line = rest % down;
    return tile_at(args, number, line, (rest / down + line) % across, tile);
}

// Offset of an element in rows of `width`.
__device__ inline long long at(int row, int column, int width)
{
    return static_cast<long long>(row) * width + column;
}

// Transposes a tile of any alignment by UNROLLED_LINES lines of UNROLLED_TILE threads. All loads are issued before the
// first result is needed. One column more than the tile has puts the elements of a column into different banks of the
// shared memory.
__device__ inline void transpose_tile(const TransposeArgs& args, const TilePlace& place)
{
    __shared__ real tile[UNROLLED_TILE][UNROLLED_TILE + 1];
    constexpr int ROUNDS = UNROLLED_TILE / UNROLLED_LINES;
    const int x = threadIdx.x % UNROLLED_TILE, y = threadIdx.x / UNROLLED_TILE;
#pragma unroll
    for (int n = 0; n < ROUNDS; ++n) {
        const int line = y + n * UNROLLED_LINES;
        const int row = place.row + line, column = place.column + x;
        if (row < args.rows && column < args.columns)
            tile[line][x] = place.from[at(row, column, args.columns)];
    }
    __syncthreads();
#pragma unroll
    for (int n = 0; n < ROUNDS; ++n) {
        const int line = y + n * UNROLLED_LINES;
        const int row = place.row + x, column = place.column + line;
        if (row < args.rows && column < args.columns)
            place.to[at(column, row, args.rows)] = tile[x][line];
    }
}
