// dy/dt and the derivatives of the reactions from the tables of a mechanism. Sums are those of
// src/chemistry/rosenbrock/step.rs, term by term.
#pragma once
#include "chemistry/room.cuh"

// The sum of some terms: coefficients times elements of another array.
__device__ inline double sum_of(const unsigned short* index, const double* coefficient, int first, int last,
                                const double* values)
{
    double sum = 0;
#pragma unroll 4
    for (int term = first; term < last; ++term) sum = fma(coefficient[term], values[index[term] * CELLS], sum);
    return sum;
}

// A product of a rate constant and concentrations. Shorter ones are filled up with a concentration of 1.
template <int COUNT>
__device__ inline double product_of(const double* rates, const double* y, const unsigned short* record)
{
    double product = rates[record[0] * CELLS];
#pragma unroll
    for (int i = 1; i <= COUNT; ++i) product *= y[record[i] * CELLS];
    return product;
}

// Rates of the reactions that are this worker's, at the present concentrations.
__device__ inline void react(const Room& room, int worker)
{
#pragma unroll 2
    for (int r = worker; r < REACTIONS; r += WORKERS)
        room.reactions[r * CELLS] =
            product_of<REACTANTS>(room.rates, room.concentrations, REACTION + r * (REACTANTS + 1));
}

// Derivatives of the reactions, those that are this worker's.
__device__ inline void differentiate(const Room& room, int worker)
{
#pragma unroll 2
    for (int p = worker; p < PARTIALS; p += WORKERS)
        room.partials[p * CELLS] =
            product_of<REACTANTS - 1>(room.rates, room.concentrations, PARTIAL + p * REACTANTS);
}

// J k reaction by reaction, with k in the place of the concentrations.
__device__ inline void react_along(const Room& room, int worker)
{
    for (int r = worker; r < REACTIONS; r += WORKERS) {
        double sum = 0;
        for (int p = PARTIAL_START[r]; p < PARTIAL_START[r + 1]; ++p)
            sum = fma(PARTIAL_MULTIPLICITY[p] * room.partials[p * CELLS],
                      room.concentrations[PARTIAL_SPECIES[p] * CELLS], sum);
        room.reactions[r * CELLS] = sum;
    }
}

// What the reactions make of a species.
__device__ inline double made_of(const Room& room, int species)
{
    return sum_of(NET_INDEX, NET_COEFFICIENT, NET_START[species], NET_START[species + 1], room.reactions);
}
