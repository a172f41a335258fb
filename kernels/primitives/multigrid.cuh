// A V-cycle of multigrid: its steps on one grid are kernels with a thread for each cell. Products and sums have the order
// of the CPU version and are rounded one by one, so that the bits are the same. See src/primitives/multigrid for the
// method.
#pragma once

#include "primitives/rounded.cuh"

// A cell, and the indices of its neighbours, which wrap around.
struct Cell {
    int own, west, east, south, north, south_west, south_east, north_west, north_east;
};

__device__ inline int behind(int at, int n) { return at == 0 ? n - 1 : at - 1; }
__device__ inline int ahead(int at, int n) { return at + 1 == n ? 0 : at + 1; }

__device__ inline Cell cell_at(int own, int nx, int ny)
{
    const int j = own / nx, i = own - j * nx;
    const int row = j * nx, below = behind(j, ny) * nx, above = ahead(j, ny) * nx;
    const int left = behind(i, nx), right = ahead(i, nx);
    return {own,          row + left,    row + right,  below + i,    above + i,
            below + left, below + right, above + left, above + right};
}

// A grid function in memory.
struct Stored {
    const float* x;
    __device__ inline float operator[](int at) const { return x[at]; }
};

// The first step of relaxation from 0, computed where it is needed.
struct FirstStep {
    const float* b;
    const float* inverse;
    float step;
    __device__ inline float operator[](int at) const { return product(step, product(inverse[at], b[at])); }
};

// The residual of a cell: b - A x.
template <class X>
__device__ inline float residual_of(const MultigridArgs& args, const Cell& c, const X& x)
{
    const float *west = args.west, *south = args.south;
    const float beside = sum(product(west[c.own], x[c.west]), product(west[c.east], x[c.east]));
    const float along = sum(product(south[c.own], x[c.south]), product(south[c.north], x[c.north]));
    float coupled = sum(beside, along);
    if (args.south_west != nullptr) {
        const float *sw = args.south_west, *se = args.south_east;
        const float lower = sum(product(sw[c.own], x[c.south_west]), product(se[c.own], x[c.south_east]));
        const float upper =
            sum(product(se[c.north_west], x[c.north_west]), product(sw[c.north_east], x[c.north_east]));
        coupled = sum(coupled, sum(lower, upper));
    }
    return sum(args.b[c.own], sum(coupled, -product(args.diagonal[c.own], x[c.own])));
}

// A cell after a step of relaxation.
template <class X>
__device__ inline float relaxed(const MultigridArgs& args, const Cell& c, const X& x, float step)
{
    return sum(x[c.own], product(step, product(args.inverse[c.own], residual_of(args, c, x))));
}

// The cell of a thread, or the number of cells if it has none or the system is solved.
__device__ inline int own_cell(const MultigridArgs& args)
{
    const int cells = args.nx * args.ny;
    const int own = blockIdx.x * SUM_THREADS + threadIdx.x;
    return args.words[DESCENT_VERDICT] == DESCENT_RUNNING && own < cells ? own : cells;
}

// Two steps of relaxation from 0.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
multigrid_start(const __grid_constant__ MultigridArgs args)
{
    const int own = own_cell(args);
    if (own == args.nx * args.ny) return;
    const FirstStep first = {args.b, args.inverse, args.steps[0]};
    args.x[own] = relaxed(args, cell_at(own, args.nx, args.ny), first, args.steps[1]);
}

// The residual.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
multigrid_residual(const __grid_constant__ MultigridArgs args)
{
    const int own = own_cell(args);
    if (own == args.nx * args.ny) return;
    args.other[own] = residual_of(args, cell_at(own, args.nx, args.ny), Stored{args.x});
}

// The residual on the next grid, by the transposed interpolation: a thread for each cell of that grid.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
multigrid_restrict(const __grid_constant__ MultigridArgs args)
{
    const int nx = args.coarse_nx, ny = args.coarse_ny, cells = nx * ny;
    const int own = blockIdx.x * SUM_THREADS + threadIdx.x;
    if (args.words[DESCENT_VERDICT] != DESCENT_RUNNING || own >= cells) return;
    const int j = own / nx, i = own - j * nx;
    const int west = behind(i, nx), south = behind(j, ny);
    // Cells of odd index, in the blocks of this cell, west and south of it; weights beyond the grid are 0.
    const int column = i << args.halved_x;
    const int right = min(column + 1, args.nx - 1), left = min((west << args.halved_x) + 1, args.nx - 1);
    const int row = j << args.halved_y;
    const int above = min(row + 1, args.ny - 1), below = min((south << args.halved_y) + 1, args.ny - 1);
    const auto fine = [&](int j, int i) { return args.other[j * args.nx + i]; };
    const auto weight = [&](int n, int j, int i) { return args.weights[n * cells + j * nx + i]; };
    float total = fine(row, column);
    if (args.halved_x)
        total = sum(total, sum(product(weight(0, j, i), fine(row, right)), product(weight(1, j, west), fine(row, left))));
    if (args.halved_y)
        total = sum(total, sum(product(weight(2, j, i), fine(above, column)),
                               product(weight(3, south, i), fine(below, column))));
    if (args.halved_x && args.halved_y) {
        const float upper =
            sum(product(weight(4, j, i), fine(above, right)), product(weight(5, j, west), fine(above, left)));
        const float lower =
            sum(product(weight(6, south, i), fine(below, right)), product(weight(7, south, west), fine(below, left)));
        total = sum(total, sum(upper, lower));
    }
    args.coarse_b[own] = total;
}

// The solution on the last grid, of one cell.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
multigrid_last(const __grid_constant__ MultigridArgs args)
{
    if (own_cell(args) == 0) args.x[0] = product(args.inverse[0], args.b[0]);
}

// Adds the interpolated solution of the next grid.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
multigrid_correct(const __grid_constant__ MultigridArgs args)
{
    const int own = own_cell(args);
    if (own == args.nx * args.ny) return;
    const int nx = args.coarse_nx, cells = nx * args.coarse_ny;
    const int j = own / args.nx, i = own - j * args.nx;
    const int row = j >> args.halved_y, column = i >> args.halved_x;
    const int here = row * nx + column, east = row * nx + ahead(column, nx);
    const int north_row = ahead(row, args.coarse_ny) * nx;
    const int north = north_row + column, north_east = north_row + ahead(column, nx);
    const float* x = args.coarse_x;
    const auto weighted = [&](int n, int at) { return product(args.weights[n * cells + here], x[at]); };
    const bool is_odd = args.halved_x && i % 2 == 1, is_between = args.halved_y && j % 2 == 1;
    float correction = 0;
    if (!is_odd && !is_between) correction = x[here];
    else if (!is_between) correction = sum(weighted(0, here), weighted(1, east));
    else if (!is_odd) correction = sum(weighted(2, here), weighted(3, north));
    else correction = sum(sum(weighted(4, here), weighted(5, east)), sum(weighted(6, north), weighted(7, north_east)));
    args.x[own] = sum(args.x[own], correction);
}

// The second step of relaxation, into the other array.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
multigrid_second(const __grid_constant__ MultigridArgs args)
{
    const int own = own_cell(args);
    if (own == args.nx * args.ny) return;
    args.other[own] = relaxed(args, cell_at(own, args.nx, args.ny), Stored{args.x}, args.steps[1]);
}

// The first step, back from it.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
multigrid_first(const __grid_constant__ MultigridArgs args)
{
    const int own = own_cell(args);
    if (own == args.nx * args.ny) return;
    args.x[own] = relaxed(args, cell_at(own, args.nx, args.ny), Stored{args.other}, args.steps[0]);
}
