from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

class Attended:
    read: NDArray[np.float32]
    weights: NDArray[np.float32] | None
    parameters: dict[str, NDArray[np.float32]]
    entropy: NDArray[np.float32] | None
    column_sums: NDArray[np.float32] | None
    top: NDArray[np.int64] | None
    def weights_of(self, rows: Iterable[int] = (), heads: Iterable[int] = ()) -> NDArray[np.float32]: ...
    def summarise(self, top: int = 1) -> dict[str, NDArray[Any]]: ...
    def backward(self, dread: ArrayLike) -> dict[str, NDArray[np.float32]]: ...

def attend(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    lengths: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    return_weights: bool | Iterable[int] = False,
    summaries: Iterable[str] = (),
    parameters: Mapping[str, ArrayLike] | None = None,
    seed: int = 1,
    **options: Any,
) -> Attended: ...

class Trace(dict[str, Any]):
    @property
    def text(self) -> str: ...
    def json(self) -> str: ...

class Translator:
    def __init__(self, folder: str | PathLike[str]) -> None: ...
    @property
    def system(self) -> str: ...
    @overload
    def translate(self, text: str, *, search: str = "beam", beam: int = 5) -> str: ...
    @overload
    def translate(self, text: Iterable[str], *, search: str = "beam", beam: int = 5) -> list[str]: ...
    @overload
    def explain(
        self,
        text: str,
        target: str | None = None,
        *,
        search: str = "beam",
        beam: int = 5,
        attentions: bool = False,
        alternatives: bool = False,
        attention: str = "",
        layer: int | str = "",
        head: int | str = "",
        rollout: bool = False,
        level: str = "token",
        end: bool = True,
    ) -> Trace: ...
    @overload
    def explain(
        self,
        text: Iterable[str],
        target: Iterable[str] | None = None,
        *,
        search: str = "beam",
        beam: int = 5,
        attentions: bool = False,
        alternatives: bool = False,
        attention: str = "",
        layer: int | str = "",
        head: int | str = "",
        rollout: bool = False,
        level: str = "token",
        end: bool = True,
    ) -> list[Trace]: ...

def attentions() -> list[dict[str, Any]]: ...
def scores() -> list[str]: ...
def windows() -> list[str]: ...
def normalisers() -> list[str]: ...

__version__: str
