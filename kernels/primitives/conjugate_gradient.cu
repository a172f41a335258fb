// Conjugate gradients for a sparse symmetric positive definite system: three kernels for each iteration beside those of
// the preconditioner (multigrid.cuh), one thread for each row. Data that one iteration passes to the next stays in device
// memory, and after the verdict the kernels do nothing. Products are rounded one by one, and sums do not depend on their
// order, so that the bits are those of the CPU version. See src/primitives/conjugate_gradient.rs.
#include "primitives/multigrid.cuh"
#include "primitives/sums.cuh"

// A component of the search direction of this iteration.
__device__ inline double direction(const DescentArgs& args, double keep, int row)
{
    return sum(static_cast<double>(args.improved[row]), product(keep, args.before[row]));
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

// The scalar product of the residual with the improved one.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
descent_energy_acc64(const __grid_constant__ DescentArgs args)
{
    if (args.words[DESCENT_VERDICT] != DESCENT_RUNNING) return;
    Terms terms;
    for (int row = blockIdx.x * SUM_THREADS + threadIdx.x; row < args.rows; row += gridDim.x * SUM_THREADS) {
        const double residual = product(args.residual[row], args.residual_scale);
        terms.add(product(product(residual, static_cast<double>(args.improved[row])), args.energy_scale));
    }
    double energy = 0;
    if (!grid_sum(args.words + DESCENT_SUM, terms, energy)) return;
    args.numbers[DESCENT_KEEP] = energy / args.numbers[DESCENT_ENERGY];
    args.numbers[DESCENT_ENERGY] = energy;
}

// Multiplies the matrix by the new direction, whose components are computed where they are needed.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
descent_product_acc64(const __grid_constant__ DescentArgs args)
{
    if (args.words[DESCENT_VERDICT] != DESCENT_RUNNING) return;
    const double keep = args.numbers[DESCENT_KEEP];
    Terms terms;
    for (int row = blockIdx.x * SUM_THREADS + threadIdx.x; row < args.rows; row += gridDim.x * SUM_THREADS) {
        const double q = row_product(args, keep, args.starts[row], args.starts[row + 1]);
        const double d = direction(args, keep, row);
        args.direction[row] = d;
        args.product[row] = q;
        terms.add(product(product(d, q), args.curvature_scale));
    }
    double curvature = 0;
    if (!grid_sum(args.words + DESCENT_SUM, terms, curvature)) return;
    const unsigned long long done = args.words[DESCENT_DONE] + 1;
    args.words[DESCENT_DONE] = done;
    const double length = product(args.numbers[DESCENT_ENERGY] / curvature, args.length_scale);
    args.numbers[DESCENT_LENGTH] = length;
    // Curvature that is not positive: the matrix is not positive definite, or the residual is zero.
    const bool is_too_late = done > static_cast<unsigned long long>(args.most);
    if (is_too_late || !(curvature > 0) || !isfinite(length)) set_verdict(args, DESCENT_FAILED);
}

// Moves x along the direction, compares the residual with its limit, and passes it to the preconditioner.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
descent_update_acc64(const __grid_constant__ DescentArgs args)
{
    if (args.words[DESCENT_VERDICT] != DESCENT_RUNNING) return;
    const double length = args.numbers[DESCENT_LENGTH];
    bool is_outside = false;
    for (int row = blockIdx.x * SUM_THREADS + threadIdx.x; row < args.rows; row += gridDim.x * SUM_THREADS) {
        const double x = sum(args.x[row], product(length, args.direction[row]));
        const double residual = sum(args.residual[row], -product(length, args.product[row]));
        args.x[row] = x;
        args.residual[row] = residual;
        args.scaled[row] = static_cast<float>(product(residual, args.residual_scale));
        is_outside |= !(fabs(residual) <= args.limit[row]);
    }
    const bool has_outside = __syncthreads_or(is_outside);
    if (threadIdx.x != 0) return;
    if (has_outside) atomicOr(&args.words[DESCENT_OUTSIDE], 1ull);
    if (take_ticket(&args.words[DESCENT_TICKETS]) != static_cast<int>(gridDim.x)) return;
    args.words[DESCENT_TICKETS] = 0;
    if (atomicExch(&args.words[DESCENT_OUTSIDE], 0ull) == 0) set_verdict(args, DESCENT_CONVERGED);
}
