#!/usr/bin/env python3
"""Opens output of `nwp-mini run` as its users would, in xarray and xwrf or in wrf-python.

usage: read_output.py xarray|wrf-python|remapped FILE...

What the libraries derive is held against plain arithmetic
on the variables of the file, positions against PROJ. With the argument remapped, what cdo has made of a
field with our weights is held against our own. Exits with 1 on the first thing that is not so.
"""

import sys
import warnings

if len(sys.argv) < 3 or "--help" in sys.argv:
    print(__doc__)
    sys.exit(0 if "--help" in sys.argv else 2)

import numpy as np

# Positions are stored in single precision, which holds degrees to half a metre; at the rim of a Lambert
# map, that is most of what is seen.
METRES = 5.0
# Coordinates on the globe: single precision too.
DEGREES = 1e-4


def check(path, what, found, expected, limit):
    error = float(np.max(np.abs(np.asarray(found, "f8") - np.asarray(expected, "f8"))))
    if not error <= limit:
        sys.exit(f"error: {path}: {what} is off by {error:g}; at most {limit:g} is expected")


def read_in_xwrf(path, raw, data):
    wrf = data.xwrf.postprocess()
    check(path, "xwrf's potential temperature", wrf["air_potential_temperature"], raw["T"] + 300, 0)
    check(path, "xwrf's pressure", wrf["air_pressure"], raw["P"] + raw["PB"], 0)
    centred = wrf.xwrf.destagger()
    u = raw["U"].values
    check(path, "xwrf's centred U", centred["U"], 0.5 * (u[..., 1:] + u[..., :-1]), 1e-5)
    if centred["W"].shape != raw["T"].shape:
        sys.exit(f"error: {path}: xwrf centres W to {centred['W'].shape}")
    return wrf


def read_in_xarray(path):
    import pyproj
    import xarray
    import xwrf  # noqa: F401 (adds the accessor)

    raw = xarray.open_dataset(path, decode_times=False, mask_and_scale=False)
    data = xarray.open_dataset(path)
    for name in ("XTIME", "XLAT", "XLONG"):
        if name not in data["T"].coords:
            sys.exit(f"error: {path}: xarray does not see {name} as a coordinate of T")
    stamps = [bytes(t).decode() for t in raw["Times"].values]
    decoded = [str(t).replace("T", " ")[:19].strip() for t in data["XTIME"].values]
    if [s.replace("_", " ") for s in stamps] != decoded:
        sys.exit(f"error: {path}: Times says {stamps}, XTIME says {decoded}")

    # xwrf 0.0.5 knows neither latitude and longitude nor the southern polar map.
    projection, truelat = int(raw.attrs["MAP_PROJ"]), float(raw.attrs.get("TRUELAT1", 0))
    wrf = None if projection == 6 else read_in_xwrf(path, raw, data)
    if projection == 0:
        if "crs" in raw or "grid_mapping" in raw["T"].attrs:
            sys.exit(f"error: {path}: a grid mapping on a plane")
        return
    if raw["crs"].grid_mapping_name == "latitude_longitude":
        for name, axis, along in [("longitude", "lon", "XLONG"), ("latitude", "lat", "XLAT")]:
            named = [v for v in raw.variables if raw[v].attrs.get("standard_name") == name]
            if len(named) != 1:
                sys.exit(f"error: {path}: the variables {named} are called {name}, one should be")
            rows, columns = np.meshgrid(raw["lat"], raw["lon"], indexing="ij")
            off = (columns if axis == "lon" else rows) - raw[along].values[0]
            check(path, axis, (off + 180) % 360 - 180, np.zeros_like(off), DEGREES)
        return
    crs = pyproj.CRS.from_cf(raw[raw["T"].attrs["grid_mapping"]].attrs)
    globe = pyproj.CRS.from_proj4("+proj=longlat +R=6370000")
    to_map = pyproj.Transformer.from_crs(globe, crs, always_xy=True)
    x, y = to_map.transform(raw["XLONG"].values[0], raw["XLAT"].values[0])
    metre = 1.0 if raw["west_east"].units == "m" else 180 / (np.pi * 6.37e6)
    along_x, along_y = np.meshgrid(raw["west_east"], raw["south_north"])
    check(path, "west_east", along_x, x, METRES * metre)
    check(path, "south_north", along_y, y, METRES * metre)
    faces = raw["west_east_stag"].values
    check(path, "west_east_stag", 0.5 * (faces[1:] + faces[:-1]), raw["west_east"], 1e-6)
    if wrf is not None and (projection != 2 or truelat > 0):
        check(path, "x of xwrf", wrf["x"], raw["west_east"], METRES)
        check(path, "y of xwrf", wrf["y"], raw["south_north"], METRES)


def read_in_wrf_python(path):
    import netCDF4
    import wrf

    with netCDF4.Dataset(path) as file:
        last = len(file.dimensions["Time"]) - 1
        get = lambda name: np.asarray(wrf.getvar(file, name, timeidx=last, meta=False))
        values = lambda name: np.asarray(file[name][last], "f8")
        check(path, "wrf-python's theta", get("theta"), values("T") + 300, 1e-3)
        check(path, "wrf-python's pressure", get("pressure"), (values("P") + values("PB")) / 100, 1e-3)
        height = (values("PH") + values("PHB")) / 9.81
        check(path, "wrf-python's height", get("z"), 0.5 * (height[1:] + height[:-1]), 0.01)
        # hPa and dBZ of any weather.
        check(path, "wrf-python's sea-level pressure", get("slp"), 970, 120)
        check(path, "wrf-python's reflectivity", get("dbz"), 20, 60)


def compare_remapped(theirs, ours, name="QVAPOR"):
    import netCDF4

    with netCDF4.Dataset(theirs) as a, netCDF4.Dataset(ours) as b:
        found, expected = a[name][:].reshape(b[name].shape), b[name][:]
        if (np.ma.getmaskarray(found) != np.ma.getmaskarray(expected)).any():
            sys.exit(f"error: {theirs}: other values are missing than in {ours}")
        # Sums of four products in single precision, whatever their order.
        limit = 4 * np.finfo("f4").eps * float(expected.max())
        check(theirs, name, found.filled(0), expected.filled(0), limit)


if __name__ == "__main__":
    if sys.argv[1] == "remapped":
        compare_remapped(*sys.argv[2:])
        print(f"cdo gives the values of {sys.argv[3]}")
        sys.exit(0)
    # About years before 1582, which idealised cases are in.
    warnings.filterwarnings("ignore", message=".*numpy.datetime64.*")
    readers = {"xarray": read_in_xarray, "wrf-python": read_in_wrf_python}
    for file_name in sys.argv[2:]:
        readers[sys.argv[1]](file_name)
        print(f"{sys.argv[1]} reads {file_name}")
