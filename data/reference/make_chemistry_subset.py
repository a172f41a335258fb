"""Makes `kpp.nc` of this folder from the whole reference data of the chemistry, and reads it back.

    python make_chemistry_subset.py FOLDER

FOLDER holds `kpp_dev.nc`. Needs numpy and netCDF4.
"""

import sys
from pathlib import Path

import netCDF4
import numpy as np

# The first cells have traces, Jacobians and factors; of the others every so many are kept, so that warm and
# cold, day and night are all there.
FIRST = 8
STRIDE = 14


def main():
    source = netCDF4.Dataset(Path(sys.argv[1]) / "kpp_dev.nc")
    target = Path(__file__).parent / "kpp.nc"
    count = len(source.dimensions["radm2_cell"])
    kept = list(range(FIRST)) + list(range(FIRST, count, STRIDE))
    with netCDF4.Dataset(target, "w", format=source.data_model) as out:
        out.setncatts({name: source.getncattr(name) for name in source.ncattrs()})
        for name, dimension in source.dimensions.items():
            out.createDimension(name, len(kept) if name.endswith("_cell") else len(dimension))
        for name, variable in source.variables.items():
            copy = out.createVariable(name, variable.dtype, variable.dimensions)
            copy.setncatts({key: variable.getncattr(key) for key in variable.ncattrs()})
            copy[...] = values(variable, kept)
    with netCDF4.Dataset(target) as made:
        for name, variable in source.variables.items():
            assert np.array_equal(made[name][...], values(variable, kept)), name
    print(f"{target}: {target.stat().st_size} bytes, {len(kept)} cells")


def values(variable, kept):
    whole = variable[...]
    is_of_cells = variable.dimensions and variable.dimensions[0].endswith("_cell")
    return whole[kept] if is_of_cells else whole


if __name__ == "__main__":
    main()
