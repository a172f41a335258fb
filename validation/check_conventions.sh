#!/usr/bin/env bash
# Output of `nwp-mini run` against the CF conventions and the programs that people open and copy it with.
#
#   validation/check_conventions.sh [--strict]
#
# Installs pinned packages into target/conventions, with pip and nothing else. What the machine lacks is
# SKIPPED with a line that says so, or fails with --strict. Needs target/release/nwp-mini; PYTHON names
# the Python to use. Every failure exits non-zero.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

strict=no
case "${1-}" in
    "") ;;
    --strict) strict=yes ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' validation/check_conventions.sh; exit 0 ;;
    *) echo "usage: validation/check_conventions.sh [--strict]" >&2; exit 2 ;;
esac

skip() {
    if [ $strict = yes ]; then
        echo "error: $*" >&2
        exit 1
    fi
    echo "SKIPPED: $*"
}

place=target/conventions
log=$place/pip.log
program=target/release/nwp-mini
python=${PYTHON:-python3}
if [ ! -x $program ]; then
    echo "error: there is no $program; run make build first" >&2
    exit 3
fi
mkdir -p $place/out $place/aux

# environment NAME REQUIREMENTS [PACKAGE...]: a virtual environment that is made once for its
# requirements; packages after them are built with what they have brought.
environment() {
    local folder=$place/$1 requirements=$2
    shift 2
    if cmp -s "$requirements" "$folder/made-from.txt"; then
        return 0
    fi
    echo "Installing the packages of $requirements into $folder"
    rm -rf "$folder"
    {
        "$python" -m venv "$folder" &&
            "$folder/bin/pip" install --disable-pip-version-check -r "$requirements" &&
            { [ $# = 0 ] ||
                "$folder/bin/pip" install --disable-pip-version-check --no-build-isolation "$@"; } &&
            # wrf-python brings packages that replace some of these by newer ones.
            "$folder/bin/pip" install --disable-pip-version-check -r "$requirements" &&
            cp "$requirements" "$folder/made-from.txt"
    } >"$log" 2>&1
}

if ! environment readers validation/requirements.txt; then
    tail -n 3 $log >&2
    skip "the CF checker, xarray and xwrf cannot be installed (see $log)"
    exit 0
fi
bin=$place/readers/bin

echo "Writing output of every map projection"
rm -f $place/out/*
$program run --quiet --input data/soc.nc --steps 4 --tracers data/tracers.toml --output $place/out/plane.out.nc >/dev/null
$bin/python validation/on_earth.py data/soc.nc $place/out >/dev/null
for input in $place/out/*.nc; do
    case $input in *.out.nc) continue ;; esac
    $program run --quiet --input "$input" --steps 1 --output "${input%.nc}.out.nc" >/dev/null
done

echo "Writing another grid, places of interest and profiles beside the output"
rm -f $place/aux/*
printf 'name,x,y\nwest,100000,200000\neast,1234567,1000000\n' >$place/aux/plane.csv
printf 'name,lat,lon\nmiddle,40,-90\n"north, east",43.5,-88.2\n' >$place/aux/lambert.csv
for case in "plane data/soc.nc xy 45000 conservative" "lambert $place/out/lambert.nc latlon 0.5 bilinear"; do
    read -r name input target spacing method <<<"$case"
    $program weights --quiet --input "$input" --target "$target" --spacing "$spacing" --method "$method" \
        --output $place/aux/"$name".weights.nc >/dev/null
    $program run --quiet --input "$input" --steps 2 --output $place/aux/"$name".nc --profiles \
        --regrid $place/aux/"$name".weights.nc --points $place/aux/"$name".csv >/dev/null
done

echo "Writing an ensemble"
printf 'members = 3\n[parameters]\nn0r = { factor = [0.5, 2] }\nfall_rain = { factor = [0.5, 2] }\n' \
    >$place/aux/ensemble.toml
$program run --quiet --input $place/out/lambert.nc --steps 2 --ensemble $place/aux/ensemble.toml \
    --output $place/aux/ensemble.nc >/dev/null

echo "CF conventions"
# conforms [OPTION...] FILE...
conforms() {
    if ! $bin/compliance-checker -t cf:1.11 -c lenient "$@" >$place/cf.log 2>&1; then
        cat $place/cf.log >&2
        echo "error: the output does not pass the CF checker" >&2
        exit 1
    fi
}
# Version 6.1.0 takes the name of the one attribute that Mercator's mapping needs for a list of letters,
# and asks for an attribute of each letter. That mapping is held against PROJ below.
mercator=$place/out/mercator.out.nc
others=()
for file in $place/out/*.out.nc; do
    [ "$file" = $mercator ] || others+=("$file")
done
# One call for all of them: loading the checker takes longer than a file.
conforms "${others[@]}"
conforms --skip-checks check_grid_mapping $mercator
conforms $place/aux/*.{regrid,points,points.profiles,profiles}.nc $place/aux/ensemble.nc
# The checker is checked: WRF's own file is no CF file.
if $bin/compliance-checker -t cf:1.11 -c lenient data/soc.nc >$place/cf-of-wrf.log 2>&1; then
    echo "error: the CF checker passes data/soc.nc, which is no CF file; it checks nothing" >&2
    exit 1
fi

$bin/python -W ignore validation/read_output.py xarray $place/out/*.out.nc

echo "Copies by nccopy, h5repack and netCDF4"
$program run --quiet --input data/soc.nc --steps 2 --compression none --output $place/aux/plain.nc >/dev/null
$program run --quiet --input data/soc.nc --steps 2 --keepbits auto --output $place/aux/rounded.nc >/dev/null
trips=($place/out/plane.out.nc $place/aux/{plain,rounded}.nc)
[ $strict = no ] || trips=(--strict "${trips[@]}")
$bin/python -W ignore validation/round_trips.py "${trips[@]}"

if command -v cdo >/dev/null; then
    for file in $place/out/*.out.nc; do
        # Standard error names what cdo leaves out, such as Times, whose type it does not know.
        cdo -s sinfon "$file" >$place/cdo.log 2>$place/cdo-warnings.log ||
            { cat $place/cdo-warnings.log >&2; echo "error: cdo cannot read $file" >&2; exit 1; }
        for words in QSNOW "XTIME : [0-9]* steps"; do
            grep -q "$words" $place/cdo.log ||
                { echo "error: cdo does not see $words in $file" >&2; exit 1; }
        done
        echo "cdo reads $file"
    done
    # With our weights cdo arrives at our values, to what single precision leaves of four products.
    cdo -s griddes -selname,QVAPOR $place/aux/lambert.regrid.nc >$place/grid.txt 2>$place/cdo-warnings.log
    cdo -s remap,$place/grid.txt,$place/aux/lambert.weights.nc -selname,QVAPOR $place/aux/lambert.nc \
        $place/aux/cdo.nc 2>$place/cdo-warnings.log ||
        { cat $place/cdo-warnings.log >&2; echo "error: cdo cannot use our weights" >&2; exit 1; }
    $bin/python -W ignore validation/read_output.py remapped $place/aux/cdo.nc \
        $place/aux/lambert.regrid.nc
else
    skip "cdo is not installed"
fi

if ! command -v gfortran >/dev/null && [ ! -e $place/wrf-python/made-from.txt ]; then
    skip "wrf-python needs gfortran, which is not installed"
elif ! environment wrf-python validation/requirements-wrf-python.txt wrf-python==1.3.4.1; then
    tail -n 3 $log >&2
    skip "wrf-python cannot be installed (see $log)"
else
    # It draws no southern polar and no plain latitude-longitude map, but reads them all the same.
    $place/wrf-python/bin/python -W ignore validation/read_output.py wrf-python $place/out/*.out.nc
fi
echo "The output keeps the conventions."
