// High-order fluxes through the lower faces (western or southern) of a thread's cells.
#pragma once

#include "advection/tile/prefetch.cuh"

// Fluxes through the western faces.
__device__ inline Cells high_order_west(const TransportArgs& args, const Place& place,
                                        const Cells& mass, const Cells& here)
{
    constexpr int SEEN = HALO + CELLS + HALO - 1;
    real row[SEEN];
    for (int s = 0; s < SEEN; ++s) row[s] = in_row(here, s - HALO);
    Cells flux;
    for (int c = 0; c < CELLS; ++c) {
        const real q[] = {row[c], row[c + 1], row[c + 2], row[c + 3], row[c + 4], row[c + 5]};
        flux.at[c] = fifth_order_flux(mass.at[c], q);
    }
    if (!periodic_x() && !place.is_inner) lower_at_ends(args, place, row, mass.at, flux.at);
    return flux;
}

// Fluxes through the southern faces; `rows` are those of the level of the tile, from row -HALO on.
__device__ inline Cells high_order_south(const TransportArgs& args, const Place& place,
                                         const Level& level, const Cells& mass, const Cells& here,
                                         const Cells (&rows)[SEEN_ROWS][LANES])
{
    Cells seen[2 * HALO];
    for (int s = 0; s < 2 * HALO; ++s)
        seen[s] = s == HALO ? here : rows[tile_row() + s][tile_lane()];
    Cells flux;
    for (int c = 0; c < CELLS; ++c) {
        const real q[] = {seen[0].at[c], seen[1].at[c], seen[2].at[c],
                          seen[3].at[c], seen[4].at[c], seen[5].at[c]};
        flux.at[c] = fifth_order_flux(mass.at[c], q);
        if (place.near_y)
            flux.at[c] = lower_order(min(place.j, ny_of(args) - place.j), mass.at[c], q, flux.at[c]);
    }
    return flux;
}
