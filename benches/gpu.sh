#!/usr/bin/env bash
# The first figures on the GPU, all in one go: tables and JSON files into a folder.
#
#   benches/gpu.sh [PROGRAM [FOLDER]]
#
# STORM names a file of reference data whose group "storm" holds the columns that other programs
# were measured on; without it that part is left out. RUNS is the number of timed calls.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=${1:-target/release/nwp-mini}
folder=${2:-bench-gpu}
runs=${RUNS:-25}
mkdir -p "$folder"

# measure NAME OPTIONS...: a table NAME.txt, which is shown too, and NAME.json.
measure() {
    local name=$1
    shift
    printf '\n== %s (after %d s)\n$ nwp-mini bench %s --runs %s\n' "$name" "$SECONDS" "$*" "$runs"
    "$program" -q bench "$@" --runs "$runs" --json "$folder/$name.json" --force |
        tee "$folder/$name.txt"
}

"$program" -q info | tee "$folder/machine.txt"

# The cyclone as it is, and repeated: all parts, both mappings, both ways of falling.
measure cyclone --backend gpu
measure cyclone-1024 --backend gpu --tile 1024x1024

# Where wide tiles overtake narrow ones.
measure sizes wsm5 --backend gpu --mapping tile --fallout semi-lagrangian \
    --tile 96x96 --tile 128x128 --tile 192x192 --tile 256x256 --tile 384x384 --tile 512x512

# Few and many tracers.
measure one-tracer advection --backend gpu --limiter pd --tracers 1 \
    --tile 71x58 --tile 1024x1024
measure thirty-tracers advection --backend gpu --limiter pd --tracers 30 --tile 71x58

# What exact functions and double precision cost.
measure precise --backend gpu --no-fast-math --limiter pd
measure double --backend gpu --precision f64 --limiter pd

# The columns of the peers, and only those among them that hold condensate.
if [ -n "${STORM:-}" ]; then
    storm=(wsm5 --backend gpu --input "$STORM" --group storm)
    measure storm "${storm[@]}" --tile 71x58 --tile 1024x1024
    measure storm-dense "${storm[@]}" --dense --tile 71x58 --tile 1024x1024
fi

# The ladders, and experiments with memory.
measure sums reduce --backend gpu
measure sums-4Mi-i32 reduce --backend gpu --integers --elements 4Mi
measure transposes transpose --backend gpu
measure transposes-f64 transpose --backend gpu --precision f64
measure products csr --backend gpu
measure products-f64 csr --backend gpu --precision f64
measure memory memory --backend gpu

# The CPU of the same machine.
measure cpu --backend cpu

printf '\nAll figures are in %s, after %d s.\n' "$folder" "$SECONDS"
