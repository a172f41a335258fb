// A look for values that are not finite, and the notes that the host reads. See src/gpu/watch.rs.
#pragma once

#include "primitives/wide.cuh"

// Notes element `at` of the state where it is infinite or not a number: step, field and cell in one word, so
// that the smallest is the earliest, in the order of fields and cells.
__device__ inline void look_at(const WatchArgs& args, long long at, real value)
{
    if (value - value == 0) return;
    const long long field = at / args.cells;
    const unsigned long long step = args.notes[WATCH_STEPS] + 1;
    const unsigned long long word = (step << WATCH_STEP_SHIFT)
                                    | static_cast<unsigned long long>(field) << WATCH_FIELD_SHIFT
                                    | static_cast<unsigned long long>(at - field * args.cells);
    atomicMin(&args.notes[WATCH_FLAW], word);
}

// Looks through what falls to one of several blocks of the state: first whether there is anything at all, for
// which a thread need not wait for one load before it asks for the next.
__device__ inline void look(const WatchArgs& args, int block, int blocks)
{
    constexpr int COUNT = Wide<real>::COUNT;
    const long long all = static_cast<long long>(WATCH_FIELDS) * args.cells, packs = all / COUNT;
    const long long threads = static_cast<long long>(blocks) * SUM_THREADS;
    const long long first = static_cast<long long>(block) * SUM_THREADS + threadIdx.x;
    const Wide<real>* fields = reinterpret_cast<const Wide<real>*>(args.fields);
    // A difference from itself is 0 but for values that are not finite.
    real strange = 0;
#pragma unroll 4
    for (long long pack = first; pack < packs; pack += threads) {
        const Wide<real> values = fields[pack];
        for (int n = 0; n < COUNT; ++n) strange += values.at[n] - values.at[n];
    }
    for (long long at = packs * COUNT + first; at < all; at += threads)
        strange += args.fields[at] - args.fields[at];
    if (strange == 0) return;
    for (long long pack = first; pack < packs; pack += threads)
        for (int n = 0; n < COUNT; ++n)
            look_at(args, pack * COUNT + n, fields[pack].at[n]);
    for (long long at = packs * COUNT + first; at < all; at += threads)
        look_at(args, at, args.fields[at]);
}

// Ends a step: counts it, and shows the notes to the host.
__device__ inline void show(const WatchArgs& args)
{
    args.notes[WATCH_STEPS] += 1;
    volatile unsigned long long* shown = args.shown;
    shown[WATCH_FLAW] = args.notes[WATCH_FLAW];
    shown[WATCH_STEPS] = args.notes[WATCH_STEPS];
}
