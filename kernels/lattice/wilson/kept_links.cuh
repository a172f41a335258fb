// The eight links of a site in shared memory, for the thread that uses them with one right-hand side after the other.
// No thread reads data of another thread.
#pragma once
#include "lattice/wilson/hop.cuh"

constexpr int LINK_UNITS = 12 / UNIT;
static_assert(LINK_REALS == 12 || !LOOP_SIDES, "two rows of a link are kept");
// Without a loop over the right-hand sides no links are kept.
constexpr int KEPT_UNITS = LOOP_SIDES ? 8 * LINK_UNITS : 1;

__device__ inline Wide<real>& kept_unit(int link, int unit)
{
    __shared__ Wide<real> kept[KEPT_UNITS][BLOCK_SITES];
    return kept[link * LINK_UNITS + unit][threadIdx.x];
}

struct KeptLinks {
    template <int MU, bool FORWARD>
    __device__ static void load(const WilsonArgs&, int, int, Complex (&u)[3][3])
    {
#pragma unroll
        for (int n = 0; n < LINK_UNITS; ++n) {
            const Wide<real> unit = kept_unit(FORWARD ? MU : 4 + MU, n);
#pragma unroll
            for (int c = 0; c < UNIT; c += 2) {
                const int at = (n * UNIT + c) / 2;
                u[at / 3][at % 3] = Complex{unit.at[c], unit.at[c + 1]};
            }
        }
        third_row(u);
    }
};

// Keeps the forward link in direction MU and the one from the backward neighbour.
template <int MU>
__device__ inline void keep_links(const WilsonArgs& args, const Site& site, int index)
{
    const int behind = BACKWARD_STORED ? index : neighbour<MU, false>(site, index);
    const real* links[2] = {args.links_here + static_cast<long long>(MU) * LINK_STRIDE,
                            BACKWARD_STORED ? args.links_here + static_cast<long long>(4 + MU) * LINK_STRIDE
                                            : args.links_there + static_cast<long long>(MU) * LINK_STRIDE};
    const int places[2] = {place_of(index, LINK_UNITS), place_of(behind, LINK_UNITS)};
#pragma unroll
    for (int way = 0; way < 2; ++way)
#pragma unroll
        for (int n = 0; n < LINK_UNITS; ++n)
            kept_unit(way == 0 ? MU : 4 + MU, n) =
                load_unit<LINK_LOAD>(links[way] + static_cast<long long>(places[way]) * UNIT + n * CHUNK * UNIT);
}
