#!/bin/sh
# Builds a library of CUB, cuBLAS and cuSPARSE where nvcc is, and times our kernels and theirs by turns on the same GPU, a
# line each as it goes. Usage: [QUICK=1] [RUNS=N] run.sh [PROGRAM [FOLDER]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=${1:-$here/../../target/release/nwp-mini}
folder=${2:-$here/../../target/peers}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ ! -x "$nvcc" ]; then
    echo "skipped: no nvcc here; the peers are CUDA C++ (NVCC=/path/to/nvcc tells where it is)" >&2
    exit 0
fi
mkdir -p "$folder"
library=$folder/libpeers.so
[ "$library" -nt "$here/peers.cu" ] ||
    "$nvcc" -O3 -std=c++17 -arch="${ARCH:-native}" -shared -Xcompiler -fPIC -o "$library" "$here/peers.cu" -lcublas -lcusparse

# What takes longest to prepare is left out by QUICK.
reduce="" transpose="" csr=""
if [ -n "${QUICK:-}" ]; then
    reduce="--elements 64Ki --elements 256Ki --elements 1Mi --elements 16Mi"
    transpose="--extent 1000x1000 --extent 4118x27 --extent 27x4118 --extent 4096x4096"
    csr="--matrix interpolation --matrix stencil-27 --matrix skewed --matrix projection"
fi
pairs() {
    bench=$1
    precision=$2
    shift 2
    "$program" -q bench "$bench" --backend gpu --peers "$library" --precision "$precision" \
        --runs "$runs" --force --json "$folder/$bench-$precision.json" "$@" | tee -a "$folder/ratios.txt"
}
runs=${RUNS:-${QUICK:+9}}
runs=${runs:-25}
rm -f "$folder/ratios.txt"
for precision in f32 f64; do
    # shellcheck disable=SC2086 # lists of options
    {
        pairs reduce $precision $reduce
        pairs transpose $precision $transpose
        pairs csr $precision $csr
    }
done
echo "$(grep -c ' !$' "$folder/ratios.txt" || true) rows have a ratio above 1: our kernel takes longer there"
