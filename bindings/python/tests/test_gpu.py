"""Arrays of GPU libraries in place; skipped without a GPU."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nwp_mini as nm

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/nvidiactl"), reason="there is no GPU")


def cupy():
    library = pytest.importorskip("cupy")
    return library.asarray, library.asnumpy


def torch():
    library = pytest.importorskip("torch")
    return (lambda array: library.from_numpy(array).cuda()), (lambda array: array.cpu().numpy())


@pytest.mark.parametrize("library", [cupy, torch])
def test_arrays_of_the_device_have_the_bits_of_those_of_the_host(library, case, scheme):
    there, back = library()
    expected = case.copy()
    physics = scheme(backend="gpu")
    expected.step(physics)
    given = case.copy()
    tracers = [there(field) for field in given.tracers]
    out = {name: there(plane) for name, plane in given.out.items()}
    physics.step(*tracers, **{name: there(field) for name, field in given.air.items()}, dt=60.0, out=out)
    given.tracers = [back(field) for field in tracers]
    given.out = {name: back(plane) for name, plane in out.items()}
    assert expected.same_as(given)


def test_arrays_of_jax_are_read_and_not_changed(case, scheme):
    library = pytest.importorskip("jax")
    cupy = pytest.importorskip("cupy")
    library.config.update("jax_enable_x64", True)
    there = lambda array: library.device_put(array, library.devices("gpu")[0]).block_until_ready()
    physics = scheme(backend="gpu")
    expected = case.copy()
    expected.step(physics)
    given = case.copy()
    air = {name: there(field) for name, field in given.air.items()}
    tracers = [there(field) for field in given.tracers]
    out = {name: cupy.asarray(plane) for name, plane in given.out.items()}
    # An array of JAX does not change, so that it says.
    with pytest.raises(nm.FieldError, match="read-only"):
        physics.step(*tracers, **air, dt=60.0, out=out)
    # Whoever owns the memory may say otherwise.
    memory = [cupy.asarray(field) for field in tracers]
    physics.step(*memory, **air, dt=60.0, out=out)
    given.tracers = [cupy.asnumpy(field) for field in memory]
    given.out = {name: cupy.asnumpy(plane) for name, plane in out.items()}
    assert expected.same_as(given)


def test_views_and_streams_of_cupy(case, scheme):
    library = pytest.importorskip("cupy")
    physics = scheme(backend="gpu")
    expected = case.copy()
    expected.step(physics)
    nk, nj, ni = case.tracers[0].shape
    # Whole rows of a larger array: a halo of 3 columns and 2 rows.
    around = lambda field: library.asarray(np.pad(field, [(0, 0)] * (field.ndim - 2) + [(2, 2), (3, 3)]))
    within = lambda field: field[..., 2:-2, 3:-3]
    tracers = [around(field) for field in case.tracers]
    air = {name: within(around(field)) for name, field in case.air.items()}
    out = {name: around(plane) for name, plane in case.out.items()}
    stream = library.cuda.Stream(non_blocking=True)
    library.cuda.Device().synchronize()
    planes = {name: within(plane) for name, plane in out.items()}
    physics.step(*map(within, tracers), **air, dt=60.0, out=planes, stream=stream)
    stream.synchronize()
    given = case.copy()
    given.tracers = [library.asnumpy(within(field)) for field in tracers]
    given.out = {name: library.asnumpy(within(plane)) for name, plane in out.items()}
    assert expected.same_as(given)
    with pytest.raises(nm.FieldError, match="columns of a row are adjacent"):
        turned = [library.asfortranarray(within(field)) for field in tracers]
        physics.step(*turned, **air, dt=60.0, out=planes)


FORKED = """
import os, warnings
import nwp_mini as nm

physics = nm.Wsm5(backend="gpu")
storm = nm.read("data/soc.nc")
first = physics.step(storm, 60.0)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    pid = os.fork()
    if pid == 0:
        try:
            physics.step(storm, 60.0)
        except nm.ForkError:
            os._exit(7)
        os._exit(1)
assert any("spawn" in str(one.message) for one in told), told
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
# The parent goes on.
assert physics.step(storm, 60.0).identical(first)
"""


def test_a_gpu_of_the_parent_is_refused_in_a_child():
    # In a process without the threads of other libraries.
    project = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", FORKED], cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
