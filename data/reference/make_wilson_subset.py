"""Takes one case of the reference data of the Wilson operator: see README.md.

make_wilson_subset.py WHOLE SUBSET CASE
"""

import sys

import netCDF4
import numpy as np


def main():
    whole, subset, case = sys.argv[1:]
    with netCDF4.Dataset(whole) as old, netCDF4.Dataset(subset, "w", format="NETCDF3_64BIT_OFFSET") as new:
        new.title = old.title
        new.cases = case
        shared = ["mu", "row", "col", "spin", "color", "complex"]
        for name, dimension in old.dimensions.items():
            if name in shared or name.startswith(case + "_"):
                new.createDimension(name, len(dimension))
        for name, variable in old.variables.items():
            if name.startswith(case + "_"):
                copy = new.createVariable(name, variable.dtype, variable.dimensions)
                copy.long_name = variable.long_name
                copy[...] = variable[...]
    with netCDF4.Dataset(whole) as old, netCDF4.Dataset(subset) as new:
        for name, variable in new.variables.items():
            assert np.array_equal(variable[...], old.variables[name][...]), name


if __name__ == "__main__":
    main()
