"""src/models/convs2s.cpp in PyTorch (Gehring et al. 2017), small preset."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

from torch_tensors import compiled
from torch_translation_parts import embedding, parameter, visible

ROOT_HALF = math.sqrt(0.5)


def normed(layer, weights, name, axes):
    """The layer with weight norm: Heed's direction [..., in, out] with its axes in PyTorch's order."""
    weight_norm(layer)
    direction = weights[name + ".direction"].permute(axes)
    layer.parametrizations.weight.original1 = parameter(direction)
    layer.parametrizations.weight.original0 = parameter(weights[name + ".norm"].view(-1, *[1] * (direction.dim() - 1)))
    layer.bias = parameter(weights[name + ".bias"])
    return layer


def normed_linear(weights, name):
    return normed(nn.Linear(*weights[name + ".direction"].shape), weights, name, (1, 0))


def normed_convolution(weights, name):
    kernel, inputs, outputs = weights[name + ".direction"].shape
    return normed(nn.Conv1d(inputs, outputs, kernel), weights, name, (2, 1, 0))


class DecoderLayer(nn.Module):
    def __init__(self, weights, name):
        super().__init__()
        self.convolution = normed_convolution(weights, name + ".convolution")
        self.query = normed_linear(weights, name + ".query")
        self.context = normed_linear(weights, name + ".context")

    def attend(self, h, g, keys, values, mask, root):
        scores = ((self.query(h) + g) * ROOT_HALF) @ keys + mask
        context = torch.softmax(scores, -1) @ values * root
        return (self.context(context) + h) * ROOT_HALF


class ConvS2S(nn.Module):
    LAYERS, DECODER_LAYERS, DROPOUT = 4, 3, 0.2

    def __init__(self, weights):
        super().__init__()
        self.source, self.target = embedding(weights, "source"), embedding(weights, "target")
        self.source_positions = embedding(weights, "source.positions")
        self.target_positions = embedding(weights, "target.positions")
        self.encoder_in, self.encoder_out = (normed_linear(weights, "encoder." + way) for way in ("in", "out"))
        self.decoder_in, self.decoder_out = (normed_linear(weights, "decoder." + way) for way in ("in", "out"))
        self.encoder = nn.ModuleList(normed_convolution(weights, f"encoder.layer{i}") for i in range(self.LAYERS))
        self.decoder = nn.ModuleList(DecoderLayer(weights, f"decoder.layer{i}") for i in range(self.DECODER_LAYERS))
        self.output = normed_linear(weights, "output")
        self.kernel = self.encoder[0].kernel_size[0]
        self.whole = compiled(self.logits)

    def drop(self, x):
        return F.dropout(x, self.DROPOUT, self.training)

    def embed(self, words, positions, ids):
        return self.drop(words(ids) + positions.weight[: ids.size(1)])

    def encode(self, source, real):
        """Keys [batch, embedding, m], values [batch, m, embedding], what hides the padding, √m."""
        e = self.embed(self.source, self.source_positions, source)
        x = self.encoder_in(e).transpose(1, 2)  # channels before time, as nn.Conv1d has it
        channels = real.unsqueeze(1)
        for convolution in self.encoder:
            inputs = F.pad(self.drop(x * channels), [self.kernel // 2] * 2)
            x = (F.glu(convolution(inputs), 1) + x) * ROOT_HALF
        z = self.encoder_out(x.transpose(1, 2))
        share = 0.5 / self.DECODER_LAYERS  # of the gradient that goes on
        z = share * z + (1 - share) * z.detach()
        mask = torch.zeros_like(real).masked_fill(real == 0, -torch.inf).unsqueeze(1)
        return z.transpose(1, 2), (z + e) * ROOT_HALF, mask, real.sum(1).sqrt()[:, None, None]

    def logits(self, source, real, previous):
        memory = self.encode(source, real)
        g = self.embed(self.target, self.target_positions, previous)
        x = self.decoder_in(g)
        for layer in self.decoder:
            inputs = F.pad(self.drop(x).transpose(1, 2), (self.kernel - 1, 0))
            h = F.glu(layer.convolution(inputs), 1).transpose(1, 2)
            x = (layer.attend(h, g, *memory) + x) * ROOT_HALF
        return self.output(self.drop(self.decoder_out(x)))

    def forward(self, source, lengths, previous):
        return self.whole(source, visible(lengths, source.size(1)).float(), previous)

    # Decoding: each layer's last inputs are the state, [batch, beam, hidden, kernel - 1].

    def begin(self, source, lengths, beam):
        memory = self.encode(source, visible(lengths, source.size(1)).float())
        nothing = torch.zeros(len(source), beam, self.encoder_in.out_features, self.kernel - 1)
        return memory, (nothing,) * self.DECODER_LAYERS

    def step(self, memory, state, previous, position):
        g = self.target(previous) + self.target_positions.weight[position]
        x = self.decoder_in(g)
        after = []
        for layer, before in zip(self.decoder, state):
            seen = torch.cat([before, x.unsqueeze(-1)], -1)
            h = F.glu(F.linear(seen.flatten(2), layer.convolution.weight.flatten(1), layer.convolution.bias), -1)
            after.append(seen[..., 1:])
            x = (layer.attend(h, g, *memory) + x) * ROOT_HALF
        return self.output(self.decoder_out(x)), tuple(after)
