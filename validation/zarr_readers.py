#!/usr/bin/env python3
"""Compare a Zarr store of `nwp-mini run` with the NetCDF file of the same run, by the readers of others.

usage: zarr_readers.py FILE.nc STORE.zarr

xarray opens both, and all variables, dimensions and attributes must be the same; zarr-python and tensorstore
read the fields of the store, with the same values. With --write FOLDER nothing is compared: the file is
written to FOLDER by xarray as stores of versions 2 and 3, for nwp-mini to read. Exits with 1 on the first thing
that is not so.
"""

import sys
import warnings

if len(sys.argv) < 3 or "--help" in sys.argv:
    print(__doc__)
    sys.exit(0 if "--help" in sys.argv else 2)

import numpy as np
import tensorstore
import xarray
import zarr

warnings.simplefilter("ignore")
# Attributes that hold the words of the command, in which the names of the files differ.
OF_THE_COMMAND = {"command_line"}


def fail(message):
    sys.exit(f"error: {message}")


def words(values):
    """Texts as Python has them, of any type."""
    texts = [x.decode() if isinstance(x, bytes) else str(x) for x in np.ravel(values)]
    return np.reshape(np.array(texts), np.shape(values))


def same(a, b):
    if a.dtype.kind in "SOUT" or b.dtype.kind in "SOUT":
        return np.array_equal(words(a), words(b))
    return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def same_attributes(where, a, b):
    for name in (a.keys() | b.keys()) - OF_THE_COMMAND:
        if name not in a or name not in b or not np.all(a[name] == b[name]):
            fail(f"{where}: attribute {name} is {a.get(name)!r} and {b.get(name)!r}")


def compare(path, store):
    with xarray.open_dataset(path) as file, xarray.open_zarr(store) as opened:
        if set(file.variables) != set(opened.variables):
            fail(f"variables of one only: {set(file.variables) ^ set(opened.variables)}")
        same_attributes("the whole", file.attrs, opened.attrs)
        for name in file.variables:
            a, b = file[name], opened[name]
            if a.dims != b.dims or not same(a.values, b.values):
                fail(f"{name} differs: {a.dims} {a.dtype}, {b.dims} {b.dtype}")
            same_attributes(name, a.attrs, b.attrs)
        group = zarr.open_group(store, mode="r")
        fields = [name for name in file.data_vars if file[name].dtype.kind == "f" and file[name].ndim > 0]
        for name in fields:
            if not same(file[name].values, group[name][:]):
                fail(f"{name} differs in zarr-python")
            where = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{store}/{name}"}}
            array = tensorstore.open(where).result()
            if array.domain.labels != file[name].dims or not same(file[name].values, array.read().result()):
                fail(f"{name} differs in tensorstore")
        print(f"{store}: {len(file.variables)} variables are those of {path} in xarray {xarray.__version__}, "
              f"{len(fields)} fields in zarr-python {zarr.__version__} and tensorstore")


def write(path, folder):
    with xarray.open_dataset(path, decode_times=False) as file:
        file = file.load()
        for name in file.variables:
            file[name].encoding.clear()
        for version in [2, 3]:
            file.to_zarr(f"{folder}/v{version}.zarr", zarr_format=version, mode="w")


if sys.argv[1] == "--write":
    write(sys.argv[3], sys.argv[2])
else:
    compare(sys.argv[1], sys.argv[2])
