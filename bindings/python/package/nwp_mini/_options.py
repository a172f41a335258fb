"""Options of Python as the text that the library takes."""

from __future__ import annotations

import os
import sys
from typing import Any

from nwp_mini._errors import FieldError

_ON_OR_OFF = {True: "on", False: "off"}


def processors() -> int:
    """Number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def nvrtc() -> str | None:
    """The run-time compiler of CUDA among the packages of this Python, if there is one."""
    for root in sys.path:
        for part in ("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"):
            folder = os.path.join(root, part)
            if os.path.isdir(folder) and any(name.startswith("libnvrtc.so") for name in os.listdir(folder)):
                return folder
    return None


def text(options: dict[str, Any]) -> str:
    """name=value pairs, with the names of the command."""
    pairs = []
    for name, value in options.items():
        if value is None:
            continue
        if isinstance(value, bool):
            value = _ON_OR_OFF[value]
        elif isinstance(value, float):
            value = repr(value)
        shown = os.fspath(value) if isinstance(value, os.PathLike) else str(value)
        if "," in shown or "=" in name:
            raise FieldError(f"{name}={shown!r}: a value with a comma cannot be passed on")
        pairs.append(f"{name.replace('_', '-') if name in _WITH_HYPHEN else name}={shown}")
    return ",".join(pairs)


_WITH_HYPHEN = ("nvrtc_lib", "fast_math", "rate_functions")


def of_scheme(key: str, options: dict[str, Any]) -> tuple[str, bool]:
    """The text for a scheme, and whether its objects have threads or a GPU."""
    own = {"physics": key, **options}
    own.setdefault("threads", processors())
    on_device = own.get("backend", "cpu") != "cpu"
    if on_device and own.get("nvrtc_lib") is None and "NWP_NVRTC" not in os.environ:
        own["nvrtc_lib"] = nvrtc()
    return text(own), on_device or own["threads"] != 1
