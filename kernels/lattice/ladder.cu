// The first rungs of the ladder of the hopping term, from a straightforward version on: one thread for each output
// site, and one change from each rung to the next. See src/lattice/gpu/ladder.rs.
#include "lattice/wilson/hop.cuh"

// For each component of g_MU psi: the component of psi that it comes from, and its phase as a power of i.
__constant__ const int PARTNER[4][4] = {{3, 2, 1, 0}, {3, 2, 1, 0}, {2, 3, 0, 1}, {2, 3, 0, 1}};
__constant__ const int PHASE[4][4] = {{1, 1, 3, 3}, {2, 0, 0, 2}, {1, 3, 3, 1}, {0, 0, 0, 0}};

// i^power z
__device__ inline Complex turned(Complex z, int power)
{
    const Complex once = power & 1 ? Complex{-z.im, z.re} : z;
    return power & 2 ? Complex{-once.re, -once.im} : once;
}

// Array of structures: the numbers of a site are contiguous.
struct SiteByNumber {
    __device__ static void load_spinor(const real* field, int index, Complex (&psi)[4][3])
    {
        const real* from = field + static_cast<long long>(index) * SPINOR_REALS;
        for (int n = 0; n < 12; ++n) psi[n / 3][n % 3] = Complex{from[2 * n], from[2 * n + 1]};
    }
    __device__ static void store_spinor(real* field, int index, const Complex (&psi)[4][3])
    {
        real* to = field + static_cast<long long>(index) * SPINOR_REALS;
        for (int n = 0; n < 12; ++n) {
            to[2 * n] = psi[n / 3][n % 3].re;
            to[2 * n + 1] = psi[n / 3][n % 3].im;
        }
    }
    __device__ static void load_link(const real* links, int mu, int index, Complex (&u)[3][3])
    {
        const real* from = links + (static_cast<long long>(index) * 4 + mu) * 18;
        for (int n = 0; n < 9; ++n) u[n / 3][n % 3] = Complex{from[2 * n], from[2 * n + 1]};
    }
};

// Structure of arrays: each number is contiguous over the sites.
struct NumberBySite {
    __device__ static void load_spinor(const real* field, int index, Complex (&psi)[4][3])
    {
        for (int n = 0; n < 12; ++n)
            psi[n / 3][n % 3] = Complex{field[2 * n * HALF_VOLUME + index], field[(2 * n + 1) * HALF_VOLUME + index]};
    }
    __device__ static void store_spinor(real* field, int index, const Complex (&psi)[4][3])
    {
        for (int n = 0; n < 12; ++n) {
            field[2 * n * HALF_VOLUME + index] = psi[n / 3][n % 3].re;
            field[(2 * n + 1) * HALF_VOLUME + index] = psi[n / 3][n % 3].im;
        }
    }
    __device__ static void load_link(const real* links, int mu, int index, Complex (&u)[3][3])
    {
        const real* from = links + static_cast<long long>(mu) * 18 * HALF_VOLUME + index;
        for (int n = 0; n < 9; ++n)
            u[n / 3][n % 3] = Complex{from[2 * n * HALF_VOLUME], from[(2 * n + 1) * HALF_VOLUME]};
    }
};

// Units of sixteen bytes of a spinor, or eight bytes of a link, contiguous over the sites.
struct UnitBySite {
    __device__ static void load_spinor(const real* field, int index, Complex (&psi)[4][3])
    {
        ::load_spinor(field, index, psi);
    }
    __device__ static void store_spinor(real* field, int index, const Complex (&psi)[4][3])
    {
        ::store_spinor<false>(field, index, psi);
    }
    __device__ static void load_link(const real* links, int mu, int index, Complex (&u)[3][3])
    {
        ::load_link(links, mu, index, u);
    }
};

// Index of a neighbour in a direction that is a run-time value.
__device__ inline int neighbour_of(const Site& site, int index, int mu, bool is_ahead)
{
    switch (mu) {
        case 0: return is_ahead ? neighbour<0, true>(site, index) : neighbour<0, false>(site, index);
        case 1: return is_ahead ? neighbour<1, true>(site, index) : neighbour<1, false>(site, index);
        case 2: return is_ahead ? neighbour<2, true>(site, index) : neighbour<2, false>(site, index);
        default: return is_ahead ? neighbour<3, true>(site, index) : neighbour<3, false>(site, index);
    }
}

// Adds (1 -/+ g_mu) U psi of a neighbour, with all four spin components multiplied by the link.
template <class Fields>
__device__ inline void add_full(const WilsonArgs& args, const real* links, int at_link, int there, int mu,
                                bool is_ahead, real sign, Complex (&sum)[4][3])
{
    Complex psi[4][3], u[3][3], v[4][3];
    Fields::load_spinor(args.in_, there, psi);
    Fields::load_link(links, mu, at_link, u);
    for (int s = 0; s < 4; ++s)
        for (int c = 0; c < 3; ++c)
            v[s][c] = (is_ahead ? row_times(u, c, psi[s]) : column_times(u, c, psi[s])) * sign;
    for (int s = 0; s < 4; ++s)
        for (int c = 0; c < 3; ++c) {
            const Complex other = turned(v[PARTNER[mu][s]][c], PHASE[mu][s]);
            sum[s][c] = sum[s][c] + v[s][c] + (is_ahead ? Complex{-other.re, -other.im} : other);
        }
}

// D psi of a site of one parity, with all four spin components multiplied.
template <class Fields>
__device__ inline void hop_in_full(const WilsonArgs& args)
{
    const int index = static_cast<int>(blockIdx.x * BLOCK_SITES + threadIdx.x);
    if (index >= HALF_VOLUME) return;
    const Site site = site_at(index, args.parity);
    Complex sum[4][3] = {};
    for (int mu = 0; mu < 4; ++mu) {
        const int ahead = neighbour_of(site, index, mu, true), behind = neighbour_of(site, index, mu, false);
        const bool is_last = mu == 3 && site.t == LATTICE_T - 1, is_first = mu == 3 && site.t == 0;
        add_full<Fields>(args, args.links_here, index, ahead, mu, true, sign_at_end(args, is_last), sum);
        add_full<Fields>(args, args.links_there, behind, behind, mu, false, sign_at_end(args, is_first), sum);
    }
    Fields::store_spinor(args.out, index, sum);
}

// All sites of the lattice in lexicographic order.
extern "C" __global__ void __launch_bounds__(BLOCK_SITES, RESIDENT_BLOCKS)
ladder_aos(const __grid_constant__ WilsonArgs args)
{
    const int extents[4] = {LATTICE_X, LATTICE_Y, LATTICE_Z, LATTICE_T};
    const int index = static_cast<int>(blockIdx.x * BLOCK_SITES + threadIdx.x);
    if (index >= 2 * HALF_VOLUME) return;
    Complex sum[4][3] = {};
    int stride = 1;
    for (int mu = 0; mu < 4; ++mu) {
        const int extent = extents[mu], at = index / stride % extent;
        const int ahead = index + (at == extent - 1 ? stride - extent * stride : stride);
        const int behind = index + (at == 0 ? extent * stride - stride : -stride);
        const bool is_last = mu == 3 && at == extent - 1, is_first = mu == 3 && at == 0;
        add_full<SiteByNumber>(args, args.links_here, index, ahead, mu, true, sign_at_end(args, is_last), sum);
        add_full<SiteByNumber>(args, args.links_here, behind, behind, mu, false, sign_at_end(args, is_first), sum);
        stride *= extent;
    }
    SiteByNumber::store_spinor(args.out, index, sum);
}

extern "C" __global__ void __launch_bounds__(BLOCK_SITES, RESIDENT_BLOCKS)
ladder_even_odd(const __grid_constant__ WilsonArgs args)
{
    hop_in_full<SiteByNumber>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_SITES, RESIDENT_BLOCKS)
ladder_soa(const __grid_constant__ WilsonArgs args)
{
    hop_in_full<NumberBySite>(args);
}

extern "C" __global__ void __launch_bounds__(BLOCK_SITES, RESIDENT_BLOCKS)
ladder_vector(const __grid_constant__ WilsonArgs args)
{
    hop_in_full<UnitBySite>(args);
}

// Half spinors, with the direction a run-time value.
extern "C" __global__ void __launch_bounds__(BLOCK_SITES, RESIDENT_BLOCKS)
ladder_half_spinor(const __grid_constant__ WilsonArgs args)
{
    const int index = static_cast<int>(blockIdx.x * BLOCK_SITES + threadIdx.x);
    if (index >= HALF_VOLUME) return;
    const Site site = site_at(index, args.parity);
    Complex sum[1][4][3] = {};
    for (int mu = 0; mu < 4; ++mu) {
        for (int behind = 0; behind < 2; ++behind) {
            switch (2 * mu + behind) {
                case 0: add_hop<0, true, -1, 1>(args, args.in_, site, index, sum); break;
                case 1: add_hop<0, false, 1, 1>(args, args.in_, site, index, sum); break;
                case 2: add_hop<1, true, -1, 1>(args, args.in_, site, index, sum); break;
                case 3: add_hop<1, false, 1, 1>(args, args.in_, site, index, sum); break;
                case 4: add_hop<2, true, -1, 1>(args, args.in_, site, index, sum); break;
                case 5: add_hop<2, false, 1, 1>(args, args.in_, site, index, sum); break;
                case 6: add_hop<3, true, -1, 1>(args, args.in_, site, index, sum); break;
                default: add_hop<3, false, 1, 1>(args, args.in_, site, index, sum); break;
            }
        }
    }
    store_spinor<false>(args.out, index, sum[0]);
}
