// Arithmetic throughput: the peak rate of operations of the device. See src/primitives/gpu/arithmetic.rs.

// Independent chains of fused multiply-adds. All chains converge to the same finite number for all initial values, and
// their sum is stored, so that the compiler cannot remove any.
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
