// Mass mismatch of changes of the water, from the difference between the dry mass of a cell and rho dz. See
// src/dry_mass/mismatch.rs.
#pragma once

namespace mismatch {

// Mass of a change of the water in a cell minus that computed with rho dz, kg m-2.
__device__ inline real mass_mismatch(real mass, real per_area, real rho, real dz, real before, real after)
{
    return (mass * per_area - rho * dz) * (after - before);
}

}  // namespace mismatch
