"""The attention benchmark in PyTorch: the families of bench/attention, each in the ways a PyTorch user has.

`way` chooses: sdpa is scaled_dot_product_attention, flex is FlexAttention (always compiled, as it is meant to be),
composed is ordinary ops, blocks is sdpa over blocks of neighbours where only neighbours are seen.
"""

import math

import torch
import torch.nn.functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from torch_parts import attention
from torch_tensors import compiled, differentiated, filled, inferred, leaf
from worker import spread_rows


def visible(n, causal, neighbours):
    """[n, n] or None: which pairs may be seen."""
    at = torch.arange(n)
    if causal:
        return at[:, None] >= at[None, :]
    if neighbours:
        return (at[:, None] - at[None, :]).abs() <= neighbours // 2
    return None


def as_bias(mask):
    return None if mask is None else torch.zeros(mask.shape).masked_fill(~mask, -math.inf)


def composed(q, k, v, bias):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(scores if bias is None else scores + bias, -1)


def in_blocks(n, neighbours):
    """Blocks of r/2 queries see themselves and the block on either side; the rest is masked."""
    reach = neighbours // 2
    if n % reach:
        raise ValueError(f"{n} positions are not whole blocks of {reach}")
    count = n // reach
    query = torch.arange(n).view(count, reach, 1)
    key = torch.arange(count).view(count, 1, 1) * reach + torch.arange(-reach, 2 * reach)
    bias = as_bias(((query - key).abs() <= reach) & (key >= 0) & (key < n))  # [count, reach, 3 reach]

    def around(x):  # [heads, n, width] → [heads, count, 3 reach, width]
        return F.pad(x, (0, 0, reach, reach)).unfold(1, 3 * reach, reach).transpose(-2, -1)

    def read(q, k, v):
        batch, heads, _, width = q.shape
        q, k, v = (x.reshape(batch * heads, n, width) for x in (q, k, v))
        q = q.view(batch * heads, count, reach, width)
        return F.scaled_dot_product_attention(q, around(k), around(v), attn_mask=bias).view(batch, heads, n, width)

    return read


def dot_reader(way, n, causal, neighbours):
    if way == "blocks":
        return in_blocks(n, neighbours)
    if way == "flex":
        mask = None
        if causal:
            mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, n, n, device="cpu")
        elif neighbours:
            reach = neighbours // 2
            mask = create_block_mask(lambda b, h, i, j: (i - j).abs() <= reach, None, None, n, n, device="cpu")
        return lambda q, k, v: flex_attention(q, k, v, block_mask=mask)
    if way == "sdpa":
        bias = as_bias(visible(n, False, neighbours))
        return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=bias, is_causal=causal)
    if way == "composed":
        bias = as_bias(visible(n, causal, neighbours))
        return lambda q, k, v: composed(q, k, v, bias) @ v
    raise ValueError(f"there is no way {way}")


def dot(settings):
    batch, heads, n = settings.number("batch", 1), settings.number("heads", 8), settings.number("n", 512)
    shape = (batch, heads, n, settings.number("width", 64))
    causal, neighbours = bool(settings.number("causal")), settings.number("neighbours")
    way, rows = settings.word("way"), spread_rows(settings.number("rows"), n)
    read = dot_reader(way, n, causal, neighbours)
    make = leaf if settings.number("training") else filled
    inputs = [make(shape, 1, 3.0), make(shape, 2), make(shape, 3)]
    if settings.number("training"):
        return differentiated(read, ["q", "k", "v"], inputs, filled(shape, 4))
    if not rows:
        return inferred(read, inputs)

    def with_rows(q, k, v):  # only the composed form has its weights
        weights = composed(q, k, v, None)
        return weights @ v, weights[:, :, rows]

    both = compiled(with_rows)

    @torch.inference_mode()
    def step(keep):
        y, weights = both(*inputs)
        return {"y": y, "weights": weights} if keep else None

    return step


def additive(settings):
    batch, n, m = settings.number("batch", 64), settings.number("n", 1), settings.number("m", 30)
    width = settings.number("width", 256)
    if settings.word("way", "composed") != "composed":
        raise ValueError("additive attention is composed in PyTorch")

    def read(q, k, v, values):
        scores = torch.tanh(q.unsqueeze(3) + k.unsqueeze(2)) @ v
        return torch.softmax(scores, -1) @ values

    inputs = [
        leaf((batch, 1, n, width), 1),
        leaf((batch, 1, m, width), 2),
        leaf((width,), 3, 0.3),
        leaf((batch, 1, m, width), 4),
    ]
    return differentiated(read, ["q", "k", "v", "values"], inputs, filled((batch, 1, n, width), 5))


def decoding(settings):
    batch, heads, width, keys = 32, 8, 64, settings.number("keys", 64)
    cache = (batch, heads, keys, width)
    layers = max(1, (1 << 27) // (2 * math.prod(cache)))
    caches = [(filled(cache, 2), filled(cache, 3))]
    caches += [(caches[0][0].clone(), caches[0][1].clone()) for _ in range(layers - 1)]
    q = filled((batch, heads, 1, width), 1, 3.0)
    read = compiled(dot_reader(settings.word("way"), keys, False, 0))
    turn = 0

    @torch.inference_mode()
    def step(keep):
        nonlocal turn
        y = read(q, *caches[turn % layers])
        turn += 1
        return {"y": y} if keep else None

    return step


FAMILIES = {"dot": dot, "additive": additive, "decoding": decoding, "attention": attention}
