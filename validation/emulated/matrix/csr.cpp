// Runs sparse products on the host: see validation/emulated/matrix.
#include "cuda.h"

#include "launches.h"
#include "prelude.h"

#include "primitives/csr.cu"

int main(int count, char** arguments)
{
    constexpr emulator::Named<CsrArgs> kernels[] = {
        NAMED(csr_thread),     NAMED(csr_cached),     NAMED(csr_warp),
        NAMED(csr_lanes_2),   NAMED(csr_lanes_4),   NAMED(csr_lanes_8),
        NAMED(csr_lanes_16), NAMED(csr_bins), NAMED(csr_tiles),       NAMED(csr_tiles_several),
        NAMED(csr_join),
    };
    return emulator::run_launches(kernels, count, arguments, offsetof(CsrArgs, x_stride) / 8);
}
