// Runs sparse products on the host: see validation/emulated/matrix.
#include "cuda.h"

#include "case.h"
#include "prelude.h"

#include "primitives/csr.cu"

#include "launch.h"

int main(int count, char** arguments)
{
    const Kernels<CsrArgs> kernels = {
        {"csr_thread", csr_thread},     {"csr_cached", csr_cached},     {"csr_warp", csr_warp},
        {"csr_lanes_2", csr_lanes_2},   {"csr_lanes_4", csr_lanes_4},   {"csr_lanes_8", csr_lanes_8},
        {"csr_lanes_16", csr_lanes_16}, {"csr_bins", csr_bins}, {"csr_tiles", csr_tiles},       {"csr_tiles_several", csr_tiles_several},
        {"csr_join", csr_join},
    };
    return run<CsrArgs>(count, arguments, kernels, offsetof(CsrArgs, x_stride) / 8);
}
