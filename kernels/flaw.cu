// A look for values that are not finite, which ends a step, and the notes that the host reads.
// See src/gpu/watch.rs.
#include "primitives/counted.cuh"
#include "primitives/begin.cuh"
#include "primitives/wide.cuh"

// Notes element `at` of the state where it is infinite or not a number: step, field and cell in one word, so
// that the smallest is the earliest, in the order of fields and cells.
__device__ inline void look_at(const WatchArgs& args, long long at, real value)
{
    // A difference from itself is 0 but for values that are not finite.
    if (value - value == 0) return;
    const long long field = at / args.cells;
    const unsigned long long step = args.notes[WATCH_STEPS] + 1;
    const unsigned long long word = (step << WATCH_STEP_SHIFT)
                                    | static_cast<unsigned long long>(field) << WATCH_FIELD_SHIFT
                                    | static_cast<unsigned long long>(at - field * args.cells);
    atomicMin(&args.notes[WATCH_FLAW], word);
}

// Ends a step: counts it, and shows the notes to the host.
__device__ inline void show(const WatchArgs& args)
{
    args.notes[WATCH_STEPS] += 1;
    volatile unsigned long long* shown = args.shown;
    shown[WATCH_FLAW] = args.notes[WATCH_FLAW];
    shown[WATCH_STEPS] = args.notes[WATCH_STEPS];
}

// Looks through the state; the last block to be done ends the step.
extern "C" __global__ void __launch_bounds__(WATCH_THREADS)
watch_scan(const __grid_constant__ WatchArgs args)
{
    begin(args.marks, MARK_WATCH_SCAN);
    constexpr int COUNT = Wide<real>::COUNT;
    const long long all = static_cast<long long>(WATCH_FIELDS) * args.cells, packs = all / COUNT;
    const long long threads = static_cast<long long>(gridDim.x) * WATCH_THREADS;
    const long long first = static_cast<long long>(blockIdx.x) * WATCH_THREADS + threadIdx.x;
    const Wide<real>* fields = reinterpret_cast<const Wide<real>*>(args.fields);
    for (long long pack = first; pack < packs; pack += threads) {
        const Wide<real> values = fields[pack];
        for (int n = 0; n < COUNT; ++n) look_at(args, pack * COUNT + n, values.at[n]);
    }
    for (long long at = packs * COUNT + first; at < all; at += threads)
        look_at(args, at, args.fields[at]);
    __syncthreads();
    if (threadIdx.x == 0 && counted(args.notes + WATCH_BLOCKS) == static_cast<int>(gridDim.x)) {
        // Ready for the next step.
        args.notes[WATCH_BLOCKS] = 0;
        show(args);
    }
}
