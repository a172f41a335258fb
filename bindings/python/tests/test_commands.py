"""The bits of the command, and the command itself."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from conftest import STORM

import nwp_mini as nm

#: The program of the wheel, beside its Python.
PROGRAM = Path(sys.executable).parent / "nwp-mini"
NAMES = {"theta": "th", "qv": "q", "rho": "den", "exner": "pii", "dz": "delz"}


def command(*words):
    return subprocess.run([PROGRAM, *map(str, words)], check=True, capture_output=True, text=True).stdout


def test_the_command_is_there():
    assert command("--version").strip() == f"nwp-mini {nm.__version__}"
    wrong = subprocess.run([PROGRAM, "run", "--hors", "1"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "--hours" in wrong.stderr


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_columns_have_the_bits_of_the_command(scheme, dtype, tmp_path):
    xarray = pytest.importorskip("xarray")
    about = scheme._about
    fields = nm.read(STORM, physics=about["key"], dtype="f8")
    flat = {}
    for row in about["tracers"] + about["air"]:
        values = fields[row[0]].values.astype(dtype)
        flat[NAMES.get(row[0], row[0])] = (("level", "column"), values.reshape(len(values), -1), {"units": row[2]})
    source = tmp_path / "columns.nc"
    xarray.Dataset(flat).to_netcdf(source)
    precision = {"f4": "f32", "f8": "f64"}[dtype]
    result = tmp_path / "out.nc"
    words = ["--input", source, "--output", result, "--dt", 60, "--calls", 5, "--backend", "cpu"]
    command("columns", *words, "--physics", about["key"], "--precision", precision)
    with xarray.open_dataset(result) as made:
        expected = made.load()
    tracers = [fields[row[0]].values.astype(dtype) for row in about["tracers"]]
    air = {row[0]: fields[row[0]].values.astype(dtype) for row in about["air"]}
    out = {row[0]: np.zeros(tracers[0].shape[1:], dtype) for row in about["surface"]}
    physics = scheme()
    for _ in range(5):
        physics.step(*tracers, **air, dt=60.0, out=out)
    for row, field in zip(about["tracers"], tracers):
        wanted = expected[NAMES.get(row[0], row[0])].values
        assert np.array_equal(wanted, field.reshape(wanted.shape)), row[0]
    for name, plane in out.items():
        assert np.array_equal(expected[name].values, plane.reshape(-1)), name
    for name, field in physics.diagnose(*tracers, **air).items():
        wanted = expected[name].values
        assert np.array_equal(wanted, field.reshape(wanted.shape)), name


def test_a_run_has_the_bits_of_the_command(tmp_path):
    xarray = pytest.importorskip("xarray")
    result = tmp_path / "out.nc"
    command("run", "--input", STORM, "--steps", 3, "--backend", "cpu", "--output", result)
    made = nm.run(STORM, steps=3, backend="cpu", progress=False)
    with xarray.open_dataset(result, decode_times=False) as expected:
        for name, variable in expected.data_vars.items():
            if name != "XTIME" and variable.dtype.kind == "f":
                assert np.array_equal(variable.values, made[name].values), name
    with xarray.open_dataset(STORM, decode_times=False) as storm:
        again = nm.run(storm, steps=3, backend="cpu", progress=False, threads=1)
    assert np.array_equal(again["QVAPOR"], made["QVAPOR"])


def test_several_datasets_are_the_times_of_one_run(tmp_path):
    xarray = pytest.importorskip("xarray")
    times = tmp_path / "times.nc"
    nm.run(STORM, steps=4, dt=60, output_interval=120, backend="cpu", output=times, progress=False).close()
    more = {"steps": 5, "dt": 60, "backend": "cpu", "progress": False}
    expected = nm.run(times, **more)
    with xarray.open_dataset(times, decode_times=False) as all_times:
        apart = [all_times.isel(Time=[time]) for time in range(all_times.sizes["Time"])]
        made = nm.run(apart, **more)
        first = nm.run(apart[0], **more)
    assert len(apart) == 3
    assert np.array_equal(made["QVAPOR"], expected["QVAPOR"])
    assert not np.array_equal(made["QVAPOR"], first["QVAPOR"])


def test_progress_is_told_and_errors_name_arguments(tmp_path, capsys):
    pytest.importorskip("tqdm")
    nm.run(STORM, steps=2, backend="cpu", progress=True)
    assert "/2 " in capsys.readouterr().err
    with pytest.raises(nm.FieldError, match="hours -1: a positive number"):
        nm.run(STORM, hours=-1)
    with pytest.raises(nm.FieldError, match="'hors' found; a similar argument exists: 'hours'"):
        nm.run(STORM, hors=1)
    with pytest.raises(nm.FileError, match="nothing.nc"):
        nm.run(tmp_path / "nothing.nc")
    with pytest.raises(nm.FileError, match="nothing.nc"):
        nm.read(tmp_path / "nothing.nc")


def test_an_interrupt_ends_a_run_with_a_complete_file(tmp_path):
    xarray = pytest.importorskip("xarray")
    result = tmp_path / "out.nc"
    program = (
        "import nwp_mini as nm, signal, sys\n"
        # A test that runs in the background of a shell has inherited that interrupts are ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"try: nm.run({str(STORM)!r}, steps=1000000, dt=10, backend='cpu', output={str(result)!r}, progress=False)\n"
        "except KeyboardInterrupt: sys.exit(42)\n"
    )
    running = subprocess.Popen([sys.executable, "-c", program])
    timer = threading.Timer(4.0, lambda: running.send_signal(2))
    timer.start()
    assert running.wait(60) == 42
    with xarray.open_dataset(result, decode_times=False) as made:
        assert made.sizes["Time"] >= 1


def test_pictures_are_those_of_the_command(tmp_path):
    result = tmp_path / "out.nc"
    nm.run(STORM, steps=2, backend="cpu", output=result, progress=False).close()
    command("plot", result, "--only", "precipitation,profiles", "--format", "svg", "--output", tmp_path / "pictures")
    made = nm.plot(result, only=["precipitation", "profiles"])
    assert sorted(made) == ["precipitation", "profiles"]
    for name, picture in made.items():
        assert picture.data == (tmp_path / f"pictures/{name}.svg").read_bytes()
        assert "<svg" in picture._repr_svg_()
    assert made._repr_html_().count("<img") == 2
    png = nm.plot(result, only="precipitation", format="png")["precipitation"]
    png.save(tmp_path / "one.png")
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
