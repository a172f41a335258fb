"""Files, runs and pictures: nwp_mini.read, run and plot."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from contextlib import contextmanager
from typing import Any, Callable, Iterator

from nwp_mini import _core, _datasets, _options
from nwp_mini._errors import FieldTypeError, NwpMiniError

_OF_FIELDS = {row[0]: row[2:] for about in _core.schemes() for row in about["tracers"] + about["air"]}


def _xarray() -> Any:
    try:
        import xarray
    except ImportError as error:
        raise NwpMiniError("xarray is not installed: pip install nwp-mini[xarray]") from error
    return xarray


def _by_argument(error: NwpMiniError) -> NwpMiniError:
    """The same with the names of arguments in the place of options."""
    text = re.split(r"\n\n(?:Usage:|For more)", str(error))[0].removeprefix("error: ")
    text = text.replace("\n\n  tip: ", "; ")
    text = re.sub(r"--([a-z][a-z-]*)", lambda found: found[1].replace("-", "_"), text)
    return type(error)(text)


def _opened(xarray: Any, file: str, load: bool) -> Any:
    """A Dataset of a file, in memory if `load`."""
    with warnings.catch_warnings():
        # Dates of idealized cases precede those that NumPy has; they are cftime's then.
        warnings.simplefilter("ignore", xarray.SerializationWarning)
        if not load:
            return xarray.open_dataset(file)
        with xarray.open_dataset(file) as made:
            return made.load()


def read(
    file: str | os.PathLike[str], *, physics: str = "wsm5", dtype: str = "f4", fluxes: bool = False
) -> Any:
    """The first time of a WRF file (wrfinput, wrfout, wrfrst, or output of a run) as an xarray.Dataset.

    It has the fields of the scheme `physics` with dimensions (k, j, i), k from the ground up: theta (full potential
    temperature, K), the mixing ratios qv qc ... (kg kg-1), rho (kg m-3), exner (1), p (Pa) and dz (m), as a run has them in
    the precision `dtype` ("f4" or "f8"); planes and profiles of the mass of the air (mu, map_x, ...); and with
    `fluxes=True` the mass fluxes of the projected winds, flux_x, flux_y and flux_z (kg s-1).
    """
    xarray = _xarray()
    if dtype not in ("f4", "f8", "float32", "float64"):
        raise FieldTypeError(f"dtype={dtype!r}: f4 or f8 is needed")
    found = _core.read(os.fspath(file), physics, dtype in ("f8", "float64"))
    variables: dict[str, Any] = {}
    for name, values in found["fields"].items():
        units, about = _OF_FIELDS.get(name, ("", name))
        variables[name] = (("k", "j", "i"), values, {"units": units, "long_name": about})
    for name, values in found["planes"].items():
        variables[name] = (("j", "i"), values, {"units": "Pa" if name == "mu" else "1"})
    for name, values in found["profiles"].items():
        variables[name] = (("k",), values, {})
    if fluxes:
        faces = {"flux_x": ("k", "j", "i_face"), "flux_y": ("k", "j_face", "i"), "flux_z": ("k_face", "j", "i")}
        for name, values in found["fluxes"].items():
            variables[name] = (faces[name], values, {"units": "kg s-1"})
    numbers = {name: found[name] for name in ("time", "dx", "dy", "boundary", "max_dt")}
    return xarray.Dataset(variables, attrs={**numbers, "source": os.fspath(file)})


@contextmanager
def _file_of(source: Any, folder: str, number: int = 0) -> Iterator[str]:
    """A file: the source itself, or a Dataset written to one, whose name has its number among several."""
    if _datasets.is_dataset(source):
        path = os.path.join(folder, f"input{number}.nc")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", _xarray().SerializationWarning)
            source.to_netcdf(path)
        yield path
    else:
        yield os.fspath(source)


def _arguments(options: dict[str, Any]) -> list[str]:
    """Options of the command line."""
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, (list, tuple)):
            words += [option, ",".join(str(one) for one in value)]
        else:
            words.append(f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return words


@contextmanager
def _progress(wanted: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar of tqdm, if it is wanted and installed."""
    if not wanted:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(unit="step", leave=False) as bar:

        def at(step: int, steps: int) -> None:
            bar.total = steps
            bar.update(step - bar.n)

        yield at


def run(
    source: Any,
    *,
    output: str | os.PathLike[str] | None = None,
    progress: bool = True,
    threads: int | None = None,
    **options: Any,
) -> Any:
    """Run transport and microphysics from a WRF file, a Dataset in its form, or a list of them, one for each time.

    Options are those of the command `nwp-mini run` by name: hours, steps, dt, output_interval, physics, fallout, graupel,
    precision, backend, limiter, boundary, tracers, chemistry, ensemble, ... Returns the output as an xarray.Dataset: in memory, or
    with `output` opened from that file. Results have the bits of the command. `progress` shows a bar if tqdm is
    installed. Ctrl-C ends the run after its present step, with a complete file of `output` if it was asked for.
    """
    xarray = _xarray()
    options.setdefault("backend", os.environ.get("NWP_BACKEND", "auto"))
    if options["backend"] != "cpu" and "nvrtc_lib" not in options and "NWP_NVRTC" not in os.environ:
        options["nvrtc_lib"] = _options.nvrtc()
    if options["backend"] == "auto":
        options.setdefault("no_compare", True)
    with tempfile.TemporaryDirectory(prefix="nwp-mini-") as folder:
        target = os.path.join(folder, "run.out.nc") if output is None else os.fspath(output)
        many = source if isinstance(source, (list, tuple)) else [source]
        words = ["run"]
        for number, one in enumerate(many):
            with _file_of(one, folder, number) as path:
                words += ["--input", path] if number == 0 else [path]
        words += [f"--output={target}", *_arguments(options)]
        with _progress(progress) as on_step:
            try:
                _core.call(words, on_step, threads)
            except NwpMiniError as error:
                raise _by_argument(error) from None
        return _opened(xarray, target, load=output is None)


class Picture:
    """A picture of a file: SVG or PNG."""

    def __init__(self, name: str, format: str, data: bytes) -> None:
        self.name, self.format, self.data = name, format, data

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the picture to a file."""
        with open(file, "wb") as out:
            out.write(self.data)

    def __repr__(self) -> str:
        return f"<{self.format} picture {self.name}, {len(self.data)} bytes>"

    def _repr_svg_(self) -> str | None:
        return self.data.decode() if self.format == "svg" else None

    def _repr_png_(self) -> bytes | None:
        return self.data if self.format == "png" else None


class Pictures(dict[str, Picture]):
    """Pictures by name; a notebook shows them one below the other."""

    def _repr_html_(self) -> str:
        from base64 import b64encode

        kinds = {"svg": "svg+xml", "png": "png"}
        images = [
            f'<img alt="{one.name}" src="data:image/{kinds[one.format]};base64,{b64encode(one.data).decode()}">'
            for one in self.values()
        ]
        return "\n".join(images)


def plot(source: Any, *, format: str = "svg", **options: Any) -> Pictures:
    """Pictures of a WRF file, of the output of a run, or of a Dataset of one: a dictionary by name.

    Options are those of the command `nwp-mini plot` by name: only (names of pictures, or a list of them: precipitation,
    reflectivity, section, profiles, sounding, series, tracer:NAME), time, section, point. Without `only`, all that the
    file has variables for.
    """
    with tempfile.TemporaryDirectory(prefix="nwp-mini-") as folder:
        target = os.path.join(folder, "pictures")
        with _file_of(source, folder) as path:
            words = ["plot", path, f"--output={target}", f"--format={format}", *_arguments(options)]
            try:
                _core.call(words)
            except NwpMiniError as error:
                raise _by_argument(error) from None
        made = Pictures()
        for file in sorted(os.listdir(target)):
            name = file.rpartition(".")[0]
            with open(os.path.join(target, file), "rb") as picture:
                made[name] = Picture(name, format, picture.read())
        return made
