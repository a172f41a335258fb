"""Fields of a storm, for every test."""

from pathlib import Path

import numpy as np
import pytest

import nwp_mini as nm

ROOT = Path(__file__).resolve().parents[3]
STORM = ROOT / "data/soc.nc"


class Case:
    """Fields of a scheme: tracers in its order, air and planes by name."""

    def __init__(self, dataset, about, dtype="f4"):
        self.about = about
        self.tracers = [dataset[row[0]].values.astype(dtype) for row in about["tracers"]]
        self.air = {row[0]: dataset[row[0]].values.astype(dtype) for row in about["air"]}
        self.out = {row[0]: np.zeros(self.tracers[0].shape[1:], dtype) for row in about["surface"]}

    def copy(self, change=np.copy):
        """The same fields with a function applied to each."""
        other = object.__new__(Case)
        other.about = self.about
        other.tracers = [change(field) for field in self.tracers]
        other.air = {name: change(field) for name, field in self.air.items()}
        other.out = {name: plane.copy() for name, plane in self.out.items()}
        return other

    def step(self, scheme, dt=60.0, **more):
        """One call on them."""
        return scheme.step(*self.tracers, **self.air, dt=dt, out=self.out, **more)

    def same_as(self, other, turn=lambda field: field):
        """True for the same bits."""
        tracers = all(np.array_equal(a, turn(b)) for a, b in zip(self.tracers, other.tracers))
        return tracers and all(np.array_equal(a, other.out[name]) for name, a in self.out.items())


@pytest.fixture(scope="session")
def storm():
    """The first time of the storm."""
    return nm.read(STORM)


@pytest.fixture(scope="session", params=sorted(nm._schemes.CLASSES))
def scheme(request):
    """Each class of a scheme."""
    return getattr(nm, request.param)


@pytest.fixture(params=["f4", "f8"])
def case(request, scheme):
    """Fields for that scheme after some calls, so that there is rain."""
    made = Case(nm.read(STORM, physics=scheme._about["key"]), scheme._about, request.param)
    made.step(scheme(threads=1), 300.0)
    return made
