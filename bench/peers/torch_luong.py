"""src/models/luong.cpp in PyTorch (Luong, Pham, Manning 2015), small preset: global general attention, input feeding.

The encoder is nn.LSTM over packed sentences read backwards. The decoder's h̃ goes into its next step, so that is a
loop: the words' products come before it, the output layer after it.
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from torch_tensors import compiled
from torch_translation_parts import embedding, linear, parameter, reversal, visible


def lstm(gates, c):
    i, f, g, o = gates.chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


class Luong(nn.Module):
    LAYERS, DROPOUT = 2, 0.3

    def __init__(self, weights):
        super().__init__()
        self.source, self.target = embedding(weights, "source"), embedding(weights, "target")
        self.hidden = weights["combine.weight"].size(1)
        self.encoder = nn.LSTM(self.source.embedding_dim, self.hidden, self.LAYERS, dropout=self.DROPOUT)
        for i in range(self.LAYERS):
            part = {name: weights[f"encoder.layer{i}.{name}"] for name in ("input", "recurrent", "bias")}
            setattr(self.encoder, f"weight_ih_l{i}", parameter(part["input"].t()))
            setattr(self.encoder, f"weight_hh_l{i}", parameter(part["recurrent"].t()))
            setattr(self.encoder, f"bias_ih_l{i}", parameter(part["bias"]))
            # Heed has one bias; a second that learned too would make it learn twice as fast.
            getattr(self.encoder, f"bias_hh_l{i}").data.zero_()
            getattr(self.encoder, f"bias_hh_l{i}").requires_grad_(False)
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
        backwards = source.gather(1, reversal(lengths, source.size(1)))
        packed = pack_padded_sequence(self.drop(self.source(backwards)), lengths, batch_first=True, enforce_sorted=False)
        outputs, (h, c) = self.encoder(packed)
        outputs, _ = pad_packed_sequence(outputs, batch_first=True, total_length=source.size(1))
        hidden = ~visible(lengths, source.size(1))
        mask = torch.zeros(hidden.shape).masked_fill(hidden, -torch.inf).unsqueeze(1)
        return (outputs, self.key(outputs).transpose(1, 2), mask), (h[0], c[0], h[1], c[1])

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
