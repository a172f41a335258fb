// One step of a Rosenbrock method, as in src/chemistry/rosenbrock/step.rs.
#pragma once
#include "chemistry/control.cuh"
#include "chemistry/division.cuh"
#ifdef STRAIGHT_LINE
#include "chemistry/straight_line.cuh"
#else
#include "chemistry/sparse_lu.cuh"
#endif
#include "chemistry/sun.cuh"

__device__ inline double reach_of(double time) { return __dmul_rn(SQRT_EPSILON, fmax(fabs(time), SHORTEST_TIME)); }

// Waits until all concentrations are written, and evaluates rate constants that follow the sun at a time.
__device__ inline void prepare(const CellArrays& arrays, int worker, double time)
{
    if constexpr (FOLLOWS_SUN && TIMED_RATES > 0)
        if (worker == 0) evaluate_timed(arrays.rates, sunlight_at(time));
    WAIT_FOR_WORKERS();
}

// dy/dt, the derivatives of the reaction rates and, with rates that follow the sun, the derivative of dy/dt with
// respect to time, at the beginning of a step.
__device__ inline void begin(const CellArrays& arrays, Owned& own, int worker, double time)
{
    set_owned(worker, [&](auto place, int) { return own.y[place]; },
              [&](auto place, int species, double y) { concentration_at(arrays, place, species) = y; });
    if constexpr (FOLLOWS_SUN) {
        prepare(arrays, worker, time + reach_of(time));
        tendencies(arrays, own, worker);
        set_owned(worker, [&](auto place, int) { return own.f[place]; },
                  [&](auto place, int, double later) { own.drift[place] = later; });
    }
    prepare(arrays, worker, time);
    // The barrier in `tendencies` also covers the derivatives.
    differentiate(arrays, worker);
    tendencies(arrays, own, worker);
    if constexpr (FOLLOWS_SUN)
        set_owned(worker, [&](auto place, int) { return (own.drift[place] - own.f[place]) / reach_of(time); },
                  [&](auto place, int, double drift) { own.drift[place] = drift; });
}

// dy/dt at the concentrations of a stage.
__device__ inline void evaluate_stage(const CellArrays& arrays, Owned& own, int worker, int stage, double time,
                                      double step)
{
    const int row = stage * (stage - 1) / 2;
    set_owned(worker, [&](auto place, int) {
        double value = own.y[place];
        for (int j = 0; j < stage; ++j) value = fma(METHOD_A[row + j], own.k[j][place], value);
        return value;
    }, [&](auto place, int species, double value) { concentration_at(arrays, place, species) = value; });
    prepare(arrays, worker, fma(METHOD_ALPHA[stage], step, time));
    tendencies(arrays, own, worker);
}

// The stages of a step.
__device__ inline void advance(const CellArrays& arrays, Owned& own, int worker, double time, double step)
{
    const double inverse_step = 1.0 / step;
#pragma unroll
    for (int stage = 0; stage < STAGES; ++stage) {
        if (stage > 0 && METHOD_EVALUATES[stage]) evaluate_stage(arrays, own, worker, stage, time, step);
        const int row = stage * (stage - 1) / 2;
        const double weight = METHOD_GAMMA[stage] * step;
        const auto right_side = [&](auto place, int) {
            double value = own.f[place];
            for (int j = 0; j < stage; ++j) value = fma(METHOD_C[row + j] * inverse_step, own.k[j][place], value);
            if (FOLLOWS_SUN && METHOD_GAMMA[stage] != 0.0) value = fma(weight, own.drift[place], value);
            return value;
        };
        set_owned(worker, right_side,
                  [&](auto place, int species, double value) {
                      x_at(arrays, place, species) = value;
                  });
        WAIT_FOR_WORKERS();
        solve(arrays, worker);
        set_owned(worker, [&](auto place, int species) { return x_at(arrays, place, species); },
                  [&](auto place, int, double k) { own.k[stage][place] = k; });
    }
}

// The concentration of a species at the end of the step.
template <class Place>
__device__ inline double end_of(const Owned& own, Place place)
{
    double end = own.y[place];
#pragma unroll
    for (int stage = 0; stage < STAGES; ++stage) end = fma(METHOD_M[stage], own.k[stage][place], end);
    return end;
}

// The error norm of a step in units of the tolerances: root mean square over the species. The first worker computes it
// from SUMS partial sums, each of every SUMS-th species, and stores it in place of the first concentration.
__device__ inline void find_error(const CellArrays& arrays, const Owned& own, int worker, double relative,
                                  double absolute)
{
    set_owned(worker, [&](auto place, int) {
        double error = 0;
#pragma unroll
        for (int stage = 0; stage < STAGES; ++stage)
            if (METHOD_E[stage] != 0.0) error = fma(METHOD_E[stage], own.k[stage][place], error);
        const double a = fabs(own.y[place]), b = fabs(end_of(own, place));
        return quotient_of(error, fma(relative, a > b ? a : b, absolute));
    }, [&](auto place, int species, double ratio) { concentration_at(arrays, place, species) = ratio; });
    WAIT_FOR_WORKERS();
    if (worker == 0) {
        double squares[SUMS] = {};
#pragma unroll 1
        for (int first = 0; first < VARIABLES; first += SUMS) {
#pragma unroll
            for (int i = 0; i < SUMS; ++i) {
                const double ratio = first + i < VARIABLES ? ratio_at(arrays, first, i) : 0.0;
                squares[i] = fma(ratio, ratio, squares[i]);
            }
        }
#pragma unroll
        for (int count = SUMS / 2; count > 0; count /= 2) {
#pragma unroll
            for (int i = 0; i < count; ++i) squares[i] += squares[i + count];
        }
        concentration_at(arrays, 0, 0) = sqrt(squares[0] / VARIABLES);
    }
    WAIT_FOR_WORKERS();
}
