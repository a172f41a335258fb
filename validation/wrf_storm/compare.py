"""Our storm against WRF's own: precipitation and reflectivity, hour by hour.

Usage: compare.py OURS.nc SERIES.nc

OURS.nc is the hourly output of `nwp-mini run --input SERIES.nc --hours 4 --output-interval 3600`,
SERIES.nc the hourly output of WRF that drove it. Only numpy and netCDF4 are needed.
"""

import sys

import netCDF4
import numpy as np

# Rows next to a specified side hold what flowed in; WRF's own grid went on there.
MARGIN = 5
# Reflectivity from which on rain or snow is plain to see, dBZ.
ECHO = 20.0
# Reflectivity below which there is nothing, dBZ; the two models store it differently.
NOTHING = -30.0


def read(path):
    """Accumulated precipitation (mm), column maximum of the reflectivity (dBZ), times."""
    with netCDF4.Dataset(path) as file:
        inner = (..., slice(MARGIN, -MARGIN), slice(MARGIN, -MARGIN))
        rain = np.asarray(file["RAINNC"][:], float)[inner]
        echo = np.asarray(file["REFL_10CM"][:], float).max(axis=1)[inner]
        times = ["".join(c.decode() for c in row) for row in file["Times"][:]]
    return rain, np.maximum(echo, NOTHING), times


def correlation(a, b):
    return np.corrcoef(a.ravel(), b.ravel())[0, 1]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    (rain, echo, times), (wrf_rain, wrf_echo, wrf_times) = map(read, sys.argv[1:])
    if times != wrf_times:
        sys.exit(f"the files hold the times {times} and {wrf_times}; the same ones are needed")
    print("precipitation of the hour")
    print("| hour | ours, mm | WRF, mm | ratio | correlation | largest, ours | largest, WRF |")
    print("|---|---|---|---|---|---|---|")
    for hour in range(1, len(times)):
        ours, theirs = rain[hour] - rain[hour - 1], wrf_rain[hour] - wrf_rain[hour - 1]
        print(
            f"| {hour} | {ours.mean():.3f} | {theirs.mean():.3f} | {ours.mean() / theirs.mean():.3f} "
            f"| {correlation(ours, theirs):.3f} | {ours.max():.2f} | {theirs.max():.2f} |"
        )
    ours, theirs = rain[-1] - rain[0], wrf_rain[-1] - wrf_rain[0]
    print(
        f"| all | {ours.mean():.3f} | {theirs.mean():.3f} | {ours.mean() / theirs.mean():.3f} "
        f"| {correlation(ours, theirs):.3f} | {ours.max():.2f} | {theirs.max():.2f} |"
    )
    print("\ncolumn maximum of the reflectivity at the end of the hour")
    print(f"| hour | above {ECHO:.0f} dBZ, ours | WRF | both / either | correlation |")
    print("|---|---|---|---|---|")
    for hour in range(len(times)):
        ours, theirs = echo[hour] > ECHO, wrf_echo[hour] > ECHO
        overlap = (ours & theirs).sum() / (ours | theirs).sum()
        print(
            f"| {hour} | {ours.mean():.3f} | {theirs.mean():.3f} | {overlap:.3f} "
            f"| {correlation(echo[hour], wrf_echo[hour]):.3f} |"
        )


if __name__ == "__main__":
    main()
