"""A class for every scheme of the library, made from its description."""

from __future__ import annotations

import inspect
from typing import Any, Callable

import numpy as np

from nwp_mini import _core, _datasets, _options
from nwp_mini._errors import FieldTypeError

Row = tuple[str, str, str, str]


def _table(rows: list[Row]) -> str:
    return "\n".join(f"    {name:<11} {units:<9} {about}" for name, _, units, about in rows)


class Scheme:
    """Column physics with its options. The subclasses are the schemes."""

    _about: dict[str, Any] = {}

    def __init__(self, **options: Any) -> None:
        text, is_bound = _options.of_scheme(self._about["key"], options)
        self._options = options
        self._core = _core.Physics(text, is_bound)

    @property
    def options(self) -> dict[str, Any]:
        """The options that the object was made with; a copy."""
        return dict(self._options)

    @property
    def place(self) -> str:
        """Place of the calls, in words: the calling thread, a number of threads, or a GPU."""
        return self._core.place

    def parameter(self, name: str) -> float:
        """The value of a parameter of the scheme, or of a physical constant by its name in WRF."""
        return self._core.parameter(name)

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return f"nwp_mini.{type(self).__name__}({options})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self._options)


def _again(kind: type[Scheme], options: dict[str, Any]) -> Scheme:
    return kind(**options)


def _in_order(
    title: str, names: tuple[str, ...], positional: int, given: tuple[Any, ...], named: dict[str, Any]
) -> tuple[Any, ...]:
    """The fields of a call in the order of the scheme."""
    if len(given) > positional:
        raise FieldTypeError(
            f"{len(given)} fields by position; {title} has {positional} tracers, and takes the air by name: "
            f"{' '.join(f'{name}=' for name in names[positional:])}"
        )
    fields = dict(zip(names, given))
    for name, value in named.items():
        if name in fields:
            raise FieldTypeError(f"{name} is given twice")
        if name not in names:
            raise FieldTypeError(f"{title} has no field {name}; its fields are {' '.join(names)}")
        fields[name] = value
    missing = [name for name in names if name not in fields]
    if missing:
        raise FieldTypeError(f"{title} needs {' '.join(missing)} as well; its fields are {' '.join(names)}")
    return tuple(fields[name] for name in names)


def _signature(tracers: list[Row], air: list[Row], more: dict[str, Any]) -> inspect.Signature:
    kinds = inspect.Parameter
    parameters = [kinds("self", kinds.POSITIONAL_ONLY)]
    parameters += [kinds(row[0], kinds.POSITIONAL_OR_KEYWORD) for row in tracers]
    parameters += [kinds(row[0], kinds.KEYWORD_ONLY) for row in air]
    parameters += [kinds(name, kinds.KEYWORD_ONLY, default=value) for name, value in more.items()]
    return inspect.Signature(parameters)


def _step(about: dict[str, Any]) -> Callable[..., Any]:
    title, tracers, air = about["title"], about["tracers"], about["air"]
    names = tuple(row[0] for row in tracers + air)
    positional, of_air, surface = len(tracers), names[len(tracers) :], about["surface"]

    def step(
        self: Any,
        *fields: Any,
        dt: float | None = None,
        order: str | None = None,
        out: dict[str, Any] | None = None,
        stream: Any = None,
        **named: Any,
    ) -> Any:
        if fields and not isinstance(fields[0], np.ndarray) and _datasets.is_dataset(fields[0]):
            if len(fields) == 2 and dt is None:
                fields, dt = fields[:1], fields[1]
            if len(fields) != 1 or named or dt is None or order or out is not None:
                raise FieldTypeError("a Dataset is stepped by step(dataset, dt): it holds fields and planes")
            return _step_dataset(self, fields[0], dt, positional, names, surface)
        if len(fields) == positional and len(named) == len(of_air):
            try:
                fields += tuple([named[name] for name in of_air])
            except KeyError:
                fields = _in_order(title, names, positional, fields, named)
        else:
            fields = _in_order(title, names, positional, fields, named)
        if dt is None:
            raise FieldTypeError("no dt; give the length of the call in seconds: dt=60.0")
        self._core.step(fields, dt, order or "kji", out, stream)
        return None

    step.__signature__ = _signature(  # type: ignore[attr-defined]
        tracers, air, {"dt": inspect.Parameter.empty, "order": "kji", "out": None, "stream": None}
    )
    step.__doc__ = f"""One call of {title}, in place: `dt` seconds. Or `step(dataset, dt)`, which returns a new Dataset.

Fields have shape (k, j, i), or the axes that `order` says, k from the ground up; any strides, float32 or float64, which
is the precision of the call. They are arrays of NumPy, or of a GPU (with backend="gpu").

Tracers, which are changed:
{_table(tracers)}
Air, which is read:
{_table(air)}
`out`, a dictionary of planes (j, i), which are added to or set:
{_table(surface)}
`stream` is that of a GPU library in which the call is queued; without it the call waits for its end.
Raises FieldError or FieldTypeError, which name the field, before anything is changed.
"""
    return step


def _step_dataset(
    self: Any, dataset: Any, dt: float, positional: int, names: tuple[str, ...], surface: list[Row]
) -> Any:
    variables = _datasets.fields(dataset, names)
    order = _datasets.order_of(names[0], variables[0].dims)
    tracers = [_datasets.writable(variable) for variable in variables[:positional]]
    level = variables[0].dims[order.index("k")]
    plane_dims = tuple(dimension for dimension in variables[0].dims if dimension != level)
    shape = tuple(dataset.sizes[dimension] for dimension in plane_dims)
    planes = {}
    for name, _, _, _ in surface:
        if name in dataset:
            planes[name] = _datasets.writable(dataset[name].transpose(*plane_dims))
        else:
            planes[name] = np.zeros(shape, tracers[0].dtype)
    air = tuple(np.asarray(variable.values) for variable in variables[positional:])
    self._core.step((*tracers, *air), dt, order, planes, None)
    changed = {
        name: (variable.dims, values, variable.attrs)
        for name, variable, values in zip(names, variables, tracers)
    }
    for name, _, units, about in surface:
        changed[name] = (plane_dims, planes[name], {"units": units, "long_name": about})
    return dataset.assign(changed)


def _diagnose(about: dict[str, Any]) -> Callable[..., Any]:
    title, tracers, air = about["title"], about["tracers"], about["air"]
    names = tuple(row[0] for row in tracers + air)
    diagnosed = about["diagnosed"]

    def diagnose(self: Any, *fields: Any, order: str | None = None, **named: Any) -> Any:
        if len(fields) == 1 and not named and _datasets.is_dataset(fields[0]):
            dataset = fields[0]
            variables = _datasets.fields(dataset, names)
            order = _datasets.order_of(names[0], variables[0].dims)
            arrays = tuple(np.asarray(variable.values) for variable in variables)
            out = {row[0]: np.empty_like(arrays[0]) for row in diagnosed}
            self._core.diagnose(arrays, order, out)
            made = {
                name: (variables[0].dims, out[name], {"units": units, "long_name": words})
                for name, _, units, words in diagnosed
            }
            return dataset.assign(made)
        fields = _in_order(title, names, len(tracers), fields, named)
        out = {row[0]: np.empty_like(fields[0]) for row in diagnosed}
        self._core.diagnose(fields, order or "kji", out)
        return out

    diagnose.__signature__ = _signature(tracers, air, {"order": "kji"})  # type: ignore[attr-defined]
    diagnose.__doc__ = f"""Fields that {title} diagnoses from a state, as a dictionary of new arrays of the shape of the fields.

Arguments are those of `step`; nothing is changed. With a Dataset, a new one with the fields. The calculation is on the CPU.
{_table(diagnosed)}
"""
    return diagnose


def _class(about: dict[str, Any]) -> type[Scheme]:
    name = about["key"].replace("-", "_").capitalize()
    parameters = "\n".join(
        f"    {name:<11} {units or '':<9} {words} [{default:g}]"
        for name, words, units, _, default in about["parameters"]
    )
    variants = ", ".join(f'"{key}" ({words})' for key, words in about["variants"])
    least, most = about["levels"]
    document = f"""{about["title"]}, column physics with {about["contents"]}, on {least} to {most} levels.

Options, all by name: backend ("cpu", "gpu" or "auto"), threads (all processors of the process without it; 1 makes none),
device, nvrtc_lib, fast_math and tuning for a GPU{", variant or fallout: " + variants if variants else ""}{
        f", and the parameters:{chr(10)}{parameters}" if parameters else "."
    }

Objects are pickled as their options. Threads may share one, each with arrays of its own; arrays must not be changed by
others during a call, which releases Python's lock.
"""
    members = {
        "__doc__": document,
        "__module__": "nwp_mini",
        "_about": about,
        "step": _step(about),
        "diagnose": _diagnose(about),
    }
    for member in ("step", "diagnose"):
        members[member].__qualname__ = f"{name}.{member}"
        members[member].__module__ = "nwp_mini"
    return type(name, (Scheme,), members)


#: The classes of the schemes by their names.
CLASSES: dict[str, type[Scheme]] = {made.__name__: made for made in map(_class, _core.schemes())}
globals().update(CLASSES)
__all__ = ["CLASSES", "Scheme", *CLASSES]
