// One step of a Rosenbrock method, as in src/chemistry/rosenbrock/step.rs.
#pragma once
#include "chemistry/control.cuh"
#include "chemistry/sparse_lu.cuh"
#include "chemistry/sun.cuh"

// The species that are a worker's: what it alone reads and writes lies in its registers, where they are few.
struct Owned {
    double y[OWNED];         // at the beginning of the step
    double start[OWNED];     // dy/dt there
    double f[OWNED];         // dy/dt of the latest stage
    double drift[OWNED];     // its derivative with respect to time
    double k[STAGES][OWNED];
};

// Calls an action with each place of a worker's species, and the species.
template <class Action>
__device__ inline void for_owned(int worker, Action action)
{
#pragma unroll OWNED_UNROLLED
    for (int place = 0; place < OWNED; ++place) {
        const int species = OWNED_SPECIES[column_of(worker) * OWNED + place];
        if (species != NO_SPECIES) action(place, species);
    }
}

__device__ inline double reach_of(double time) { return __dmul_rn(SQRT_EPSILON, fmax(fabs(time), SHORTEST_TIME)); }

// Waits until all concentrations are there, and takes the rate constants of a time where they follow the sun.
__device__ inline void prepare(const Room& room, int worker, double time)
{
    if constexpr (FOLLOWS_SUN && TIMED_RATES > 0)
        if (worker == 0) evaluate_timed(room.rates, sunlight_at(time));
    wait_for_workers();
}

// dy/dt, the derivatives of the reactions and, with rates that follow the sun, the change of dy/dt with time, at the
// beginning of a step.
__device__ inline void begin(const Room& room, Owned& own, int worker, double time)
{
    for_owned(worker, [&](int place, int species) { room.concentrations[species * CELLS] = own.y[place]; });
    if constexpr (FOLLOWS_SUN) {
        prepare(room, worker, time + reach_of(time));
        react(room, worker);
        wait_for_workers();
        for_owned(worker, [&](int place, int species) { own.drift[place] = made_of(room, species); });
    }
    prepare(room, worker, time);
    react(room, worker);
    differentiate(room, worker);
    wait_for_workers();
    for_owned(worker, [&](int place, int species) {
        own.start[place] = made_of(room, species);
        if constexpr (FOLLOWS_SUN) own.drift[place] = (own.drift[place] - own.start[place]) / reach_of(time);
    });
}

// dy/dt at the concentrations of a stage.
__device__ inline void evaluate_stage(const Room& room, Owned& own, int worker, int stage, double time, double step)
{
    const int row = stage * (stage - 1) / 2;
    for_owned(worker, [&](int place, int species) {
        double value = own.y[place];
        for (int j = 0; j < stage; ++j) value = fma(METHOD_A[row + j], own.k[j][place], value);
        room.concentrations[species * CELLS] = value;
    });
    prepare(room, worker, fma(METHOD_ALPHA[stage], step, time));
    react(room, worker);
    wait_for_workers();
    for_owned(worker, [&](int place, int species) { own.f[place] = made_of(room, species); });
}

// Improves a stage once by its residual in double precision, for factors in single precision.
__device__ inline void refine(const Room& room, Owned& own, int worker, int stage, const double (&right)[OWNED],
                              double diagonal)
{
    for_owned(worker, [&](int place, int species) { room.concentrations[species * CELLS] = own.k[stage][place]; });
    wait_for_workers();
    react_along(room, worker);
    wait_for_workers();
    for_owned(worker, [&](int place, int species) {
        const double slope = made_of(room, species);
        room.x[species * CELLS] = static_cast<Entry>(fma(-diagonal, own.k[stage][place], right[place] + slope));
    });
    wait_for_workers();
    solve(room, worker);
    for_owned(worker, [&](int place, int species) {
        own.k[stage][place] += static_cast<double>(room.x[species * CELLS]);
    });
}

// The stages of a step.
__device__ inline void advance(const Room& room, Owned& own, int worker, double time, double step)
{
    const double inverse_step = 1.0 / step;
#pragma unroll
    for (int stage = 0; stage < STAGES; ++stage) {
        if (stage == 0) for_owned(worker, [&](int place, int) { own.f[place] = own.start[place]; });
        else if (METHOD_EVALUATES[stage]) evaluate_stage(room, own, worker, stage, time, step);
        const int row = stage * (stage - 1) / 2;
        const double weight = METHOD_GAMMA[stage] * step;
        double right[OWNED] = {};
        for_owned(worker, [&](int place, int species) {
            double value = own.f[place];
            for (int j = 0; j < stage; ++j) value = fma(METHOD_C[row + j] * inverse_step, own.k[j][place], value);
            if (FOLLOWS_SUN && METHOD_GAMMA[stage] != 0.0) value = fma(weight, own.drift[place], value);
            right[place] = value;
            room.x[species * CELLS] = static_cast<Entry>(value);
        });
        wait_for_workers();
        solve(room, worker);
        for_owned(worker, [&](int place, int species) {
            own.k[stage][place] = static_cast<double>(room.x[species * CELLS]);
        });
        if constexpr (IS_REFINED) refine(room, own, worker, stage, right, inverse_step / METHOD_GAMMA[0]);
    }
}

// The solution at the end of a species' step.
__device__ inline double end_of(const Owned& own, int place)
{
    double end = own.y[place];
#pragma unroll
    for (int stage = 0; stage < STAGES; ++stage) end = fma(METHOD_M[stage], own.k[stage][place], end);
    return end;
}

// The error of a step in units of the tolerances: root of the mean square over the species, added up in their order by
// the first worker, who leaves it in the place of the first concentration.
__device__ inline void find_error(const Room& room, const Owned& own, int worker, double relative, double absolute)
{
    for_owned(worker, [&](int place, int species) {
        double error = 0;
#pragma unroll
        for (int stage = 0; stage < STAGES; ++stage)
            if (METHOD_E[stage] != 0.0) error = fma(METHOD_E[stage], own.k[stage][place], error);
        const double a = fabs(own.y[place]), b = fabs(end_of(own, place));
        room.concentrations[species * CELLS] = error / fma(relative, a > b ? a : b, absolute);
    });
    wait_for_workers();
    if (worker == 0) {
        double squares = 0;
#pragma unroll 8
        for (int species = 0; species < VARIABLES; ++species) {
            const double ratio = room.concentrations[species * CELLS];
            squares = fma(ratio, ratio, squares);
        }
        room.concentrations[0] = sqrt(squares / VARIABLES);
    }
    wait_for_workers();
}
