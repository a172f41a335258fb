// Sums of passive tracers over the columns inside the specified and open rows, and their decay. Every block adds up its
// rows, in the same order in every run; the host adds up the sums of the blocks. See src/backend/budget_domain.rs.
#include "primitives/block_sum.cuh"
#include "primitives/layered.cuh"

__device__ inline bool is_inside(const BudgetRegion& region, int j, int i)
{
    return j >= region.first_row && j < region.end_row && i >= region.first_column && i < region.end_column;
}

// Calls `visit` with a thread's values of level blockIdx.y, and returns their content inside the region, kg of air
// times their units. All threads return the sum of the block.
template <class Visit>
__device__ inline double amount_of(const PassiveArgs& args, const Visit& visit)
{
    const BudgetRegion& region = args.region;
    const int k = blockIdx.y, plane = region.ny * region.pitch;
    double sum = 0;
    for (int j = blockIdx.x; j < region.ny; j += gridDim.x) {
        for (int i = threadIdx.x; i < region.pitch; i += SUM_THREADS) {
            const int c = j * region.pitch + i;
            real& value = args.tracer[static_cast<long long>(k) * plane + c];
            if (is_inside(region, j, i)) {
                sum += static_cast<double>(layered_at(args.mass, c, k)) * static_cast<double>(value);
            }
            visit(value);
        }
    }
    return block_sum(sum);
}

// Amount of a tracer.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
passive_amount_acc64(const __grid_constant__ PassiveArgs args)
{
    const double sum = amount_of(args, [](real&) {});
    if (threadIdx.x == 0) args.sums[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

// Decay of a tracer in every cell; adds the change of the amount.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
passive_decay_acc64(const __grid_constant__ PassiveArgs args)
{
    const double sum = amount_of(args, [&](real& value) { value *= args.left; });
    if (threadIdx.x == 0) args.sums[blockIdx.y * gridDim.x + blockIdx.x] += args.change * sum;
}
