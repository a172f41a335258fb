// Conjugate gradients for a sparse symmetric positive definite system: two kernels for each iteration, one thread for
// each row. Data that one iteration passes to the next stays in device memory, and after the verdict the kernels do
// nothing. Products and sums have the order of the CPU version and are rounded one by one, so that the bits are the
// same. See src/primitives/conjugate_gradient.rs.
#include "primitives/block_sum.cuh"

// Sum and product that are never contracted to a fused multiply-add.
__device__ inline double sum(double a, double b) { return __dadd_rn(a, b); }
__device__ inline double product(double a, double b) { return __dmul_rn(a, b); }

// A component of the search direction of this iteration.
__device__ inline double direction(const DescentArgs& args, double keep, int row)
{
    return sum(args.scaled[row], product(keep, args.before[row]));
}

// Sum of one number of each thread of all blocks: first within blocks, then over the blocks by the last block to
// finish. Returns true in the thread that has the total.
__device__ inline bool grid_sum(const DescentArgs& args, double own, double& total)
{
    __shared__ bool is_last;
    const double block = block_sum(own);
    if (threadIdx.x == 0) {
        args.sums[blockIdx.x] = block;
        __threadfence();
        is_last = atomicAdd(&args.words[DESCENT_TICKETS], 1ull) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return false;
    __threadfence();
    double mine = 0;
    for (unsigned n = threadIdx.x; n < gridDim.x; n += SUM_THREADS)
        mine = sum(mine, __ldcg(&args.sums[n]));
    total = block_sum(mine);
    if (threadIdx.x == 0) args.words[DESCENT_TICKETS] = 0;
    return threadIdx.x == 0;
}

// Ends the iterations, and informs the host.
__device__ inline void set_verdict(const DescentArgs& args, unsigned long long verdict)
{
    args.words[DESCENT_VERDICT] = verdict;
    *static_cast<volatile unsigned long long*>(args.shown) = verdict;
}

// A row of the matrix times the direction. Several entries are loaded together.
__device__ inline double row_product(const DescentArgs& args, double keep, int begin, int end)
{
    constexpr int batch = 8;
    double q = 0;
    for (int first = begin; first < end; first += batch) {
        double terms[batch];
#pragma unroll
        for (int n = 0; n < batch; ++n) {
            const int at = first + n;
            const bool is_there = at < end;
            terms[n] = is_there ? product(args.values[at], direction(args, keep, args.column_of[at])) : 0;
        }
        // Missing entries add 0.
#pragma unroll
        for (int n = 0; n < batch; ++n) q = sum(q, terms[n]);
    }
    return q;
}

// Multiplies the matrix by the new direction, whose components are computed where they are needed.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
descent_product_acc64(const __grid_constant__ DescentArgs args)
{
    // Loaded before it is known whether there is work, to hide the latency.
    const unsigned long long verdict = args.words[DESCENT_VERDICT];
    const double keep = args.numbers[DESCENT_KEEP];
    const int row = blockIdx.x * SUM_THREADS + threadIdx.x;
    const bool has_row = row < args.rows;
    const int begin = has_row ? args.starts[row] : 0, end = has_row ? args.starts[row + 1] : 0;
    if (verdict != DESCENT_RUNNING) return;
    double own = 0;
    if (has_row) {
        const double q = row_product(args, keep, begin, end);
        const double d = direction(args, keep, row);
        args.direction[row] = d;
        args.product[row] = q;
        own = product(d, q);
    }
    double curvature = 0;
    if (!grid_sum(args, own, curvature)) return;
    const unsigned long long done = args.words[DESCENT_DONE] + 1;
    args.words[DESCENT_DONE] = done;
    args.numbers[DESCENT_LENGTH] = args.numbers[DESCENT_ENERGY] / curvature;
    // Curvature that is not positive: the residual is zero, or the matrix is not positive definite.
    const bool is_too_late = done > static_cast<unsigned long long>(args.most);
    if (is_too_late || !(curvature > 0)) set_verdict(args, DESCENT_FAILED);
}

// Moves x along the direction, and compares the residual with its limit.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
descent_update_acc64(const __grid_constant__ DescentArgs args)
{
    const unsigned long long verdict = args.words[DESCENT_VERDICT];
    const double length = args.numbers[DESCENT_LENGTH];
    if (verdict != DESCENT_RUNNING) return;
    const int row = blockIdx.x * SUM_THREADS + threadIdx.x;
    double own = 0;
    bool is_outside = false;
    if (row < args.rows) {
        const double x = sum(args.x[row], product(length, args.direction[row]));
        const double residual = sum(args.residual[row], -product(length, args.product[row]));
        const double scaled = product(args.inverse[row], residual);
        args.x[row] = x;
        args.residual[row] = residual;
        args.scaled[row] = scaled;
        own = product(residual, scaled);
        is_outside = !(fabs(residual) <= args.limit[row]);
    }
    const bool has_outside = __syncthreads_or(is_outside);
    // Visible to the last block, as its sum is.
    if (threadIdx.x == 0 && has_outside) atomicExch(&args.words[DESCENT_OUTSIDE], 1ull);
    double energy = 0;
    if (!grid_sum(args, own, energy)) return;
    args.numbers[DESCENT_KEEP] = energy / args.numbers[DESCENT_ENERGY];
    args.numbers[DESCENT_ENERGY] = energy;
    if (atomicExch(&args.words[DESCENT_OUTSIDE], 0ull) == 0) set_verdict(args, DESCENT_CONVERGED);
}
