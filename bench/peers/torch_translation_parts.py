"""What the translation models in PyTorch share: weights by Heed's names, in PyTorch's layouts."""

import torch
from torch import nn


def parameter(tensor):
    return nn.Parameter(tensor.clone(memory_format=torch.contiguous_format))


def embedding(weights, name):
    return nn.Embedding.from_pretrained(weights[name + ".table"].clone(), freeze=False)


def linear(weights, *names):
    """Heed's [in, out] as nn.Linear; several of them over the same input become one."""
    joined = torch.cat([weights[name + ".weight"] for name in names], 1)
    biased = names[0] + ".bias" in weights
    layer = nn.Linear(*joined.shape, bias=biased)
    layer.weight = parameter(joined.t())
    if biased:
        layer.bias = parameter(torch.cat([weights[name + ".bias"] for name in names]))
    return layer


def reversal(lengths, time):
    """[batch, time]: where to find each place when every sentence is read backwards; padding stays where it is."""
    places = torch.arange(time).expand(len(lengths), time)
    return torch.where(places < lengths.unsqueeze(1), lengths.unsqueeze(1) - 1 - places, places)


def visible(lengths, time):
    """[batch, time]: true for the real words."""
    return torch.arange(time) < lengths.unsqueeze(1)
