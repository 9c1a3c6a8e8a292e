import os
import sys
import warnings
from collections.abc import Mapping

import numpy as np

from . import _core
from ._heat_map import heat_map


class Trace(dict):
    """What a model looked at while it gave one output: the fields of docs/trace.schema.json, with NumPy arrays for
    "alignment" [rows, columns], "log_probabilities" and each attention's "weights" [heads, rows, columns]. "axes" lists
    the inputs and the output; each stands under its name too: trace["source"], trace["target"]. In a notebook it shows
    itself as a heat map."""

    def __init__(self, fields, json):
        super().__init__(fields)
        self._json = json

    @property
    def text(self):
        """What the model gave."""
        return self["axes"][-1].get("text", "")

    def json(self):
        """The trace as JSON, as `heed explain --json` writes it."""
        return self._json

    def __repr__(self):
        sizes = ", ".join(f"{axis['name']}: {_places(axis)}" for axis in self["axes"])
        return f"Trace({self['job']} by {self['system']}, {self.text!r}, {sizes})"

    def _repr_html_(self):
        by_name = {axis["name"]: axis for axis in self["axes"]}
        rows = by_name[self.get("rows", self["axes"][-1]["name"])]
        columns = by_name[self.get("columns", self["axes"][0]["name"])]
        title = f"{columns.get('text', columns['name'])} → {self.text}"
        legend = f"rows: {rows['name']}, columns: {columns['name']}; the darker, the more weight. ▁ begins a word."
        return heat_map(self.get("alignment", ()), title, _labels(rows), _labels(columns), legend)


def _places(axis):
    return len(axis["tokens"]) if "tokens" in axis else axis["rows"] * axis["columns"]


def _labels(axis):
    if "tokens" in axis:
        return [token["text"] for token in axis["tokens"]]
    return [f"{i // axis['columns'] + 1},{i % axis['columns'] + 1}" for i in range(_places(axis))]


class Answer(str):
    """One output: a str with `log_probability`, `score` (of a label its probability), `finished` and, of words written
    for a text by a model with attention, `alignment` (Pharaoh's "source-target ...", counted from 0). Of a word that was
    chosen from a text, `start` and `end` are its first place there in characters; None if it does not occur."""

    def __new__(cls, text, log_probability, score, finished, alignment, start=None, end=None):
        self = super().__new__(cls, text)
        self.log_probability = log_probability
        self.score = score
        self.finished = finished
        self.alignment = alignment
        self.start = start
        self.end = end
        return self

    def __repr__(self):
        return f"Answer({str(self)!r}, log_probability={self.log_probability:.4f}, score={self.score:.4f})"


class Model:
    """A trained model out of its folder, or several that decide together, for any job. `int8` rounds the weights of its
    products to eight bits: faster, with a little less precision. `settings` are fields of its configuration that no
    weights depend on, in place of its own: {"window": "median"}."""

    def __init__(self, folder, *, threads=0, int8=False, settings=None):
        folders = [folder] if isinstance(folder, (str, os.PathLike)) else list(folder)
        self._core = _core.Model([os.fspath(each) for each in folders], threads, int8, _named_texts(settings or {}))
        self._about = self._core.about()

    @property
    def job(self):
        """What the model is for, e.g. "translation"."""
        return self._about["job"]

    @property
    def system(self):
        """The kind of model, e.g. "transformer"."""
        return self._about["system"]

    @property
    def inputs(self):
        """Names and kinds of what it reads: [("source", "text")]."""
        return list(self._about["inputs"])

    @property
    def output(self):
        """Name and kind of what it gives: ("target", "text")."""
        return self._about["output"]

    @property
    def labels(self):
        """The labels that it chooses from; empty for a model that writes."""
        return list(self._about["labels"])

    @property
    def languages(self):
        """Codes of what it reads and writes, where its maker named them."""
        return list(self._about["languages"])

    @property
    def example(self):
        """A text for each input, from its validation; may be empty."""
        return list(self._about["example"])

    def __repr__(self):
        reads = ", ".join(f"{name} ({kind})" for name, kind in self.inputs)
        return f"Model({self.job} by {self.system}: {reads} → {self.output[0]}, {self._about['parameters']} parameters)"

    def run(self, inputs, *, n_best=None, on_token=None, **options):
        """The answer for one input, or those for a list of inputs.

        An input is a text; of a model that reads several things a tuple or a dict of them, in which a question may have
        its "choices", a list; of images and sounds the name of a file, or an array, of a sound (array, rate). With
        `n_best` each answer is a list, best first. Options are those of the search: search ("beam", "greedy", "sample"),
        beam, length_penalty, coverage_penalty, no_repeat (n-grams of so many words come but once), least_words,
        most_words, most_bytes, temperature, top_k, nucleus, seed, longest, prefixes; rerank=False leaves the answers of
        a reader that `heed tune` was run on in its own order. `on_token(sample, token, text, log_probability, weights)`
        is called as words come, by greedy search. Mistakes are ValueErrors.
        """
        samples, one = self._samples(inputs)
        if on_token is not None:
            if n_best is not None:
                raise ValueError("[run] words that are told as they come are of one answer; leave out n_best")
            traces = self._explain(samples, None, {**options, "search": "greedy"}, on_token=on_token)
            answers = [[Answer(t.text, _total(t), _total(t), True, None)] for t in traces]
        else:
            if n_best is not None:
                options = {**options, "best": n_best}
                if options.get("search", "beam") == "beam":
                    options.setdefault("beam", max(5, n_best))
            found = self._core.run(samples, _known(options))
            answers = [[Answer(*answer) for answer in each] for each in found]
        self._warn()
        results = answers if n_best is not None else [each[0] for each in answers]
        return results[0] if one else results

    def explain(
        self,
        inputs,
        output=None,
        *,
        attentions=False,
        alternatives=False,
        trust=False,
        attention="",
        layer="",
        head="",
        rollout=False,
        level="token",
        end=True,
        **options,
    ):
        """The trace of an answer, or those for a list of inputs. With `output`, of the model reading that output.

        `attentions` adds every attention of the model, `alternatives` the hypotheses of the search, `trust` how far the
        alignment can be trusted. `attention` ("decoder.layer3.source", "encoder.self"), `layer` and `head` (numbers from
        1, "mean", head also "max") and `rollout` put what they pick into "alignment". `level` is "token" or "word";
        end=False leaves out the ends of the texts. Further options are those of run. Mistakes are ValueErrors.
        """
        if level not in ("token", "word"):
            raise ValueError(f"[explain] the level is token or word, not {level}")
        samples, one = self._samples(inputs)
        outputs = None if output is None else [output] if isinstance(output, str) else list(output)
        pick = [str(part) for part in (attention, layer, head)]
        traces = self._explain(
            samples, outputs, options, attentions, alternatives, trust, pick, rollout, level == "word", bool(end)
        )
        return traces[0] if one else traces

    def score(self, inputs, output):
        """(log-probability, pieces) of a given output, or a list of them for a list of inputs."""
        samples, one = self._samples(inputs)
        scores = self._core.score(samples, [output] if isinstance(output, str) else list(output))
        self._warn()
        return scores[0] if one else scores

    def _explain(
        self,
        samples,
        outputs,
        options,
        attentions=False,
        alternatives=False,
        trust=False,
        pick=("", "", ""),
        rollout=False,
        words=False,
        end=True,
        on_token=None,
    ):
        found = self._core.explain(
            samples, outputs, _known(options), attentions, alternatives, trust, list(pick), rollout, words, end, on_token
        )
        self._warn()
        return [Trace(fields, json) for fields, json in found]

    def _samples(self, inputs):
        one = not isinstance(inputs, list)
        return [self._sample(each) for each in ([inputs] if one else inputs)], one

    def _sample(self, given):
        names = [name for name, _ in self.inputs]
        if isinstance(given, Mapping):
            choices = given.get("choices", []) if self.output[1] == "choice" else []
            read = [name for name in given if name != "choices" or self.output[1] != "choice"]
            if sorted(read) != sorted(names):
                raise ValueError(f"[run] the model reads {', '.join(names)}, not {', '.join(given)}")
            values = [given[name] for name in names] + list(choices)
        elif len(names) > 1:
            values = list(given)
        else:
            values = [given]
        return [_value(each) for each in values]

    def _warn(self):
        for line in self._core.take_warnings():
            warnings.warn(line, stacklevel=3)


class Translator(Model):
    """A translation model: a Model whose run is called translate."""

    def translate(self, text, **options):
        """The translation of a text, or those of a list of texts."""
        return self.run(text, **options)


def load(folder, *, threads=0, int8=False, settings=None):
    """The model of a folder that `heed train` or `heed quantise` made; of a list of folders an ensemble."""
    return Model(folder, threads=threads, int8=int8, settings=settings)


def train(*, resume=False, force=False, accept_changed_data=False, progress=True, **options):
    """Trains a model into the folder `output` and gives it, loaded.

    Options are those of `heed train`, with _ for -: model, data, valid, output, steps, and the model's own; files may be
    lists. `resume` goes on where the folder stands, with the data that it began with unless `accept_changed_data`;
    `force` replaces a model. The progress bar goes to the standard error; progress=False leaves out what is told before
    and after. Ctrl-C saves everything and raises KeyboardInterrupt.
    """
    def say(line):
        if progress:
            print(line, file=sys.stderr, flush=True)

    result = _core.train(_named_texts(options), resume, force, accept_changed_data, say)
    if result["signal"]:
        raise KeyboardInterrupt(f"the training was stopped after step {result['steps']}; resume=True goes on")
    return load(result["folder"])


_OPTIONS = (
    "search beam best length_penalty coverage_penalty no_repeat least_words most_words most_bytes rerank temperature "
    "top_k nucleus seed longest prefixes"
).split()


def _known(options):
    for name in options:
        if name not in _OPTIONS:
            raise ValueError(f"[run] there is no option {name}; there are: {', '.join(_OPTIONS)}")
    return options


def _named_texts(options):
    """Names and values as they would stand on a command line."""
    given = []
    for name, value in options.items():
        if isinstance(value, bool):
            value = "true" if value else "false"
        elif isinstance(value, (list, tuple)):
            value = ",".join(os.fspath(each) for each in value)
        elif isinstance(value, os.PathLike):
            value = os.fspath(value)
        given.append((name.replace("_", "-"), str(value)))
    return given


def _value(value):
    if isinstance(value, (str, os.PathLike)):
        return (os.fspath(value), None, 0.0)
    rate = 0.0
    if isinstance(value, tuple):
        value, rate = value
    return ("array", np.ascontiguousarray(value, dtype=np.float32), float(rate))


def _total(trace):
    return float(trace["log_probabilities"].sum()) if "log_probabilities" in trace else 0.0
