// Runs transposes on the host: see validation/emulated/matrix.
#include "cuda.h"

#include "launches.h"
#include "prelude.h"

#include "primitives/transpose.cu"

int main(int count, char** arguments)
{
    constexpr emulator::Named<TransposeArgs> kernels[] = {
        NAMED(transpose_copy),         NAMED(transpose_naive),
        NAMED(transpose_strided),   NAMED(transpose_tiled),
        NAMED(transpose_padded),     NAMED(transpose_unrolled),
        NAMED(transpose_diagonal), NAMED(transpose_wide),
        NAMED(transpose_thin_rows), NAMED(transpose_thin_columns),
        NAMED(transpose_faults),
    };
    return emulator::run_launches(kernels, count, arguments, offsetof(TransposeArgs, rows) / 8);
}
