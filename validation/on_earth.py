#!/usr/bin/env python3
"""Copies of data/soc.nc laid on Earth, in every map projection of WRF.

usage: on_earth.py FILE FOLDER

FILE is data/soc.nc, FOLDER is where the copies go. Latitudes and longitudes come from PROJ; the map factors
stay 1, as only positions are of interest.
"""

import shutil
import sys

if len(sys.argv) != 3 or "--help" in sys.argv:
    print(__doc__)
    sys.exit(0 if "--help" in sys.argv else 2)

import netCDF4
import numpy as np
import pyproj

RADIUS = 6_370_000.0
NAMES = {1: "Lambert Conformal", 2: "Polar Stereographic", 3: "Mercator",
         6: "Rotated Lat-Lon"}
# Name of the copy: MAP_PROJ, PROJ's words, and (TRUELAT1, TRUELAT2, MOAD_CEN_LAT, STAND_LON, POLE_LAT,
# POLE_LON) with the middle (latitude, longitude). Poles and STAND_LON of turned globes as in WRF's
# user's guide: 90 - latitude, 180, -longitude in the north, 90 + latitude, 0, 180 - longitude in the
# south.
CASES = {
    "lambert": (1, "lcc +lat_1=30 +lat_2=60 +lat_0=39 +lon_0=-97", (30, 60, 39, -97, 90, 0), (40, -90)),
    "lambert_south": (1, "lcc +lat_1=-35 +lat_2=-35 +lat_0=-33 +lon_0=175",
                      (-35, -35, -33, 175, 90, 0), (-33, 178)),
    "polar": (2, "stere +lat_0=90 +lat_ts=60 +lon_0=-40", (60, 90, 70, -40, 90, 0), (70, -30)),
    "polar_south": (2, "stere +lat_0=-90 +lat_ts=-71 +lon_0=170", (-71, -90, -75, 170, 90, 0),
                    (-75, -179)),
    "mercator": (3, "merc +lat_ts=20 +lon_0=125", (20, 0, 10, 125, 90, 0), (10, 125)),
    "globe": (6, "longlat", (0, 0, 0, 0, 90, 0), (20, 10)),
    "turned": (6, "ob_tran +o_proj=longlat +o_lat_p=50 +o_lon_p=0 +lon_0=-97",
               (0, 0, 40, 97, 50, 180), (40, -97)),
    "turned_south": (6, "ob_tran +o_proj=longlat +o_lat_p=60 +o_lon_p=180 +lon_0=330",
                     (0, 0, -30, 30, 60, 0), (-30, 150)),
}
ATTRIBUTES = ("TRUELAT1", "TRUELAT2", "MOAD_CEN_LAT", "STAND_LON", "POLE_LAT", "POLE_LON")


def positions(projection, middle, shape, spacing):
    """Latitude and longitude of a grid around a place."""
    globe = pyproj.CRS.from_proj4(f"+proj=longlat +R={RADIUS}")
    plane = pyproj.CRS.from_proj4(f"+proj={projection} +R={RADIUS}")
    to_plane = pyproj.Transformer.from_crs(globe, plane, always_xy=True)
    if "longlat" in projection:
        spacing = np.degrees(spacing / RADIUS)
    x, y = to_plane.transform(middle[1], middle[0])
    steps = [spacing * (np.arange(n) - (n - 1) / 2) for n in shape]
    x, y = np.meshgrid(x + steps[1], y + steps[0])
    longitude, latitude = to_plane.transform(x, y, direction="INVERSE")
    return latitude, longitude


def main(source, folder):
    for name, (number, projection, values, middle) in CASES.items():
        path = f"{folder}/{name}.nc"
        shutil.copy(source, path)
        with netCDF4.Dataset(path, "a") as file:
            shape = [len(file.dimensions[d]) for d in ("south_north", "west_east")]
            latitude, longitude = positions(projection, middle, shape, float(file.DX))
            file["XLAT"][0], file["XLONG"][0] = latitude, longitude
            file.MAP_PROJ, file.MAP_PROJ_CHAR = np.int32(number), NAMES[number]
            file.CEN_LAT, file.CEN_LON = np.float32(middle[0]), np.float32(middle[1])
            for attribute, value in zip(ATTRIBUTES, values):
                file.setncattr(attribute, np.float32(value))
        print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
