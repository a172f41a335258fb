// Runs the rungs of the ladder of the sum on the host: see validation/emulated/reduce.
#include "cuda.h"

#include "launches.h"
#include "prelude.h"

#include "primitives/reduce/ladder.cu"

int main(int count, char** arguments)
{
    constexpr emulator::Named<LadderArgs> kernels[] = {
        NAMED(ladder_interleaved_divergent), NAMED(ladder_interleaved_conflicts),
        NAMED(ladder_sequential),            NAMED(ladder_first_add),
        NAMED(ladder_last_warp),             NAMED(ladder_unrolled),
        NAMED(ladder_many),                  NAMED(ladder_shuffle),
        NAMED(ladder_warp_atomics),          NAMED(ladder_block_atomics),
    };
    return emulator::run_launches(kernels, count, arguments, 2);
}
