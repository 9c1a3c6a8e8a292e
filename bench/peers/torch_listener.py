"""src/models/listener.cpp in PyTorch (Chorowski et al. 2015), small preset, and the peer of bench/recognition.

nn.GRU resets after the product, the paper before it, so the GRU is written out, both directions of a layer in one loop.
With LSTM cells the encoder is nn.LSTM.
"""

import functools
import os
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn

from torch_choosing import BothWays
from torch_rnnsearch import gru
from torch_tensors import compiled, filled, filled_ids
from torch_translation import updating
from torch_translation_parts import embedding, linear, parameter, reversal, visible

UTTERANCES, WIDTH, LETTERS = 16, 123, 30
FRAMES, FRAMES_PER_LETTER = (200, 300, 450, 600), 8
BEGIN, END = 1, 2


def made_up_sounds(frames):
    """Features [utterances, frames, width] and their lengths, previous and expected letters."""
    seed, longest = 5000 + frames, frames // FRAMES_PER_LETTER
    letters = 3 + filled_ids((UTTERANCES, longest + 1), seed + 1, LETTERS - 3)
    shorter = filled_ids((UTTERANCES,), seed + 2, 5)
    lengths = longest - shorter
    places = torch.arange(longest + 1)
    written = torch.where(places < lengths.unsqueeze(1), letters, END)
    previous = torch.cat([torch.full((UTTERANCES, 1), BEGIN), written[:, :-1]], 1)
    expected = written.masked_fill(places > lengths.unsqueeze(1), -1)
    return filled((UTTERANCES, frames, WIDTH), seed), frames - FRAMES_PER_LETTER * shorter, previous, expected


class GruBoth(nn.Module):
    """One layer of both directions; outputs [batch, time, 2·hidden] with zeros in the padding."""

    def __init__(self, weights, name):
        super().__init__()
        both = [{part: weights[f"{name}.{way}.{part}"] for part in ("input", "recurrent", "bias")}
                for way in ("forward", "backward")]  # fmt: skip
        self.input, self.recurrent, self.bias = (
            parameter(torch.stack([way[part] for way in both])) for part in ("input", "recurrent", "bias")
        )
        self.hidden = self.recurrent.size(1)
        self.step = compiled(gru)

    def forward(self, x, lengths):
        batch, time, hidden = x.size(0), x.size(1), self.hidden
        by_time = x.transpose(0, 1)
        backwards = reversal(lengths, time).t().unsqueeze(-1)
        inputs = torch.stack([by_time, by_time.gather(0, backwards.expand_as(by_time))])
        gates = torch.baddbmm(self.bias.unsqueeze(1), inputs.flatten(1, 2), self.input)
        gates = gates.view(2, time, batch, -1).transpose(0, 1)
        gates_rz, gates_n = gates[..., : 2 * hidden].unbind(0), gates[..., 2 * hidden :].unbind(0)
        recurrent_rz, recurrent_n = self.recurrent.split([2 * hidden, hidden], -1)
        h, states = x.new_zeros(2, batch, hidden), []
        for t in range(time):
            h = self.step(gates_rz[t], gates_n[t], h, recurrent_rz, recurrent_n)
            states.append(h)
        ahead, back = torch.stack(states, 2).unbind(0)
        back = back.gather(1, backwards.transpose(0, 1).expand_as(back))
        return torch.cat([ahead, back], -1) * visible(lengths, time).unsqueeze(-1)


class Listener(nn.Module):
    DROPOUT, LAYERS, HALVINGS = 0.2, 3, 2
    MASKS, MASK_FEATURES, MASK_FRAMES = 2, 12, 20

    def __init__(self, weights, cell):
        super().__init__()
        self.lstm = cell == "lstm"
        layer = functools.partial(BothWays, nn.LSTM) if self.lstm else GruBoth
        self.encoder = nn.ModuleList(layer(weights, f"encoder.layer{i}") for i in range(self.LAYERS))
        self.target = embedding(weights, "target")
        self.query, self.key, self.filter = (
            linear(weights, f"attention.score.{name}") for name in ("query", "key", "filter")
        )
        self.filters = parameter(weights["attention.score.filters"].permute(2, 1, 0))  # [filters, 1, width]
        self.v = parameter(weights["attention.score.v"])
        self.words = nn.Linear(*weights["decoder.words.weight"].shape)
        self.words.weight = parameter(weights["decoder.words.weight"].t())
        self.words.bias = parameter(weights["decoder.bias"])
        self.context, self.recurrent = parameter(weights["decoder.input"]), parameter(weights["decoder.recurrent"])
        self.hidden = self.recurrent.size(0)
        self.readout, self.output = linear(weights, "readout"), linear(weights, "output")
        self.step = compiled(self.advance)

    def drop(self, x):
        return F.dropout(x, self.DROPOUT, self.training)

    def masked(self, x, lengths):
        """Bands of features and spans of frames are zero (Park et al. 2019)."""
        x = x.clone()

        def place(whole, most):
            size = int(torch.randint(min(most, whole) + 1, ()))
            first = int(torch.randint(whole - size + 1, ()))
            return slice(first, first + size)

        for sound, length in zip(x, lengths.tolist()):
            for _ in range(self.MASKS):
                sound[:length, place(WIDTH, self.MASK_FEATURES)] = 0
                sound[place(length, min(self.MASK_FRAMES, length // 5))] = 0
        return x

    def annotations(self, x, lengths):
        x = self.masked(x, lengths) if self.training else x
        for i, layer in enumerate(self.encoder):
            x = self.drop(layer(x, lengths))
            if i < self.HALVINGS:
                x = F.pad(x, (0, 0, 0, x.size(1) % 2))
                x, lengths = x.reshape(x.size(0), x.size(1) // 2, -1), (lengths + 1) // 2
        return x, lengths

    def cell(self, gates, state):
        """gates: the inputs' share of them."""
        hidden = self.hidden
        if self.lstm:
            h, c = state
            i, f, g, o = (gates + h @ self.recurrent).chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            return o.sigmoid() * c.tanh(), c
        (h,) = state
        r, z = (gates[..., : 2 * hidden] + h @ self.recurrent[:, : 2 * hidden]).sigmoid().chunk(2, -1)
        n = (gates[..., 2 * hidden :] + (r * h) @ self.recurrent[:, 2 * hidden :]).tanh()
        return (torch.lerp(h, n, z),)

    def advance(self, annotations, keys, mask, words, context, last, state):
        """The state after a word, the weights of its look and what it read."""
        state = self.cell(words + context @ self.context, state)
        looked = F.conv1d(last.unsqueeze(1), self.filters, padding="same").transpose(1, 2)
        scores = torch.tanh(self.query(state[0]).unsqueeze(1) + keys + self.filter(looked)) @ self.v + mask
        weights = scores.softmax(-1)
        return state, weights, (weights.unsqueeze(1) @ annotations).squeeze(1)

    def forward(self, x, lengths, previous):
        annotations, lengths = self.annotations(x, lengths)
        batch, m = annotations.shape[:2]
        keys = self.key(annotations)
        mask = torch.zeros(batch, m).masked_fill(~visible(lengths, m), -torch.inf)
        words = self.words(self.drop(self.target(previous))).unbind(1)
        state = tuple(annotations.new_zeros(batch, self.hidden) for _ in range(2 if self.lstm else 1))
        context = annotations.new_zeros(batch, annotations.size(2))
        last = annotations.new_zeros(batch, m)
        last[:, 0] = 1
        states, contexts = [], []
        for each in words:
            state, last, context = self.step(annotations, keys, mask, each, context, last, state)
            states.append(state[0])
            contexts.append(context)
        units = self.readout(torch.cat([torch.stack(states, 1), torch.stack(contexts, 1)], -1))
        return self.output(self.drop(units.unflatten(-1, (-1, 2)).amax(-1)))


def training(settings):
    """A repetition is an update for each batch; dropout and masks only where time is taken."""
    cell = settings.word("cell", "gru")
    weights = load_file(Path(os.environ["HEED_BENCH_FOLDER"]) / f"listener-{cell}.safetensors")
    return updating(Listener(weights, cell), [made_up_sounds(frames) for frames in FRAMES])


FAMILIES = {"recognition-training": training}
