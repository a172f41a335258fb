// Runs transposes on the host: see validation/emulated/matrix.
#include "cuda.h"

#include "case.h"
#include "prelude.h"

#include "primitives/transpose.cu"

#include "launch.h"

int main(int count, char** arguments)
{
    const Kernels<TransposeArgs> kernels = {
        {"transpose_copy", transpose_copy},         {"transpose_naive", transpose_naive},
        {"transpose_strided", transpose_strided},   {"transpose_tiled", transpose_tiled},
        {"transpose_padded", transpose_padded},     {"transpose_unrolled", transpose_unrolled},
        {"transpose_diagonal", transpose_diagonal}, {"transpose_wide", transpose_wide},
        {"transpose_thin_rows", transpose_thin_rows}, {"transpose_thin_columns", transpose_thin_columns},
        {"transpose_faults", transpose_faults},
    };
    return run<TransposeArgs>(count, arguments, kernels, offsetof(TransposeArgs, rows) / 8);
}
