#!/usr/bin/env python3
"""Print the types of the classes of the schemes, nwp_mini/_schemes.pyi, from the descriptions of the library."""

import argparse

from nwp_mini import _core

HEAD = """\
# Made by bindings/python/stubs.py from the descriptions of the schemes; its test rewrites it with NWP_MINI_UPDATE=1.

from os import PathLike
from typing import Any, Literal, overload

import numpy as np
import xarray
from numpy.typing import NDArray

__all__ = [{names}]

#: An array of NumPy, float32 or float64, or of a library for GPUs.
_Field = NDArray[np.float32] | NDArray[np.float64] | Any

class Scheme:
    def __init__(self, **options: Any) -> None: ...
    @property
    def options(self) -> dict[str, Any]: ...
    @property
    def place(self) -> str: ...
    def parameter(self, name: str) -> float: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

CLASSES: dict[str, type[Scheme]]
"""


def arguments(rows):
    return "".join(f"        {name}: _Field,  # {units}, {about}\n" for name, _, units, about in rows)


def options(about):
    lines = [
        'backend: Literal["cpu", "gpu", "auto"] = ...',
        "threads: int = ...",
        'device: int | Literal["auto"] = ...',
        "nvrtc_lib: str | PathLike[str] | None = ...",
        "fast_math: bool = ...",
        "tuning: bool = ...",
    ]
    if about["variants"]:
        keys = ", ".join(f'"{key}"' for key, _ in about["variants"])
        lines += [f"variant: Literal[{keys}] = ...", f"fallout: Literal[{keys}] = ..."]
    lines += [f"{name}: float = ..." for name, *_ in about["parameters"]]
    return "".join(f"        {line.replace(' = ...', '')} = ...,\n" for line in lines)


def scheme(about):
    name = about["key"].replace("-", "_").capitalize()
    planes = ", ".join(row[0] for row in about["surface"])
    return f"""
class {name}(Scheme):
    def __init__(
        self,
        *,
{options(about)}    ) -> None: ...
    @overload
    def step(self, dataset: xarray.Dataset, dt: float, /) -> xarray.Dataset: ...
    @overload
    def step(
        self,
{arguments(about["tracers"])}        *,
{arguments(about["air"])}        dt: float,  # s
        order: str = ...,
        out: dict[str, _Field] | None = ...,  # {planes}
        stream: Any = ...,
    ) -> None: ...
    @overload
    def diagnose(self, dataset: xarray.Dataset, /) -> xarray.Dataset: ...
    @overload
    def diagnose(
        self,
{arguments(about["tracers"])}        *,
{arguments(about["air"])}        order: str = ...,
    ) -> dict[str, _Field]: ...
"""


def text():
    """The whole file."""
    schemes = _core.schemes()
    names = [about["key"].replace("-", "_").capitalize() for about in schemes]
    head = HEAD.replace("{names}", ", ".join(f'"{name}"' for name in ["CLASSES", "Scheme", *names]))
    return head + "".join(map(scheme, schemes))


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    print(text(), end="")
