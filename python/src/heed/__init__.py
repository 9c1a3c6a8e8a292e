"""Attention mechanisms on ordinary CPUs, forward and gradient, on NumPy arrays."""

from ._attend import Attended, attend
from ._core import attentions, normalisers, scores, windows

__all__ = ["Attended", "attend", "attentions", "scores", "windows", "normalisers"]
__version__ = "0.1.0"
