// End of one step or of several: inflow through the sides, and the terms of the water budget. One launch for both,
// since neither part occupies a device fully.
#include "primitives/pdl_wait.cuh"
#include "primitives/ticket.cuh"
#include "step_end/inflow.cuh"
#include "step_end/tally.cuh"

// Counts the steps that have ended, and copies the notes to memory that the host reads.
__device__ inline void show(const StepEndArgs& args)
{
    args.notes[STATUS_STEPS] += args.steps;
    volatile unsigned long long* shown = args.shown;
    shown[STATUS_FLAW] = args.notes[STATUS_FLAW];
    shown[STATUS_STEPS] = args.notes[STATUS_STEPS];
}

// All blocks add up; the last one to finish ends the steps.
extern "C" __global__ void __launch_bounds__(SUM_THREADS)
step_end_acc64(const __grid_constant__ StepEndArgs args)
{
    begin(args.transport.marks, MARK_STEP_END_ACC64);
    const int block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
    if (block < args.entered_blocks)
        add_inflow(args.transport, args.steps, args.side_values, block);
    else
        tally(args.tally, args.steps, block - args.entered_blocks);
    __syncthreads();
    if (threadIdx.x == 0 && take_ticket(args.notes + STATUS_BLOCKS) == blocks) {
        // Reset for the next steps.
        args.notes[STATUS_BLOCKS] = 0;
        show(args);
    }
}
