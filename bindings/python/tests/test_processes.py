"""Threads, forks, pickles, faults."""

import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import STORM, Case

import nwp_mini as nm


def test_objects_are_pickled_as_their_options(scheme):
    made = scheme(threads=2)
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is scheme and again.options == {"threads": 2} and again.place == "2 threads"
    physics = pickle.loads(pickle.dumps(nm.Wsm5(n0r=7e6, fallout="substepped", threads=1)))
    assert physics.parameter("n0r") == 7e6 and "n0r=7000000.0" in repr(physics)


def test_threads_share_an_object_and_the_lock_is_released(case, scheme):
    expected = case.copy()
    expected.step(scheme())
    physics, shared, ticks = scheme(threads=1), case.copy(), []

    def tile(j):
        physics.step(
            *[field[:, j] for field in shared.tracers],
            **{name: field[:, j] for name, field in shared.air.items()},
            dt=60.0,
            out={name: plane[j] for name, plane in shared.out.items()},
        )

    rows = case.tracers[0].shape[1]
    threads = [threading.Thread(target=tile, args=(slice(j, j + 15),)) for j in range(0, rows, 15)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        ticks.append(time.perf_counter())
        time.sleep(0)
    assert expected.same_as(shared)


def child(work):
    """The exit code of a child of a fork, killed after some seconds."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(work())
        except BaseException:
            os._exit(99)
    for _ in range(400):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return "hangs"


def test_a_fork_after_use_warns_and_does_not_hang(storm):
    physics = nm.Wsm5(threads=2)
    before = physics.step(storm, 60.0)

    def old_object():
        try:
            physics.step(storm, 60.0)
        except nm.ForkError as error:
            return 7 if "before a fork" in str(error) else 1
        return 2

    def new_object():
        return 7 if np.array_equal(nm.Wsm5(threads=2).step(storm, 60.0)["qv"], before["qv"]) else 1

    def a_run():
        try:
            nm.run(STORM, steps=1, backend="cpu", progress=False)
        except nm.ForkError:
            return 7
        return 1

    for work in (old_object, new_object, a_run):
        with pytest.warns(RuntimeWarning, match="spawn"):
            assert child(work) == 7, work.__name__


def test_without_threads_a_fork_is_silent():
    program = (
        "import os, warnings; warnings.simplefilter('error')\n"
        "import numpy as np, nwp_mini as nm\n"
        "physics = nm.Kessler(threads=1)\n"
        "f = lambda x: np.full((20, 3, 4), x, 'f4')\n"
        "call = lambda: physics.step(f(300.), f(1e-2), f(1e-3), f(0.), rho=f(1.), exner=f(.95), dz=f(500.), dt=60.)\n"
        "call()\n"
        "pid = os.fork()\n"
        "call()\n"
        "if pid == 0: os._exit(0)\n"
        "assert os.waitpid(pid, 0)[1] == 0 and len(os.listdir('/proc/self/task')) == 1\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})


def test_spawned_processes_get_objects(storm):
    physics = nm.Wsm5(threads=1)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(physics.parameter, ("n0r",)) == physics.parameter("n0r")


def test_the_gpu_is_refused_with_a_reason():
    if os.path.exists("/dev/nvidiactl"):
        pytest.skip("there is a GPU")
    with pytest.raises(nm.GpuError, match="install"):
        nm.Wsm5(backend="gpu")
    assert "thread" in nm.Wsm5(backend="auto").place


class OnDevice:
    """An array that says it is on a GPU."""

    def __init__(self, array, **more):
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3, **more}


class ByDlpack:
    """An array of NumPy seen by DLPack only."""

    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


def test_arrays_of_other_libraries(storm):
    physics = nm.Wsm5(threads=1)
    case = Case(storm, physics._about)
    expected = case.copy()
    expected.step(physics)
    given = case.copy()
    physics.step(
        *[ByDlpack(field) for field in given.tracers],
        **{name: ByDlpack(field) for name, field in given.air.items()},
        dt=60.0,
        out={name: ByDlpack(plane) for name, plane in given.out.items()},
    )
    assert expected.same_as(given)
    there = [OnDevice(field) for field in case.tracers]
    with pytest.raises(nm.FieldTypeError, match="rho is in memory of the host, theta on a GPU"):
        physics.step(*there, **case.air, dt=60.0)
    air = {name: OnDevice(field) for name, field in case.air.items()}
    planes = {name: OnDevice(plane) for name, plane in case.out.items()}
    with pytest.raises(nm.NwpMiniError, match="use backend=gpu"):
        physics.step(*there, **air, dt=60.0, out=planes)
    with pytest.raises(nm.FieldError, match="out has no rain, rainncv"):
        physics.step(*there, **air, dt=60.0)
    with pytest.raises(nm.FieldTypeError, match="theta has a mask"):
        physics.step(OnDevice(case.tracers[0], mask=there[1]), *there[1:], **air, dt=60.0, out=planes)
    with pytest.raises(nm.FieldTypeError, match="diagnose takes arrays of NumPy"):
        physics._core.diagnose((*there, *air.values()), "kji", {})


def test_a_fault_is_an_exception():
    # A shape whose Rust code panics is not known; the guard itself is tested in bindings/host.
    assert issubclass(nm.Fault, nm.NwpMiniError) and issubclass(nm.NwpMiniError, RuntimeError)
