// Arithmetic throughput: the most that the device calculates in a second. See src/primitives/gpu/arithmetic.rs.

// Chains of fused multiplications and additions that do not wait for one another. All of them tend
// to the same finite number, whatever they begin with, and their sum is kept, so that none can be
// left out.
extern "C" __global__ void __launch_bounds__(ARITHMETIC_THREADS)
arithmetic_chains(const __grid_constant__ ArithmeticArgs args)
{
    const int thread = blockIdx.x * ARITHMETIC_THREADS + threadIdx.x;
    real chain[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) chain[c] = static_cast<real>(thread + c);
#pragma unroll 1
    for (int round = 0; round < args.rounds; ++round) {
#pragma unroll
        for (int link = 0; link < CHAIN_LINKS; ++link) {
#pragma unroll
            for (int c = 0; c < CHAINS; ++c) chain[c] = fma(chain[c], args.factor, args.summand);
        }
    }
    real sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) sum += chain[c];
    args.out[thread] = sum;
}
