"""Attention on ordinary CPUs: mechanisms with gradients on NumPy arrays, and what translation models look at."""

from ._attend import Attended, attend
from ._core import attentions, normalisers, scores, windows
from ._translator import Trace, Translator

__all__ = ["Attended", "attend", "attentions", "scores", "windows", "normalisers", "Trace", "Translator"]
__version__ = "0.1.0"
