"""src/models/rnnsearch.cpp in PyTorch (Bahdanau, Cho, Bengio 2015), small preset.

nn.GRU resets after the product, the paper before it, so the recurrences are written out: inputs' products before the
loop, both directions of the encoder in one loop, the output layer after the decoder's.
"""

import torch
import torch.nn.functional as F
from torch import nn

from torch_tensors import compiled
from torch_translation_parts import embedding, linear, parameter, reversal


def gru(gates_rz, gates_n, h, recurrent_rz, recurrent_n):
    """One step of both directions: gates [2, batch, ·], h [2, batch, hidden]."""
    r, z = torch.baddbmm(gates_rz, h, recurrent_rz).sigmoid().chunk(2, -1)
    n = torch.baddbmm(gates_n, r * h, recurrent_n).tanh()
    return torch.lerp(h, n, z)


class RnnSearch(nn.Module):
    DROPOUT = 0.3

    def __init__(self, weights):
        super().__init__()
        self.source = embedding(weights, "source")
        self.target = embedding(weights, "target")
        both = [{part: weights[f"encoder.{way}.{part}"] for part in ("input", "recurrent", "bias")}
                for way in ("forward", "backward")]  # fmt: skip
        self.encoder_input = parameter(torch.stack([way["input"] for way in both]))  # [2, in, 3·hidden]
        self.encoder_recurrent = parameter(torch.stack([way["recurrent"] for way in both]))
        self.encoder_bias = parameter(torch.stack([way["bias"] for way in both]))
        self.hidden = self.encoder_recurrent.size(1)
        self.start = linear(weights, "start")
        self.query = linear(weights, "attention.score.query")
        self.key = linear(weights, "attention.score.key")
        self.v = parameter(weights["attention.score.v"])
        self.words = nn.Linear(self.target.embedding_dim, 3 * self.hidden)
        self.words.weight = parameter(weights["decoder.words.weight"].t())
        self.words.bias = parameter(weights["decoder.bias"])
        self.context = parameter(weights["decoder.input"])
        self.recurrent = parameter(weights["decoder.recurrent"])
        self.readout = linear(weights, "readout")
        self.output_bias = parameter(weights["output.bias"])
        self.encoder_step = compiled(gru)
        self.decoder_step = compiled(self.advance)

    def drop(self, x):
        return F.dropout(x, self.DROPOUT, self.training)

    def annotations(self, source, lengths):
        batch, time = source.shape
        embedded = self.drop(self.source(source.t()))  # [time, batch, in]
        backwards = reversal(lengths, time).t().unsqueeze(-1)  # [time, batch, 1]
        inputs = torch.stack([embedded, embedded.gather(0, backwards.expand_as(embedded))])
        gates = torch.baddbmm(self.encoder_bias.unsqueeze(1), inputs.flatten(1, 2), self.encoder_input)
        gates = gates.view(2, time, batch, -1).transpose(0, 1)
        hidden = self.hidden
        gates_rz, gates_n = gates[..., : 2 * hidden].unbind(0), gates[..., 2 * hidden :].unbind(0)
        recurrent_rz, recurrent_n = self.encoder_recurrent.split([2 * hidden, hidden], -1)
        h, states = embedded.new_zeros(2, batch, hidden), []
        for t in range(time):
            h = self.encoder_step(gates_rz[t], gates_n[t], h, recurrent_rz, recurrent_n)
            states.append(h)
        ahead, back = torch.stack(states, 2).unbind(0)  # [batch, time, hidden]
        back = back.gather(1, backwards.transpose(0, 1).expand_as(back))
        return torch.cat([ahead, back], -1), back[:, 0]

    def encode(self, source, lengths):
        """What the decoder reads: annotations, their keys, and what hides the padding, [batch, 1, m]."""
        annotations, first = self.annotations(source, lengths)
        start = self.start(first).tanh()
        annotations = self.drop(annotations)
        hidden = torch.arange(source.size(1)) >= lengths.unsqueeze(1)
        mask = torch.zeros(hidden.shape).masked_fill(hidden, -torch.inf).unsqueeze(1)
        return (annotations, self.key(annotations), mask), start

    def attend(self, annotations, keys, mask, h):
        """Contexts [batch, rows, ·] of states [batch, rows, hidden], and their weights."""
        scores = torch.tanh(self.query(h).unsqueeze(2) + keys.unsqueeze(1)) @ self.v + mask
        weights = torch.softmax(scores, -1)
        return weights @ annotations, weights

    def advance(self, annotations, keys, mask, h, words):
        """The contexts of the states h [batch, rows, hidden], the states after them, and the weights."""
        context, weights = self.attend(annotations, keys, mask, h)
        hidden = self.hidden
        gates = words + context @ self.context
        r, z = (gates[..., : 2 * hidden] + h @ self.recurrent[:, : 2 * hidden]).sigmoid().chunk(2, -1)
        n = (gates[..., 2 * hidden :] + (r * h) @ self.recurrent[:, 2 * hidden :]).tanh()
        return context, torch.lerp(h, n, z), weights

    def predicted(self, features):
        units = self.drop(self.readout(features).unflatten(-1, (-1, 2)).amax(-1))
        return F.linear(units, self.target.weight, self.output_bias)

    def read(self, source, lengths, previous):
        """What the words are predicted from [batch, n, ·], and the weights [batch, n, m]."""
        memory, start = self.encode(source, lengths)
        embedded = self.drop(self.target(previous))
        words = self.words(embedded).split(1, 1)
        h, states, contexts, looks = start.unsqueeze(1), [], [], []
        for t in range(previous.size(1)):
            states.append(h)
            context, h, weights = self.decoder_step(*memory, h, words[t])
            contexts.append(context)
            looks.append(weights)
        return torch.cat([torch.cat(states, 1), embedded, torch.cat(contexts, 1)], -1), looks

    def forward(self, source, lengths, previous):
        return self.predicted(self.read(source, lengths, previous)[0])

    # Decoding: states are [batch, beam, ·].

    def begin(self, source, lengths, beam):
        memory, start = self.encode(source, lengths)
        return memory, (start.unsqueeze(1).repeat(1, beam, 1),)

    def step(self, memory, state, previous, position):
        (h,) = state
        embedded = self.target(previous)
        context, after, _ = self.decoder_step(*memory, h, self.words(embedded))
        return self.predicted(torch.cat([h, embedded, context], -1)), (after,)
