"""netCDF4, h5py and this package in one process, imported in any order: each reads and writes files."""

import itertools
import subprocess
import sys

import pytest
from conftest import STORM

PROGRAM = """
import sys, os
import {0}
import {1}
import {2}
import netCDF4, h5py, nwp_mini as nm, numpy as np
folder, storm = sys.argv[1:]
for turn in range(2):
    with netCDF4.Dataset(storm) as file:
        theta = file["T"][0, 0, 0, 0]
    made = nm.read(storm)
    assert abs(float(made["theta"][0, 0, 0]) - 300 - theta) < 1e-4
    out = os.path.join(folder, f"out{{turn}}.nc")
    nm.run(storm, steps=1, backend="cpu", output=out, progress=False).close()
    with h5py.File(out) as file:
        first = file["QVAPOR"][...]
    with netCDF4.Dataset(out) as file:
        assert np.array_equal(first, file["QVAPOR"][...])
    with h5py.File(os.path.join(folder, f"h{{turn}}.h5"), "w") as file:
        file.create_dataset("q", data=first, compression="gzip", chunks=True)
    with netCDF4.Dataset(os.path.join(folder, f"n{{turn}}.nc"), "w") as file:
        file.createDimension("x", first.size)
        file.createVariable("q", "f4", ("x",), zlib=True)[:] = first.ravel()
"""


@pytest.mark.parametrize("order", list(itertools.permutations(["netCDF4", "h5py", "nwp_mini"])))
def test_three_libraries_in_one_process(order, tmp_path):
    for name in ("netCDF4", "h5py"):
        pytest.importorskip(name)
    subprocess.run([sys.executable, "-c", PROGRAM.format(*order), tmp_path, STORM], check=True, timeout=120)
