import html

import numpy as np

from . import _core

_SUMMARIES = ("entropy", "column_sums", "top")


class Attended:
    """What one call of attend gives. In a notebook it shows itself as a heat map."""

    def __init__(self, core, return_weights, summaries):
        self._core = core
        self.read = core.read
        self.weights = core.weights if return_weights else None
        self.parameters = core.parameters
        self.entropy = self.column_sums = self.top = None
        for name in summaries:
            if name not in _SUMMARIES:
                raise ValueError(f"[attend] there is no summary {name}; there are: {', '.join(_SUMMARIES)}")
        weights = core.weights if summaries else None
        if "entropy" in summaries:
            self.entropy = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(-1)
        if "column_sums" in summaries:
            self.column_sums = weights.sum(-2)
        if "top" in summaries:
            self.top = weights.argmax(-1)

    def backward(self, dread):
        """The gradients of q, k, v and of every parameter, by name, for the gradient of the read. Can be called once."""
        return self._core.backward(_as_float(dread, "dread"))

    def _repr_html_(self):
        weights = self._core.weights
        first = weights.reshape(-1, *weights.shape[-2:])[0]
        style = "width:12px;height:12px;background:rgba(31,78,121,{:.3f})"
        rows = (
            "".join(f'<td style="{style.format(min(max(float(w), 0.0), 1.0))}" title="{w:.4f}"></td>' for w in row[:64])
            for row in first[:64]
        )
        title = html.escape(f"attention weights {list(weights.shape)}, first sentence and head")
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f'<table style="border-collapse:collapse" aria-label="{title}"><caption>{title}</caption>{body}</table>'


def _as_float(array, name):
    array = np.asarray(array)
    if array.dtype != np.float32:
        raise ValueError(f"[attend] {name} has numbers of type {array.dtype}, not float32")
    return np.ascontiguousarray(array)


def attend(q, k, v, *, lengths=None, return_weights=False, summaries=(), parameters=None, seed=1, **options):
    """Attention of queries q over keys k and values v.

    Arrays are float32, [n, d], [batch, n, d] or [batch, heads, n, d]; contiguous ones are not copied. `lengths` [batch]
    says how many keys of each sentence are real. `score`, `window` and `normaliser` name the parts (see scores(),
    windows(), normalisers()), or `mechanism` a published composition (see attentions()); further options are those of
    the parts, e.g. half_width=5. Learned parameters start from `seed`, or are given by name in `parameters`.
    `summaries` is any of "entropy", "column_sums", "top". Mistakes are ValueErrors.
    """
    given = {name: _as_float(value, name) for name, value in (parameters or {}).items()}
    if lengths is not None:
        lengths = np.ascontiguousarray(lengths, dtype=np.int32)
    core = _core.Attended(_as_float(q, "q"), _as_float(k, "k"), _as_float(v, "v"), lengths, options, given, seed)
    return Attended(core, return_weights, tuple(summaries))
