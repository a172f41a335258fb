#!/usr/bin/env bash
# Thousands of steps without a break, with periodic and with specified sides: the water budget closes,
# every number is finite, and memory stays flat.
#
#   validation/soak.sh [cpu|gpu] [STEPS]          [cpu 5000]
#
# Prints a row for each of the two runs: resident memory after a tenth, at half and at the end of the
# time, its peak, that of all GPUs where there is one, what the budget leaves unexplained, and a verdict.
# Memory is flat when the last tenth of the samples holds at most 2 % more, in the median, than those
# just after half time. The budget closes when 1e-6 of all water at most is unexplained, or 1e-9 for every
# step where that is more; with --precision f64 1e-10.
#
# Needs bash, python3 (its standard library alone) and the program: NWP_MINI names it
# [target/release/nwp-mini]. INPUT is the file to run [data/soc.nc], DT the time step in s [60], FRAMES
# the number of output frames [20; with few of them the buffers of the library fill late], OPTIONS what else
# `nwp-mini run` is to be told, as in OPTIONS="--precision f64", and EVERY the time between samples in s
# [0.1]. KEEP names a folder for the samples, the figures and what the program said; the output itself goes.
# Exit codes: 0 good, 1 a check failed, 2 wrong usage, 3 no program or input.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$folder/soak.sh" | sed '$d'; }
wrong() {
    echo "error: $*" >&2
    echo "usage: validation/soak.sh [cpu|gpu] [STEPS]; --help tells more" >&2
    exit 2
}

case "${1-}" in
    -h | --help) usage; exit 0 ;;
esac
[ $# -le 2 ] || wrong "too many arguments"
backend=${1:-cpu}
steps=${2:-5000}
[[ $backend =~ ^(cpu|gpu)$ ]] || wrong "$backend is no backend; cpu or gpu is expected"
[[ $steps =~ ^[1-9][0-9]*$ ]] || wrong "$steps is no number of steps"

program=${NWP_MINI:-$folder/../target/release/nwp-mini}
input=${INPUT:-$folder/../data/soc.nc}
if [ ! -x "$program" ]; then
    echo "error: there is no program $program; run make build, or name one with NWP_MINI" >&2
    exit 3
fi
if [ ! -r "$input" ]; then
    echo "error: there is no file $input; name one with INPUT" >&2
    exit 3
fi
keep=${KEEP:-$(mktemp -d)}
mkdir -p "$keep"
if [ -z "${KEEP:-}" ]; then
    trap 'rm -rf "$keep"' EXIT
fi

date -u '+%F %H:%M UTC'
"$program" -q info | head -n 12
# Left to be split into words.
read -ra options <<<"${OPTIONS:-}"
code=0
python3 "$folder/soak.py" --program "$program" --input "$input" --backend "$backend" --steps "$steps" \
    --dt "${DT:-60}" --frames "${FRAMES:-20}" --every "${EVERY:-0.1}" --folder "$keep" \
    -- ${options[@]+"${options[@]}"}
