// Forcing of the steps between two input frames. See src/forcing/.
#include "forcing/blend.cuh"

// Stores the weights of the time interpolation in device memory, where a recorded step reads them.
extern "C" __global__ void forcing_weights(const __grid_constant__ WeightArgs args)
{
    args.kept[FLUX_WEIGHT] = args.flux;
    args.kept[AIR_WEIGHT] = args.air;
}

// Interpolates a field between two frames, element by element.
extern "C" __global__ void __launch_bounds__(FORCING_THREADS)
forcing_blend(const __grid_constant__ BlendArgs args)
{
    const long long at =
        static_cast<long long>(blockIdx.x) * FORCING_THREADS + threadIdx.x;
    if (at < args.count) args.out[at] = between(args.before[at], args.after[at], *args.weight);
}

// Fluxes through the z-faces of a column, from the ground up. The rounding error of the column's mass balance is
// distributed over its layers in proportion to their masses. See src/forcing/continuity.rs.
extern "C" __global__ void __launch_bounds__(FORCING_THREADS)
forcing_close_acc64(const __grid_constant__ CloseArgs args)
{
    const int pitch = args.pitch, ny = args.ny, plane = ny * pitch;
    const int c = blockIdx.x * FORCING_THREADS + threadIdx.x;
    if (c >= plane) return;
    const int j = c / pitch, i = c - j * pitch;
    // Exact for single precision: the differences are representable in double precision.
    const auto gain = [&](int k) {
        const real* x = args.x + (static_cast<long long>(k) * ny + j) * args.face_pitch + i;
        const real* y = args.y + static_cast<long long>(k) * (ny + 1) * pitch + c;
        return (static_cast<double>(x[0]) - static_cast<double>(x[1]))
               + (static_cast<double>(y[0]) - static_cast<double>(y[pitch]));
    };
    double all = 0;
    for (int k = 0; k < NZ; ++k) all += gain(k);
    const double mu = args.mu[c];
    const auto mass_below = [&](int k) { return args.c1_below[k] * mu + args.c2_below[k]; };
    double rising = 0;
    real* z = args.z + c;
    z[0] = 0;
    for (int k = 1; k < NZ; ++k) {
        rising += gain(k - 1);
        z[static_cast<long long>(k) * plane] =
            static_cast<real>(rising - all * (mass_below(k) / mass_below(NZ)));
    }
    z[static_cast<long long>(NZ) * plane] = 0;
}
