"""A warning where a process forks whose threads or GPU the child would miss."""

import os
import warnings

from nwp_mini import _core


def _warn() -> None:
    if _core.has_threads():
        warnings.warn(
            "a fork after nwp_mini has used threads or a GPU: the child must make its objects anew, and cannot use "
            "nwp_mini.run; start processes with multiprocessing.get_context('spawn'), or use threads=1",
            RuntimeWarning,
            stacklevel=2,
        )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_warn)
