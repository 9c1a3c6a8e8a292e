"""Models of several jobs from Python: trained, run, explained and scored."""

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import heed

@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    folder = tmp_path_factory.mktemp("translation")
    nouns = {"house": "haus", "dog": "hund", "cat": "kater", "tree": "baum"}
    verbs = {"sleeps": "schläft", "stands": "steht", "falls": "fällt"}
    (folder / "en").write_text("".join(f"the {noun} {verb}\n" for noun in nouns for verb in verbs))
    (folder / "de").write_text("".join(f"der {noun} {verb}\n" for noun in nouns.values() for verb in verbs.values()))
    sizes = {"width": 16, "feed_forward": 32, "heads": 2, "layers": 2, "decoder_layers": 2, "vocabulary_size": 50}
    steps = {"steps": 150, "validate_every": "0", "learning_rate": 0.01, "warm_up": 20, "batch_words": 64, "seed": 3}
    files = {"source": folder / "en", "target": folder / "de", "output": folder / "model"}
    heed.train(model="transformer", dropout=0, progress=False, **files, **sizes, **steps)
    return heed.Translator(folder / "model")


def test_translates_one_and_many(translator):
    assert translator.system == "transformer"
    assert translator.translate("the dog sleeps") == "der hund schläft"
    assert translator.translate(["the cat falls", "", "the tree stands"]) == ["der kater fällt", "", "der baum steht"]


def test_a_trace_has_arrays_of_the_sizes_of_its_texts(translator):
    trace = translator.explain("the dog sleeps", attentions=True, alternatives=True)
    n, m = len(trace["target"]["tokens"]), len(trace["source"]["tokens"])
    assert trace.text == "der hund schläft"
    assert trace["alignment"].shape == (n, m)
    np.testing.assert_allclose(trace["alignment"].sum(1), 1, atol=1e-5)
    assert trace["log_probabilities"].shape == (n,)
    sizes = {a["name"]: a["weights"].shape for a in trace["attentions"]}
    assert sizes["decoder.layer2.source"] == (2, n, m)
    assert sizes["encoder.layer1.self"] == (2, m, m)
    assert [next(h["token"] for h in step if h["chosen"]) for step in trace["beam"][:n]] == [
        token["text"] for token in trace["target"]["tokens"]
    ]
    for side in ("source", "target"):
        text = trace[side]["text"]
        assert [text[word["begin"] : word["end"]] for word in trace[side]["words"]] == text.split()


def test_reading_a_translation_tells_what_searching_it_told(translator):
    searched = translator.explain("the tree falls")
    read = translator.explain("the tree falls", searched.text)
    np.testing.assert_allclose(read["alignment"], searched["alignment"], atol=1e-4)
    np.testing.assert_allclose(read["log_probabilities"], searched["log_probabilities"], atol=1e-3)


def test_words_and_picks(translator):
    words = translator.explain("the dog sleeps", level="word", end=False, layer=1, head="max")
    assert [token["text"] for token in words["target"]["tokens"]] == ["der", "hund", "schläft"]
    assert words["alignment"].shape == (3, 3)
    rolled = translator.explain("the dog sleeps", attention="encoder.self", rollout=True)
    assert (rolled["rows"], rolled["columns"]) == ("source", "source")
    np.testing.assert_allclose(rolled["alignment"].sum(1), 1, atol=1e-5)


def test_json_and_notebook(translator):
    trace = translator.explain("the <b> falls")
    assert json.loads(trace.json())["format"] == "heed-trace"
    shown = trace._repr_html_()
    assert "<b>" not in shown and "&lt;" in shown
    assert shown.count("<tr>") == 1 + len(trace["target"]["tokens"])


def test_mistakes_are_value_errors(translator):
    for call, words in [
        (lambda: heed.Translator("nowhere"), "there is no such model folder"),
        (lambda: translator.explain("the dog", attention="decoder.sorce"), "did you mean decoder.source"),
        (lambda: translator.explain("the dog", head=9, layer=1), "there is no head 9"),
        (lambda: translator.explain("the dog", level="letter"), "token or word"),
        (lambda: translator.explain(["the dog"], ["a", "b"]), "2 outputs for 1 inputs"),
        (lambda: translator.translate("the dog", search="wide"), "there is no search wide"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()


def test_says_what_it_is(translator):
    assert (translator.job, translator.inputs, translator.output) == ("translation", [("source", "text")], ("target", "text"))
    assert translator.labels == []
    assert repr(translator).startswith("Model(translation by transformer: source (text) → target, ")
    assert repr(translator.explain("the dog sleeps")).startswith("Trace(translation by transformer, 'der hund schläft'")


def test_answers_have_scores_and_ranks(translator):
    best = translator.run("the cat falls", n_best=3)
    assert [type(answer) for answer in best] == [heed.Answer] * 3
    assert best[0] == "der kater fällt" and best[0].finished and best[0].alignment
    assert best[0].score >= best[1].score >= best[2].score
    log_probability, pieces = translator.score("the cat falls", best[0])
    assert log_probability == pytest.approx(best[0].log_probability, abs=1e-3)
    assert pieces == len(translator.explain("the cat falls", best[0])["log_probabilities"])


def test_words_are_told_as_they_come(translator):
    told = []
    text = translator.run("the tree stands", on_token=lambda sample, token, text, *_: told.append((sample, text)))
    assert text == translator.run("the tree stands", search="greedy") == told[-1][1]
    assert {sample for sample, _ in told} == {0}


def test_models_decide_together(translator, tmp_path_factory):
    folder = next(path for path in tmp_path_factory.getbasetemp().iterdir() if path.name.startswith("translation"))
    both = heed.load([folder / "model", folder / "model"])
    sentences = ["the dog falls", "the house sleeps"]
    assert both.run(sentences) == translator.run(sentences)


def test_trust_has_a_random_baseline(translator):
    trust = translator.explain("the dog sleeps", trust=True)["trust"]
    assert {"comprehensiveness", "random_comprehensiveness", "sufficiency", "random_sufficiency"} <= trust.keys()


def test_a_second_job(tmp_path):
    lines = [f"the {noun} of the {owner} is old\told {noun}\n" for noun in ("house", "dog", "tree") for owner in ("man", "king")]
    (tmp_path / "train.tsv").write_text("".join(lines))
    model = heed.train(
        job="summarisation", model="rnnsearch", data=tmp_path / "train.tsv", valid=tmp_path / "train.tsv", progress=False,
        output=tmp_path / "model", vocabulary="words", embedding=16, hidden=16, maxout=16, dropout=0, steps=120,
        learning_rate=0.02, label_smoothing=0, validate_every="40u", smoothing=0,
    )
    assert model.job == "summarisation" and model.inputs == [("text", "text")]
    assert model.example and model.run("the dog of the king is old") == "old dog"
    trace = model.explain({"text": "the tree of the man is old"})
    assert [axis["name"] for axis in trace["axes"]] == ["text", "summary"]
    with pytest.raises(ValueError, match="reads text, not source"):
        model.run({"source": "the dog"})


def test_a_run_may_set_what_no_weights_depend_on(tmp_path):
    (tmp_path / "train.tsv").write_text("".join(f"a {noun}\tein {noun}\n" for noun in ("house", "dog", "tree")))
    trained = heed.train(
        model="rnnsearch", data=tmp_path / "train.tsv", output=tmp_path / "model", vocabulary="words", embedding=8,
        hidden=8, maxout=8, query_word=True, dropout=0, steps=100, learning_rate=0.03, warm_up=10, smoothing=0,
        validate_every="0", progress=False,
    )
    changed = heed.load(tmp_path / "model", settings={"alignment_reads": True})
    texts = ("a dog", "ein dog")
    looks, later = (model.explain(*texts)["alignment"] for model in (trained, changed))
    np.testing.assert_allclose(later[:-1], looks[1:], atol=1e-6)  # a word is aligned by the step that has read it
    assert not np.allclose(later[:-1], looks[:-1])
    with pytest.raises(ValueError, match="hidden is not what a run can set"):
        heed.load(tmp_path / "model", settings={"hidden": 3})


def test_what_is_cut_is_warned_of(translator):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        translator.run("the dog sleeps " * 20, longest=8)
    assert any("is cut to 8" in str(each.message) for each in caught)


@pytest.mark.skipif(
    shutil.which("mpirun") is None or not (Path(heed.__file__).parent / "libheed_mpi.so.0").exists(),
    reason="there is no Open MPI",
)
def test_two_processes_train_one_model(tmp_path):
    (tmp_path / "data.tsv").write_text("".join(f"{label}\tit is {label} {i}\n" for i in range(8) for label in ("good", "bad")))
    options = {"model": "bag", "data": str(tmp_path / "data.tsv"), "steps": 6, "shards": 2, "seed": 3}
    heed.train(output=tmp_path / "one", progress=False, **options)
    program = f"import heed; heed.train(output={str(tmp_path / 'two')!r}, progress=False, **{options!r})"
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    launch = ["mpirun", "--oversubscribe", "-n", "2", sys.executable, "-c", program]
    subprocess.run(launch, check=True, env={**os.environ, **root}, timeout=300)
    weights = [(tmp_path / folder / "model.safetensors").read_bytes() for folder in ("one", "two")]
    assert weights[0] == weights[1]
