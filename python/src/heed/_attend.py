import numpy as np

from . import _core
from ._heat_map import heat_map

_SUMMARIES = ("entropy", "column_sums", "top")


class Attended:
    """What one call of attend gives. In a notebook it shows itself as a heat map."""

    def __init__(self, core, return_weights, summaries):
        self._core = core
        self.read = core.read
        self.parameters = core.parameters
        for name in summaries:
            if name not in _SUMMARIES:
                raise ValueError(f"[attend] there is no summary {name}; there are: {', '.join(_SUMMARIES)}")
        if return_weights is True:
            self.weights = self.weights_of()
        else:
            rows = [] if return_weights is False else list(return_weights)
            self.weights = self.weights_of(rows) if rows else None
        found = self.summarise() if summaries else {}
        self.entropy = found["entropy"] if "entropy" in summaries else None
        self.column_sums = found["column_sums"] if "column_sums" in summaries else None
        self.top = found["top"][..., 0] if "top" in summaries else None

    def weights_of(self, rows=(), heads=()):
        """Weights of some rows of some heads, [batch, heads, rows, m]; without a list, of all. Computed when asked for."""
        return self._core.weights(list(rows), list(heads))

    def summarise(self, top=1):
        """Of every row its entropy, its `top` largest weights and where they stand (-1: nowhere), and the sums of the
        columns, without building the weights."""
        return self._core.summaries(top)

    def backward(self, dread):
        """The gradients of q, k, v and of every parameter, by name, for the gradient of the read. Can be called once."""
        return self._core.backward(_as_float(dread, "dread"))

    def __repr__(self):
        batch, heads, n, m = self._core.shape
        return f"Attended(batch={batch}, heads={heads}, queries={n}, keys={m}, read={list(self.read.shape)})"

    def _repr_html_(self):
        weights = self.weights_of(range(min(64, self._core.shape[2])), [0])
        title = f"attention weights {list(self._core.shape)}, first sentence and head"
        return heat_map(weights[0, 0][:, :64], title)


def _as_float(array, name):
    array = np.asarray(array)
    if not (np.issubdtype(array.dtype, np.floating) or np.issubdtype(array.dtype, np.integer)):
        raise ValueError(f"[attend] {name} has values of type {array.dtype}, not numbers")
    return np.ascontiguousarray(array, dtype=np.float32)


def _as_lengths(lengths):
    lengths = np.asarray(lengths)
    if not np.issubdtype(lengths.dtype, np.integer):
        raise ValueError(f"[attend] lengths are of type {lengths.dtype}, not whole numbers")
    return np.ascontiguousarray(lengths, dtype=np.int32)


def _as_mask(mask):
    mask = np.asarray(mask)
    other = mask[(mask != 0) & (mask != 1)]
    if other.size > 0:
        raise ValueError(f"[attend] the mask holds {other.flat[0]}, which is neither true nor false")
    return np.ascontiguousarray(mask, dtype=bool)


def attend(q, k, v, *, lengths=None, mask=None, return_weights=False, summaries=(), parameters=None, seed=1, **options):
    """Attention of queries q over keys k and values v.

    Arrays, or lists of numbers, are [n, d], [batch, n, d] or [batch, heads, n, d]; contiguous ones of float32 are not
    copied, others are computed in float32. k and v may have fewer heads than q, each for as many heads of q as the
    others (grouped-query attention). `lengths` [batch]
    says how many keys of each sentence are real; `mask`, broadcast to [batch, heads, n, m], is true where a query may
    see a key. `score`, `window` and `normaliser` name the parts (see scores(),
    windows(), normalisers()), or `mechanism` a published composition (see attentions()); further options are those of
    the parts, e.g. half_width=5. Learned parameters start from `seed`, or are given by name in `parameters`.
    `return_weights` is True for all weights or a list of rows. `summaries` is any of "entropy", "column_sums" and "top"
    (where the largest weight stands, -1 if nothing is seen). Neither stores more than was asked for where the parts
    allow it. Mistakes are ValueErrors.
    """
    given = {name: _as_float(value, name) for name, value in (parameters or {}).items()}
    core = _core.Attended(
        _as_float(q, "q"),
        _as_float(k, "k"),
        _as_float(v, "v"),
        None if lengths is None else _as_lengths(lengths),
        None if mask is None else _as_mask(mask),
        options,
        given,
        seed,
    )
    return Attended(core, return_weights, tuple(summaries))
