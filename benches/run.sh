#!/usr/bin/env bash
# Every figure of the performance tables in one go, on this machine: ours on the GPU and on one and all
# cores of the CPU, all rungs of the ladders, and the bounds.
#
#   benches/run.sh [PROGRAM [FOLDER]]
#
# PROGRAM needs nothing but itself and data/soc.nc. Each part leaves its table NAME.txt and its figures
# NAME.json in FOLDER, benches/results/<date>-<machine> if none is given; table.md holds what belongs
# together, with the machine, the date and the commit, and the pictures are scale.svg and platforms.svg.
# Without a GPU the CPU is measured.
#
# RUNS is the number of timed calls. STORM names a file of reference data whose group "storm" holds
# the columns that other programs were measured on; without it that part is left out. TUNE=1 measures
# the best settings for the GPU first and keeps them. QUICK=1 leaves out what takes minutes: the CPU on
# the large grid, and the growth with the grid.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

program=${1:-target/release/nwp-mini}
runs=${RUNS:-25}
about=$("$program" -q info)
# The value of a line of it.
fact() { sed -n "s/^$1  *//p" <<<"$about" | head -n 1; }
machine=$(fact GPU | cut -d, -f1)
[ "$machine" != none ] || machine=$(fact CPU)
machine=$(tr '[:upper:] ' '[:lower:]-' <<<"$machine" | tr -cd 'a-z0-9-')
folder=${2:-benches/results/$(date -u +%F)-$machine}
mkdir -p "$folder"
printf '%s\n' "$about" | tee "$folder/machine.txt"

# measure NAME OPTIONS...: a table NAME.txt, which is shown too, and NAME.json.
records=()
measure() {
    local name=$1
    shift
    printf '\n== %s (after %d s)\n$ nwp-mini bench %s\n' "$name" "$SECONDS" "$*"
    "$program" -q bench "$@" --json "$folder/$name.json" --force | tee "$folder/$name.txt"
    records+=("$folder/$name.json")
}

large=1024x1024
main=(--fallout semi-lagrangian --limiter pd)
if grep -q '^GPU runs  *yes' <<<"$about"; then
    backend=gpu
    if [ -n "${TUNE:-}" ]; then
        printf '\n== tune (after %d s)\n' "$SECONDS"
        # Apart from the records of bench, which `benches/table.py FOLDER/*.json` is given.
        mkdir -p "$folder/tune"
        "$program" -q tune --json "$folder/tune/tune.json" --force | tee "$folder/tune.txt"
    fi

    # The cyclone as it is, beside the CPU, and repeated: all parts, both mappings, both ways of falling.
    measure cyclone --backend both --runs "$runs"
    measure cyclone-1024 --backend gpu --tile $large --runs "$runs"

    # Where wide tiles overtake narrow ones.
    measure sizes wsm5 --backend gpu --mapping tile --fallout semi-lagrangian --runs "$runs" \
        --tile 96x96 --tile 128x128 --tile 192x192 --tile 256x256 --tile 384x384 --tile 512x512

    # Few and many tracers.
    measure one-tracer advection --backend gpu --limiter pd --tracers 1 --runs "$runs" \
        --tile 71x58 --tile $large
    measure thirty-tracers advection --backend gpu --limiter pd --tracers 30 --runs "$runs" --tile 71x58

    # What exact functions and double precision cost.
    measure precise --backend gpu --no-fast-math --limiter pd --runs "$runs"
    measure double --backend both --precision f64 --limiter pd --runs "$runs"

    # The columns of the peers, and only those among them that hold condensate.
    if [ -n "${STORM:-}" ]; then
        storm=(wsm5 --input "$STORM" --group storm --runs "$runs")
        measure storm "${storm[@]}" --backend both --tile 71x58
        measure storm-1024 "${storm[@]}" --backend gpu --tile $large
        measure storm-dense "${storm[@]}" --backend both --dense --tile 71x58
        measure storm-dense-1024 "${storm[@]}" --backend gpu --dense --tile $large
    fi
    measure sums-4Mi-i32 reduce --backend gpu --integers --elements 4Mi --runs "$runs"
    measure transposes-f64 transpose --backend gpu --precision f64 --runs "$runs"
    measure products-f64 csr --backend gpu --precision f64 --runs "$runs"
    measure memory memory --backend gpu --runs "$runs"
else
    backend=cpu
    measure cyclone --backend cpu --runs "$runs"
    measure double --backend cpu --precision f64 --limiter pd --runs "$runs"
fi

# The ladders; lines of the CPU stand beside them.
measure sums reduce --backend $backend --runs "$runs"
measure transposes transpose --backend $backend --runs "$runs"
measure products csr --backend $backend --runs "$runs"

# Frames of output: no part of the tables either.
merged=("${records[@]}")
measure output output
# The solver of the wind projection, likewise; a GPU beside one thread and all of them.
measure projection projection --backend "$([ $backend = gpu ] && echo both || echo cpu)"
records=("${merged[@]}")
# Against Python's libraries, where they are.
if python3 -c 'import netCDF4' 2>/dev/null; then
    for part in writing reading; do
        benches/files.py $part "$program" | tee "$folder/$part.txt"
    done
fi

if [ -z "${QUICK:-}" ]; then
    # The large grid on the CPU: seconds for a call.
    measure cpu-1024 wsm5 advection step --backend cpu "${main[@]}" --tile $large --runs 3
    # How cost grows with the grid: figures of their own, no part of the tables.
    merged=("${records[@]}")
    both=$([ $backend = gpu ] && echo both || echo cpu)
    measure scale scale --backend "$both" --svg "$folder/scale.svg"
    records=("${merged[@]}")
fi

{
    printf '# Figures of %s\n\n`benches/run.sh` on %s, dt 60 s.\n\n' "$(date -u +%F)" "$machine"
    benches/table.py --svg "$folder/platforms.svg" "${records[@]}"
} >"$folder/table.md"
printf '\nAll figures are in %s, after %d s; the tables are in table.md there.\n' "$folder" "$SECONDS"
