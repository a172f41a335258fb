#!/usr/bin/env bash
# The header of the C library is the one that cbindgen makes of its source. With --update it is made anew.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1:-} in
--help)
    printf 'check_header.sh [--update]: compares bindings/c/include/nwp_mini.h with what cbindgen makes, or replaces it\n'
    exit
    ;;
'' | --update) ;;
*)
    echo "error: unknown option $1; --update is the only one" >&2
    exit 2
    ;;
esac
version=0.29.4
cargo=${CARGO:-cargo}
header=bindings/c/include/nwp_mini.h

cbindgen=$(command -v cbindgen || echo target/tools/bin/cbindgen)
if [ "$("$cbindgen" --version 2>/dev/null)" != "cbindgen $version" ]; then
    echo "Installing cbindgen $version in target/tools"
    # Without optimisation, which takes longer than its work.
    "$cargo" install --quiet --debug --locked --version $version --root target/tools --target-dir target/tools/build cbindgen
    cbindgen=target/tools/bin/cbindgen
fi
made=$(mktemp)
trap 'rm -f "$made"' EXIT
"$cbindgen" --quiet --config bindings/c/cbindgen.toml --output "$made" bindings/c
if [ "${1:-}" = --update ]; then
    cp "$made" $header
elif ! diff -u $header "$made"; then
    echo "error: $header is not that of its source; run validation/check_header.sh --update" >&2
    exit 1
fi
echo "$header is that of its source."
