"""Gas-phase chemistry of independent cells."""

from __future__ import annotations

import os
from typing import Any, Mapping

import numpy as np

from nwp_mini import _core, _datasets, _options
from nwp_mini._errors import FieldError, FieldTypeError, NumericsError


class Chemistry:
    """A mechanism of KPP, integrated in cells by a Rosenbrock method, on the CPU in double precision.

    Options, all by name: method ("rodas3", ...), rtol, atol (molecules cm-3), hstart (s), rates ("frozen" or "updated"),
    rate_functions (a file with code for rates) and threads (all processors without it; 1 makes none). Objects are
    pickled as their options.
    """

    def __init__(self, mechanism: str | os.PathLike[str], **options: Any) -> None:
        own = {"mechanism": os.fspath(mechanism), **options}
        own.setdefault("threads", _options.processors())
        self._made = (os.fspath(mechanism), options)
        self._core = _core.Mechanism(_options.text(own), own["threads"] != 1)

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self._core.name

    @property
    def species(self) -> list[str]:
        """Names of the species: those that reactions change, then the fixed ones."""
        return self._core.species

    @property
    def fixed(self) -> list[str]:
        """Names of the species that reactions do not change."""
        return self._core.species[self._core.variable :]

    @property
    def photolysis(self) -> list[str]:
        """Names of the photolysis frequencies."""
        return self._core.photolysis

    @property
    def quantities(self) -> list[str]:
        """Names of the quantities that rates use beside temperature and air."""
        return self._core.quantities

    @property
    def reactions(self) -> int:
        """Number of reactions."""
        return self._core.reactions

    def __repr__(self) -> str:
        mechanism, options = self._made
        return f"nwp_mini.Chemistry({', '.join([repr(mechanism), *(f'{k}={v!r}' for k, v in options.items())])})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, self._made

    def step(
        self,
        y: Any,
        *,
        temp: Any,
        c_m: Any,
        dt: float,
        photolysis: Mapping[str, Any] | None = None,
        quantities: Mapping[str, Any] | None = None,
        hydrolysis: Any = None,
        solar_time: Any = None,
    ) -> Any:
        """Integrate cells over `dt` seconds.

        `y` has an array of concentrations, molecules cm-3, for each species, of any shape common to all and float64;
        those of species that reactions change are changed in place, and fixed species may be numbers. `temp` (K), `c_m`
        (number density of air, molecules cm-3), `photolysis` (s-1, by name), `quantities`, `hydrolysis` (of N2O5, s-1)
        and `solar_time` (s) are arrays of that shape, or numbers.

        Returns counters by name, arrays of that shape: status (1, or negative where the integration failed and the cell
        keeps its concentrations), time (s), steps, accepted, rejected, functions, jacobians, factorisations, solutions,
        singular. With a Dataset of species: a new Dataset, which has the counters too. NumericsError if all cells fail.
        """
        if _datasets.is_dataset(y):
            return self._step_dataset(y, temp, c_m, dt, (photolysis, quantities, hydrolysis, solar_time))
        names, variable = self._core.species, self._core.variable
        by_case = {str(name).lower(): name for name in y}
        missing = [name for name in names if name.lower() not in by_case]
        if missing:
            raise FieldError(f"y has no {', '.join(missing)}; {self.name} has the species {', '.join(names)}")
        arrays = [_float64(name, y[by_case[name.lower()]], at < variable) for at, name in enumerate(names)]
        shape = arrays[0].shape
        cells = arrays[0].size
        species = np.empty((len(names), cells))
        for row, name, array in zip(species, names, arrays):
            row[...] = _spread(name, array, shape)
        conditions = [
            _spread("temp", temp, shape),
            _spread("c_m", c_m, shape),
            np.empty(0) if hydrolysis is None else _spread("hydrolysis", hydrolysis, shape),
            np.empty(0) if solar_time is None else _spread("solar_time", solar_time, shape),
            _by_cell("photolysis", photolysis, self._core.photolysis, shape),
            _by_cell("quantities", quantities, self._core.quantities, shape),
        ]
        found = self._core.step(species, conditions, dt)
        for array, row in zip(arrays[:variable], species):
            array[...] = row.reshape(shape)
        status = found["status"]
        if cells and not (status == 1).any():
            raise NumericsError(f"all {cells} cells failed; the first: {_core.reason(int(status[0]))}")
        return {name: values.reshape(shape) for name, values in found.items()}

    def _step_dataset(self, dataset: Any, temp: Any, c_m: Any, dt: float, more: tuple[Any, ...]) -> Any:
        names, variable = self._core.species, self._core.variable
        by_case = {str(name).lower(): name for name in dataset.data_vars}
        own = [by_case[name.lower()] for name in names if name.lower() in by_case]
        if not own:
            raise FieldError(f"the Dataset has none of the species {', '.join(names)}")
        dims = max((dataset[name].dims for name in own), key=len)
        y = {}
        for name in own:
            if dataset[name].ndim == len(dims):
                y[name] = np.array(dataset[name].transpose(*dims).values, copy=True)
            else:
                y[name] = dataset[name].values
        value = {name: getattr(given, "values", given) for name, given in (("temp", temp), ("c_m", c_m))}
        photolysis, quantities, hydrolysis, solar_time = more
        counters = self.step(
            y,
            temp=value["temp"],
            c_m=value["c_m"],
            dt=dt,
            photolysis=photolysis,
            quantities=quantities,
            hydrolysis=hydrolysis,
            solar_time=solar_time,
        )
        changing = {name.lower() for name in names[:variable]}
        changed = {n: (dims, y[n], dataset[n].attrs) for n in own if str(n).lower() in changing}
        return dataset.assign({**changed, **{name: (dims, values) for name, values in counters.items()}})


def _again(mechanism: str, options: dict[str, Any]) -> Chemistry:
    return Chemistry(mechanism, **options)


def _float64(name: str, value: Any, is_changed: bool) -> np.ndarray[Any, Any]:
    if is_changed and not isinstance(value, np.ndarray):
        raise FieldTypeError(f"{name} is {type(value).__name__}; an array is needed, which is changed in place")
    array = np.asarray(value)
    if is_changed and array.dtype != np.float64:
        raise FieldTypeError(f"{name} is an array of {array.dtype}; float64 is needed, and nothing is converted")
    if is_changed and not array.flags.writeable:
        raise FieldError(f"{name} is read-only, and the call changes it")
    return array


def _spread(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in (shape, ()):
        raise FieldError(f"{name} has the shape {array.shape}, the first species {shape}")
    return np.ascontiguousarray(np.broadcast_to(array, shape)).reshape(-1)


def _by_cell(
    kind: str, given: Mapping[str, Any] | None, names: list[str], shape: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    given = {} if given is None else given
    unknown = [name for name in given if name not in names]
    missing = [name for name in names if name not in given]
    if unknown or missing:
        what = f"has no {', '.join(missing)}" if missing else f"has {', '.join(unknown)}"
        raise FieldError(f"{kind} {what}; the mechanism has {', '.join(names) or 'none'}")
    rows = [_spread(name, given[name], shape) for name in names]
    return np.stack(rows, axis=-1).reshape(-1) if rows else np.empty(0)
