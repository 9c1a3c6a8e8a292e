"""The peer of bench/captioning in PyTorch (Xu et al. 2015, small preset): the same features, weights, updates, search.

The words' share of the LSTM's gates comes before the loop, the deep output after it.
"""

import contextlib

import torch
import torch.nn.functional as F
from torch import nn

from torch_beam import beam_search
from torch_tensors import compiled, filled, filled_ids
from torch_translation import BEGIN, END, in_double, model_named, updating, words_of
from torch_translation_parts import embedding, linear, parameter

WORDS, REGIONS, FEATURES = 3000, 49, 1280
IMAGES, LONGEST = 64, (9, 11, 13, 17)
WRITTEN = 12


def batch_of(longest):
    """Features [images, regions, ·], previous and expected words [images, n]."""
    seed = 5000 + 10 * longest
    lengths = longest - filled_ids((IMAGES,), seed + 1, 3)
    places = torch.arange(longest + 1)
    bits = filled_ids((IMAGES, longest + 1), seed, 1 << 24)
    target = torch.where(places < lengths.unsqueeze(1), words_of(bits, WORDS), END)
    previous = torch.cat([torch.full((IMAGES, 1), BEGIN), target[:, :-1]], 1)
    expected = target.masked_fill(places > lengths.unsqueeze(1), -1)
    return filled((IMAGES, REGIONS, FEATURES), seed + 2), previous, expected


class ShowAttendTell(nn.Module):
    DROPOUT = 0.5

    def __init__(self, weights):
        super().__init__()
        self.target = embedding(weights, "target")
        self.mean, self.start = linear(weights, "start.mean"), linear(weights, "start")
        self.query, self.key = linear(weights, "attention.score.query"), linear(weights, "attention.score.key")
        self.v = parameter(weights["attention.score.v"])
        self.gate = linear(weights, "gate")
        self.words = nn.Linear(self.target.embedding_dim, weights["decoder.bias"].numel())
        self.words.weight = parameter(weights["decoder.words.weight"].t())
        self.words.bias = parameter(weights["decoder.bias"])
        self.inner = parameter(torch.cat([weights["decoder.input"], weights["decoder.recurrent"]]))  # of [context; h]
        self.state_readout, self.context_readout = linear(weights, "readout.state"), linear(weights, "readout.context")
        self.output_bias = parameter(weights["output.bias"])
        self.decoder_step = compiled(self.advance)

    def drop(self, x):
        return F.dropout(x, self.DROPOUT, self.training)

    def encode(self, features):
        hidden, cell = self.start(self.mean(features.mean(1)).relu()).tanh().chunk(2, -1)
        return (features, self.key(features)), (hidden, cell)

    def advance(self, features, keys, h, c, words):
        """Contexts of the states h [batch, rows, hidden], and the states after them."""
        scores = torch.tanh(self.query(h).unsqueeze(2) + keys.unsqueeze(1)) @ self.v
        context = self.gate(h).sigmoid() * (torch.softmax(scores, -1) @ features)
        i, f, g, o = (words + torch.cat([context, h], -1) @ self.inner).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return context, o.sigmoid() * c.tanh(), c

    def predicted(self, embedded, states, contexts):
        deep = torch.tanh(embedded + self.state_readout(self.drop(states)) + self.context_readout(contexts))
        return F.linear(self.drop(deep), self.target.weight, self.output_bias)

    def forward(self, features, previous):
        memory, (h, c) = self.encode(features)
        embedded = self.drop(self.target(previous))
        words = self.words(embedded).split(1, 1)
        h, c, states, contexts = h.unsqueeze(1), c.unsqueeze(1), [], []
        for t in range(previous.size(1)):
            context, h, c = self.decoder_step(*memory, h, c, words[t])
            states.append(h)
            contexts.append(context)
        return self.predicted(embedded, torch.cat(states, 1), torch.cat(contexts, 1))

    # Writing: states are [batch, beam, ·].

    def begin(self, features, lengths, beam):
        memory, start = self.encode(features)
        return memory, tuple(each.unsqueeze(1).repeat(1, beam, 1) for each in start)

    def step(self, memory, state, previous, position):
        embedded = self.target(previous)
        context, h, c = self.decoder_step(*memory, *state, self.words(embedded))
        return self.predicted(embedded, h, context), (h, c)


def small(settings):
    return model_named(settings.word("model", "show-attend-tell"), {"show-attend-tell": ShowAttendTell})


def plain_loss(logits, expected):
    return F.cross_entropy(logits.flatten(0, 1), expected.flatten(), ignore_index=-1)


def training(settings):
    return updating(small(settings), [batch_of(longest) for longest in LONGEST], plain_loss, rate=1e-3, beta2=0.999)


def writing(settings):
    model, together = small(settings).eval(), settings.number("images", IMAGES)
    features = filled((IMAGES, REGIONS, FEATURES), 6000)

    def written(used, some):
        return beam_search(used, some, torch.full((len(some),), WRITTEN))

    def step(keep):
        # Timed in float; compared in double, as bench/peers/torch_translation.py says.
        with in_double() if keep else contextlib.nullcontext():
            used, images = (small(settings).double().eval(), features.double()) if keep else (model, features)
            found = [written(used, images[begin : begin + together]) for begin in range(0, IMAGES, together)]
        if keep:
            words = torch.cat([words[:, :WRITTEN] for words, _ in found])
            return {"scores": torch.cat([scores for _, scores in found]), "words": words.float()}

    return step


FAMILIES = {"captioning-training": training, "captioning-writing": writing}
