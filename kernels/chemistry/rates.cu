// Rate constants of all cells at their start, one thread for each cell. The text before this file contains the
// expressions of the mechanism, `evaluate_rates`, and includes the functions that they use.
extern "C" __global__ void __launch_bounds__(RATE_THREADS)
chemistry_rates(const __grid_constant__ ChemistryArgs args)
{
    const long long cell = static_cast<long long>(blockIdx.x) * RATE_THREADS + threadIdx.x;
    if (cell >= args.cells) return;
    const Quantities quantities(args, cell);
    args.status[cell] = quantities.are_good(args, cell) ? STATUS_RUNNING : STATUS_BAD_CONDITIONS;
    evaluate_rates(quantities, args, cell);
}
