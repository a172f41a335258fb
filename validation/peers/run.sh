#!/bin/sh
# Builds the peers where nvcc is, runs them and our bench one after the other on the same GPU, and
# prints the ratios. Usage: run.sh [PROGRAM [FOLDER]]
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
"$nvcc" -O3 -std=c++17 -arch="${ARCH:-native}" -o "$folder/peers" "$here/peers.cu" -lcublas -lcusparse
"$folder/peers" > "$folder/peers.json"
for bench in reduce transpose csr; do
    "$program" -q bench "$bench" --backend gpu --runs 25 --force --json "$folder/$bench.json"
    "$program" -q bench "$bench" --backend gpu --runs 25 --precision f64 --force \
        --json "$folder/$bench-f64.json"
done
python3 "$here/compare.py" "$folder"/reduce*.json "$folder"/transpose*.json "$folder"/csr*.json \
    "$folder/peers.json" | tee "$folder/ratios.txt"
