// Total water in the columns inside the specified and open rows. Every block adds up its rows, in the same order in
// every run; the host adds up the sums of the blocks. See src/backend/budget_domain.rs.
#include "primitives/block_sum.cuh"
#include "primitives/layered.cuh"

// Water of level blockIdx.y in the rows of this block, kg.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
budget_water_acc64(const __grid_constant__ WaterArgs args)
{
    const BudgetRegion& region = args.region;
    const int k = blockIdx.y, plane = region.ny * region.pitch;
    const long long field = static_cast<long long>(NZ) * plane;
    double sum = 0;
    for (int j = region.first_row + blockIdx.x; j < region.end_row; j += gridDim.x) {
        for (int i = region.first_column + threadIdx.x; i < region.end_column; i += SUM_THREADS) {
            const int c = j * region.pitch + i;
            const real* q = args.water + static_cast<long long>(k) * plane + c;
            double water = 0;
            for (int s = 0; s < WATER_SPECIES; ++s) water += static_cast<double>(q[s * field]);
            sum += static_cast<double>(layered_at(args.mass, c, k)) * water;
        }
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) args.sums[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}
