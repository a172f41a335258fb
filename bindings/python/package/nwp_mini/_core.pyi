from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Advection",
    "Mechanism",
    "Physics",
    "__version__",
    "call",
    "has_threads",
    "main",
    "read",
    "reason",
    "schemes",
]

__version__: str

@final
class Physics:
    def __new__(cls, options: str, is_bound: bool) -> Physics: ...
    @property
    def place(self) -> str: ...
    def parameter(self, name: str) -> float: ...
    def step(
        self, fields: tuple[Any, ...], dt: float, order: str, out: dict[str, Any] | None, stream: Any
    ) -> None: ...
    def diagnose(self, fields: tuple[Any, ...], order: str, out: dict[str, Any]) -> None: ...

@final
class Mechanism:
    def __new__(cls, options: str, is_bound: bool) -> Mechanism: ...
    @property
    def name(self) -> str: ...
    @property
    def species(self) -> list[str]: ...
    @property
    def variable(self) -> int: ...
    @property
    def reactions(self) -> int: ...
    @property
    def photolysis(self) -> list[str]: ...
    @property
    def quantities(self) -> list[str]: ...
    def step(
        self, species: NDArray[np.float64], conditions: Sequence[NDArray[np.float64]], dt: float
    ) -> dict[str, NDArray[Any]]: ...

@final
class Advection:
    def __new__(
        cls,
        grid: tuple[list[int], list[float], str],
        planes: Sequence[NDArray[np.float64]],
        profiles: Sequence[NDArray[np.float64]],
        limiter: str,
        threads: int,
    ) -> Advection: ...
    def step(self, tracers: list[Any], fluxes: list[Any], dt: float) -> None: ...

def schemes() -> list[dict[str, Any]]: ...
def has_threads() -> bool: ...
def reason(status: int) -> str: ...
def main(arguments: Sequence[str]) -> int: ...
def call(
    arguments: Sequence[str],
    on_step: Callable[[int, int], None] | None = None,
    threads: int | None = None,
) -> None: ...
def read(path: str, physics: str, is_double: bool) -> dict[str, Any]: ...
