// Runs the reductions on the host: see validation/emulated/reduce.
#include "cuda.h"

#include "launches.h"
#include "prelude.h"

#include "primitives/reduce.cu"

int main(int count, char** arguments)
{
    constexpr emulator::Named<ReduceArgs> kernels[] = {
        NAMED(reduce_sum),         NAMED(reduce_sum_acc64),     NAMED(reduce_min),
        NAMED(reduce_max),         NAMED(reduce_min_at),        NAMED(reduce_max_at),
        NAMED(reduce_dot),         NAMED(reduce_dot_acc64),     NAMED(reduce_squares),
        NAMED(reduce_squares_acc64), NAMED(reduce_nan_count),   NAMED(reduce_statistics_acc64),
    };
    return emulator::run_launches(kernels, count, arguments, 5);
}
