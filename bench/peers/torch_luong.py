"""src/models/luong.cpp in PyTorch (Luong, Pham, Manning 2015), small preset: global general attention, input feeding.

The encoder is nn.LSTM over sentences read backwards, so that their padding comes first. It is not packed, which would
take several times as long on a CPU: an input of its own closes the input gates over the padding, where cells and states
stay exactly zero, and so do all gradients. The decoder's h̃ goes into its next step, so that is a loop: the words'
products come before it, the output layer after it.
"""

import torch
import torch.nn.functional as F
from torch import nn

from torch_tensors import compiled
from torch_translation_parts import embedding, linear, parameter, visible


def lstm(gates, c):
    i, f, g, o = gates.chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def encoder_layer(weights, name):
    """nn.LSTM whose last input is 1 over padding and 0 elsewhere."""
    part = {key: weights[f"{name}.{key}"] for key in ("input", "recurrent", "bias")}
    width, hidden = part["input"].size(0), part["recurrent"].size(0)
    closed = torch.zeros(4 * hidden, 1)
    closed[:hidden] = -1e4  # the input gates
    layer = nn.LSTM(width + 1, hidden)
    layer.weight_ih_l0 = parameter(torch.cat([part["input"].t(), closed], 1))
    layer.weight_hh_l0, layer.bias_ih_l0 = parameter(part["recurrent"].t()), parameter(part["bias"])
    # Heed has one bias; a second that learned too would make it learn twice as fast.
    layer.bias_hh_l0.data.zero_()
    layer.bias_hh_l0.requires_grad_(False)
    layer.flatten_parameters()
    return layer


class Luong(nn.Module):
    LAYERS, DROPOUT = 2, 0.3

    def __init__(self, weights):
        super().__init__()
        self.source, self.target = embedding(weights, "source"), embedding(weights, "target")
        self.hidden = weights["combine.weight"].size(1)
        self.encoder = nn.ModuleList(encoder_layer(weights, f"encoder.layer{i}") for i in range(self.LAYERS))
        self.words = nn.Linear(self.target.embedding_dim, 4 * self.hidden)
        self.words.weight = parameter(weights["decoder.words.weight"].t())
        self.words.bias = parameter(weights["decoder.layer0.bias"])
        # Input and state in one product.
        joined = [torch.cat([weights[f"decoder.layer{i}.{part}"] for part in ("input", "recurrent")])
                  for i in range(self.LAYERS)]  # fmt: skip
        self.lower, self.upper = (parameter(each) for each in joined)
        self.upper_bias = parameter(weights["decoder.layer1.bias"])
        self.key = linear(weights, "attention.score")
        self.combine = linear(weights, "combine")
        self.output_bias = parameter(weights["output.bias"])
        self.decoder_step = compiled(self.advance)

    def drop(self, x):
        return F.dropout(x, self.DROPOUT, self.training)

    def output(self, states):
        return F.linear(states, self.target.weight, self.output_bias)

    def encode(self, source, lengths):
        """What the decoder reads, in reading order, which attention does not mind; the layers' last states."""
        hidden = ~visible(lengths, source.size(1)).flip(1)
        padding = hidden.t().unsqueeze(-1).to(self.output_bias.dtype)
        outputs, last = self.source(source.t().flip(0)), []
        for layer in self.encoder:
            outputs, state = layer(torch.cat([self.drop(outputs), padding], -1))
            last += (each[0] for each in state)
        outputs = outputs.transpose(0, 1)
        mask = torch.zeros(hidden.shape).masked_fill(hidden, -torch.inf).unsqueeze(1)
        return (outputs, self.key(outputs).transpose(1, 2), mask), last

    def advance(self, annotations, keys, mask, words, fed, h0, c0, h1, c1):
        """All states [batch, rows, hidden]; h̃ is the first of those returned."""
        h0, c0 = lstm(words + torch.cat([fed, h0], -1) @ self.lower, c0)
        h1, c1 = lstm(torch.cat([self.drop(h0), h1], -1) @ self.upper + self.upper_bias, c1)
        context = torch.softmax(h1 @ keys + mask, -1) @ annotations
        return self.combine(torch.cat([context, h1], -1)).tanh(), h0, c0, h1, c1

    def forward(self, source, lengths, previous):
        memory, last = self.encode(source, lengths)
        words = self.words(self.drop(self.target(previous))).split(1, 1)
        state = [each.unsqueeze(1) for each in (torch.zeros_like(last[0]), *last)]
        states = []
        for t in range(previous.size(1)):
            state = self.decoder_step(*memory, words[t], *state)
            states.append(state[0])
        return self.output(self.drop(torch.cat(states, 1)))

    def begin(self, source, lengths, beam):
        memory, last = self.encode(source, lengths)
        return memory, tuple(each.unsqueeze(1).repeat(1, beam, 1) for each in (torch.zeros_like(last[0]), *last))

    def step(self, memory, state, previous, position):
        state = self.decoder_step(*memory, self.words(self.target(previous)), *state)
        return self.output(state[0]), state
