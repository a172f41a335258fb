// LU factors of I/(h gamma) - J and solutions with them, by the lists of src/chemistry/gpu/schedule.rs: slots of tasks
// distributed among the workers; a task only needs results of earlier slots.
#pragma once
#include "chemistry/kinetics.cuh"

// self - factor * other, rounded once.
__device__ inline double less_product(double self, double factor, double other) { return fma(-factor, other, self); }

// Factorises; returns false if a pivot of this worker is zero or subnormal.
//
// Every entry is a task: its value in the matrix, minus the products of entries to the left and above in the order of
// elimination, times the inverse of the pivot if it belongs to L.
__device__ inline bool factorise(const CellArrays& arrays, int worker, double diagonal)
{
    bool is_regular = true;
    const FactorList* lists = FACTOR_LISTS + column_of(worker);
    FactorList list = lists[0];
    for (int slot = 0; slot < FACTOR_SLOTS; ++slot) {
        // Data that does not depend on other workers is read before the barrier.
        const FactorList next = lists[(slot + 1) * COLUMNS];
        int term = list.term, pair = list.pair;
        for (int number = list.first; number < list.last; ++number) {
            const FactorTask task = FACTOR_TASKS[number];
            const double slope = sum_of(TASK_TERM_ELEMENT, TASK_TERM_COEFFICIENT, term, task.last_term,
                                        arrays.partials);
            double value = task.kind == ON_DIAGONAL ? diagonal - slope : -slope;
#pragma unroll 4
            for (; pair < task.last_pair; ++pair) {
                const Pair factors = FACTOR_PAIRS[pair];
                value = less_product(value, at(arrays.factors, factors.first), at(arrays.factors, factors.second));
            }
            if (task.kind == ON_DIAGONAL) {
                // A NaN does not count as singular: it makes the error of the step NaN.
                is_regular = is_regular && !(fabs(value) < SMALLEST_PIVOT);
                value = 1 / value;
            } else if (task.kind != RIGHT_OF_DIAGONAL) {
                value *= at(arrays.factors, task.kind);
            }
            at(arrays.factors, task.entry) = value;
            term = task.last_term;
        }
        // A barrier follows the right side of the first stage anyway.
        if (slot + 1 < FACTOR_SLOTS) WAIT_FOR_WORKERS();
        list = next;
    }
    return is_regular;
}

// Solves in place of the right side, which all workers have written. A piece subtracts some products from the x of a
// row; the last piece of a row in back substitution multiplies by the inverse of the pivot.
__device__ inline void solve(const CellArrays& arrays, int worker)
{
    const SolveList* lists = SOLVE_LISTS + column_of(worker);
    SolveList list = lists[0];
    for (int slot = 0; slot < SOLVE_SLOTS; ++slot) {
        const SolveList next = lists[(slot + 1) * COLUMNS];
        int product = list.product;
        for (int number = list.first; number < list.last; ++number) {
            const SolvePiece piece = SOLVE_PIECES[number];
            double& x = at(arrays.x, piece.row);
            double value = x;
#pragma unroll 4
            for (; product < piece.last_product; ++product) {
                const Pair pair = PRODUCTS[product];
                value = less_product(value, at(arrays.factors, pair.first), at(arrays.x, pair.second));
            }
            if (piece.pivot != NO_PIVOT) value *= at(arrays.factors, piece.pivot);
            x = value;
        }
        WAIT_FOR_WORKERS();
        list = next;
    }
}
