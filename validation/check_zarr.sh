#!/usr/bin/env bash
# Zarr stores of `nwp-mini run` against the readers of others, and theirs as its input.
#
#   validation/check_zarr.sh
#
# Needs target/release/nwp-mini with the feature zarr (make build FEATURES=zarr). Installs the packages of
# validation/requirements-zarr.txt into target/zarr, with pip and nothing else; PYTHON names the Python to use.
# Every failure exits non-zero.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1-}" in
    "") ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' validation/check_zarr.sh; exit 0 ;;
    *) echo "usage: validation/check_zarr.sh" >&2; exit 2 ;;
esac

place=target/zarr
program=${NWP_MINI:-target/release/nwp-mini}
python=${PYTHON:-python3}
if [ ! -x "$program" ]; then
    echo "error: there is no $program; run make build FEATURES=zarr first" >&2
    exit 3
fi
mkdir -p $place
if ! cmp -s validation/requirements-zarr.txt $place/readers/made-from.txt; then
    rm -rf $place/readers
    "$python" -m venv $place/readers
    $place/readers/bin/pip install -q --disable-pip-version-check -r validation/requirements-zarr.txt
    cp validation/requirements-zarr.txt $place/readers/made-from.txt
fi
readers() { $place/readers/bin/python -W ignore validation/zarr_readers.py "$@"; }

# written NAME OPTION...: the same run as file and as store.
written() {
    local name=$1
    shift
    for ending in nc zarr; do
        "$program" run -q --force --input data/soc.nc --output $place/"$name".$ending "$@" >/dev/null
    done
    readers $place/"$name".nc $place/"$name".zarr
}
written plain --steps 8 --output-interval 240
written double --steps 2 --precision f64 --compression none
written rounded --steps 2 --keepbits auto --compression small
# Fields of several chunks, which are stored in shards.
written large --steps 1 --refine 4 --output-vars T,QVAPOR,RAINNC,U

readers --write $place $place/plain.nc
for version in 2 3; do
    "$program" diff $place/plain.nc $place/v$version.zarr >$place/diff.txt ||
        { cat $place/diff.txt >&2; echo "error: version $version of xarray differs" >&2; exit 1; }
    "$program" run -q --force --input $place/v$version.zarr --steps 2 --output $place/of$version.nc >/dev/null
    echo "nwp-mini reads version $version of xarray"
done
"$program" diff $place/of2.nc $place/of3.nc >/dev/null
echo "Zarr stores are read and written as others do it."
