"""Fields in an xarray.Dataset."""

from __future__ import annotations

from typing import Any, Iterable

import numpy as np

from nwp_mini._errors import FieldError

#: Dimensions of levels, rows and columns of a row, by the names that models give them.
DIMENSIONS = (
    ("k", "level", "lev", "z", "bottom_top"),
    ("j", "y", "lat", "south_north"),
    ("i", "x", "lon", "west_east"),
)


def is_dataset(value: object) -> bool:
    """True for an xarray.Dataset, without importing xarray."""
    return hasattr(value, "data_vars") and hasattr(value, "assign")


def order_of(name: str, dimensions: Iterable[object]) -> str:
    """The order of the axes of a field, as 'kji'."""
    letters = ""
    for dimension in dimensions:
        found = [letter for letter, names in zip("kji", DIMENSIONS) if dimension in names]
        if not found:
            known = "; ".join(", ".join(names) for names in DIMENSIONS)
            raise FieldError(f"{name} has the dimension {dimension!r}; rename it to one of {known}")
        letters += found[0]
    if sorted(letters) != ["i", "j", "k"]:
        raise FieldError(f"{name} has the dimensions {tuple(dimensions)}; levels, rows and columns are needed, each once")
    return letters


def fields(dataset: Any, names: Iterable[str]) -> list[Any]:
    """The variables of these names, all of one order of dimensions."""
    found = []
    for name in names:
        if name not in dataset:
            raise FieldError(f"the Dataset has no {name}; nwp_mini.read makes one with all fields of a scheme")
        found.append(dataset[name])
    return [variable.transpose(*found[0].dims) for variable in found]


def writable(variable: Any) -> Any:
    """A copy of the values of a variable, in their order in memory."""
    return np.array(variable.values, copy=True, order="K")
