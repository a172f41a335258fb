// Factors of I/(h gamma) - J and solutions with them, by the lists of src/gpu/chemistry/schedule.rs: tasks of slots,
// which are shared out among the workers; a slot needs results of earlier ones only.
#pragma once
#include "chemistry/kinetics.cuh"

// self - factor * other, rounded once.
__device__ inline double less_product(double self, double factor, double other) { return fma(-factor, other, self); }
__device__ inline float less_product(float self, float factor, float other) { return fmaf(-factor, other, self); }

// Factorises; the result is false where a pivot of this worker is zero or subnormal.
//
// Every entry is a task: its value in the matrix, less the products of entries to the left and above in the order of
// elimination, times the inverse of the pivot where it belongs to L.
__device__ inline bool factorise(const Room& room, int worker, double diagonal)
{
    bool is_regular = true;
    for (int slot = 0; slot < FACTOR_SLOTS; ++slot) {
        const int last = FACTOR_TASKS[slot * WORKERS + worker + 1];
        for (int task = FACTOR_TASKS[slot * WORKERS + worker]; task < last; ++task) {
            const double slope =
                sum_of(TASK_TERM_ELEMENT, TASK_TERM_COEFFICIENT, TASK_TERMS[task], TASK_TERMS[task + 1], room.partials);
            const unsigned kind = TASK_KIND[task];
            Entry value = static_cast<Entry>(kind == ON_DIAGONAL ? diagonal - slope : -slope);
            const int last_pair = TASK_PAIRS[task + 1];
#pragma unroll 4
            for (int product = TASK_PAIRS[task]; product < last_pair; ++product) {
                const Pair pair = FACTOR_PAIRS[product];
                value = less_product(value, at(room.factors, pair.first), at(room.factors, pair.second));
            }
            if (kind == ON_DIAGONAL) {
                // What is not a number is no singular matrix: it ends in the error of the step.
                is_regular = is_regular && !(fabs(static_cast<double>(value)) < SMALLEST_PIVOT);
                value = 1 / value;
            } else if (kind != RIGHT_OF_DIAGONAL) {
                value *= at(room.factors, kind);
            }
            at(room.factors, TASK_ENTRY[task]) = value;
        }
        // The right side of the first stage is waited for anyway.
        if (slot + 1 < FACTOR_SLOTS) wait_for_workers();
    }
    return is_regular;
}

// Solves in place of the right side, which all workers have written. A piece subtracts some products from the x of a
// row; the last one of a row, on the way back, divides by the pivot.
__device__ inline void solve(const Room& room, int worker)
{
    for (int slot = 0; slot < SOLVE_SLOTS; ++slot) {
        const int last = SOLVE_PIECES[slot * WORKERS + worker + 1];
        for (int piece = SOLVE_PIECES[slot * WORKERS + worker]; piece < last; ++piece) {
            Entry& x = at(room.x, PIECE_ROW[piece]);
            Entry value = x;
            const int last_product = PIECE_PRODUCTS[piece + 1];
#pragma unroll 4
            for (int product = PIECE_PRODUCTS[piece]; product < last_product; ++product) {
                const Pair pair = PRODUCTS[product];
                value = less_product(value, at(room.factors, pair.first), at(room.x, pair.second));
            }
            const unsigned pivot = PIECE_PIVOT[piece];
            if (pivot != NO_PIVOT) value *= at(room.factors, pivot);
            x = value;
        }
        wait_for_workers();
    }
}
