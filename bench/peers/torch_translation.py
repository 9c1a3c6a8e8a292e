"""The peer of bench/translation in PyTorch: the same sentences, weights, updates and search."""

import contextlib
import os
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file

from torch_beam import beam_search
from torch_convs2s import ConvS2S
from torch_luong import Luong
from torch_rnnsearch import RnnSearch
from torch_tensors import filled_ids
from torch_transformer import Transformer

MODELS = {"rnnsearch": RnnSearch, "luong": Luong, "transformer": Transformer, "convs2s": ConvS2S}
VOCABULARY, BATCH_WORDS, LONGEST = 8000, 2048, (9, 13, 16, 24)
SENTENCES = 64  # to decode
BEGIN, END = 1, 2


def words_of(bits, vocabulary=VOCABULARY):
    """bench/translation/work.cpp: the frequent words come first."""
    return 3 + ((((bits * bits) >> 24) * bits >> 24) * (vocabulary - 3) >> 24)


def made_up_batch(longest):
    """source [sentences, m] and its lengths, previous and expected words [sentences, n]."""
    seed, sentences, width = 3000 + longest, BATCH_WORDS // (longest + 2), longest + 1
    bits = [filled_ids((sentences, width), seed + i, 1 << 24) for i in range(2)]
    shorter = filled_ids((2, sentences), seed + 2, 3)
    lengths = longest - shorter
    source, target = (
        torch.where(torch.arange(width) < each.unsqueeze(1), words_of(u), END) for each, u in zip(lengths, bits)
    )
    previous = torch.cat([torch.full((sentences, 1), BEGIN), target[:, :-1]], 1)
    expected = target.masked_fill(torch.arange(width) > lengths[1].unsqueeze(1), -1)
    return source, lengths[0] + 1, previous, expected


def model_named(name, models=MODELS):
    """With the first weights that Heed wrote."""
    weights = load_file(Path(os.environ["HEED_BENCH_FOLDER"]) / f"{name}.safetensors")
    return models[name](weights)


def smoothed_loss(logits, expected):
    return F.cross_entropy(logits.flatten(0, 1), expected.flatten(), ignore_index=-1, label_smoothing=0.1)


def updating(model, batches, loss_of=smoothed_loss, rate=3e-4, beta2=0.98):
    """A repetition is an update for each batch, inputs and what is expected; dropout only where time is taken."""
    learned = [each for each in model.parameters() if each.requires_grad]
    adam = torch.optim.Adam(learned, lr=rate, betas=(0.9, beta2), fused=True)

    def step(keep):
        results = {}
        model.train(not keep)
        for i, (*inputs, expected) in enumerate(batches):
            adam.zero_grad(set_to_none=True)
            loss = loss_of(model(*inputs), expected)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learned, 1)
            adam.step()
            if keep:
                results[f"loss of batch {i}"] = loss
        return results

    return step


def training(settings):
    model = model_named(settings.word("model", "rnnsearch"))
    return updating(model, [made_up_batch(longest) for longest in LONGEST], smoothed_loss)


def sentences_to_decode(count=SENTENCES):
    """Each batch's first sentences, with their ends and lengths."""
    chosen = []
    for longest in LONGEST:
        source, lengths, _, _ = made_up_batch(longest)
        chosen += [source[i, : lengths[i]] for i in range(count // len(LONGEST))]
    return chosen


@contextlib.contextmanager
def in_double():
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def decoding(settings):
    name = settings.word("model", "rnnsearch")
    model = model_named(name).eval()
    together = settings.number("sentences", SENTENCES)
    sources = sentences_to_decode()
    batches = []
    for begin in range(0, SENTENCES, together):
        batch = sources[begin : begin + together]
        lengths = torch.tensor([len(source) for source in batch])
        batches.append((torch.nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=END), lengths))

    def step(keep):
        # Timed in float; compared in double, since PyTorch's sums of log-probabilities in float take other ways at near
        # ties than Heed's, which are in double.
        with in_double() if keep else contextlib.nullcontext():
            used = model_named(name).double().eval() if keep else model
            found = [beam_search(used, *batch) for batch in batches]
        if keep:
            width = max(words.size(1) for words, _ in found)
            words = torch.cat([F.pad(words, (0, width - words.size(1))) for words, _ in found])
            return {"scores": torch.cat([scores for _, scores in found]), "words": words.float()}

    return step


FAMILIES = {"translation-training": training, "translation-decoding": decoding}
