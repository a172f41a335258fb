// Columns of the fields on their way between parts of a grid: packed by messages, and unpacked into margins. See
// src/grid/parts.rs. The x index of a thread is its column; the blocks along y share the levels of all fields.

extern "C" __global__ void __launch_bounds__(MARGIN_THREADS)
margins_pack(const __grid_constant__ MarginArgs args)
{
    const int c = blockIdx.x * MARGIN_THREADS + threadIdx.x;
    if (c >= args.columns) return;
    const real* field = args.fields + args.places[c];
    real* packed = args.packed + args.starts[c];
    const long long apart = args.counts[c];
    for (int level = blockIdx.y; level < args.levels; level += gridDim.y)
        packed[level * apart] = field[level * args.plane];
}

extern "C" __global__ void __launch_bounds__(MARGIN_THREADS)
margins_unpack(const __grid_constant__ MarginArgs args)
{
    const int c = blockIdx.x * MARGIN_THREADS + threadIdx.x;
    if (c >= args.columns) return;
    real* field = args.fields + args.places[c];
    const real* packed = args.packed + args.starts[c];
    const long long apart = args.counts[c];
    for (int level = blockIdx.y; level < args.levels; level += gridDim.y)
        field[level * args.plane] = packed[level * apart];
}
