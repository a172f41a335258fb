// Conjugate gradients on the normal equations of the even-odd preconditioned Wilson operator: six kernels for each
// iteration, with the scalars in device memory. Norms are sums in double precision, first within blocks and then over
// the blocks in order, so that their bits are the same in every run. See src/lattice/solver.rs for the iteration and
// src/lattice/gpu/solver.rs for the launches.
#include "lattice/wilson/hop.cuh"
#include "lattice/wilson/site_order.cuh"
#include "primitives/block_sum.cuh"
#include "primitives/ticket.cuh"

static_assert(SUM_THREADS == BLOCK_THREADS && SIDE_THREADS == 1 && REGISTER_SIDES == 1, "one side");

// Sum of one number of each thread of all blocks. The last block to finish adds up the blocks, and its first thread
// returns true. All threads call it.
__device__ inline bool grid_sum(const SolverArgs& args, double own, double& total)
{
    __shared__ bool is_last;
    const double block = block_sum(own);
    if (threadIdx.x == 0) {
        args.sums[blockIdx.x] = block;
        is_last = take_ticket(&args.words[SOLVER_TICKETS]) == static_cast<int>(gridDim.x);
    }
    __syncthreads();
    if (!is_last) return false;
    double mine = 0;
    for (unsigned n = threadIdx.x; n < gridDim.x; n += SUM_THREADS) mine += __ldcg(&args.sums[n]);
    total = block_sum(mine);
    if (threadIdx.x == 0) args.words[SOLVER_TICKETS] = 0;
    return threadIdx.x == 0;
}

__device__ inline double norm2(const Complex (&psi)[4][3])
{
    double sum = 0;
#pragma unroll
    for (int n = 0; n < 12; ++n) {
        const double re = psi[n / 3][n % 3].re, im = psi[n / 3][n % 3].im;
        sum = fma(im, im, fma(re, re, sum));
    }
    return sum;
}

// out = D in, the first half of a product with the preconditioned operator.
template <bool DAGGER>
__device__ inline void first_half(const SolverArgs& args)
{
    if (args.words[SOLVER_VERDICT] != SOLVER_RUNNING) return;
    Site site;
    if (!site_of_thread(static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x), args.hop.parity, site)) return;
    const int index = index_of(site);
    Complex sum[1][4][3];
    hop<DAGGER, 1>(args.hop, args.hop.in_, site, index, sum);
    store_spinor<false>(args.hop.out, index, sum[0]);
}

// out = base + coefficient D in, the second half, and the squared norm of the result.
template <bool DAGGER>
__device__ inline bool second_half(const SolverArgs& args, double& total)
{
    Site site;
    double own = 0;
    if (site_of_thread(static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x), args.hop.parity, site)) {
        const int index = index_of(site);
        Complex sum[1][4][3];
        hop<DAGGER, 1>(args.hop, args.hop.in_, site, index, sum);
        add_to_base(args.hop.base, index, args.hop.coefficient, sum[0]);
        store_spinor<false>(args.hop.out, index, sum[0]);
        own = norm2(sum[0]);
    }
    return grid_sum(args, own, total);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, RESIDENT_BLOCKS)
solver_hop(const __grid_constant__ SolverArgs args)
{
    first_half<false>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, RESIDENT_BLOCKS)
solver_hop_dagger(const __grid_constant__ SolverArgs args)
{
    first_half<true>(args);
}

// q = M_hat p, and the step length g / |q|^2.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, RESIDENT_BLOCKS)
solver_product_acc64(const __grid_constant__ SolverArgs args)
{
    const unsigned long long verdict = args.words[SOLVER_VERDICT];
    if (verdict != SOLVER_RUNNING) {
        // The last update of x has been done.
        const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
        if (is_first && verdict == SOLVER_LAST_STEP) args.words[SOLVER_VERDICT] = SOLVER_CONVERGED;
        return;
    }
    double total = 0;
    if (second_half<false>(args, total)) args.numbers[SOLVER_LENGTH] = args.numbers[SOLVER_ENERGY] / total;
}

// s = M_hat^dagger r, its norm, and the factor of the previous direction in the next one.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, RESIDENT_BLOCKS)
solver_product_dagger_acc64(const __grid_constant__ SolverArgs args)
{
    if (args.words[SOLVER_VERDICT] != SOLVER_RUNNING) return;
    double total = 0;
    if (!second_half<true>(args, total)) return;
    args.numbers[SOLVER_KEEP] = total / args.numbers[SOLVER_ENERGY];
    args.numbers[SOLVER_ENERGY] = total;
}

constexpr long long UNITS = static_cast<long long>(HALF_VOLUME) * SPINOR_UNITS;

// Unit `n` of a vector.
__device__ inline Wide<real>& unit_of(real* vector, long long n)
{
    return reinterpret_cast<Wide<real>*>(vector)[n];
}

// r -= a q, and the convergence test.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
solver_residual_acc64(const __grid_constant__ SolverArgs args)
{
    if (args.words[SOLVER_VERDICT] != SOLVER_RUNNING) return;
    const real length = static_cast<real>(args.numbers[SOLVER_LENGTH]);
    double own = 0;
    const long long first = static_cast<long long>(blockIdx.x) * VECTOR_UNITS * BLOCK_THREADS + threadIdx.x;
    Wide<real> q[VECTOR_UNITS], r[VECTOR_UNITS];
    // All loads are issued before the first result is needed.
#pragma unroll
    for (int u = 0; u < VECTOR_UNITS; ++u) {
        const long long n = min(first + u * BLOCK_THREADS, UNITS - 1);
        q[u] = unit_of(args.q, n);
        r[u] = unit_of(args.r, n);
    }
#pragma unroll
    for (int u = 0; u < VECTOR_UNITS; ++u) {
        const long long n = first + u * BLOCK_THREADS;
        if (n >= UNITS) continue;
#pragma unroll
        for (int c = 0; c < UNIT; ++c) {
            r[u].at[c] = fma(-length, q[u].at[c], r[u].at[c]);
            own = fma(static_cast<double>(r[u].at[c]), static_cast<double>(r[u].at[c]), own);
        }
        unit_of(args.r, n) = r[u];
    }
    double total = 0;
    if (!grid_sum(args, own, total)) return;
    const unsigned long long done = args.words[SOLVER_DONE] + 1;
    args.words[SOLVER_DONE] = done;
    args.history[done] = total;
    if (total <= args.numbers[SOLVER_LIMIT]) args.words[SOLVER_VERDICT] = SOLVER_LAST_STEP;
    else if (!isfinite(total) || static_cast<double>(done) >= args.numbers[SOLVER_MOST]) args.words[SOLVER_VERDICT] = SOLVER_FAILED;
}

// x += a p, p = s + b p.
extern "C" __global__ void __launch_bounds__(BLOCK_THREADS)
solver_direction_acc64(const __grid_constant__ SolverArgs args)
{
    const unsigned long long verdict = args.words[SOLVER_VERDICT];
    if (verdict != SOLVER_RUNNING && verdict != SOLVER_LAST_STEP) return;
    const real length = static_cast<real>(args.numbers[SOLVER_LENGTH]);
    const real keep = static_cast<real>(args.numbers[SOLVER_KEEP]);
    const long long first = static_cast<long long>(blockIdx.x) * VECTOR_UNITS * BLOCK_THREADS + threadIdx.x;
    Wide<real> s[VECTOR_UNITS], x[VECTOR_UNITS], p[VECTOR_UNITS];
#pragma unroll
    for (int u = 0; u < VECTOR_UNITS; ++u) {
        const long long n = min(first + u * BLOCK_THREADS, UNITS - 1);
        s[u] = unit_of(args.s, n);
        x[u] = unit_of(args.x, n);
        p[u] = unit_of(args.p, n);
    }
#pragma unroll
    for (int u = 0; u < VECTOR_UNITS; ++u) {
        const long long n = first + u * BLOCK_THREADS;
        if (n >= UNITS) continue;
#pragma unroll
        for (int c = 0; c < UNIT; ++c) {
            x[u].at[c] = fma(length, p[u].at[c], x[u].at[c]);
            p[u].at[c] = fma(keep, p[u].at[c], s[u].at[c]);
        }
        unit_of(args.x, n) = x[u];
        unit_of(args.p, n) = p[u];
    }
}
