#!/usr/bin/env bash
# The library without the program: no part of what the program needs is underneath, it builds without CMake, each
# set of features builds without warnings, and somebody else's program runs on it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "${1:-}" = --help ]; then
    printf 'check_library.sh: builds the library without the program, and a program of somebody else on it\n'
    exit
fi
cargo=${CARGO:-cargo}
banned='^(netcdf|hdf5|libdeflate|clap|cudarc|tiny-skia|indicatif|ttf-parser)'
tree() { "$cargo" tree --prefix none --edges normal,build "$@"; }

if tree --no-default-features | grep -E "$banned"; then
    echo "error: the library without default features needs what stands above" >&2
    exit 1
fi
# Were the pattern wrong, the program would not have them either.
tree | grep -qE '^netcdf' || { echo "error: the program is built on netcdf, and cargo tree does not tell" >&2; exit 1; }

# Nothing that is called CMake, wherever it is.
without=$(mktemp -d)
trap 'rm -rf "$without"' EXIT
for name in cmake ninja; do
    printf '#!/bin/sh\necho "error: %s is not there" >&2\nexit 1\n' "$name" >"$without/$name"
    chmod +x "$without/$name"
done
PATH="$without:$PATH" "$cargo" build --release --target-dir target --lib --no-default-features
PATH="$without:$PATH" "$cargo" run --release --target-dir target -p nwp-mini-outsider

for features in "" gpu netcdf plot; do
    "$cargo" clippy --release --target-dir target --lib --no-default-features --features "$features" -- -D warnings
    RUSTDOCFLAGS="-D warnings" "$cargo" doc --release --target-dir target --lib --no-deps --no-default-features \
        --features "$features"
done
echo "The library builds by itself."
