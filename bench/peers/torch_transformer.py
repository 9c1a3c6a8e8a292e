"""src/models/transformer.cpp in PyTorch (Vaswani et al. 2017): pre-norm, output tied to the target's table."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from torch_tensors import compiled
from torch_translation_parts import embedding, linear, parameter, visible


def sinusoids(count, width):
    places = torch.arange(count, dtype=torch.float64).unsqueeze(1)
    angles = places / 10000 ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).float()


def norm(weights, name):
    layer = nn.LayerNorm(weights[name + ".gain"].size(0))
    layer.weight, layer.bias = parameter(weights[name + ".gain"]), parameter(weights[name + ".bias"])
    return layer


def heads_of(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


class SelfAttention(nn.Module):
    def __init__(self, weights, name, heads):
        super().__init__()
        self.heads = heads
        self.inputs = linear(weights, name + ".query", name + ".key", name + ".value")
        self.output = linear(weights, name + ".output")

    def forward(self, x, mask=None, causal=False):
        q, k, v = (heads_of(part, self.heads) for part in self.inputs(x).chunk(3, -1))
        read = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
        return self.output(read.transpose(1, 2).flatten(2))

    def step(self, x, keys, values):
        """x [rows, 1, width] behind the words so far, [rows, heads, t, ·]."""
        q, k, v = (heads_of(part, self.heads) for part in self.inputs(x).chunk(3, -1))
        keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        read = F.scaled_dot_product_attention(q, keys, values)
        return self.output(read.transpose(1, 2).flatten(2)), keys, values


class SourceAttention(nn.Module):
    def __init__(self, weights, name, heads):
        super().__init__()
        self.heads = heads
        self.query = linear(weights, name + ".query")
        self.memory = linear(weights, name + ".key", name + ".value")
        self.output = linear(weights, name + ".output")

    def read(self, source):
        return [heads_of(part, self.heads) for part in self.memory(source).chunk(2, -1)]

    def forward(self, x, keys, values, mask):
        read = F.scaled_dot_product_attention(heads_of(self.query(x), self.heads), keys, values, attn_mask=mask)
        return self.output(read.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, weights, name, dropout):
        super().__init__()
        self.inner, self.outer = linear(weights, name + ".inner"), linear(weights, name + ".outer")
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.outer(self.dropout(F.relu(self.inner(x))))


class Layer(nn.Module):
    """Of the encoder, or of the decoder if it looks at the source."""

    def __init__(self, weights, name, heads, dropout, source=False):
        super().__init__()
        self.self_attention = SelfAttention(weights, name + ".self", heads)
        self.self_norm = norm(weights, name + ".self_norm")
        if source:
            self.source_attention = SourceAttention(weights, name + ".source", heads)
            self.source_norm = norm(weights, name + ".source_norm")
        self.feed_forward = FeedForward(weights, name + ".feed_forward", dropout)
        self.feed_forward_norm = norm(weights, name + ".feed_forward_norm")
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None, source=None):
        read = self.self_attention(self.self_norm(x), None if source else mask, causal=source is not None)
        x = x + self.dropout(read)
        return self.rest(x, mask, source)

    def step(self, x, keys, values, mask, source):
        batch, beam, width = x.shape
        read, keys, values = self.self_attention.step(self.self_norm(x).reshape(-1, 1, width), keys, values)
        x = x + read.view(batch, beam, width)
        return self.rest(x, mask, source), keys, values

    def rest(self, x, mask, source):
        if source:
            x = x + self.dropout(self.source_attention(self.source_norm(x), *source, mask))
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))


class Transformer(nn.Module):
    LAYERS, HEADS, DROPOUT, LONGEST = 3, 4, 0.2, 256

    def __init__(self, weights):
        super().__init__()
        self.source, self.target = embedding(weights, "source"), embedding(weights, "target")
        self.width = self.source.embedding_dim
        self.register_buffer("positions", sinusoids(self.LONGEST, self.width))

        def layers(side, **more):
            names = [f"{side}.layer{i}" for i in range(self.LAYERS)]
            return nn.ModuleList(Layer(weights, name, self.HEADS, self.DROPOUT, **more) for name in names)

        self.encoder, self.decoder = layers("encoder"), layers("decoder", source=True)
        self.encoder_norm, self.decoder_norm = norm(weights, "encoder.norm"), norm(weights, "decoder.norm")
        self.dropout = nn.Dropout(self.DROPOUT)
        self.whole = compiled(self.logits)

    def embed(self, table, ids, first=0):
        """The ids' last axis are places, or rows that all stand at the first."""
        return self.dropout(table(ids) * math.sqrt(self.width) + self.positions[first : first + ids.size(1)])

    def encode(self, source, mask):
        x = self.embed(self.source, source)
        for layer in self.encoder:
            x = layer(x, mask)
        return self.encoder_norm(x)

    def logits(self, source, mask, previous):
        read = self.encode(source, mask)
        y = self.embed(self.target, previous)
        for layer in self.decoder:
            y = layer(y, mask, layer.source_attention.read(read))
        return F.linear(self.decoder_norm(y), self.target.weight)

    def forward(self, source, lengths, previous):
        return self.whole(source, visible(lengths, source.size(1))[:, None, None], previous)

    # Decoding: the beam's rows ask the source as so many places of one sentence.

    def begin(self, source, lengths, beam):
        mask = visible(lengths, source.size(1))[:, None, None]
        read = self.encode(source, mask)
        memory = [part for layer in self.decoder for part in layer.source_attention.read(read)]
        nothing = torch.empty(len(source), beam, self.HEADS, 0, self.width // self.HEADS)
        return (mask, *memory), (nothing,) * (2 * self.LAYERS)

    def step(self, memory, state, previous, position):
        mask, *source = memory
        x = self.target(previous) * math.sqrt(self.width) + self.positions[position]
        after = []
        for i, layer in enumerate(self.decoder):
            keys, values = (part.flatten(0, 1) for part in state[2 * i : 2 * i + 2])
            x, keys, values = layer.step(x, keys, values, mask, source[2 * i : 2 * i + 2])
            after += [keys.unflatten(0, previous.shape), values.unflatten(0, previous.shape)]
        return F.linear(self.decoder_norm(x), self.target.weight), tuple(after)
