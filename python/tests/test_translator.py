"""Translation models from Python. A model is trained with the heed command, named in HEED_COMMAND."""

import json
import os
import subprocess

import numpy as np
import pytest

import heed

command = os.environ.get("HEED_COMMAND")
pytestmark = pytest.mark.skipif(not command, reason="HEED_COMMAND names no heed command to train a model with")


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    folder = tmp_path_factory.mktemp("translation")
    nouns = {"house": "haus", "dog": "hund", "cat": "kater", "tree": "baum"}
    verbs = {"sleeps": "schläft", "stands": "steht", "falls": "fällt"}
    (folder / "en").write_text("".join(f"the {noun} {verb}\n" for noun in nouns for verb in verbs))
    (folder / "de").write_text("".join(f"der {noun} {verb}\n" for noun in nouns.values() for verb in verbs.values()))
    options = "--width 16 --feed-forward 32 --heads 2 --layers 2 --decoder-layers 2 --vocabulary-size 50 --dropout 0 "
    options += "--steps 150 --validate-every 0 --learning-rate 0.01 --warm-up 20 --batch-words 64 --seed 3"
    files = ["--source", folder / "en", "--target", folder / "de", "--output", folder / "model"]
    subprocess.run([command, "train", *files, *options.split()], check=True, capture_output=True)
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
    assert rolled["target"]["text"] == "the dog sleeps"
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
        (lambda: translator.explain(["the dog"], ["a", "b"]), "2 targets for 1 sources"),
        (lambda: translator.translate("the dog", search="wide"), "there is no search wide"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
