"""Arrays of NumPy: every order of axes, views, errors that name the field."""

import itertools

import numpy as np
import pytest
from conftest import Case

import nwp_mini as nm


def test_orders_of_axes_have_the_same_bits(scheme, case):
    expected = case.copy()
    expected.step(scheme(threads=1))
    for letters in itertools.permutations("kji"):
        order = "".join(letters)
        axes = ["kji".index(letter) for letter in order]
        back = [order.index(letter) for letter in "kji"]
        turned = case.copy(lambda field: field.transpose(axes).copy())
        if order.index("i") < order.index("j"):
            turned.out = {name: np.ascontiguousarray(plane.T) for name, plane in turned.out.items()}
        turned.step(scheme(), order=order)
        if order.index("i") < order.index("j"):
            turned.out = {name: plane.T for name, plane in turned.out.items()}
        assert expected.same_as(turned, lambda field: field.transpose(back)), order


def test_views_have_the_same_bits_and_their_surroundings_stay(scheme, case):
    expected = case.copy()
    expected.step(scheme())

    def within(field):
        around = np.full([length + 4 for length in field.shape], np.nan, field.dtype)
        around[2:-2, 2:-2, 2:-2] = field
        return around

    halo = case.copy(within)
    views = halo.copy(lambda field: field)
    views.tracers = [field[2:-2, 2:-2, 2:-2] for field in halo.tracers]
    views.air = {name: field[2:-2, 2:-2, 2:-2] for name, field in halo.air.items()}
    views.step(scheme())
    assert expected.same_as(views)
    assert all(np.isnan(field).sum() == field.size - case.tracers[0].size for field in halo.tracers)
    # From the east to the west, and from the top to the ground in memory.
    mirrored = case.copy(lambda field: field[::-1, :, ::-1].copy())
    mirrored.tracers = [field[::-1, :, ::-1] for field in mirrored.tracers]
    mirrored.air = {name: field[::-1, :, ::-1] for name, field in mirrored.air.items()}
    mirrored.step(scheme())
    assert expected.same_as(mirrored)


def test_interleaved_fields_and_broadcast_air(case, scheme):
    expected = case.copy()
    mean = case.air["dz"].mean(axis=(1, 2), keepdims=True)
    expected.air["dz"] = np.ascontiguousarray(np.broadcast_to(mean, case.tracers[0].shape))
    expected.step(scheme())
    stack = np.stack(case.tracers, axis=-1)
    given = case.copy()
    given.tracers = [stack[..., at] for at in range(len(case.tracers))]
    given.air["dz"] = np.broadcast_to(mean, case.tracers[0].shape)
    given.step(scheme())
    assert expected.same_as(given)


def test_datasets_are_left_as_they_are(storm):
    before = storm.copy(deep=True)
    physics = nm.Wsm5()
    after = physics.step(physics.step(storm, 300.0), 300.0)
    assert storm.identical(before)
    case = Case(storm, physics._about)
    case.step(physics, 300.0)
    case.step(physics, 300.0)
    assert all(np.array_equal(after[row[0]], field) for row, field in zip(case.about["tracers"], case.tracers))
    assert np.array_equal(after["rain"], case.out["rain"]) and after["rain"].attrs["units"] == "mm"
    turned = physics.step(storm.transpose("i", "k", "j", ...), 300.0)
    assert turned["qv"].dims == ("i", "k", "j")
    assert np.array_equal(turned["qv"].transpose("k", "j", "i"), physics.step(storm, 300.0)["qv"])
    shown = physics.diagnose(after)
    arrays = physics.diagnose(*case.tracers, **case.air)
    assert all(np.array_equal(shown[name], field) for name, field in arrays.items())


def test_accumulators_are_added_to(case, scheme):
    case.out["rain"][...] = 0
    twice = case.copy()
    twice.out["rain"][...] = 7
    case.step(scheme())
    twice.step(scheme())
    assert np.allclose(twice.out["rain"] - 7, case.out["rain"], atol=1e-5)
    assert scheme().step(*case.tracers, **case.air, dt=60.0) is None


def refused(kind, says, call):
    with pytest.raises(kind, match=says) as caught:
        call()
    assert isinstance(caught.value, nm.NwpMiniError)


def test_errors_name_the_field_and_change_nothing(storm):
    physics = nm.Wsm5(threads=1)
    case = Case(storm, physics._about)
    before = case.copy()
    theta, qv, *rest = case.tracers
    air, out = case.air, case.out

    def step(*tracers, **named):
        return lambda: physics.step(*tracers, **{**air, "dt": 60.0, **named})

    refused(TypeError, "qc is float64, theta float32", step(theta, qv, rest[0].astype("f8"), *rest[1:]))
    refused(TypeError, "qv is an array of int32", step(theta, qv.astype("i4"), *rest))
    refused(TypeError, "qv is an array of .*>f4|big", step(theta, qv.astype(">f4"), *rest))
    refused(TypeError, "theta is list", step([1.0], qv, *rest))
    refused(TypeError, "qv is NoneType", step(theta, None, *rest))
    refused(TypeError, "qv is a masked array", step(theta, np.ma.masked_less(qv, 1e-3), *rest))
    refused(TypeError, "needs qs as well", step(theta, qv, *rest[:-1]))
    refused(TypeError, "has no field pres", step(theta, qv, *rest, pres=theta))
    refused(TypeError, "no dt", lambda: physics.step(theta, qv, *rest, **air))
    refused(ValueError, "qv has the shape", step(theta, qv[:, :-1], *rest))
    refused(ValueError, "dz has the shape", step(theta, qv, *rest, dz=air["dz"][:-1]))
    refused(ValueError, "theta has 2 axes", step(theta[0], qv, *rest))
    refused(ValueError, "rain has the shape", step(theta, qv, *rest, out={"rain": out["rain"][1:]}))
    refused(ValueError, "out has .rian.", step(theta, qv, *rest, out={"rian": out["rain"]}))
    refused(ValueError, "theta and qv share memory", step(theta, theta, *rest))
    refused(ValueError, "theta and rho share memory", step(theta, qv, *rest, rho=theta))
    refused(ValueError, "qv is read-only", step(theta, np.broadcast_to(qv[:1], qv.shape), *rest))
    refused(ValueError, "order=.kjj.", step(theta, qv, *rest, order="kjj"))
    refused(ValueError, "seconds above 0", step(theta, qv, *rest, dt=-1.0))
    few = {name: field[:3] for name, field in air.items()}
    refused(ValueError, "3 levels", lambda: physics.step(*[field[:3] for field in case.tracers], **few, dt=60.0))
    refused(ValueError, "n0q", lambda: nm.Wsm5(n0q=1.0))
    refused(ValueError, "the Dataset has no qs", lambda: physics.step(storm.drop_vars("qs"), 60.0))
    refused(ValueError, "dimension 'x2'", lambda: physics.step(storm.rename(i="x2"), 60.0))
    assert before.same_as(case)


def test_tiles_of_any_extent(case, scheme):
    expected = case.copy()
    expected.step(scheme())
    part = case.copy()
    physics = scheme(threads=1)
    for j in (slice(0, 0), slice(0, 1), slice(1, 30), slice(30, None)):
        physics.step(
            *[field[:, j] for field in part.tracers],
            **{name: field[:, j] for name, field in part.air.items()},
            dt=60.0,
            out={name: plane[j] for name, plane in part.out.items()},
        )
    assert expected.same_as(part)
