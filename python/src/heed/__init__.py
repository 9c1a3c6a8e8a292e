"""Attention on ordinary CPUs: mechanisms with gradients on NumPy arrays, and models of every job with what they look at."""

from ._attend import Attended, attend
from ._core import attentions, normalisers, scores, windows
from ._model import Answer, Model, Trace, Translator, load, train

__all__ = [
    "Answer",
    "Attended",
    "Model",
    "Trace",
    "Translator",
    "attend",
    "attentions",
    "load",
    "normalisers",
    "scores",
    "train",
    "windows",
]
__version__ = "0.1.0"
