// Sites of one parity and their neighbours, all of which have the other parity. The extents LATTICE_X, _Y, _Z and _T
// are compile-time constants. See src/lattice/checkerboard.rs.
#pragma once

constexpr int HALF_X = LATTICE_X / 2;
constexpr int STRIDE_Z = HALF_X * LATTICE_Y, STRIDE_T = STRIDE_Z * LATTICE_Z;
// Sites of a parity.
constexpr int HALF_VOLUME = STRIDE_T * LATTICE_T;

// A site by its coordinates; xh is half of x, rounded down.
struct Site {
    int xh, y, z, t, parity;
};

// The checkerboard index of a site.
__device__ inline int index_of(const Site& site)
{
    return site.xh + HALF_X * site.y + STRIDE_Z * site.z + STRIDE_T * site.t;
}

// The site with a checkerboard index.
__device__ inline Site site_at(int index, int parity)
{
    const int row = index / HALF_X;
    return {index % HALF_X, row % LATTICE_Y, row / LATTICE_Y % LATTICE_Z, row / (LATTICE_Y * LATTICE_Z), parity};
}

// Checkerboard index of the neighbour in direction MU, forward or backward.
template <int MU, bool FORWARD>
__device__ inline int neighbour(const Site& site, int index)
{
    if constexpr (MU == 0) {
        const int shift = (site.y + site.z + site.t + site.parity) & 1;
        if (FORWARD) return index + (site.xh + shift == HALF_X ? shift - HALF_X : shift);
        return index + (site.xh + shift == 0 ? HALF_X - 1 : shift - 1);
    } else {
        constexpr int extent = MU == 1 ? LATTICE_Y : MU == 2 ? LATTICE_Z : LATTICE_T;
        constexpr int stride = MU == 1 ? HALF_X : MU == 2 ? STRIDE_Z : STRIDE_T;
        const int at = MU == 1 ? site.y : MU == 2 ? site.z : site.t;
        if (FORWARD) return index + (at == extent - 1 ? stride - extent * stride : stride);
        return index + (at == 0 ? extent * stride - stride : -stride);
    }
}
