#pragma once

// Value of a layered field at an element of a plane on level k, as in the CPU version: see Layered in src/dry_mass.rs.
__device__ inline real layered_at(const LayeredPointers& field, int place, int k)
{
    return field.with_mu[place] * field.c1[k] + field.without_mu[place] * field.c2[k];
}
