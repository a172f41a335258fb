"""Transport of tracers by mass fluxes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nwp_mini import _core, _datasets, _options
from nwp_mini._errors import FieldError, FieldTypeError

FLUXES = ("flux_x", "flux_y", "flux_z")


@dataclass(frozen=True)
class Grid:
    """A grid and the mass of its air, as WRF's files hold it.

    The mass of a cell is (c1 mu + c2) |1 / rdnw| dx dy / (map_x map_y g), kg.
    """

    #: Layers, rows and columns of a row.
    shape: tuple[int, int, int]
    #: Distance of columns from west to east, m.
    dx: float
    #: Distance of rows from south to north, m.
    dy: float
    #: Column mass, Pa; shape (ny, nx), or a number.
    mu: Any
    #: Reciprocal thickness of the layers in eta, negative; shape (nz,).
    rdnw: Any
    #: Weight of layer k at the face below it; shape (nz,).
    fnm: Any
    #: Weight of layer k - 1 there; shape (nz,).
    fnp: Any
    #: Coefficient of the column mass; shape (nz,), or a number.
    c1: Any = 1.0
    #: The constant part of it, Pa; shape (nz,), or a number.
    c2: Any = 0.0
    #: Map factors; shape (ny, nx), or a number.
    map_x: Any = 1.0
    map_y: Any = 1.0
    #: "periodic", "specified" or "open", or one for x and one for y as in "periodic,open".
    boundary: str = field(default="specified")

    @classmethod
    def of(cls, dataset: Any) -> Grid:
        """The grid of a Dataset of nwp_mini.read."""
        names = ("mu", "rdnw", "fnm", "fnp", "c1", "c2", "map_x", "map_y")
        missing = [name for name in names if name not in dataset]
        missing += [name for name in ("dx", "dy", "boundary") if name not in dataset.attrs]
        if missing:
            raise FieldError(f"the Dataset has no {', '.join(missing)}; nwp_mini.read makes one that has")
        shape = tuple(int(dataset.sizes[name]) for name in "kji")
        attributes = {name: dataset.attrs[name] for name in ("dx", "dy", "boundary")}
        return cls(shape, **attributes, **{name: dataset[name].values for name in names})  # type: ignore[arg-type]


class Advection:
    """WRF's advection of tracers: fifth order in the horizontal, third in the vertical, three Runge-Kutta stages.

    `grid` is a Grid, or a Dataset of nwp_mini.read; `limiter` is "none", "pd" (positive definite) or "monotonic". Calls
    are on the CPU, in `threads` threads (all processors without it). Tracers flow in through specified sides as zero.
    """

    def __init__(self, grid: Any, *, limiter: str = "pd", threads: int | None = None) -> None:
        own = Grid.of(grid) if _datasets.is_dataset(grid) else grid
        if not isinstance(own, Grid):
            raise FieldTypeError(f"grid is {type(grid).__name__}; a nwp_mini.Grid or a Dataset of nwp_mini.read is needed")
        nz, ny, nx = own.shape
        planes = [_spread(name, getattr(own, name), (ny, nx)) for name in ("mu", "map_x", "map_y")]
        profiles = [_spread(name, getattr(own, name), (nz,)) for name in ("c1", "c2", "rdnw", "fnm", "fnp")]
        place = ([nz, ny, nx], [float(own.dx), float(own.dy)], own.boundary)
        self._made = (own, limiter, threads)
        self._core = _core.Advection(place, planes, profiles, limiter, threads or _options.processors())

    @property
    def grid(self) -> Grid:
        """The grid."""
        return self._made[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, self._made

    def step(self, tracers: Any, *, fluxes: Any = None, dt: float) -> Any:
        """Advance tracers by `dt` seconds.

        `tracers` has shape (n, k, j, i) or (k, j, i), or is a list of (k, j, i); float32 or float64, changed in place.
        `fluxes` are the mass fluxes through the faces, kg s-1, of shapes (k, j, i + 1), (k, j + 1, i) and (k + 1, j, i),
        of the same type, positive eastward, northward and upward. On a periodic axis the first equals the last.
        With a Dataset of nwp_mini.read (fluxes=True): a new one, with all fields of dimensions (k, j, i) advanced but those
        of the air.
        """
        if _datasets.is_dataset(tracers):
            return self._step_dataset(tracers, dt)
        if fluxes is None or len(fluxes) != len(FLUXES):
            raise FieldTypeError("fluxes: three arrays are needed, the mass fluxes in x, y and z in kg s-1")
        if isinstance(tracers, np.ndarray):
            if tracers.ndim not in (3, 4):
                raise FieldError(f"tracers has the shape {tracers.shape}; (n, k, j, i) or (k, j, i) is needed")
            tracers = list(tracers) if tracers.ndim == 4 else [tracers]
        self._core.step(list(tracers), list(fluxes), dt)
        return None

    def _step_dataset(self, dataset: Any, dt: float) -> Any:
        missing = [name for name in FLUXES if name not in dataset]
        if missing:
            raise FieldError(f"the Dataset has no {', '.join(missing)}; read it with fluxes=True")
        air = ("rho", "exner", "p", "dz", "w")
        names = [n for n, v in dataset.data_vars.items() if v.dims == ("k", "j", "i") and n not in air]
        copies = [_datasets.writable(dataset[name]) for name in names]
        self._core.step(copies, [np.asarray(dataset[name].values) for name in FLUXES], dt)
        return dataset.assign(
            {name: (dataset[name].dims, values, dataset[name].attrs) for name, values in zip(names, copies)}
        )


def _again(grid: Grid, limiter: str, threads: int | None) -> Advection:
    return Advection(grid, limiter=limiter, threads=threads)


def _spread(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in (shape, ()):
        raise FieldError(f"{name} has the shape {array.shape}; {shape} is needed on this grid")
    return np.array(np.broadcast_to(array, shape))
