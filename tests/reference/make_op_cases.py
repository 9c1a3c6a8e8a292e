"""Records what PyTorch computes for every op of the registry, for tests/autograd/op_parity_test.cpp to replay.

Run from the repository's root where PyTorch and NumPy are at hand (`pip install torch numpy`):

    python3 tests/reference/make_op_cases.py > tests/autograd/data/op_cases.jsonl

The committed file was made by PyTorch 2.15.0. Shapes, attributes and inputs are drawn from a fixed seed, one stream
an op, so that a new op leaves the other lines as they are. One JSON line a case:

    {"op", "attributes", "inputs": [{"shape", "values"}], "output": {"shape", "values"},
     "direction": values, "gradients": [values]}

`direction` is what backward starts from; the gradients are those of sum(output * direction). Inputs and directions are
multiples of 2^-8, exact in float and short in decimal; everything is computed in torch.float64. An op's name, inputs
and attributes mean what tests/autograd/ops/*_cases.cpp makes of them.
"""

import json
import sys
import zlib

import numpy as np
import torch
import torch.nn.functional as F

CASES = 5
GRID = 256  # numbers are multiples of 1 / GRID


class Draw:
    """Random shapes and numbers of one op."""

    def __init__(self, op):
        self.random = np.random.default_rng([20150519, zlib.crc32(op.encode())])
        self.case = 0  # which of the op's cases: lets an op walk through its variants

    def integer(self, low, high):  # both ends included
        return int(self.random.integers(low, high + 1))

    def choice(self, items):
        return items[self.integer(0, len(items) - 1)]

    def size(self):
        """Mostly small; now and then longer than a SIMD vector."""
        return self.integer(15, 35) if self.random.random() < 0.12 else self.integer(1, 5)

    def shape(self, low, high, last=None):
        """Small enough for a small file; `last` fixes the size of the last axis."""
        while True:
            shape = [self.size() for _ in range(self.integer(low, high))]
            if last is not None:
                shape[-1] = last
            if np.prod(shape) <= 80:
                return shape

    def normal(self, shape):
        return self._tensor(self.random.standard_normal(shape))

    def uniform(self, shape, low, high):
        return self._tensor(self.random.uniform(low, high, shape))

    def distinct(self, shape):
        """No two equal, for ops that pick the largest."""
        grid = np.arange(-3 * GRID, 3 * GRID) / GRID
        return self._tensor(self.random.choice(grid, int(np.prod(shape)), replace=False).reshape(shape))

    def ids(self, shape, bound):
        return self.random.integers(0, bound, shape).tolist()

    def mask(self, shape):
        return (self.random.random(shape) < 0.6).astype(int).tolist()

    def part_of(self, shape):
        """A shape that broadcasts to `shape`."""
        part = [1 if self.random.random() < 0.3 else size for size in shape]
        return part[self.integer(0, len(shape)):] if self.random.random() < 0.4 else part

    def _tensor(self, values):
        return torch.tensor(np.round(np.asarray(values) * GRID) / GRID, dtype=torch.float64)


OPS = {}  # name: draw → (inputs, attributes, function of the inputs)


def op(*names):
    def add(make):
        for name in names:
            OPS[name] = make
        return make

    return add


# Elementwise ---------------------------------------------------------------------------------------------------------


def binary(function, low=None, high=None):
    def make(draw):
        shape = draw.shape(1, 4)
        left, right = (shape, draw.part_of(shape)) if draw.case % 2 else (draw.part_of(shape), draw.part_of(shape))
        number = draw.normal if low is None else lambda s: draw.uniform(s, low, high)
        return [number(left), number(right)], {}, function

    return make


def unary(function, low=None, high=None):
    def make(draw):
        shape = draw.shape(0, 3) if draw.case else [37]
        return [draw.normal(shape) * 2 if low is None else draw.uniform(shape, low, high)], {}, function

    return make


op("add")(binary(torch.add))
op("subtract")(binary(torch.subtract))
op("multiply")(binary(torch.multiply))
op("divide")(binary(torch.divide, 0.5, 2))
op("negate")(unary(torch.neg))
op("tanh")(unary(torch.tanh))
op("sigmoid")(unary(torch.sigmoid))
op("relu")(unary(torch.relu))
op("relu6")(unary(F.relu6, -3, 9))
op("gelu")(unary(lambda x: F.gelu(x, approximate="tanh")))
op("exp")(unary(torch.exp))
op("log")(unary(torch.log, 0.25, 4))
op("sqrt")(unary(torch.sqrt, 0.25, 4))
op("square")(unary(torch.square))


@op("scale")
def _(draw):
    factor = draw.integer(-24, 24) / 8
    return [draw.normal(draw.shape(0, 3))], {"factor": factor}, lambda x: factor * x


@op("maxout")
def _(draw):
    pieces, units = draw.integer(1, 4), draw.size()
    shape = draw.shape(0, 2) if draw.case else []
    x = draw.distinct(shape[:2] + [pieces * units])
    return [x], {"pieces": pieces}, lambda x: x.reshape(*x.shape[:-1], units, pieces).amax(-1)


@op("glu")
def _(draw):
    return [draw.normal(draw.shape(1, 3, 2 * draw.size()))], {}, lambda x: F.glu(x, -1)


# Matrices ------------------------------------------------------------------------------------------------------------


@op("matmul")
def _(draw):
    flip_a, flip_b = bool(draw.case & 1), bool(draw.case & 2)
    m, k, n = draw.integer(1, 5), draw.size(), draw.integer(1, 5)
    batch = draw.shape(0, 2) if draw.case else []
    batch = [min(size, 3) for size in batch]
    left, right = (batch, draw.part_of(batch)) if draw.case % 3 else (draw.part_of(batch), batch)
    a = draw.normal(left + ([k, m] if flip_a else [m, k]))
    b = draw.normal(right + ([n, k] if flip_b else [k, n]))
    attributes = {"transpose_a": flip_a, "transpose_b": flip_b}
    return [a, b], attributes, lambda a, b: (a.mT if flip_a else a) @ (b.mT if flip_b else b)


ACTIVATIONS = {
    "identity": lambda x: x,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "gelu": lambda x: F.gelu(x, approximate="tanh"),
}


@op("linear")
def _(draw):
    activation = list(ACTIVATIONS)[draw.case % 5]
    shape, out = draw.shape(1, 3), draw.integer(1, 6)
    inputs = [draw.normal(shape), draw.normal([shape[-1], out])]
    if draw.case % 3 != 1:
        inputs.append(draw.normal([out]))

    def linear(x, weight, bias=None):
        return ACTIVATIONS[activation](F.linear(x, weight.T, bias))

    return inputs, {"activation": activation}, linear


# Reductions ----------------------------------------------------------------------------------------------------------


def along(function):
    def make(draw):
        shape = draw.shape(1, 4)
        axis = draw.integer(-len(shape), len(shape) - 1)
        return [draw.distinct(shape)], {"axis": axis}, lambda x: function(x, axis)

    return make


op("sum")(along(lambda x, axis: x.sum(axis)))
op("mean")(along(lambda x, axis: x.mean(axis)))
op("largest")(along(lambda x, axis: x.max(axis).values))


@op("sum_all")
def _(draw):
    return [draw.normal(draw.shape(0, 4))], {}, torch.sum


@op("mean_all")
def _(draw):
    return [draw.normal(draw.shape(0, 4))], {}, torch.mean


# Shapes --------------------------------------------------------------------------------------------------------------


@op("reshape")
def _(draw):
    shape = [draw.integer(1, 4) for _ in range(draw.integer(1, 4))]
    target = [int(size) for size in draw.random.permutation(shape)]
    if draw.case % 2:
        target = [int(np.prod(target[:2]))] + target[2:] + [1]
    return [draw.normal(shape)], {"shape": target}, lambda x: x.reshape(target)


@op("transpose")
def _(draw):
    shape = draw.shape(2, 4)
    axes = [draw.integer(-len(shape), len(shape) - 1) for _ in range(2)]
    return [draw.normal(shape)], {"axes": axes}, lambda x: x.transpose(*axes)


@op("slice")
def _(draw):
    shape = draw.shape(1, 4)
    axis = draw.integer(-len(shape), len(shape) - 1)
    begin = draw.integer(0, shape[axis])
    end = draw.integer(begin, shape[axis])
    attributes = {"axis": axis, "begin": begin, "end": end}
    return [draw.normal(shape)], attributes, lambda x: x.narrow(axis, begin, end - begin)


@op("split")
def _(draw):
    shape = draw.shape(1, 3)
    axis = draw.integer(-len(shape), len(shape) - 1)
    piece, middle = draw.integer(1, 3), draw.integer(0, 3)
    sizes = [piece, middle, piece]
    shape[axis] = sum(sizes)

    def recombined(x):
        first, _, last = x.split(sizes, axis)
        return torch.tanh(first) * last + first

    return [draw.normal(shape)], {"axis": axis, "sizes": sizes}, recombined


@op("concat")
def _(draw):
    shape = draw.shape(1, 3)
    axis = draw.integer(-len(shape), len(shape) - 1)
    parts = []
    for _ in range(draw.integer(1, 4)):
        part = list(shape)
        part[axis] = draw.integer(0, 4)
        parts.append(draw.normal(part))
    return parts, {"axis": axis}, lambda *parts: torch.cat(parts, axis)


@op("stack")
def _(draw):
    shape = draw.shape(0, 3)
    axis = draw.integer(-len(shape) - 1, len(shape))
    parts = [draw.normal(shape) for _ in range(draw.integer(1, 3))]
    return parts, {"axis": axis}, lambda *parts: torch.stack(parts, axis)


@op("pad")
def _(draw):
    shape = draw.shape(1, 3)
    axis = draw.integer(-len(shape), len(shape) - 1)
    before, after, value = draw.integer(0, 3), draw.integer(0, 3), draw.integer(-8, 8) / 8
    behind = len(shape) - 1 - axis % len(shape)  # F.pad counts axes from the last
    attributes = {"axis": axis, "before": before, "after": after, "value": value}
    return [draw.normal(shape)], attributes, lambda x: F.pad(x, [0, 0] * behind + [before, after], value=value)


@op("gather")
def _(draw):
    shape = draw.shape(1, 3)
    axis = draw.integer(-len(shape), len(shape) - 1)
    ids = draw.ids([draw.integer(1, 6)], shape[axis])
    return [draw.normal(shape)], {"axis": axis, "ids": ids}, lambda x: x.index_select(axis, torch.tensor(ids))


@op("pick")
def _(draw):
    shape = draw.shape(2, 3)
    ids = draw.ids(shape[:-1], shape[-1])
    return [draw.normal(shape)], {"ids": ids}, lambda x: x.gather(-1, torch.tensor(ids)[..., None])[..., 0]


@op("expand")
def _(draw):
    shape = draw.shape(1, 4)
    return [draw.normal(draw.part_of(shape))], {"shape": shape}, lambda x: x.expand(shape)


# Softmax -------------------------------------------------------------------------------------------------------------


def masked(draw, function):
    """The mask's empty rows are kept out of the exponentials and come out as zeros, as the registry's ops do."""
    shape = draw.shape(1, 4)
    if draw.case < 2:
        return [draw.normal(shape) * 2], {}, lambda x: function(x, -1)
    mask = draw.mask(draw.part_of(shape) if draw.case > 2 else shape)

    def apply(x):
        seen = torch.tensor(mask, dtype=torch.bool).expand(x.shape)
        empty = ~seen.any(-1, keepdim=True)
        y = function(torch.where(seen | empty, x, -torch.inf), -1)
        return torch.where(seen, y, 0.0)

    return [draw.normal(shape) * 2], {"mask": mask}, apply


op("softmax")(lambda draw: masked(draw, torch.softmax))
op("log_softmax")(lambda draw: masked(draw, torch.log_softmax))


# Norms ---------------------------------------------------------------------------------------------------------------

# Parts of attention --------------------------------------------------------------------------------------------------


@op("take_along")
def _(draw):
    n, m, classes = draw.integer(1, 4), draw.integer(1, 5), draw.integer(1, 4)
    ids = draw.ids([n, m], classes)
    lead = [draw.integer(1, 3) for _ in range(draw.integer(0, 2))]
    index = torch.tensor(ids).expand(*lead, n, m)
    return [draw.normal([*lead, n, classes])], {"ids": ids}, lambda x: torch.gather(x, -1, index)


@op("sum_along")
def _(draw):
    n, m, classes = draw.integer(1, 4), draw.integer(1, 5), draw.integer(1, 4)
    ids = draw.ids([n, m], classes)
    lead = [draw.integer(1, 3) for _ in range(draw.integer(0, 2))]
    index = torch.tensor(ids).expand(*lead, n, m)

    def summed(x):
        return torch.zeros([*lead, n, classes], dtype=x.dtype).scatter_add(-1, index, x)

    return [draw.normal([*lead, n, m])], {"ids": ids, "classes": classes}, summed


def simplex(power):
    """max(z - t, 0) ** power with sum 1, z = x / power, over the positions that take part. The support comes from a
    bisection of t; within it t has a closed form, which carries the gradient."""

    def row(x):
        z = x / power
        low, high = (z.max() - 1).item(), z.max().item()
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if ((z - middle).clamp(min=0) ** power).sum() > 1 else (low, middle)
        inside = z[z > high]
        mean = inside.mean()
        spread = ((inside - mean) ** 2).sum()
        t = mean - 1 / len(inside) if power == 1 else mean - ((1 - spread) / len(inside)) ** 0.5
        return (z - t).clamp(min=0) ** power

    def make(draw):
        shape = draw.shape(1, 3)
        mask = draw.mask(shape) if draw.case % 2 else None

        def apply(x):
            allowed = torch.ones(shape, dtype=bool) if mask is None else torch.tensor(mask, dtype=bool)
            rows = []
            for values, keep in zip(x.reshape(-1, shape[-1]), allowed.reshape(-1, shape[-1])):
                y = torch.zeros_like(values)
                rows.append(y.masked_scatter(keep, row(values[keep])) if keep.any() else values * 0)
            return torch.stack(rows).reshape(shape)

        return [draw.distinct(shape)], {} if mask is None else {"mask": mask}, apply

    return make


op("sparsemax")(simplex(1))
op("entmax15")(simplex(2))


@op("additive_scores")
def _(draw):
    batch, heads, n, m = draw.integer(1, 2), draw.integer(1, 2), draw.integer(1, 4), draw.integer(1, 5)
    width = draw.choice([1, 3, 17])
    attributes = {"lengths": [draw.integer(0, m) for _ in range(batch)]} if draw.case % 2 else {}

    features = draw.choice([0, 0, 1, 3])

    def scores(q, k, v, f=None, u=None):
        e = torch.tanh(q[:, :, :, None] + (k if f is None else k + f @ u)[:, :, None]) @ v
        if not attributes:
            return e
        return torch.where(torch.arange(m) < torch.tensor(attributes["lengths"])[:, None, None, None], e, 0.0)

    shapes = [[batch, heads, n, width], [batch, heads, m, width], [width]]
    if features:
        shapes += [[batch, heads, m, features], [features, width]]
    return [draw.normal(shape) for shape in shapes], attributes, scores


@op("fused_attention")
def _(draw):
    batch, heads, n, m = draw.integer(1, 2), draw.integer(1, 2), draw.integer(1, 4), draw.integer(1, 5)
    width, value = draw.integer(1, 4), draw.integer(1, 3)
    attributes = {"key_lengths": [draw.integer(0, m) for _ in range(batch)]}
    if draw.case % 2:
        attributes |= {"before": draw.integer(0, 2), "after": draw.integer(0, 2)}
    else:
        attributes |= {"scale": draw.choice([0.25, 0.5, 1.0])}

    def attention(q, k, v):
        i, j = torch.arange(n)[:, None], torch.arange(m)[None, :]
        seen = j < torch.tensor(attributes["key_lengths"])[:, None, None, None]
        if "before" in attributes:
            seen = seen & (j - i >= -attributes["before"]) & (j - i <= attributes["after"])
        seen = seen.expand(batch, heads, n, m)
        empty = ~seen.any(-1, keepdim=True)
        e = q @ k.transpose(-1, -2) * attributes.get("scale", width**-0.5)
        weights = torch.where(seen, torch.softmax(torch.where(seen | empty, e, -torch.inf), -1), 0.0)
        return weights @ v

    shapes = [batch, heads, n, width], [batch, heads, m, width], [batch, heads, m, value]
    return [draw.normal(shape) for shape in shapes], attributes, attention


@op("monotonic")
def _(draw):
    shape = draw.shape(1, 3)

    def scan(p, previous):
        reach, weights = torch.zeros_like(p[..., 0]), []
        for j in range(shape[-1]):
            passed = reach * (1 - p[..., j - 1]) if j else reach
            reach = passed + previous[..., j]
            weights.append(p[..., j] * reach)
        return torch.stack(weights, -1)

    return [draw.uniform(shape, 0.05, 0.95), draw.uniform(shape, 0.05, 0.95)], {}, scan


@op("layer_norm")
def _(draw):
    n = draw.integer(2, 20)
    x = draw.normal(draw.shape(1, 3, n))
    return [x, draw.normal([n]), draw.normal([n])], {}, lambda x, gain, bias: F.layer_norm(x, [n], gain, bias)


@op("residual_layer_norm")
def _(draw):
    n = draw.integer(2, 20)
    shape = draw.shape(1, 3, n)
    inputs = [draw.normal(shape), draw.normal(shape), draw.normal([n]), draw.normal([n])]
    return inputs, {}, lambda x, residual, gain, bias: F.layer_norm(x + residual, [n], gain, bias)


@op("weight_norm")
def _(draw):
    shape = draw.shape(2, 4)

    def weight_norm(v, g):
        return g * v / v.square().sum(tuple(range(v.dim() - 1)), keepdim=True).sqrt()

    return [draw.uniform(shape, 0.25, 2), draw.normal(shape[-1:])], {}, weight_norm


# Embedding and loss --------------------------------------------------------------------------------------------------


@op("embedding")
def _(draw):
    vocabulary, width = draw.integer(1, 8), draw.size()
    ids = draw.ids([draw.integer(1, 4) for _ in range(draw.integer(1, 2))], vocabulary)
    return [draw.normal([vocabulary, width])], {"ids": ids}, lambda table: F.embedding(torch.tensor(ids), table)


@op("cross_entropy")
def _(draw):
    classes = draw.integer(2, 20)
    shape = draw.shape(2, 3, classes)
    targets = draw.ids(shape[:-1], classes)
    smoothing = [0.0, 0.1, 0.25, 0.2, 0.3][draw.case % 5]
    average, spare = draw.case != 2, draw.case in (3, 5)
    attributes = {"targets": targets, "label_smoothing": smoothing, "average": average, "spare_target": spare}
    if draw.case in (1, 2, 3):
        attributes["ignore"] = int(np.ravel(targets)[-1] + 1) % classes  # the last target always takes part

    def loss(x):
        rows, wanted = x.reshape(-1, classes), torch.tensor(targets).reshape(-1)
        ignore = attributes.get("ignore", -1)
        if not spare:
            reduction = "mean" if average else "sum"
            return F.cross_entropy(rows, wanted, ignore_index=ignore, label_smoothing=smoothing, reduction=reduction)
        hot = F.one_hot(wanted, classes).to(x.dtype)
        q = (1 - smoothing) * hot + smoothing / (classes - 1) * (1 - hot)  # the smoothed mass spares the target
        each = -(q * torch.log_softmax(rows, -1)).sum(-1)[wanted != ignore]
        return each.mean() if average else each.sum()

    return [draw.normal(shape) * 2], attributes, loss


@op("linear_cross_entropy")
def _(draw):
    width, classes, biased = draw.integer(1, 5), draw.integer(2, 20), draw.case != 4
    shape = draw.shape(2, 3, width)
    targets = draw.ids(shape[:-1], classes)
    flip, smoothing = draw.case % 2 == 1, [0.0, 0.1, 0.25, 0.2, 0.3][draw.case]
    attributes = {"targets": targets, "label_smoothing": smoothing, "average": draw.case != 2, "flip": flip}
    if draw.case in (1, 2):
        attributes["ignore"] = int(np.ravel(targets)[-1] + 1) % classes  # the last target always takes part

    def loss(x, weight, bias=None):
        rows = F.linear(x.reshape(-1, width), weight if flip else weight.t(), bias)
        reduction, ignore = "mean" if attributes["average"] else "sum", attributes.get("ignore", -1)
        wanted = torch.tensor(targets).reshape(-1)
        return F.cross_entropy(rows, wanted, ignore_index=ignore, label_smoothing=smoothing, reduction=reduction)

    inputs = [draw.normal(shape), draw.normal([classes, width] if flip else [width, classes])]
    return inputs + [draw.normal([classes])] * biased, attributes, loss


# Convolutions and pooling: channels last here, in the middle in PyTorch ----------------------------------------------


def channels_first(x):
    return x.movedim(-1, 1)


def channels_last(x):
    return x.movedim(1, -1)


@op("conv1d")
def _(draw):
    stride, dilation, kernel = draw.integer(1, 3), draw.integer(1, 2), draw.integer(1, 4)
    padding = ["none", "same", "causal", "same", "none"][draw.case % 5]
    span = dilation * (kernel - 1)
    front = {"none": 0, "same": span // 2, "causal": span}[padding]
    behind = span - front if padding == "same" else 0
    channels, out = draw.integer(1, 4), draw.integer(1, 4)
    time = draw.integer(span + 1 if padding == "none" else 1, 9)
    inputs = [draw.normal([draw.integer(1, 2), time, channels]), draw.normal([kernel, channels, out])]
    if draw.case % 2 == 0:
        inputs.append(draw.normal([out]))

    def conv1d(x, weight, bias=None):
        padded = F.pad(channels_first(x), [front, behind])
        return channels_last(F.conv1d(padded, weight.permute(2, 1, 0), bias, stride=stride, dilation=dilation))

    return inputs, {"stride": stride, "dilation": dilation, "padding": padding}, conv1d


@op("conv2d")
def _(draw):
    ranges = (1, 2), (1, 2), (1, 3), (0, 2)
    stride, dilation, kernel, padding = ([draw.integer(low, high) for _ in range(2)] for low, high in ranges)
    sizes = [draw.integer(max(1, d * (k - 1) + 1 - 2 * p), 6) for k, d, p in zip(kernel, dilation, padding)]
    channels, out = draw.integer(1, 3), draw.integer(1, 3)
    inputs = [draw.normal([draw.integer(1, 2), *sizes, channels]), draw.normal([*kernel, channels, out])]
    if draw.case % 2 == 0:
        inputs.append(draw.normal([out]))

    def conv2d(x, weight, bias=None):
        return channels_last(F.conv2d(channels_first(x), weight.permute(3, 2, 0, 1), bias, stride, padding, dilation))

    return inputs, {"stride": stride, "dilation": dilation, "padding": padding}, conv2d


@op("depthwise_conv2d")
def _(draw):
    ranges = (1, 2), (1, 2), (1, 3), (0, 2)
    stride, dilation, kernel, padding = ([draw.integer(low, high) for _ in range(2)] for low, high in ranges)
    behind = [draw.integer(0, 1) for _ in range(2)]
    sizes = [draw.integer(max(1, d * (k - 1) + 1 - 2 * p), 6) for k, d, p in zip(kernel, dilation, padding)]
    channels = draw.integer(1, 4)
    inputs = [draw.normal([draw.integer(1, 2), *sizes, channels]), draw.normal([*kernel, channels])]
    if draw.case % 2 == 0:
        inputs.append(draw.normal([channels]))

    def depthwise_conv2d(x, weight, bias=None):
        padded = F.pad(channels_first(x), (padding[1], padding[1] + behind[1], padding[0], padding[0] + behind[0]))
        kernels = weight.permute(2, 0, 1).unsqueeze(1)
        return channels_last(F.conv2d(padded, kernels, bias, stride, 0, dilation, groups=channels))

    attributes = {"stride": stride, "dilation": dilation, "padding": padding, "behind": behind}
    return inputs, attributes, depthwise_conv2d


def pooling(function, axes):
    def make(draw):
        window = [draw.integer(1, 4) for _ in range(axes)]
        padding = [draw.integer(0, size // 2) for size in window]
        stride = [draw.integer(1, 3) for _ in range(axes)]
        sizes = [draw.integer(w, 7) for w in window]
        x = draw.distinct([draw.integer(1, 2), *sizes, draw.integer(1, 3)])
        plain = (lambda pair: pair[0]) if axes == 1 else (lambda pair: pair)
        attributes = {"window": plain(window), "padding": plain(padding)}
        if draw.case:
            attributes["stride"] = plain(stride)
        else:
            stride = window
        return [x], attributes, lambda x: channels_last(function(channels_first(x), window, stride, padding))

    return make


op("max_pool1d")(pooling(F.max_pool1d, 1))
op("max_pool2d")(pooling(F.max_pool2d, 2))
op("mean_pool1d")(pooling(lambda *given: F.avg_pool1d(*given, count_include_pad=False), 1))
op("mean_pool2d")(pooling(lambda *given: F.avg_pool2d(*given, count_include_pad=False), 2))


# Recurrent cells -----------------------------------------------------------------------------------------------------


def lstm_cell(x, states, weights, _):
    w, u, *bias = weights
    return torch.lstm_cell(x, states, w.T, u.T, bias[0] if bias else None, torch.zeros_like(bias[0]) if bias else None)


def gru_cell(x, states, weights, form):
    """PyTorch's own where it has the form, else the equations. Gates stand in the order r, z, n."""
    (h,), (w, u, *biases), n = states, weights, states[0].shape[1]
    bias = biases[0] if biases else torch.zeros(3 * n, dtype=x.dtype)
    inner_bias = biases[1] if len(biases) > 1 else torch.zeros(n, dtype=x.dtype)
    if form == {"reset": "after", "update": "keeps"}:
        return (torch.gru_cell(x, h, w.T, u.T, bias, torch.cat([torch.zeros_like(bias[n:]), inner_bias])),)
    from_x, from_h = x @ w + bias, h @ u
    r, z = torch.sigmoid(from_x + from_h)[:, : 2 * n].chunk(2, 1)
    if form["reset"] == "after":
        candidate = torch.tanh(from_x[:, 2 * n :] + r * (from_h[:, 2 * n :] + inner_bias))
    else:
        candidate = torch.tanh(from_x[:, 2 * n :] + (r * h) @ u[:, 2 * n :])
    return (z * h + (1 - z) * candidate,) if form["update"] == "keeps" else ((1 - z) * h + z * candidate,)


def over_time(cell, x, states, attributes):
    """Outputs [batch, time, hidden] and last states, sentence by sentence, so that padding cannot take part."""
    batch, time = x.shape[:2]
    lengths = attributes.get("lengths", [time] * batch)
    outputs, last = [], []
    for sentence, length in enumerate(lengths):
        state = tuple(each[sentence : sentence + 1] for each in states)
        rows = [torch.zeros_like(state[0])] * time
        for t in reversed(range(length)) if attributes["reverse"] else range(length):
            state = cell(x[sentence : sentence + 1, t], state)
            rows[t] = state[0]
        outputs.append(torch.cat(rows))
        last.append(state)
    return torch.stack(outputs), [torch.cat(each) for each in zip(*last)]


def recurrent(cell, gates, result, step=False, bias_per_sentence=False):
    """`result` makes the op's value of outputs and last states, or of the states after one step."""

    def make(draw):
        batch = time = draw.integer(1, 3)
        width, hidden = draw.integer(1, 4), draw.integer(1, 4)
        attributes = {"bias": int(draw.case != 1 or bias_per_sentence), "initial": int(draw.case in (1, 3, 4))}
        form = {}
        if gates == 3:
            form = {"reset": ["after", "before"][draw.case > 2], "update": ["keeps", "takes"][draw.case in (2, 4)]}
            attributes.update(form)
        if not step:
            attributes["reverse"] = int(draw.case in (2, 3))
            if draw.case:
                attributes["lengths"] = [draw.integer(0, time) for _ in range(batch - 1)] + [time]
        inputs = [draw.normal([batch, width] if step else [batch, time, width])]
        inputs += [draw.uniform(shape, -0.75, 0.75) for shape in ([width, gates * hidden], [hidden, gates * hidden])]
        if attributes["bias"]:
            inputs.append(draw.normal([batch, gates * hidden] if bias_per_sentence else [gates * hidden]))
            if form.get("reset") == "after":
                inputs.append(draw.normal([hidden]))
        count = 2 if gates == 4 else 1
        if attributes["initial"]:
            inputs += [draw.normal([batch, hidden]) for _ in range(count)]

        def apply(x, *rest, opposite=False):
            if attributes["initial"]:
                weights, states = rest[:-count], rest[-count:]
            else:
                weights, states = rest, (torch.zeros(batch, hidden, dtype=x.dtype),) * count
            if bias_per_sentence:  # the same as one more input through the identity
                w, u, bias, *inner = weights
                x = torch.cat([x, bias[:, None].expand(-1, time, -1)], -1)
                shared = [torch.zeros_like(bias[0]), *inner] if inner else []
                weights = (torch.cat([w, torch.eye(gates * hidden, dtype=x.dtype)]), u, *shared)
            if step:
                return result(*cell(x, states, weights, form))
            given = {**attributes, "reverse": attributes["reverse"] ^ opposite}
            outputs, last = over_time(lambda now, state: cell(now, state, weights, form), x, states, given)
            return result(outputs, last, given)

        return inputs, attributes, apply

    return make


def both_ways(cell, gates, result):
    """Two cells read the same words in opposite directions; the second one's inputs stand behind the first one's."""

    def make(draw):
        inputs, attributes, run = recurrent(cell, gates, lambda outputs, last, _: (outputs, last))(draw)
        inputs += [draw.uniform(list(each.shape), -0.75, 0.75) for each in inputs[1:]]

        def apply(x, *rest):
            half = len(rest) // 2
            (ahead, last), (back, first) = run(x, *rest[:half]), run(x, *rest[half:], opposite=True)
            return result(torch.cat([ahead, back], -1), last, first)

        return inputs, attributes, apply

    return make


op("lstm")(recurrent(lstm_cell, 4, lambda outputs, last, _: outputs))
op("gru")(recurrent(gru_cell, 3, lambda outputs, last, _: outputs))
op("lstm_bias_per_sentence")(recurrent(lstm_cell, 4, lambda outputs, last, _: outputs, bias_per_sentence=True))
op("gru_bias_per_sentence")(recurrent(gru_cell, 3, lambda outputs, last, _: outputs, bias_per_sentence=True))
op("further_result")(recurrent(lstm_cell, 4, lambda _, last, given: last[0] * last[1] if given["reverse"] else last[1]))
op("lstm_all_results")(
    recurrent(lstm_cell, 4, lambda outputs, last, _: torch.tanh(outputs) * (last[0] + last[1].square()))
)
op("gru_all_results")(recurrent(gru_cell, 3, lambda outputs, last, _: torch.tanh(outputs) * last[0]))
op("lstm_step")(recurrent(lstm_cell, 4, lambda hidden, cell: hidden + cell.square(), step=True))
op("gru_step")(recurrent(gru_cell, 3, lambda hidden: hidden, step=True))
op("lstm_both_ways")(both_ways(lstm_cell, 4, lambda outputs, *_: outputs))
op("gru_both_ways")(both_ways(gru_cell, 3, lambda outputs, *_: outputs))
op("lstm_both_ways_all_results")(
    both_ways(
        lstm_cell, 4, lambda outputs, a, b: torch.tanh(outputs).sum() * (a[0] + a[1].square()) * (b[1] - b[0])
    )
)
op("gru_both_ways_all_results")(
    both_ways(gru_cell, 3, lambda outputs, a, b: torch.tanh(outputs).sum() * a[0] * b[0].square())
)


# ---------------------------------------------------------------------------------------------------------------------


def values(tensor):
    return [float(f"{x:.10g}") for x in tensor.detach().reshape(-1).tolist()]


def described(tensor):
    return {"shape": list(tensor.shape), "values": values(tensor)}


def record(name, draw):
    inputs, attributes, function = OPS[name](draw)
    for x in inputs:
        x.requires_grad_(True)
    output = function(*inputs)
    direction = draw.normal(list(output.shape))
    output.backward(direction)
    return {
        "op": name,
        "attributes": attributes,
        "inputs": [described(x) for x in inputs],
        "output": described(output),
        "direction": values(direction),
        "gradients": [values(x.grad if x.grad is not None else torch.zeros_like(x)) for x in inputs],
    }


def main():
    for name in OPS:
        draw = Draw(name)
        for draw.case in range(CASES):
            json.dump(record(name, draw), sys.stdout, separators=(",", ":"))
            print()


if __name__ == "__main__":
    main()
