"""Makes the small reference files of this folder from the whole ones, and reads them back.

    python make_subset.py FOLDER

FOLDER holds `wsm5_dev.nc`, `wsm5_substepped_dev.nc`, `wsm6_dev.nc`, `kessler_dev.nc`, the yardstick
of each, and `adv_dev.nc`. Needs numpy, h5py and netCDF4.

NetCDF-4 files are HDF5 files. The NetCDF library writes them in HDF5's oldest layout, which
spends 4 kB on the chunk index of every variable, more than most of these hold; so they are
written with h5py in the layout of HDF5 1.10, and only read back with NetCDF.
"""

import shutil
import sys
from pathlib import Path

import h5py
import netCDF4
import numpy as np

# Every column of a case is kept but of the storm, so that the yardstick, which describes whole cases,
# describes the subset too. To make room, only two time steps are: one of one minor step and the one
# of most.
STEPS = [60, 300]
# Every which column of `process_rates` to keep.
RATES_STRIDE = 3
# West, south, width and height of the rectangle kept of the storm: from the cloudless warm air
# through the rain to the snow.
STORM = (20, 18, 16, 26)

# The time steps kept of the Kessler scheme, where a case has them, and 120 s where it has neither.
KESSLER_STEPS = {"mixed_nk51": [120]}
# Every which column of `process` to keep.
PROCESS_STRIDE = 3
# West, south, width and height of the rectangle kept of the storm of the Kessler scheme.
KESSLER_STORM = (0, 0, 16, 29)

# West, south, width and height of the rectangle kept of the storm of WSM6, the only part of that file
# that is not kept whole: graupel, rain, snow and clear air in similar parts.
WSM6_STORM = (45, 21, 16, 24)

TRANSPORT = [
    "tend_uniform_x",
    "tend_periodic_general",
    "tend_periodic_highC",
    "tend_channel",
    "rk3_general",
    "rk3_specified",
    "rk3_open",
    "rk3_constant",
]

# Attributes by which HDF5 ties variables to dimensions; h5py makes them anew.
TIES = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"}


def to_keep(source, storm_width):
    """Parts to keep of each group that is not kept whole: indices, by dimension."""
    west, south, width, height = STORM
    rows, across = np.mgrid[south : south + height, west : west + width]
    keep = {}
    for name, group in source.items():
        keep[name] = {}
        if "dt" in group:
            there = group["dt"][...].tolist()
            keep[name]["dt"] = [at for at, dt in enumerate(there) if dt in STEPS]
    keep["storm"]["col"] = (rows * storm_width + across).ravel().tolist()
    if "process_rates" in source:
        columns = len(source["process_rates"]["col"])
        keep["process_rates"]["col"] = list(range(0, columns, RATES_STRIDE))
    return keep


def to_keep_of_kessler(source):
    """The same for the Kessler scheme, and the attributes that change."""
    west, south, width, height = KESSLER_STORM
    rows, across = np.mgrid[south : south + height, west : west + width]
    keep = {name: {} for name in source}
    for name, group in source.items():
        if "dt" in group:
            steps = KESSLER_STEPS.get(name, STEPS)
            keep[name]["dt"] = [at for at, dt in enumerate(group["dt"][...]) if dt in steps]
    across_all = int(source["storm"].attrs["nx"][0])
    keep["storm"]["col"] = (rows * across_all + across).ravel().tolist()
    keep["process"]["col"] = list(range(0, len(source["process"]["col"]), PROCESS_STRIDE))
    entries = source["process"].attrs["columns"].decode().split()
    changed = {
        ("/storm", "nx"): width,
        ("/storm", "ny"): height,
        ("/process", "columns"): " ".join(entries[::PROCESS_STRIDE]),
    }
    return keep, changed


def to_keep_of_wsm6(source):
    """The same for WSM6."""
    west, south, width, height = WSM6_STORM
    rows, across = np.mgrid[south : south + height, west : west + width]
    keep = {name: {} for name in source}
    keep["storm"]["col"] = (rows * int(source["storm"].attrs["nx"][0]) + across).ravel().tolist()
    return keep, {("/storm", "nx"): width, ("/storm", "ny"): height}


def named_columns(source):
    """Case and column of every column to keep of `process_rates`."""
    entries = source["process_rates"].attrs["columns"].decode().split()
    return [entry.split(":") for entry in entries[::RATES_STRIDE]]


def new_attributes(source, keep):
    """Attributes that tell where a column stands, which is elsewhere in the subset."""
    named = [(case, int(at), keep[case].get("col")) for case, at in named_columns(source)]
    # None of them is one of the storm that is left out: `index` would fail.
    columns = " ".join(f"{case}:{kept.index(at) if kept else at}" for case, at, kept in named)
    return {
        ("/storm", "nx"): STORM[2],
        ("/storm", "ny"): STORM[3],
        ("/process_rates", "columns"): columns,
    }


def copy_attributes(source, target):
    for name in source.attrs:
        if name not in TIES:
            old = h5py.h5a.open(source.id, name.encode())
            values = np.empty(old.shape, old.dtype)
            old.read(values, mtype=old.get_type())
            new = h5py.h5a.create(target.id, name.encode(), old.get_type(), old.get_space())
            new.write(values, mtype=old.get_type())


def copy_group(source, target, keep):
    """Copies a group with all it holds, or what is to be kept of it."""
    copy_attributes(source, target)
    scales = [name for name, entry in source.items() if is_scale(entry)]
    for name, entry in source.items():
        if isinstance(entry, h5py.Group):
            copy_group(entry, target.create_group(name, track_order=True), keep)
        else:
            copy = copy_dataset(entry, target, keep)
            copy_attributes(entry, copy)
            if name in scales:
                copy.make_scale(entry.attrs["NAME"])
    for name, entry in source.items():
        if isinstance(entry, h5py.Dataset) and name not in scales:
            for axis, dimension in enumerate(dimensions(entry)):
                target[name].dims[axis].attach_scale(target.file[dimension])


def copy_dataset(source, target, keep):
    # A dimension without values of its own: only its length counts.
    empty = source.attrs.get("NAME", b"").startswith(b"This is a netCDF dimension but")
    values = selected(source[...], [Path(name).name for name in dimensions(source)], keep)
    name = Path(source.name).name
    if empty or source.chunks is None:
        options = {"shape": values.shape} if empty else {"data": values}
    else:
        options = {"data": values, "chunks": values.shape, "compression": 9, "shuffle": True}
    return target.create_dataset(name, dtype=source.dtype, **options)


def is_scale(entry):
    return isinstance(entry, h5py.Dataset) and entry.attrs.get("CLASS") == b"DIMENSION_SCALE"


def dimensions(dataset):
    """Full names of the dimensions of a variable; a dimension is its own."""
    return [dataset.name] if is_scale(dataset) else [axis[0].name for axis in dataset.dims]


def selected(values, names, keep):
    for dimension, indices in keep.items():
        if dimension in names:
            values = np.take(values, indices, axis=names.index(dimension))
    return values


def check(source, target, keep, changed, path="", kept=None):
    """Fails unless everything in `target` is, bit for bit, what `source` has."""
    assert set(source.ncattrs()) == set(target.ncattrs()), path
    for name in source.ncattrs():
        want, have = changed.get((path, name), source.getncattr(name)), target.getncattr(name)
        assert want == have and type(have) is type(source.getncattr(name)), (path, name)
    assert list(source.variables) == list(target.variables), path
    assert list(source.dimensions) == list(target.dimensions), path
    for name, variable in target.variables.items():
        original = source[name]
        assert variable.dtype == original.dtype, (path, name)
        assert variable.dimensions == original.dimensions, (path, name)
        assert variable.__dict__ == original.__dict__, (path, name)
        want, have = selected(original[...], original.dimensions, kept or {}), variable[...]
        assert want.shape == have.shape, (path, name)
        assert np.asarray(want).tobytes() == np.asarray(have).tobytes(), (path, name)
    for name, group in target.groups.items():
        check(source[name], group, keep, changed, f"{path}/{name}", keep.get(name, kept))


def make(source_path, target_path, cases, keep, changed):
    """Writes the subset of one file and reads it back."""
    with h5py.File(source_path) as source:
        with h5py.File(target_path, "w", libver=("v110", "v110"), track_order=True) as target:
            copy_attributes(source, target)
            for case in cases or source:
                group = target.create_group(case, track_order=True)
                copy_group(source[case], group, keep.get(case, {}))
            for (path, name), value in changed.items():
                value = np.bytes_(value) if isinstance(value, str) else np.array([value])
                target[path].attrs[name] = value
    with netCDF4.Dataset(source_path) as source, netCDF4.Dataset(target_path) as target:
        for dataset in (source, target):
            dataset.set_auto_maskandscale(False)
        check(source, target, keep, changed)
    print(f"{target_path.name}: {target_path.stat().st_size} bytes")


def keep_rows(source, target, steps_of):
    """Copies the rows of a yardstick that are about the time steps kept of a case."""
    header, *rows = source.read_text().splitlines(keepends=True)
    case, step = (header.split(",").index(name) for name in ("case", "dt"))
    cells = [row.split(",") for row in rows]
    kept = [row for row, of in zip(rows, cells) if int(of[step]) in steps_of.get(of[case], STEPS)]
    target.write_text(header + "".join(kept))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    source, here = Path(sys.argv[1]), Path(__file__).resolve().parent
    with h5py.File(source / "wsm5_dev.nc") as whole:
        storm_width = int(whole["storm"].attrs["nx"][0])
        keep = to_keep(whole, storm_width)
        changed = new_attributes(whole, keep)
    make(source / "wsm5_dev.nc", here / "wsm5.nc", None, keep, changed)
    name = "wsm5_substepped"
    with h5py.File(source / f"{name}_dev.nc") as whole:
        keep = to_keep(whole, storm_width)
    make(source / f"{name}_dev.nc", here / f"{name}.nc", None, keep, {})
    make(source / "adv_dev.nc", here / "adv.nc", TRANSPORT, {}, {})
    with h5py.File(source / "kessler_dev.nc") as whole:
        keep, changed = to_keep_of_kessler(whole)
    make(source / "kessler_dev.nc", here / "kessler.nc", None, keep, changed)
    with h5py.File(source / "wsm6_dev.nc") as whole:
        keep, changed = to_keep_of_wsm6(whole)
    make(source / "wsm6_dev.nc", here / "wsm6.nc", None, keep, changed)
    shutil.copyfile(source / "wsm6_yardstick.csv", here / "wsm6_yardstick.csv")
    for name in ("wsm5", "wsm5_substepped", "kessler"):
        steps_of = KESSLER_STEPS if name == "kessler" else {}
        keep_rows(source / f"{name}_yardstick.csv", here / f"{name}_yardstick.csv", steps_of)


if __name__ == "__main__":
    main()
