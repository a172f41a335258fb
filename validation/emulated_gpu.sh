#!/usr/bin/env bash
# Runs the tests of the GPU on the emulated device, on small grids; tells how many ran, and why the others did not.
# Arguments go to the test executable.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "${1:-}" = --help ]; then
    printf 'emulated_gpu.sh [OPTION]...: runs the tests of the GPU on the emulated device; options go to the test executable\n'
    exit
fi
# Fewest tests that have to run of those that time nothing.
least=60

cargo=${CARGO:-cargo}
"$cargo" build --release --target-dir target --package nwp-mini-support --bin nwp-mini-emulated
log=$(mktemp)
trap 'rm -f "$log"' EXIT
emulated() { NWP_MINI_GPU=emulated "$cargo" test --release --target-dir target --test gpu -- "$@" 2>&1 | tee -a "$log"; }
if [ $# -gt 0 ]; then
    emulated "$@"
else
    # Every thread keeps the stacks of its kernels, with a guard page each: the threads of several devices need a process of
    # their own, since a process may have 65530 mappings.
    emulated --skip several::
    emulated several::
fi

left_out=$(grep -c '^left out on the emulated device: ' "$log" || true)
passed=$(sed -n 's/^test result: ok\. \([0-9]*\) passed.*/\1/p' "$log" | paste -sd+)
passed=$((passed))
echo "On the emulated device ran $((passed - left_out)) tests; $left_out were left out:"
sed -n 's/^left out on the emulated device: //p' "$log" | sort | uniq -c
if [ $# -eq 0 ] && [ $((passed - left_out)) -lt $least ]; then
    echo "error: $least have to run" >&2
    exit 1
fi
