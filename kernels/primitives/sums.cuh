// Sums in fixed point: see src/primitives/sums.rs. All threads of a launch add their terms, and the sum does not depend
// on the order.
#pragma once

#include "primitives/block_sum.cuh"
#include "primitives/rounded.cuh"
#include "primitives/ticket.cuh"

// Terms of a thread, split into parts.
struct Terms {
    double parts[SUM_LIMBS];
    bool is_lost;  // a term is out of range

    __device__ inline Terms() : parts{0, 0, 0}, is_lost(false) {}

    __device__ inline void add(double term)
    {
        is_lost |= !(fabs(term) < SUM_BOUND);
        const double upper = sum(sum(term, SUM_SPLITTER_2), -SUM_SPLITTER_2);
        const double rest = sum(term, -upper);
        const double middle = sum(sum(rest, SUM_SPLITTER_1), -SUM_SPLITTER_1);
        const double lower = sum(sum(sum(rest, -middle), SUM_SPLITTER_0), -SUM_SPLITTER_0);
        parts[0] = sum(parts[0], lower);
        parts[1] = sum(parts[1], middle);
        parts[2] = sum(parts[2], upper);
    }
};

// Passes what exceeds the bits of a limb on to the next.
__device__ inline void carry(long long (&limbs)[SUM_LIMBS])
{
    constexpr long long mask = (1ll << SUM_BITS) - 1;
    for (int k = 0; k + 1 < SUM_LIMBS; ++k) {
        limbs[k + 1] += limbs[k] >> SUM_BITS;
        limbs[k] &= mask;
    }
}

// The number of a sum, in units.
__device__ inline double value_of(long long (&limbs)[SUM_LIMBS])
{
    carry(limbs);
    // Parts of one sign, so that they do not cancel.
    const bool is_negative = limbs[2] < 0;
    if (is_negative) {
        for (long long& limb : limbs) limb = -limb;
        carry(limbs);
    }
    const double lower = sum(product(static_cast<double>(limbs[0]), SUM_UNIT_0),
                             product(static_cast<double>(limbs[1]), SUM_UNIT_1));
    const double size = sum(lower, product(static_cast<double>(limbs[2]), SUM_UNIT_2));
    return is_negative ? -size : size;
}

// Words of a sum in device memory, 0 between launches: limbs, a flag of terms out of range, finished blocks.
constexpr int SUM_LOST = SUM_LIMBS, SUM_TICKETS = SUM_LIMBS + 1;

// The sum of the terms of all threads of all blocks; true in the thread that has it. All threads call it.
__device__ inline bool grid_sum(unsigned long long* words, Terms& terms, double& total)
{
    const bool has_lost = __syncthreads_or(terms.is_lost);
    block_sums(terms.parts);
    if (threadIdx.x != 0) return false;
    if (has_lost) atomicOr(&words[SUM_LOST], 1ull);
    else {
        // Exact: the parts are multiples of their units.
        const long long limbs[SUM_LIMBS] = {static_cast<long long>(terms.parts[0] / SUM_UNIT_0),
                                            static_cast<long long>(terms.parts[1] / SUM_UNIT_1),
                                            static_cast<long long>(terms.parts[2] / SUM_UNIT_2)};
        for (int k = 0; k < SUM_LIMBS; ++k) atomicAdd(&words[k], static_cast<unsigned long long>(limbs[k]));
    }
    if (take_ticket(&words[SUM_TICKETS]) != static_cast<int>(gridDim.x)) return false;
    words[SUM_TICKETS] = 0;
    long long limbs[SUM_LIMBS];
    for (int k = 0; k < SUM_LIMBS; ++k) limbs[k] = static_cast<long long>(atomicExch(&words[k], 0ull));
    const bool is_lost = atomicExch(&words[SUM_LOST], 0ull) != 0;
    constexpr long long not_a_number = 0x7ff8000000000000ll;
    total = is_lost ? __longlong_as_double(not_a_number) : value_of(limbs);
    return true;
}
