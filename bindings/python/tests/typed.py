"""A user's program, for mypy."""

import numpy as np
import xarray
from numpy.typing import NDArray

import nwp_mini as nm


def step(fields: list[NDArray[np.float32]], rain: NDArray[np.float32]) -> None:
    """Arrays in place."""
    theta, qv, qc, qr, rho, exner, dz = fields
    physics = nm.Kessler(threads=1)
    physics.step(theta, qv, qc, qr, rho=rho, exner=exner, dz=dz, dt=60.0, out={"rain": rain})


def advance(dataset: xarray.Dataset) -> xarray.Dataset:
    """A new Dataset."""
    return nm.Wsm5(fallout="substepped", n0r=8e6).step(dataset, 60.0)
