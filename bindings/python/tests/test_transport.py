"""Advection and chemistry."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, STORM

import nwp_mini as nm


def box(dtype="f8"):
    """A periodic box of 32 x 8 cells of a kilometre and ten layers of 1,000 Pa, and wind along x."""
    grid = nm.Grid((10, 8, 32), 1e3, 1e3, mu=1e4, rdnw=np.full(10, -10.0), fnm=0.5, fnp=0.5, boundary="periodic")
    mass = 1e4 / 10 * 1e6 / 9.81
    x = np.full((10, 8, 33), mass * 0.5 / 50.0, dtype)
    return grid, [x, np.zeros((10, 9, 32), dtype), np.zeros((11, 8, 32), dtype)]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_hill_moves_with_the_wind(dtype):
    grid, fluxes = box(dtype)
    hill = np.exp(-((np.arange(32) - 10.0) ** 2) / 8).astype(dtype)
    tracers = np.broadcast_to(hill, (2, 10, 8, 32)).copy()
    advection = nm.Advection(grid, limiter="pd")
    for _ in range(20):
        assert advection.step(tracers, fluxes=fluxes, dt=50.0) is None
    assert abs(tracers - np.roll(hill, 10)).max() < 0.04
    assert np.array_equal(tracers[0], tracers[1])
    assert np.isclose(tracers.sum(), 160 * hill.astype("f8").sum(), rtol=1e-5)
    again = np.broadcast_to(hill, (10, 8, 32)).copy()
    copy = pickle.loads(pickle.dumps(nm.Advection(grid, limiter="pd", threads=1)))
    for _ in range(20):
        copy.step([again.transpose(0, 1, 2)], fluxes=fluxes, dt=50.0)
    assert np.array_equal(again, tracers[0])


def test_a_dataset_is_advanced():
    storm = nm.read(STORM, fluxes=True, dtype="f8")
    advection = nm.Advection(storm, limiter="monotonic")
    after = advection.step(storm, dt=60.0)
    assert not np.array_equal(after["qv"], storm["qv"]) and np.array_equal(after["rho"], storm["rho"])
    with pytest.raises(nm.FieldError, match="fluxes=True"):
        advection.step(nm.read(STORM, dtype="f8"), dt=60.0)


def test_errors_of_the_advection_name_the_argument():
    grid, fluxes = box()
    advection = nm.Advection(grid, threads=1)
    q = np.zeros((10, 8, 32))
    for says, call in [
        ("limiter=.px.", lambda: nm.Advection(grid, limiter="px")),
        ("tracers has the shape", lambda: advection.step(q[:5], fluxes=fluxes, dt=1.0)),
        ("flux_x has the shape", lambda: advection.step(q, fluxes=fluxes[::-1], dt=1.0)),
        ("flux_x is float32", lambda: advection.step(q, fluxes=[f.astype("f4") for f in fluxes], dt=1.0)),
        ("three arrays", lambda: advection.step(q, dt=1.0)),
        ("dt=0", lambda: advection.step(q, fluxes=fluxes, dt=0.0)),
        ("read-only", lambda: advection.step(np.broadcast_to(q[:1], q.shape), fluxes=fluxes, dt=1.0)),
        ("mu has the shape", lambda: nm.Advection(nm.Grid((10, 8, 32), 1, 1, np.ones(3), 1, 1, 1))),
        ("boundary", lambda: nm.Advection(nm.Grid((10, 8, 32), 1, 1, 1, 1, 1, 1, boundary="closed"))),
    ]:
        with pytest.raises(nm.NwpMiniError, match=says):
            call()


MECHANISM = ROOT / "data/chemistry/small_strato.kpp"


def strato(shape=(3, 4)):
    """Concentrations of the mechanism's own example, its mechanism, and conditions."""
    chemistry = nm.Chemistry(MECHANISM, threads=1, rates="updated")
    start = {"O1D": 9.906e1, "O": 6.624e8, "O3": 5.326e11, "NO": 8.725e8, "NO2": 2.240e8, "O2": 1.697e16, "M": 8.120e16}
    y = {name: np.full(shape, start[name]) for name in chemistry.species}
    return chemistry, y, {"temp": 270.0, "c_m": 8.12e16, "solar_time": 43200.0}


def test_cells_react_in_place_and_counters_are_returned():
    chemistry, y, conditions = strato()
    before = {name: values.copy() for name, values in y.items()}
    counters = chemistry.step(y, dt=900.0, **conditions)
    assert (counters["status"] == 1).all() and counters["steps"].shape == (3, 4) and (counters["steps"] > 0).all()
    for name in chemistry.species:
        changed = not np.array_equal(before[name], y[name])
        assert changed != (name in chemistry.fixed), name
    assert np.isclose((y["NO"] + y["NO2"]).mean(), (before["NO"] + before["NO2"]).mean(), rtol=1e-6)
    again, y2, _ = strato()
    pickle.loads(pickle.dumps(again)).step(y2, dt=900.0, **conditions)
    assert all(np.array_equal(y[name], y2[name]) for name in y)


def test_a_dataset_of_species():
    xarray = pytest.importorskip("xarray")
    chemistry, y, conditions = strato()
    given = xarray.Dataset({name: (("j", "i"), values) for name, values in y.items() if name != "M"})
    given["M"] = 8.12e16
    before = given.copy(deep=True)
    after = chemistry.step(given, dt=900.0, **conditions)
    assert given.identical(before)
    chemistry.step(y, dt=900.0, **conditions)
    assert np.array_equal(after["O3"], y["O3"]) and after["status"].dims == ("j", "i")


def test_errors_of_the_chemistry_name_the_species():
    chemistry, y, conditions = strato()
    for says, change in [
        ("y has no O3", {"y": {name: values for name, values in y.items() if name != "O3"}}),
        ("O3 is an array of float32", {"y": {**y, "O3": y["O3"].astype("f4")}}),
        ("NO has the shape", {"y": {**y, "NO": np.ones(3)}}),
        ("photolysis has j1", {"photolysis": {"j1": 1.0}}),
        ("temp has the shape", {"temp": np.ones(3)}),
        ("seconds is needed", {"dt": -1.0}),
        ("cells failed", {"y": {**y, "O3": np.full((3, 4), np.nan)}}),
    ]:
        with pytest.raises(nm.NwpMiniError, match=says):
            chemistry.step(change.pop("y", y), **{"dt": 900.0, **conditions, **change})
    with pytest.raises(nm.FileError):
        nm.Chemistry(Path("nothing.kpp"))
    with pytest.raises(nm.FieldError, match="methd"):
        nm.Chemistry(MECHANISM, methd="rodas3")
