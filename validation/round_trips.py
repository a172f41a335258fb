#!/usr/bin/env python3
"""Copies output of `nwp-mini run` with the tools that people pack such files with: every value stays the same.

usage: round_trips.py [--strict] FILE...

nccopy (other chunks and levels, no compression, no chunks), h5repack (other filters, no chunks, the latest format) and
netCDF4 (chunks of its own) each make a copy. Every variable of it has the same bytes and attributes, in each of
which xarray finds the coordinates, and ncdump shows a header. A tool that is missing is SKIPPED with a line
that says so, or fails with --strict. Exits with 1 on the first thing that is not so.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

files = [argument for argument in sys.argv[1:] if argument != "--strict"]
if not files or "--help" in sys.argv:
    print(__doc__)
    sys.exit(0 if "--help" in sys.argv else 2)

import netCDF4
import numpy as np
import xarray

TOOLS = {
    "nccopy -d6 -s": ["nccopy", "-d", "6", "-s"],
    "nccopy -c": ["nccopy", "-c", "Time/1,bottom_top/3,south_north/20,west_east/13"],
    "nccopy -d0": ["nccopy", "-d", "0"],
    "nccopy -k cdf5": ["nccopy", "-k", "cdf5"],
    "h5repack -f GZIP=9": ["h5repack", "-f", "SHUF", "-f", "GZIP=9"],
    "h5repack -f NONE": ["h5repack", "-f", "NONE"],
    "h5repack -L": ["h5repack", "-L"],
}


def rewritten(source, target):
    """A copy by netCDF4 with chunks of its own."""
    with netCDF4.Dataset(source) as old, netCDF4.Dataset(target, "w") as new:
        new.setncatts(old.__dict__)
        for name, dimension in old.dimensions.items():
            new.createDimension(name, None if dimension.isunlimited() else len(dimension))
        for name, variable in old.variables.items():
            variable.set_auto_maskandscale(False)
            compression = {"compression": "zlib", "complevel": 3} if variable.ndim > 1 else {}
            made = new.createVariable(name, variable.dtype, variable.dimensions, **compression)
            made.set_auto_maskandscale(False)
            made.setncatts(variable.__dict__)
            made[...] = variable[...]


def compare(source, target, how):
    with netCDF4.Dataset(source) as old, netCDF4.Dataset(target) as new:
        if list(old.variables) != list(new.variables):
            sys.exit(f"error: {source}: {how} leaves the variables {list(new.variables)}")
        for name, variable in old.variables.items():
            copy = new[name]
            for one in (variable, copy):
                one.set_auto_maskandscale(False)
            if np.ascontiguousarray(variable[...]).tobytes() != np.ascontiguousarray(copy[...]).tobytes():
                sys.exit(f"error: {source}: {how} changes the values of {name}")
            if {k: str(v) for k, v in variable.__dict__.items()} != {k: str(v) for k, v in copy.__dict__.items()}:
                sys.exit(f"error: {source}: {how} changes the attributes of {name}")
    with xarray.open_dataset(target, decode_times=False) as data:
        if not {"XLAT", "XLONG", "XTIME"} <= set(data["T"].coords):
            sys.exit(f"error: {source}: after {how} xarray finds the coordinates {list(data['T'].coords)}")


def skip(tool):
    if "--strict" in sys.argv:
        sys.exit(f"error: there is no {tool}")
    print(f"SKIPPED: there is no {tool}")


for source in files:
    with tempfile.TemporaryDirectory() as place:
        for how, command in TOOLS.items():
            if not shutil.which(command[0]):
                skip(command[0])
                continue
            target = Path(place) / "copy.nc"
            target.unlink(missing_ok=True)
            done = subprocess.run([*command, source, target], capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"error: {source}: {how} fails: {done.stderr.strip()}")
            compare(source, target, how)
            print(f"{source}: the same after {how}")
        target = Path(place) / "again.nc"
        rewritten(source, target)
        compare(source, target, "a copy by netCDF4")
        print(f"{source}: the same after a copy by netCDF4")
    if not shutil.which("ncdump"):
        skip("ncdump")
    elif "netcdf " not in subprocess.run(["ncdump", "-h", source], capture_output=True, text=True).stdout:
        sys.exit(f"error: {source}: ncdump shows no header")
