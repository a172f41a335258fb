#!/usr/bin/env python3
"""Times our files against Python's libraries, by turns in one run.

usage: files.py writing|reading [PROGRAM [FOLDER]]

writing: frames of 284x232x27 cells on two threads (`bench output --refine 4`, everything of a frame, until the file
has its name) against one thread in zlib of level 1 with the same shuffled bytes in the same chunks.
reading: a WRF file of 500x400x50 cells, shuffled and deflated (level 2) in chunks of the library's choice,
opened, read and looked over as a run does (`bench output --read`), against netCDF4 with the same variables and no more.

PROGRAM is target/release/nwp-mini if none is given, FOLDER that of the system for temporary files. Needs numpy and
netCDF4.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

if len(sys.argv) < 2 or sys.argv[1] not in ("writing", "reading"):
    print(__doc__)
    sys.exit(0 if "--help" in sys.argv else 2)

import netCDF4
import numpy as np

PROGRAM = sys.argv[2] if len(sys.argv) > 2 else "target/release/nwp-mini"
FOLDER = sys.argv[3] if len(sys.argv) > 3 else None
ROUNDS = int(os.environ.get("ROUNDS", 5))
STORM = "data/soc.nc"
GRID = {"west_east": 500, "south_north": 400, "bottom_top": 50}
# Fields that a run reads of a file with three dimensions or two.
READ = ["T", "QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW", "U", "V", "P", "PB", "PH", "PHB", "MU", "MUB"]
BESIDE = ["Times", "ZNW", "P_TOP", "XLAT", "XLONG", "HGT", *(f"MAPFAC_{part}" for part in ("MX", "MY", "UX", "UY", "VX", "VY"))]


def program(*options, threads=None):
    environment = dict(os.environ)
    if threads:
        environment["RAYON_NUM_THREADS"] = str(threads)
    subprocess.run([PROGRAM, "-q", *map(str, options)], check=True, env=environment, stdout=subprocess.DEVNULL)


def figures(path):
    return json.loads(Path(path).read_text())


def told(ours, theirs, name):
    """Seconds of each round, and the ratio of the medians with the least and the largest of single rounds."""
    ratios = [a / b for a, b in zip(ours, theirs)]
    print(f"nwp-mini {np.median(ours):.4f} s, {name} {np.median(theirs):.4f} s, medians of {len(ours)} rounds")
    print(f"ratio {np.median(ours) / np.median(theirs):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")


def chunks(path):
    """The last frame of a file: bytes of its chunks, shuffled."""
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        for variable in data.variables.values():
            if variable.ndim < 3 or variable.dtype != np.float32:
                continue
            values, each = variable[-1], variable.chunking()[1:]
            for at in np.ndindex(*(-(-n // m) for n, m in zip(values.shape, each))):
                part = values[tuple(slice(i * m, (i + 1) * m) for i, m in zip(at, each))]
                yield part.reshape(-1, 1).view(np.uint8).T.tobytes()


def writing(folder):
    frame, table = folder / "frame.nc", folder / "output.json"
    program("run", "--input", STORM, "--refine", 4, "--steps", 2, "--no-compare", "--compression", "none", "-o", frame)
    parts = list(chunks(frame))
    frame.unlink()
    ours, theirs = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        size = sum(len(zlib.compress(part, 1)) for part in parts)
        theirs.append(time.perf_counter() - start)
        program("bench", "output", "--refine", 4, "--folder", folder, "--json", table, "--force", threads=2)
        row = next(row for row in figures(table) if row.get("form") == "fast")
        ours.append(row["ms_per_frame"] / 1e3)
    raw = sum(map(len, parts))
    print(f"a frame of {raw / 1e6:.1f} MB: {row['file_bytes'] / row['frames'] / 1e6:.1f} MB, zlib {size / 1e6:.1f} MB")
    told(ours, theirs, "zlib of level 1 on one thread")


def stretched(values, shape):
    """A field on another grid: along the levels linear, along x and y the nearest value, and noise of 1e-5 of it in
    volumes, as fields of a model have noise in their last bits."""
    levels = np.linspace(0, 1, values.shape[0]), np.linspace(0, 1, shape[0])
    if values.ndim != 2:
        values = np.apply_along_axis(lambda column: np.interp(levels[1], levels[0], column), 0, values)
    places = [np.arange(n) * m // n for n, m in zip(shape, values.shape)]
    values = values[np.ix_(*places)].astype("f4")
    if values.ndim < 3:
        return values
    return values * (1 + np.random.default_rng(1).uniform(-1e-5, 1e-5, shape).astype("f4"))


def make(path):
    """A WRF file with what a run reads, on a larger grid."""
    with netCDF4.Dataset(STORM) as small, netCDF4.Dataset(path, "w") as large:
        small.set_auto_mask(False)
        large.setncatts(small.__dict__)
        for name, dimension in small.dimensions.items():
            cells = GRID.get(name.removesuffix("_stag"))
            length = cells + name.endswith("_stag") if cells else len(dimension)
            large.createDimension(name, None if dimension.isunlimited() else length)
        for name in READ + BESIDE:
            variable = small[name]
            deflated = {"compression": "zlib", "complevel": 2, "shuffle": True} if variable.ndim > 2 else {}
            made = large.createVariable(name, variable.dtype, variable.dimensions, **deflated)
            made.setncatts(variable.__dict__)
            shape = tuple(len(large.dimensions[d]) for d in variable.dimensions[1:])
            is_field = variable.dtype == np.float32 and shape
            made[0] = stretched(variable[0], shape) if is_field else variable[0]


def reading(folder):
    path, table = folder / "large.nc", folder / "reading.json"
    make(path)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        with netCDF4.Dataset(path) as data:
            data.set_auto_mask(False)
            raw = sum(data[name][0].nbytes for name in READ)
        theirs.append(time.perf_counter() - start)
        program("bench", "output", "--read", path, "--json", table, "--force")
        ours.append(figures(table)[0]["least_s"])
    print(f"{raw / 1e6:.1f} MB of values in a file of {path.stat().st_size / 1e6:.1f} MB, {figures(table)[0]['threads']} threads")
    told(ours, theirs, "netCDF4")


with tempfile.TemporaryDirectory(dir=FOLDER) as place:
    {"writing": writing, "reading": reading}[sys.argv[1]](Path(place))
