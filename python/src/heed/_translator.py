import os

from . import _core
from ._heat_map import heat_map


class Trace(dict):
    """What a model looked at while it wrote one output: the fields of docs/trace.schema.json, with NumPy arrays for
    "alignment" [target tokens, source tokens], "log_probabilities" [target tokens] and each attention's "weights"
    [heads, rows, columns]. In a notebook it shows itself as a heat map."""

    def __init__(self, fields, json):
        super().__init__(fields)
        self._json = json

    @property
    def text(self):
        """The translation."""
        return self["target"]["text"]

    def json(self):
        """The trace as JSON, as `heed explain --json` writes it."""
        return self._json

    def _repr_html_(self):
        labels = [[token["text"] for token in self[side]["tokens"]] for side in ("target", "source")]
        return heat_map(self.get("alignment", ()), f"{self['source']['text']} → {self.text}", *labels)


class Translator:
    """A trained model out of its folder."""

    def __init__(self, folder):
        self._core = _core.Translator(os.fspath(folder))

    @property
    def system(self):
        """The kind of model, e.g. "transformer"."""
        return self._core.system

    def translate(self, text, *, search="beam", beam=5):
        """The translation of a text, or those of a list of texts."""
        texts = self._core.translate(_as_list(text), search, beam)
        return texts[0] if isinstance(text, str) else texts

    def explain(
        self,
        text,
        target=None,
        *,
        search="beam",
        beam=5,
        attentions=False,
        alternatives=False,
        attention="",
        layer="",
        head="",
        rollout=False,
        level="token",
        end=True,
    ):
        """The trace of a translation, or those of a list of texts. With `target`, of the model reading that translation.

        `attentions` adds every attention of the model, `alternatives` the hypotheses of the search. `attention`
        ("decoder.layer3.source", "encoder.self"), `layer` and `head` (numbers from 1, "mean", head also "max") and
        `rollout` put what they pick into "alignment". `level` is "token" or "word"; end=False leaves out the ends of the
        sentences. Mistakes are ValueErrors.
        """
        if level not in ("token", "word"):
            raise ValueError(f"[explain] the level is token or word, not {level}")
        pick = [str(part) for part in (attention, layer, head)]
        targets = None if target is None else _as_list(target)
        found = self._core.explain(
            _as_list(text), targets, search, beam, attentions, alternatives, pick, rollout, level == "word", bool(end)
        )
        traces = [Trace(fields, json) for fields, json in found]
        return traces[0] if isinstance(text, str) else traces


def _as_list(text):
    return [text] if isinstance(text, str) else list(text)
