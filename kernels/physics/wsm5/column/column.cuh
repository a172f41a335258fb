// One column during a call, from the ground up, in the local memory of its thread. See src/physics/wsm5/mod.rs.
#pragma once

#include "physics/wsm5/mapping/species.cuh"
#include "physics/wsm5/step.cuh"

struct Column {
    Cell cells[NZ];
    Air air[NZ];
    StepStart step_start[NZ];
    // The rain whose drop size determines its freezing rate, kg kg-1.
    real qr_for_slope[NZ];
    real height[NZ + 1];  // of the interfaces, above the ground, m
};

// Index of the highest layer with a species; -1 if there is none.
template <Species KIND>
__device__ inline int highest_with(Column& column)
{
    int k = NZ - 1;
    while (k >= 0 && amount<KIND>(column.cells[k]) <= 0) --k;
    return k;
}

// Clips negative condensate and sets the invariants of the call.
__device__ inline void begin_call(Column& column, Precipitation& sum)
{
    column.height[0] = 0;
#pragma unroll 1
    for (int k = 0; k < NZ; ++k) {
        Cell& cell = column.cells[k];
        Air& air = column.air[k];
        sum.clipped += step::clip(air, cell.qc);
        sum.clipped += step::clip(air, cell.qr);
        sum.clipped += step::clip(air, cell.qi);
        sum.clipped += step::clip(air, cell.qs);
        cell::set_call_invariants(cell, air);
        column.height[k + 1] = column.height[k] + air.dz;
    }
}
