// Time and step of one cell, as in src/chemistry/rosenbrock/control.rs. All workers of a cell hold identical copies.
#pragma once
#include "chemistry/functions.cuh"

struct Control {
    double time, end, step, longest, last_step;
    int functions, jacobians, steps, accepted, rejected, factorisations, solutions, singular;
    int singular_in_a_row;
    bool was_rejected, was_rejected_twice, is_retry;
};

// The start of an integration. `first_step` 0 stands for the default.
__device__ inline Control control_of(double start, double end, double first_step)
{
    Control control = {};
    control.time = start;
    control.end = end;
    control.longest = fabs(end - start);
    const double first = first_step > 0.0 ? first_step : FIRST_STEP;
    const double step = first < control.longest ? first : control.longest;
    control.step = step <= 10 * EPSILON ? FIRST_STEP : step;
    return control;
}

// Begins a step from a new time; returns the status if there is none to take.
__device__ inline int begin_step(Control& control)
{
    if (control.time - control.end + EPSILON > 0.0) return STATUS_SUCCESS;
    if (control.steps > MOST_STEPS) return STATUS_TOO_MANY_STEPS;
    const bool is_lost = control.time + __dmul_rn(VISIBLE_PART, control.step) == control.time;
    if (is_lost || control.step <= EPSILON || isnan(control.step)) return STATUS_STEP_TOO_SMALL;
    control.step = fmin(control.step, fabs(control.end - control.time));
    control.functions += FOLLOWS_SUN ? 2 : 1;
    control.jacobians += 1;
    return STATUS_RUNNING;
}

__device__ inline double root_of(double error)
{
    if constexpr (ERROR_ORDER == 2) return sqrt(error);
    else if constexpr (ERROR_ORDER == 3) return power_of(error, ONE_THIRD);
    else return sqrt(sqrt(error));
}

// Accepts or rejects the step by its error; returns STATUS_RUNNING, or the reason for the end of the integration.
__device__ inline int judge(Control& control, double error, bool& is_accepted)
{
    control.singular_in_a_row = 0;
    control.steps += 1;
    is_accepted = false;
    if (!isfinite(error)) return STATUS_NOT_FINITE;
    error = fmax(error, SMALLEST_ERROR);
    const double factor = fmin(fmax(SAFETY / root_of(error), SMALLEST_FACTOR), LARGEST_FACTOR);
    double next = control.step * factor;
    is_accepted = error <= 1.0 || control.step <= 0.0;
    if (is_accepted) {
        control.accepted += 1;
        control.time += control.step;
        next = fmin(next, control.longest);
        if (control.was_rejected) next = fmin(next, control.step);
        control.last_step = control.step;
        control.was_rejected = control.was_rejected_twice = false;
    } else {
        if (control.was_rejected_twice) next = control.step * REJECTION_FACTOR;
        control.was_rejected_twice = control.was_rejected;
        control.was_rejected = true;
        control.rejected += control.accepted >= 1 ? 1 : 0;
    }
    control.step = next;
    control.is_retry = !is_accepted;
    return STATUS_RUNNING;
}

// Halves the step after a singular matrix; STATUS_SINGULAR after MOST_SINGULAR in a row.
__device__ inline int halve(Control& control)
{
    control.singular += 1;
    control.singular_in_a_row += 1;
    control.is_retry = true;
    control.step *= 0.5;
    return control.singular_in_a_row >= MOST_SINGULAR ? STATUS_SINGULAR : STATUS_RUNNING;
}
