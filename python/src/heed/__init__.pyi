from collections.abc import Callable, Iterable, Mapping
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

class Answer(str):
    log_probability: float
    score: float
    finished: bool
    alignment: str | None

Value = str | PathLike[str] | NDArray[Any] | tuple[NDArray[Any], float]
Input = Value | tuple[Value, ...] | Mapping[str, Value]

class Model:
    def __init__(self, folder: str | PathLike[str] | Iterable[str | PathLike[str]], *, threads: int = 0, int8: bool = False, settings: Mapping[str, Any] | None = None) -> None: ...
    @property
    def job(self) -> str: ...
    @property
    def system(self) -> str: ...
    @property
    def inputs(self) -> list[tuple[str, str]]: ...
    @property
    def output(self) -> tuple[str, str]: ...
    @property
    def labels(self) -> list[str]: ...
    @property
    def languages(self) -> list[str]: ...
    @property
    def example(self) -> list[str]: ...
    @overload
    def run(
        self, inputs: list[Input], *, n_best: None = None, on_token: Callable[..., Any] | None = None, **options: Any
    ) -> list[Answer]: ...
    @overload
    def run(self, inputs: list[Input], *, n_best: int, **options: Any) -> list[list[Answer]]: ...
    @overload
    def run(
        self, inputs: Input, *, n_best: None = None, on_token: Callable[..., Any] | None = None, **options: Any
    ) -> Answer: ...
    @overload
    def run(self, inputs: Input, *, n_best: int, **options: Any) -> list[Answer]: ...
    @overload
    def explain(
        self,
        inputs: list[Input],
        output: Iterable[str] | None = None,
        *,
        attentions: bool = False,
        alternatives: bool = False,
        trust: bool = False,
        attention: str = "",
        layer: int | str = "",
        head: int | str = "",
        rollout: bool = False,
        level: str = "token",
        end: bool = True,
        **options: Any,
    ) -> list[Trace]: ...
    @overload
    def explain(
        self,
        inputs: Input,
        output: str | None = None,
        *,
        attentions: bool = False,
        alternatives: bool = False,
        trust: bool = False,
        attention: str = "",
        layer: int | str = "",
        head: int | str = "",
        rollout: bool = False,
        level: str = "token",
        end: bool = True,
        **options: Any,
    ) -> Trace: ...
    @overload
    def score(self, inputs: list[Input], output: Iterable[str]) -> list[tuple[float, int]]: ...
    @overload
    def score(self, inputs: Input, output: str) -> tuple[float, int]: ...

class Translator(Model):
    @overload
    def translate(self, text: list[str], **options: Any) -> list[Answer]: ...
    @overload
    def translate(self, text: str, **options: Any) -> Answer: ...

def load(folder: str | PathLike[str] | Iterable[str | PathLike[str]], *, threads: int = 0, int8: bool = False, settings: Mapping[str, Any] | None = None) -> Model: ...
def train(
    *, resume: bool = False, force: bool = False, accept_changed_data: bool = False, progress: bool = True, **options: Any
) -> Model: ...
def attentions() -> list[dict[str, Any]]: ...
def scores() -> list[str]: ...
def windows() -> list[str]: ...
def normalisers() -> list[str]: ...

__version__: str
