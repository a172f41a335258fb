// The hopping term at one site: a thread has the 24 sums, the 12 reals of a half spinor and the 18 reals of a link in
// registers, and shares no data with other threads.
#pragma once
#include "lattice/checkerboard.cuh"
#include "lattice/half_spinor.cuh"
#include "lattice/link.cuh"
#include "lattice/wilson/fields.cuh"

// Stored links of a site: the four forward ones, and with BACKWARD_STORED also the four backward ones.
constexpr int DIRECTIONS = BACKWARD_STORED ? 8 : 4;

// The factor of a hop across the boundary of the lattice in time.
__device__ inline real sign_at_end(const WilsonArgs& args, bool is_at_end)
{
    return is_at_end ? args.end_sign : real(1);
}

// Loads a link from device memory: the one to the forward neighbour in direction MU, or the one from the backward
// neighbour.
struct LinksInMemory {
    template <int MU, bool FORWARD>
    __device__ static void load(const WilsonArgs& args, int index, int there, Complex (&u)[3][3])
    {
        if constexpr (FORWARD) load_link(args.links_here, MU, index, u);
        else if constexpr (BACKWARD_STORED) load_link(args.links_here, 4 + MU, index, u);
        else load_link(args.links_there, MU, there, u);
    }
};

// Adds the term of the neighbour in direction MU, forward or backward, with 1 + SIGN g_MU.
template <int MU, bool FORWARD, int SIGN, int SIDES, class Links = LinksInMemory>
__device__ inline void add_hop(const WilsonArgs& args, const real* from, const Site& site, int index,
                               Complex (&sum)[SIDES][4][3])
{
    // The basis in which g_t is diagonal reverses the signs of the other directions.
    constexpr int sign = DIAGONAL_T && MU != 3 ? -SIGN : SIGN;
    const int there = neighbour<MU, FORWARD>(site, index);
    Complex u[3][3];
    Links::template load<MU, FORWARD>(args, index, there, u);
    const real at_end = MU != 3 ? real(1) : sign_at_end(args, site.t == (FORWARD ? LATTICE_T - 1 : 0));
#pragma unroll
    for (int side = 0; side < SIDES; ++side) {
        const real* field = from + static_cast<long long>(side) * SPINOR_REALS * HALF_VOLUME;
        Complex psi[4][3], h[2][3], r[2][3];
        constexpr bool is_diagonal = DIAGONAL_T && MU == 3;
        // 1 + g_t doubles the first two components and 1 - g_t the last two; the other two vanish.
        constexpr int first = SIGN > 0 ? 0 : 2;
        if constexpr (is_diagonal) {
            load_spins<first, 2>(field, there, psi);
#pragma unroll
            for (int c = 0; c < 3; ++c) {
                h[0][c] = psi[first][c] * (2 * at_end);
                h[1][c] = psi[first + 1][c] * (2 * at_end);
            }
        } else {
            load_spinor(field, there, psi);
#pragma unroll
            for (int c = 0; c < 3; ++c) {
                const Complex of_color[4] = {psi[0][c], psi[1][c], psi[2][c], psi[3][c]};
                Complex both[2];
                project<MU, sign>(of_color, both);
                h[0][c] = MU == 3 ? both[0] * at_end : both[0];
                h[1][c] = MU == 3 ? both[1] * at_end : both[1];
            }
        }
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            r[0][c] = FORWARD ? row_times(u, c, h[0]) : column_times(u, c, h[0]);
            r[1][c] = FORWARD ? row_times(u, c, h[1]) : column_times(u, c, h[1]);
        }
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            if constexpr (is_diagonal) {
                sum[side][first][c] = sum[side][first][c] + r[0][c];
                sum[side][first + 1][c] = sum[side][first + 1][c] + r[1][c];
            } else {
                const Complex both[2] = {r[0][c], r[1][c]};
                Complex all[4] = {sum[side][0][c], sum[side][1][c], sum[side][2][c], sum[side][3][c]};
                reconstruct<MU, sign>(both, all);
#pragma unroll
                for (int s = 0; s < 4; ++s) sum[side][s][c] = all[s];
            }
        }
    }
}

// D psi, or D^dagger psi, of a site, from all eight neighbours.
template <bool DAGGER, int SIDES, class Links = LinksInMemory>
__device__ inline void hop(const WilsonArgs& args, const real* from, const Site& site, int index,
                           Complex (&sum)[SIDES][4][3])
{
    constexpr int ahead = DAGGER ? 1 : -1;
#pragma unroll
    for (int side = 0; side < SIDES; ++side)
#pragma unroll
        for (int n = 0; n < 12; ++n) sum[side][n / 3][n % 3] = Complex{0, 0};
    add_hop<0, true, ahead, SIDES, Links>(args, from, site, index, sum);
    add_hop<0, false, -ahead, SIDES, Links>(args, from, site, index, sum);
    add_hop<1, true, ahead, SIDES, Links>(args, from, site, index, sum);
    add_hop<1, false, -ahead, SIDES, Links>(args, from, site, index, sum);
    add_hop<2, true, ahead, SIDES, Links>(args, from, site, index, sum);
    add_hop<2, false, -ahead, SIDES, Links>(args, from, site, index, sum);
    add_hop<3, true, ahead, SIDES, Links>(args, from, site, index, sum);
    add_hop<3, false, -ahead, SIDES, Links>(args, from, site, index, sum);
}

// base + coefficient D psi; `sum` is D psi on entry.
__device__ inline void add_to_base(const real* base, int index, real coefficient, Complex (&sum)[4][3])
{
    Complex own[4][3];
    load_spinor(base, index, own);
#pragma unroll
    for (int n = 0; n < 12; ++n) {
        Complex& value = sum[n / 3][n % 3];
        value.re = fma(coefficient, value.re, own[n / 3][n % 3].re);
        value.im = fma(coefficient, value.im, own[n / 3][n % 3].im);
    }
}
