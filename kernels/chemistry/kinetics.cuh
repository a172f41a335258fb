// dy/dt and the derivatives of the reaction rates, from the tables of a mechanism. Sums are those of
// src/chemistry/rosenbrock/step.rs, term by term.
#pragma once
#include "chemistry/tables.cuh"

// The sum of the terms `first` to `last` - 1: coefficients times elements of `values`.
__device__ inline double sum_of(const unsigned* element, const double* coefficient, int first, int last, double* values)
{
    double sum = 0;
#pragma unroll 4
    for (int term = first; term < last; ++term) sum = fma(coefficient[term], at(values, element[term]), sum);
    return sum;
}

// A product of a rate constant and concentrations. Shorter products are padded with a concentration of 1.
template <int COUNT>
__device__ inline double product_of(double* rates, double* y, const Factors<COUNT>& factors)
{
    double product = at(rates, factors.rate);
#pragma unroll
    for (int i = 0; i < COUNT; ++i) product *= at(y, factors.concentrations[i]);
    return product;
}

// Rates of this worker's reactions, at the current concentrations.
__device__ inline void reaction_rates(const CellArrays& arrays, int worker)
{
#pragma unroll 2
    for (int r = worker; r < REACTIONS; r += WORKERS)
        arrays.reactions[r * CELLS] = product_of(arrays.rates, arrays.concentrations, REACTION[r]);
}

// Derivatives of the rates of the reactions, this worker's share.
__device__ inline void differentiate(const CellArrays& arrays, int worker)
{
#pragma unroll 2
    for (int p = worker; p < PARTIALS; p += WORKERS)
        arrays.partials[p * CELLS] = product_of(arrays.rates, arrays.concentrations, PARTIAL[p]);
}

// dy/dt of a species from the rates of the reactions.
__device__ inline double net_production(const CellArrays& arrays, int species)
{
    return sum_of(NET_ELEMENT, NET_COEFFICIENT, NET_START[species], NET_START[species + 1], arrays.reactions);
}

// dy/dt of a worker's species at the current concentrations, once all workers have written them.
__device__ inline void tendencies(const CellArrays& arrays, Owned& own, int worker)
{
    reaction_rates(arrays, worker);
    WAIT_FOR_WORKERS();
    for_owned(worker, [&](int place, int species) { own.f[place] = net_production(arrays, species); });
}
