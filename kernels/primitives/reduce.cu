// Reductions of one array or of many segments: one kernel for each operation. primitives/reduce/segment.cuh describes
// the method, primitives/reduce/operations.cuh has the operations, and primitives/reduce/ladder.cu the steps of
// optimisation. See src/primitives/gpu/reduce.rs.
#include "primitives/reduce/segment.cuh"

#define REDUCTION(name, operation)                                  \
    extern "C" __global__ void __launch_bounds__(REDUCE_THREADS)    \
    name(const __grid_constant__ ReduceArgs args)                   \
    {                                                               \
        reduce<operation>(args);                                    \
    }

REDUCTION(reduce_sum, Sum<element>)
REDUCTION(reduce_sum_acc64, Sum<wide>)
REDUCTION(reduce_min, Extreme<false>)
REDUCTION(reduce_max, Extreme<true>)
REDUCTION(reduce_min_at, ExtremeAt<false>)
REDUCTION(reduce_max_at, ExtremeAt<true>)
REDUCTION(reduce_dot, Dot<element>)
REDUCTION(reduce_dot_acc64, Dot<wide>)
REDUCTION(reduce_squares, SumOfSquares<element>)
REDUCTION(reduce_squares_acc64, SumOfSquares<wide>)
REDUCTION(reduce_nan_count, NanCount)
REDUCTION(reduce_statistics_acc64, Statistics)
