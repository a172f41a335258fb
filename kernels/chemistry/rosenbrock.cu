// The integration of many cells, each with its own step. Compiled for a mechanism, a method and a mapping, whose tables
// are in the text before this file (src/chemistry/gpu/source_text.rs).
//
// A block has CELLS cells at a time, and WORKERS threads for each: thread LANES * worker + place. Cells that are done
// are replaced by the next ones, several at a time. Every sum is computed by one thread in the order of the CPU
// version, so that a cell has the same bits in any place of any block, beside any other cells, and with any number of
// workers.
#include "chemistry/step.cuh"

// The state of a cell that its threads hold.
struct Cell {
    long long number;   // negative for no cell
    int status;
    Control control;
};

// Number of waiting threads (cell done or place empty) from which on the others are stopped to load new cells.
constexpr int WORTH_A_LOAD = WORKERS * (CELLS < 8 ? 1 : 4);

// The next cell that no block has taken; negative if none is left.
__device__ inline int next_cell(const ChemistryArgs& args)
{
    const unsigned position = atomicAdd(args.taken, 1u);
    if (position >= static_cast<unsigned>(args.cells)) return -1;
    return args.order ? args.order[position] : static_cast<int>(position);
}

// Loads a cell: its concentrations, its rate constants and its interval.
__device__ inline void load(const ChemistryArgs& args, const CellArrays& arrays, Owned& own, int worker, Cell& cell)
{
    const long long n = cell.number, cells = args.cells;
    set_owned(worker, [&](auto, int species) { return species < VARIABLES ? args.variable[species * cells + n] : 0.0; },
              [&](auto place, int, double y) { own.y[place] = y; });
    for (int i = worker; i < FIXED; i += WORKERS)
        concentration_at(arrays, FIRST_FIXED + i, FIRST_FIXED + i) = args.fixed[i * cells + n];
    if (worker == 0) concentration_at(arrays, FIRST_FIXED + FIXED, FIRST_FIXED + FIXED) = 1;
#pragma unroll 8
    for (int i = worker; i < RATES; i += WORKERS) arrays.rates[i * CELLS] = __ldg(&args.rates[i * cells + n]);
    const double start = FOLLOWS_SUN ? args.start[n] : 0.0;
    const double own_step = args.first_steps ? args.first_steps[n] : 0.0;
    cell.control = control_of(start, start + args.interval, own_step > 0.0 ? own_step : args.first_step);
    cell.status = args.status[n];
    if (cell.status == STATUS_RUNNING) cell.status = begin_step(cell.control);
    else cell.control.step = 0;
}

// Stores the results of a cell; one that has failed keeps its concentrations.
__device__ inline void store(const ChemistryArgs& args, const Owned& own, int worker, const Cell& cell)
{
    const long long n = cell.number, cells = args.cells;
    if (cell.status == STATUS_SUCCESS)
        set_owned(worker, [&](auto place, int) { return own.y[place]; },
                  [&](auto, int species, double y) {
                      if (species < VARIABLES) args.variable[species * cells + n] = y;
                  });
    if (worker != 0) return;
    const Control& c = cell.control;
    const int counters[] = {c.functions, c.jacobians, c.steps, c.accepted,
                            c.rejected, c.factorisations, c.solutions, c.singular};
#pragma unroll
    for (int i = 0; i < COUNTERS; ++i) args.counters[i * cells + n] = counters[i];
    args.status[n] = cell.status;
    args.times[n] = c.time;
    args.times[cells + n] = c.last_step;
    args.times[2 * cells + n] = c.step;
}

// Attempts the current step of every cell of the block.
__device__ inline void attempt(const ChemistryArgs& args, const CellArrays& arrays, Owned& own, int worker, int place,
                               Cell& cell)
{
    __shared__ bool is_regular_of[WORKERS][CELLS];
    Control& control = cell.control;
    // A dummy step for a place without a running cell.
    const bool is_running = cell.number >= 0 && cell.status == STATUS_RUNNING;
    const double step = is_running ? control.step : 1.0;
    begin(arrays, own, worker, control.time);
    const bool is_regular_here = factorise(arrays, worker, 1.0 / (step * METHOD_GAMMA[0]));
    if (worker < WORKERS) is_regular_of[worker][place] = is_regular_here;
    advance(arrays, own, worker, control.time, step);
    find_error(arrays, own, worker, args.relative, args.absolute);
    if (!is_running) return;
    const double error = concentration_at(arrays, 0, 0);
    bool is_regular = true, is_accepted = false;
    for (int other = 0; other < WORKERS; ++other) is_regular = is_regular && is_regular_of[other][place];
    control.factorisations += 1;
    if (is_regular) {
        control.functions += EVALUATIONS;
        control.solutions += STAGES;
        cell.status = judge(control, error, is_accepted);
    } else {
        cell.status = halve(control);
    }
    if (is_accepted) {
        set_owned(worker, [&](auto at, int) { return end_of(own, at); },
                  [&](auto at, int, double end) { own.y[at] = end; });
        cell.status = begin_step(control);
    }
}

extern "C" __global__ void __launch_bounds__(LANES * WORKERS, RESIDENT_BLOCKS)
chemistry_integrate(const __grid_constant__ ChemistryArgs args)
{
    __shared__ int next_of[CELLS];
    const int thread = static_cast<int>(threadIdx.x), place = thread % LANES;
    const bool is_idle = place >= CELLS;
    const int worker = is_idle ? IDLE_WORKER : thread / LANES;
    const CellArrays arrays = arrays_of(args.scratch, is_idle ? 0 : place);
    Owned own = owned_of(arrays);
    Cell cell = {};
    cell.number = -1;
    bool are_more = !is_idle;
    for (;;) {
        const bool is_running = cell.number >= 0 && cell.status == STATUS_RUNNING;
        const bool is_done = cell.number >= 0 && !is_running;
        const int waiting = __syncthreads_count(is_done || (cell.number < 0 && are_more));
        if (waiting >= WORTH_A_LOAD || !__syncthreads_or(is_running)) {
            if (is_done) {
                store(args, own, worker, cell);
                cell.number = -1;
            }
            const bool is_free = cell.number < 0 && !is_idle;
            if (worker == 0) next_of[place] = is_free && are_more ? next_cell(args) : -1;
            __syncthreads();
            if (is_free) {
                cell.number = next_of[place];
                are_more = cell.number >= 0;
                if (are_more) load(args, arrays, own, worker, cell);
            }
            if (!__syncthreads_or(cell.number >= 0)) break;
            continue;
        }
        attempt(args, arrays, own, worker, place, cell);
    }
}
