"""CTranslate2 beside the others: the Transformer's weights converted, in float32 or int8, beam 5 or greedy.

It has one longest length for a whole batch: sentences that are decoded together get the mean of their sources' lengths,
so that as many words are written. What it writes is compared where it can be the same: greedy, in full, one by one.
"""

import os
import tempfile
import timeit
from pathlib import Path

import ctranslate2
import torch
from ctranslate2.specs import TransformerSpec
from safetensors.torch import load_file

import torch_engine
from torch_transformer import Transformer, sinusoids
from torch_translation import SENTENCES, sentences_to_decode
from torch_worker import TorchWorker

THREADS = 1
HEAD = 64  # width of a head, in either size
BASE_SENTENCES = 16  # bench/translation/decoding.cpp


def fill_linear(layer, weights, *names):
    layer.weight = torch.cat([weights[name + ".weight"] for name in names], 1).t().contiguous().numpy()
    layer.bias = torch.cat([weights[name + ".bias"] for name in names]).numpy()


def fill_norm(layer, weights, name):
    layer.gamma, layer.beta = weights[name + ".gain"].numpy(), weights[name + ".bias"].numpy()


def fill_layer(layer, weights, name):
    own = name + ".self"
    fill_linear(layer.self_attention.linear[0], weights, own + ".query", own + ".key", own + ".value")
    fill_linear(layer.self_attention.linear[1], weights, own + ".output")
    fill_norm(layer.self_attention.layer_norm, weights, name + ".self_norm")
    if name.startswith("decoder"):
        source = name + ".source"
        fill_linear(layer.attention.linear[0], weights, source + ".query")
        fill_linear(layer.attention.linear[1], weights, source + ".key", source + ".value")
        fill_linear(layer.attention.linear[2], weights, source + ".output")
        fill_norm(layer.attention.layer_norm, weights, name + ".source_norm")
    fill_linear(layer.ffn.linear_0, weights, name + ".feed_forward.inner")
    fill_linear(layer.ffn.linear_1, weights, name + ".feed_forward.outer")
    fill_norm(layer.ffn.layer_norm, weights, name + ".feed_forward_norm")


def converted(folder, file):
    weights = load_file(Path(os.environ["HEED_BENCH_FOLDER"]) / file)
    layers = sum(name.startswith("encoder.") and name.endswith(".self_norm.gain") for name in weights)
    vocabulary, width = weights["target.table"].shape
    spec = TransformerSpec.from_config(layers, width // HEAD, pre_norm=True)
    for side, half in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        for i, layer in enumerate(half.layer):
            fill_layer(layer, weights, f"{side}.layer{i}")
        fill_norm(half.layer_norm, weights, side + ".norm")
        half.position_encodings.encodings = sinusoids(Transformer.LONGEST, width).numpy()
    spec.encoder.embeddings[0].weight = weights["source.table"].numpy()
    spec.decoder.embeddings.weight = weights["target.table"].numpy()
    spec.decoder.projection.weight = weights["target.table"].numpy()
    names = ["<unk>", "<s>", "</s>", *(str(word) for word in range(3, vocabulary))]
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    spec.validate()
    spec.save(folder)
    return names


def decoding(settings):
    together = settings.number("sentences", SENTENCES)
    beam = settings.number("beam", 5)
    kind = {"full": "float32", "int8": "int8"}[settings.word("numbers", "full")]
    if settings.word("model") != "transformer":
        raise ValueError("only the Transformer can be converted")
    base = settings.word("size", "small") == "base"
    file = "transformer-base.safetensors" if base else "transformer.safetensors"
    with tempfile.TemporaryDirectory() as folder:
        names = converted(folder, file)
        # Its best here: threads inside its ops made it slower than one, so each takes batches of its own.
        translator = ctranslate2.Translator(folder, compute_type=kind, inter_threads=THREADS, intra_threads=1)
    sources = [[names[word] for word in source] for source in sentences_to_decode(BASE_SENTENCES if base else SENTENCES)]
    # It cuts what it is given into batches for its threads itself; one by one means that no one waits for the others.
    batches = [[source] for source in sources] if together == 1 else [sources]

    def translate(most):
        found = []
        for batch in batches:
            longest = round(sum(map(len, batch)) / len(batch))
            found += translator.translate_batch(batch, beam_size=beam, max_decoding_length=longest, max_batch_size=most)
        return found

    # What is best depends on the numbers and the threads: 16 in eight bits, 64 in full.
    choices = [most for most in (8, 16, 32, 64) if most <= together] or [together]
    times = {most: min(timeit.repeat(lambda: translate(most), number=1, repeat=3)) for most in choices}
    fastest = min(times, key=times.get)

    number = {name: float(i) for i, name in enumerate(names)}

    def step(keep):
        found = translate(fastest)
        if not keep:
            return {}
        rows = [torch.tensor([number[word] for word in one.hypotheses[0]]) for one in found]
        words = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        return {"scores": torch.zeros(len(rows)), "words": words}  # greedy search gives no scores in Heed either

    return step


class CTranslate2Worker(TorchWorker):
    def version(self):
        return {"ctranslate2": ctranslate2.__version__}

    def use(self, threads):
        global THREADS
        THREADS = threads


if __name__ == "__main__":
    CTranslate2Worker(torch_engine.CASES, {"translation-decoding": decoding}).serve()
