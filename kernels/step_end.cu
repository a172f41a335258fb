// What ends a step, side by side in one launch, since none of it fills a device: what has entered through the
// sides, the terms of the water budget, and a look for values that are not finite.
#include "primitives/begin.cuh"
#include "primitives/counted.cuh"
#include "step_end/entered.cuh"
#include "step_end/look.cuh"
#include "step_end/tally.cuh"

// Some blocks add up, the others look; the last of all to be done ends the step.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
step_end_acc64(const __grid_constant__ StepEndArgs args)
{
    begin(args.watch.marks, MARK_STEP_END_ACC64);
    const int block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
    const int sums = args.entered_blocks + args.tally_blocks;
    if (block < args.entered_blocks)
        add_entered(args.transport, block);
    else if (block < sums)
        tally(args.tally, block - args.entered_blocks);
    else
        look(args.watch, block - sums, blocks - sums);
    __syncthreads();
    if (threadIdx.x == 0 && counted(args.watch.notes + WATCH_BLOCKS) == blocks) {
        // Ready for the next step.
        args.watch.notes[WATCH_BLOCKS] = 0;
        show(args.watch);
    }
}
