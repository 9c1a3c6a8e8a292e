"""The peer of bench/summarising in PyTorch: the same texts, weights and updates."""

import torch
import torch.nn.functional as F
from torch import nn

from torch_rnnsearch import RnnSearch
from torch_tensors import compiled, filled_ids
from torch_translation import BEGIN, END, model_named, updating, words_of
from torch_translation_parts import embedding, linear, parameter, visible

TEXTS, LONGEST_TEXT, LONGEST_SUMMARY = 32, (55, 70, 85, 100), 10


def made_up_batch(longest):
    """Texts [texts, m] and their lengths, previous and expected words [texts, n]; every other word is copied."""
    seed = 5000 + longest
    widths = (longest + 1, LONGEST_SUMMARY + 1)
    bits = [filled_ids((TEXTS, width), seed + i, 1 << 24) for i, width in enumerate(widths)]
    m, n = torch.tensor([[longest], [LONGEST_SUMMARY]]) - filled_ids((2, TEXTS), seed + 2, 3)
    source = torch.where(torch.arange(widths[0]) < m.unsqueeze(1), words_of(bits[0]), END)
    t = torch.arange(widths[1])
    copied = source.gather(1, 7 * t.expand(TEXTS, -1) % m.unsqueeze(1))
    target = torch.where(t % 2 == 0, copied, words_of(bits[1]))
    target = torch.where(t < n.unsqueeze(1), target, END)
    previous = torch.cat([torch.full((TEXTS, 1), BEGIN), target[:, :-1]], 1)
    return source, m + 1, previous, target.masked_fill(t > n.unsqueeze(1), -1)


class Pointer(RnnSearch):
    """See, Liu, Manning 2017: the whole distribution is made, as their program does."""

    def __init__(self, weights):
        super().__init__(weights)
        self.gate = linear(weights, "copy")

    def forward(self, source, lengths, previous):
        """log P [batch, n, vocabulary]."""
        features, looks = self.read(source, lengths, previous)
        gate = self.gate(features).sigmoid()
        generated = gate * self.predicted(features).softmax(-1)
        weights = (1 - gate) * torch.cat(looks, 1)
        return generated.scatter_add(2, source.unsqueeze(1).expand(-1, weights.size(1), -1), weights).log()

    def loss(self, predicted, expected):
        return F.nll_loss(predicted.flatten(0, 1), expected.flatten(), ignore_index=-1)


class Abs(nn.Module):
    """src/models/abs.cpp with attention (Rush, Chopra, Weston 2015), small preset."""

    CONTEXT, NEIGHBOURS, DROPOUT = 5, 2, 0.2

    def __init__(self, weights):
        super().__init__()
        self.source, self.target, self.query = (embedding(weights, name) for name in ("source", "target", "query"))
        self.hidden, self.output = linear(weights, "hidden"), linear(weights, "output")
        self.score = parameter(weights["attention.score.weight"])  # [embedding, context · embedding]
        self.predict = compiled(self.predicted)

    def predicted(self, read, values, mask, written, asked):
        h = self.hidden(written).tanh()
        weights = (asked @ (read @ self.score).transpose(1, 2) + mask).softmax(-1)
        return self.output(F.dropout(torch.cat([h, weights @ values], -1), self.DROPOUT, self.training))

    def forward(self, source, lengths, previous):
        read, seen = self.source(source), visible(lengths, source.size(1))
        window = 2 * self.NEIGHBOURS + 1
        values = (read * seen.unsqueeze(2)).transpose(1, 2)
        values = F.avg_pool1d(values, window, 1, self.NEIGHBOURS).transpose(1, 2)
        mask = torch.zeros(seen.shape).masked_fill(~seen, -torch.inf).unsqueeze(1)
        contexts = F.pad(previous, (self.CONTEXT - 1, 0), value=BEGIN).unfold(1, self.CONTEXT, 1)
        return self.predict(read, values, mask, self.target(contexts).flatten(2), self.query(contexts).flatten(2))

    def loss(self, predicted, expected):
        return F.cross_entropy(predicted.flatten(0, 1), expected.flatten(), ignore_index=-1)


MODELS = {"abs": Abs, "pointer": Pointer}


def training(settings):
    model = model_named(settings.word("model", "abs"), MODELS)
    return updating(model, [made_up_batch(longest) for longest in LONGEST_TEXT], model.loss)


FAMILIES = {"summarising-training": training}
