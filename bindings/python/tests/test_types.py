"""The types of the package are those of the library."""

import importlib.util
import inspect
import os
import subprocess
import sys
from pathlib import Path

import nwp_mini as nm

HERE = Path(__file__).resolve().parent
STUB = HERE.parent / "package/nwp_mini/_schemes.pyi"


def test_the_types_of_the_schemes_are_those_of_their_descriptions():
    about = importlib.util.spec_from_file_location("stubs", HERE.parent / "stubs.py")
    stubs = importlib.util.module_from_spec(about)
    about.loader.exec_module(stubs)
    if os.environ.get("NWP_MINI_UPDATE"):
        STUB.write_text(stubs.text())
    assert STUB.read_text() == stubs.text(), "run with NWP_MINI_UPDATE=1 where that is meant"


def test_documents_have_shapes_and_units(scheme):
    for function in (scheme.step, scheme.diagnose):
        names = list(inspect.signature(function).parameters)
        for name, _, units, _ in scheme._about["tracers"] + scheme._about["air"]:
            assert name in names and f"{name:<11} {units}" in scheme.step.__doc__
    assert "(k, j, i)" in scheme.step.__doc__
    for name, *_ in scheme._about["parameters"]:
        assert name in scheme.__doc__


def test_every_name_has_a_document():
    for name in nm.__all__:
        thing = getattr(nm, name)
        assert name in ("__version__", "CLASSES") or thing.__doc__, name


def test_xarray_is_asked_for_where_it_is_needed():
    program = (
        "import sys; sys.modules['xarray'] = None\n"
        "import nwp_mini as nm\n"
        "try: nm.read('x.nc')\n"
        "except nm.NwpMiniError as error: assert 'nwp-mini[xarray]' in str(error)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
