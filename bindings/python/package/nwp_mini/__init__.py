"""nwp-mini: column physics, transport, chemistry and runs of a small weather model, on arrays of Python.

>>> import nwp_mini as nm
>>> w = nm.Wsm5(n0r=8e6)
>>> w.step(theta, qv, qc, qr, qi, qs, rho=rho, exner=exner, p=p, dz=dz, dt=60.0, out={"rain": rain})
>>> out = nm.run("soc.nc", hours=1)

Arrays are changed in place; an xarray.Dataset is left as it is, and a new one returned.
"""

from nwp_mini import _fork as _fork
from nwp_mini import _schemes
from nwp_mini._advection import Advection, Grid
from nwp_mini._chemistry import Chemistry
from nwp_mini._core import __version__
from nwp_mini._errors import (
    Fault,
    FieldError,
    FieldTypeError,
    FileError,
    ForkError,
    GpuError,
    Interrupted,
    NumericsError,
    NwpMiniError,
)
from nwp_mini._runs import Picture, Pictures, plot, read, run
from nwp_mini._schemes import *

__all__ = [
    "Advection",
    "Chemistry",
    "Fault",
    "FieldError",
    "FieldTypeError",
    "FileError",
    "ForkError",
    "GpuError",
    "Grid",
    "Interrupted",
    "NumericsError",
    "NwpMiniError",
    "Picture",
    "Pictures",
    "__version__",
    "plot",
    "read",
    "run",
]
__all__ += _schemes.__all__
