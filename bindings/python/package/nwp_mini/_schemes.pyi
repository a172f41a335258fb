# Made by bindings/python/stubs.py from the descriptions of the schemes; its test rewrites it with NWP_MINI_UPDATE=1.

from os import PathLike
from typing import Any, Literal, overload

import numpy as np
import xarray
from numpy.typing import NDArray

__all__ = ["CLASSES", "Scheme", "Wsm5", "Kessler", "Wsm6"]

#: An array of NumPy, float32 or float64, or of a library for GPUs.
_Field = NDArray[np.float32] | NDArray[np.float64] | Any

class Scheme:
    def __init__(self, **options: Any) -> None: ...
    @property
    def options(self) -> dict[str, Any]: ...
    @property
    def place(self) -> str: ...
    def parameter(self, name: str) -> float: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

CLASSES: dict[str, type[Scheme]]

class Wsm5(Scheme):
    def __init__(
        self,
        *,
        backend: Literal["cpu", "gpu", "auto"] = ...,
        threads: int = ...,
        device: int | Literal["auto"] = ...,
        nvrtc_lib: str | PathLike[str] | None = ...,
        fast_math: bool = ...,
        tuning: bool = ...,
        variant: Literal["semi-lagrangian", "substepped"] = ...,
        fallout: Literal["semi-lagrangian", "substepped"] = ...,
        n0r: float = ...,
        n0s: float = ...,
        n0s_max: float = ...,
        alpha: float = ...,
        fall_rain: float = ...,
        fall_rain_exponent: float = ...,
        fall_snow: float = ...,
        fall_snow_exponent: float = ...,
        slope_rain_max: float = ...,
        slope_snow_max: float = ...,
        ice_shape: float = ...,
        ice_diameter_max: float = ...,
        drop_radius: float = ...,
        autoconversion_efficiency: float = ...,
        drop_number: float = ...,
        air_viscosity: float = ...,
        freezing_rate: float = ...,
        freezing_growth: float = ...,
        collection_rain: float = ...,
        collection_snow: float = ...,
    ) -> None: ...
    @overload
    def step(self, dataset: xarray.Dataset, dt: float, /) -> xarray.Dataset: ...
    @overload
    def step(
        self,
        theta: _Field,  # K, potential temperature
        qv: _Field,  # kg kg-1, water vapour mixing ratio
        qc: _Field,  # kg kg-1, cloud water mixing ratio
        qr: _Field,  # kg kg-1, rain mixing ratio
        qi: _Field,  # kg kg-1, cloud ice mixing ratio
        qs: _Field,  # kg kg-1, snow mixing ratio
        *,
        rho: _Field,  # kg m-3, density of dry air
        exner: _Field,  # 1, Exner function
        p: _Field,  # Pa, pressure
        dz: _Field,  # m, depth of the layer
        dt: float,  # s
        order: str = ...,
        out: dict[str, _Field] | None = ...,  # rain, rainncv, snow, snowncv, sr
        stream: Any = ...,
    ) -> None: ...
    @overload
    def diagnose(self, dataset: xarray.Dataset, /) -> xarray.Dataset: ...
    @overload
    def diagnose(
        self,
        theta: _Field,  # K, potential temperature
        qv: _Field,  # kg kg-1, water vapour mixing ratio
        qc: _Field,  # kg kg-1, cloud water mixing ratio
        qr: _Field,  # kg kg-1, rain mixing ratio
        qi: _Field,  # kg kg-1, cloud ice mixing ratio
        qs: _Field,  # kg kg-1, snow mixing ratio
        *,
        rho: _Field,  # kg m-3, density of dry air
        exner: _Field,  # 1, Exner function
        p: _Field,  # Pa, pressure
        dz: _Field,  # m, depth of the layer
        order: str = ...,
    ) -> dict[str, _Field]: ...

class Kessler(Scheme):
    def __init__(
        self,
        *,
        backend: Literal["cpu", "gpu", "auto"] = ...,
        threads: int = ...,
        device: int | Literal["auto"] = ...,
        nvrtc_lib: str | PathLike[str] | None = ...,
        fast_math: bool = ...,
        tuning: bool = ...,
    ) -> None: ...
    @overload
    def step(self, dataset: xarray.Dataset, dt: float, /) -> xarray.Dataset: ...
    @overload
    def step(
        self,
        theta: _Field,  # K, potential temperature
        qv: _Field,  # kg kg-1, water vapour mixing ratio
        qc: _Field,  # kg kg-1, cloud water mixing ratio
        qr: _Field,  # kg kg-1, rain mixing ratio
        *,
        rho: _Field,  # kg m-3, density of dry air
        exner: _Field,  # 1, Exner function
        dz: _Field,  # m, depth of the layer
        dt: float,  # s
        order: str = ...,
        out: dict[str, _Field] | None = ...,  # rain, rainncv
        stream: Any = ...,
    ) -> None: ...
    @overload
    def diagnose(self, dataset: xarray.Dataset, /) -> xarray.Dataset: ...
    @overload
    def diagnose(
        self,
        theta: _Field,  # K, potential temperature
        qv: _Field,  # kg kg-1, water vapour mixing ratio
        qc: _Field,  # kg kg-1, cloud water mixing ratio
        qr: _Field,  # kg kg-1, rain mixing ratio
        *,
        rho: _Field,  # kg m-3, density of dry air
        exner: _Field,  # 1, Exner function
        dz: _Field,  # m, depth of the layer
        order: str = ...,
    ) -> dict[str, _Field]: ...

class Wsm6(Scheme):
    def __init__(
        self,
        *,
        backend: Literal["cpu", "gpu", "auto"] = ...,
        threads: int = ...,
        device: int | Literal["auto"] = ...,
        nvrtc_lib: str | PathLike[str] | None = ...,
        fast_math: bool = ...,
        tuning: bool = ...,
        variant: Literal["graupel", "hail"] = ...,
        fallout: Literal["graupel", "hail"] = ...,
        n0r: float = ...,
        n0s: float = ...,
        n0s_max: float = ...,
        alpha: float = ...,
        fall_rain: float = ...,
        fall_rain_exponent: float = ...,
        fall_snow: float = ...,
        fall_snow_exponent: float = ...,
        slope_rain_max: float = ...,
        slope_snow_max: float = ...,
        ice_shape: float = ...,
        ice_diameter_max: float = ...,
        drop_radius: float = ...,
        autoconversion_efficiency: float = ...,
        drop_number: float = ...,
        air_viscosity: float = ...,
        freezing_rate: float = ...,
        freezing_growth: float = ...,
        collection_rain: float = ...,
        collection_snow: float = ...,
        n0g: float = ...,
        graupel_density: float = ...,
        fall_graupel: float = ...,
        fall_graupel_exponent: float = ...,
        slope_graupel_max: float = ...,
    ) -> None: ...
    @overload
    def step(self, dataset: xarray.Dataset, dt: float, /) -> xarray.Dataset: ...
    @overload
    def step(
        self,
        theta: _Field,  # K, potential temperature
        qv: _Field,  # kg kg-1, water vapour mixing ratio
        qc: _Field,  # kg kg-1, cloud water mixing ratio
        qr: _Field,  # kg kg-1, rain mixing ratio
        qi: _Field,  # kg kg-1, cloud ice mixing ratio
        qs: _Field,  # kg kg-1, snow mixing ratio
        qg: _Field,  # kg kg-1, graupel mixing ratio
        *,
        rho: _Field,  # kg m-3, density of dry air
        exner: _Field,  # 1, Exner function
        p: _Field,  # Pa, pressure
        dz: _Field,  # m, depth of the layer
        dt: float,  # s
        order: str = ...,
        out: dict[str, _Field] | None = ...,  # rain, rainncv, snow, snowncv, graupel, graupelncv, sr
        stream: Any = ...,
    ) -> None: ...
    @overload
    def diagnose(self, dataset: xarray.Dataset, /) -> xarray.Dataset: ...
    @overload
    def diagnose(
        self,
        theta: _Field,  # K, potential temperature
        qv: _Field,  # kg kg-1, water vapour mixing ratio
        qc: _Field,  # kg kg-1, cloud water mixing ratio
        qr: _Field,  # kg kg-1, rain mixing ratio
        qi: _Field,  # kg kg-1, cloud ice mixing ratio
        qs: _Field,  # kg kg-1, snow mixing ratio
        qg: _Field,  # kg kg-1, graupel mixing ratio
        *,
        rho: _Field,  # kg m-3, density of dry air
        exner: _Field,  # 1, Exner function
        p: _Field,  # Pa, pressure
        dz: _Field,  # m, depth of the layer
        order: str = ...,
    ) -> dict[str, _Field]: ...
