// Projection of a spinor to the two independent spin components of (1 + sign g_mu) psi, and reconstruction. See
// src/lattice/half_spinor.rs.
#pragma once
#include "complex.cuh"

// sign times i times z.
template <int SIGN>
__device__ inline Complex rotated(Complex z)
{
    return SIGN > 0 ? Complex{-z.im, z.re} : Complex{z.im, -z.re};
}

// sign times z.
template <int SIGN>
__device__ inline Complex signed_by(Complex z)
{
    return SIGN > 0 ? z : Complex{-z.re, -z.im};
}

// The components h0 and h1 of (1 + SIGN g_MU) psi, for one color.
template <int MU, int SIGN>
__device__ inline void project(const Complex (&psi)[4], Complex (&h)[2])
{
    if constexpr (MU == 0) {
        h[0] = psi[0] + rotated<SIGN>(psi[3]);
        h[1] = psi[1] + rotated<SIGN>(psi[2]);
    } else if constexpr (MU == 1) {
        h[0] = psi[0] + signed_by<-SIGN>(psi[3]);
        h[1] = psi[1] + signed_by<SIGN>(psi[2]);
    } else if constexpr (MU == 2) {
        h[0] = psi[0] + rotated<SIGN>(psi[2]);
        h[1] = psi[1] + rotated<-SIGN>(psi[3]);
    } else {
        h[0] = psi[0] + signed_by<SIGN>(psi[2]);
        h[1] = psi[1] + signed_by<SIGN>(psi[3]);
    }
}

// Reconstructs four spin components from r0 and r1 and adds them to a sum, for one color.
template <int MU, int SIGN>
__device__ inline void reconstruct(const Complex (&r)[2], Complex (&sum)[4])
{
    sum[0] = sum[0] + r[0];
    sum[1] = sum[1] + r[1];
    if constexpr (MU == 0) {
        sum[2] = sum[2] + rotated<-SIGN>(r[1]);
        sum[3] = sum[3] + rotated<-SIGN>(r[0]);
    } else if constexpr (MU == 1) {
        sum[2] = sum[2] + signed_by<SIGN>(r[1]);
        sum[3] = sum[3] + signed_by<-SIGN>(r[0]);
    } else if constexpr (MU == 2) {
        sum[2] = sum[2] + rotated<-SIGN>(r[0]);
        sum[3] = sum[3] + rotated<SIGN>(r[1]);
    } else {
        sum[2] = sum[2] + signed_by<SIGN>(r[0]);
        sum[3] = sum[3] + signed_by<SIGN>(r[1]);
    }
}
