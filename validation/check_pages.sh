#!/usr/bin/env bash
# The pages of `nwp-mini run --report` and `bench --report` in a real browser: no error on the console,
# nothing asked of a network, no wider than a phone, no picture missing.
#
#   validation/check_pages.sh [--strict]
#
# Takes a Chromium that is there, or installs Debian's where it runs as root; the package that speaks to
# it goes into target/pages, with screenshots in target/pages/shots. Where no browser can be had it is
# SKIPPED with a line that says so, or fails with --strict. Needs target/release/nwp-mini; PYTHON names
# the Python to use. Every failure exits non-zero.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

strict=no
case "${1-}" in
    "") ;;
    --strict) strict=yes ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' validation/check_pages.sh; exit 0 ;;
    *) echo "usage: validation/check_pages.sh [--strict]" >&2; exit 2 ;;
esac

skip() {
    if [ $strict = yes ]; then
        echo "error: $*" >&2
        exit 1
    fi
    echo "SKIPPED: $*"
    exit 0
}

place=target/pages
log=$place/install.log
program=target/release/nwp-mini
python=${PYTHON:-python3}
if [ ! -x $program ]; then
    echo "error: there is no $program; run make build first" >&2
    exit 3
fi
mkdir -p $place

browser() {
    local name
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v $name && return
    done
    return 1
}

if ! browser >$place/browser.txt; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing the package chromium"
        { apt-get update && DEBIAN_FRONTEND=noninteractive timeout 600 \
            apt-get install -y --no-install-recommends chromium; } >$log 2>&1 || true
    fi
    browser >$place/browser.txt || skip "no browser to open the pages in (tried chromium and google-chrome)"
fi

requirements=validation/requirements-pages.txt
if ! cmp -s $requirements $place/venv/made-from.txt; then
    rm -rf $place/venv
    { "$python" -m venv $place/venv &&
        $place/venv/bin/pip install --disable-pip-version-check -r $requirements &&
        cp $requirements $place/venv/made-from.txt; } >>$log 2>&1 ||
        skip "the packages of $requirements cannot be installed (see $log)"
fi

$program -q run --input data/soc.nc --steps 6 --output-interval 300 --backend cpu \
    --output $place/run.nc --report $place/run.html --force >/dev/null
$program -q bench wsm5 advection reduce transpose --input data/soc.nc --runs 2 --elements 64Ki \
    --extent 500x400 --backend cpu --report $place/bench.html --force >/dev/null
$place/venv/bin/python validation/pages.py --browser "$(cat $place/browser.txt)" \
    --screenshots $place/shots $place/run.html $place/bench.html
# A check that cannot fail is none: a page with each of its faults.
cat >$place/broken.html <<'HTML'
<!DOCTYPE html><html><head><title>broken</title></head><body><div style="width:3000px">wide</div>
<figure></figure><img src="nothing.png" alt="none"><script>undefined.call()</script></body></html>
HTML
if $place/venv/bin/python validation/pages.py --browser "$(cat $place/browser.txt)" \
    $place/broken.html >/dev/null 2>$place/broken.txt; then
    echo "error: a broken page passes" >&2
    exit 1
fi
for fault in "px wide in a window" "without a picture" "image without pixels" "exception" "not loaded"; do
    if ! grep -q "$fault" $place/broken.txt; then
        echo "error: the fault '$fault' of a broken page is not found:" >&2
        cat $place/broken.txt >&2
        exit 1
    fi
done
