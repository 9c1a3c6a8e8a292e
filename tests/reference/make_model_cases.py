"""Records what the six translation systems compute, for tests/models/reference_gradient_test.cpp to replay.

Run from the repository's root where PyTorch is at hand (`pip install torch numpy`):

    python3 tests/reference/make_model_cases.py > tests/models/data/model_cases.json

The committed file was made by PyTorch 2.15.0. Each system is written out from the equations on top of its header,
src/models/<system>.h, one sentence at a time and without padding, in torch.float64. A case has

    name, system, settings    what to build: the fields that differ from the system's "paper" preset
    logits                    [sentences][words][outputs]
    loss                      summed cross-entropy
    gradients                 of the loss, by parameter: {name: {shape, values}}
    losses                    of ten steps of plain gradient descent, each before its step

Parameters are a function of their names and places (`filled`), so that none has to be stored.
"""

import json
import math
import sys

import torch
import torch.nn.functional as F

INPUTS, OUTPUTS, END = 11, 13, 2
SOURCES = [[3, 7, 4, 9, END], [5, 10, END]]
PREVIOUS = [[1, 4, 8], [1, 9, 12, 3]]
EXPECTED = [[*words[1:], END] for words in PREVIOUS]
STEPS, RATE = 10, 0.1
ROOT_HALF = math.sqrt(0.5)


def filled(name, shape):
    """Numbers in ±0.3 that depend on the name and the place alone."""
    start = 2166136261  # FNV-1a
    for byte in name.encode():
        start = (start ^ byte) * 16777619 % 2**32
    values = []
    for i in range(math.prod(shape)):
        h = (i * 2654435761 + start) % 2**32
        h = (h ^ h >> 15) * 2246822519 % 2**32
        h = (h ^ h >> 13) * 3266489917 % 2**32
        values.append(((h ^ h >> 16) / 2**32 - 0.5) * 0.6)
    return torch.tensor(values, dtype=torch.float64).reshape(shape).requires_grad_()


class Model:
    """Parameters by name. A system adds its own and gives logits [n, outputs] of one pair."""

    def __init__(self, settings):
        self.weights = {}
        self.settings = settings
        self.build(**{name.replace("-", "_"): value for name, value in settings.items()})

    def add(self, name, *shape):
        self.weights[name] = filled(name, shape)

    def add_linear(self, name, inputs, outputs, bias=True):
        self.add(name + ".weight", inputs, outputs)
        if bias:
            self.add(name + ".bias", outputs)

    def linear(self, name, x):
        bias = self.weights.get(name + ".bias")
        y = x @ self.weights[name + ".weight"]
        return y if bias is None else y + bias

    def words(self, side, ids):
        return self.weights[side + ".table"][ids]

    def add_tables(self, width):
        self.add("source.table", INPUTS, width)
        self.add("target.table", OUTPUTS, width)

    # Recurrent cells, one step; `more` is a part of the gates that is known already.

    def add_cell(self, name, gates, inputs, hidden):
        self.add(name + ".input", inputs, gates * hidden)
        self.add(name + ".recurrent", hidden, gates * hidden)
        self.add(name + ".bias", gates * hidden)

    def gates(self, name, x, more):
        return x @ self.weights[name + ".input"] + self.weights[name + ".bias"] + more

    def gru(self, name, x, h, keeps, more=0.0):
        """The reset gate acts before the product; the update gate keeps the state or takes the candidate."""
        of_r, of_z, of_n = self.gates(name, x, more).chunk(3)
        r_map, z_map, n_map = self.weights[name + ".recurrent"].chunk(3, 1)
        r, z = torch.sigmoid(of_r + h @ r_map), torch.sigmoid(of_z + h @ z_map)
        n = torch.tanh(of_n + (r * h) @ n_map)
        return z * h + (1 - z) * n if keeps else (1 - z) * h + z * n

    def lstm(self, name, x, h, c, more=0.0):
        i, f, g, o = (self.gates(name, x, more) + h @ self.weights[name + ".recurrent"]).chunk(4)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c

    def stack(self, name, x, states, more=0.0):
        """One step of stacked LSTMs: their new states, the last one's h on top."""
        after = []
        for i, (h, c) in enumerate(states):
            after.append(self.lstm(f"{name}.layer{i}", x, h, c, more if i == 0 else 0.0))
            x = after[-1][0]
        return after


class Seq2SeqLstm(Model):
    def build(self, layers, embedding, hidden):
        self.layers, self.hidden = layers, hidden
        self.add_tables(embedding)
        for side in ("encoder", "decoder"):
            for i in range(layers):
                self.add_cell(f"{side}.layer{i}", 4, hidden if i else embedding, hidden)
        self.add_linear("output", hidden, OUTPUTS)

    def logits(self, source, previous):
        states = [(torch.zeros(self.hidden).double(),) * 2] * self.layers
        for x in self.words("source", source).flip(0):
            states = self.stack("encoder", x, states)
        tops = []
        for y in self.words("target", previous):
            states = self.stack("decoder", y, states)
            tops.append(states[-1][0])
        return self.linear("output", torch.stack(tops))


class Seq2SeqGru(Model):
    def build(self, embedding, hidden, maxout, rank):
        self.hidden = hidden
        self.add_tables(embedding)
        self.add_cell("encoder", 3, embedding, hidden)
        self.add_cell("decoder", 3, embedding, hidden)
        self.add_linear("context", hidden, hidden)
        self.add_linear("start", hidden, hidden)
        self.add_linear("decoder.context", hidden, 3 * hidden, bias=False)
        self.add_linear("readout.context", hidden, 2 * maxout)
        self.add_linear("readout", hidden + embedding, 2 * maxout, bias=False)
        self.add_linear("output.narrow", maxout, rank, bias=False)
        self.add_linear("output", rank, OUTPUTS)

    def logits(self, source, previous):
        h = torch.zeros(self.hidden).double()
        for x in self.words("source", source):
            h = self.gru("encoder", x, h, keeps=True)
        context = torch.tanh(self.linear("context", h))
        h = torch.tanh(self.linear("start", context))
        rows = []
        for y in self.words("target", previous):
            h = self.gru("decoder", y, h, keeps=True, more=self.linear("decoder.context", context))
            units = self.linear("readout", torch.cat([h, y])) + self.linear("readout.context", context)
            rows.append(self.linear("output", self.linear("output.narrow", units.reshape(-1, 2).amax(1))))
        return torch.stack(rows)


class RnnSearch(Model):
    def build(self, embedding, hidden, maxout):
        self.hidden = hidden
        self.add_tables(embedding)
        self.add_cell("encoder.forward", 3, embedding, hidden)
        self.add_cell("encoder.backward", 3, embedding, hidden)
        self.add_linear("start", hidden, hidden)
        self.add_linear("attention.score.query", hidden, hidden, bias=False)
        self.add_linear("attention.score.key", 2 * hidden, hidden, bias=False)
        self.add("attention.score.v", hidden)
        self.add_cell("decoder", 3, 2 * hidden, hidden)
        self.add_linear("decoder.words", embedding, 3 * hidden, bias=False)
        self.add_linear("readout", 3 * hidden + embedding, 2 * maxout)
        self.add_linear("output", maxout, OUTPUTS)

    def read(self, way, xs):
        h, states = torch.zeros(self.hidden).double(), []
        for x in xs:
            h = self.gru("encoder." + way, x, h, keeps=False)
            states.append(h)
        return torch.stack(states)

    def logits(self, source, previous):
        xs = self.words("source", source)
        back = self.read("backward", xs.flip(0)).flip(0)
        annotations = torch.cat([self.read("forward", xs), back], 1)
        s, rows = torch.tanh(self.linear("start", back[0])), []
        for y in self.words("target", previous):
            asked = self.linear("attention.score.query", s) + self.linear("attention.score.key", annotations)
            weights = torch.softmax(torch.tanh(asked) @ self.weights["attention.score.v"], 0)
            context = weights @ annotations
            units = self.linear("readout", torch.cat([s, y, context])).reshape(-1, 2).amax(1)
            rows.append(self.linear("output", units))
            s = self.gru("decoder", context, s, keeps=False, more=self.linear("decoder.words", y))
        return torch.stack(rows)


class Luong(Model):
    """Global or local-p attention with the general score, and input feeding."""

    def build(self, layers, embedding, hidden, window, half_width=0, tied=False):
        self.layers, self.hidden, self.reach, self.tied = layers, hidden, half_width, tied
        self.local = window == "local-p"
        self.add_tables(embedding)
        for i in range(layers):
            self.add_cell(f"encoder.layer{i}", 4, hidden if i else embedding, hidden)
            self.add_cell(f"decoder.layer{i}", 4, hidden, hidden)
        self.add_linear("decoder.words", embedding, 4 * hidden, bias=False)
        self.add_linear("attention.score", hidden, hidden, bias=False)
        if self.local:
            self.add_linear("attention.window.hidden", hidden, hidden, bias=False)
            self.add_linear("attention.window.centre", hidden, 1, bias=False)
        self.add_linear("combine", 2 * hidden, hidden, bias=False)
        if tied:
            self.add("output.bias", OUTPUTS)
        else:
            self.add_linear("output", hidden, OUTPUTS)

    def weights_of(self, h, annotations):
        scores = self.linear("attention.score", annotations) @ h  # W maps keys: [keys, queries]
        if not self.local:
            return torch.softmax(scores, 0)
        places = torch.arange(len(annotations)).double()
        predicted = self.linear("attention.window.centre", torch.tanh(self.linear("attention.window.hidden", h)))
        centre = (len(annotations) - 1) * torch.sigmoid(predicted)
        outside = (places - centre.detach().floor()).abs() > self.reach
        gain = torch.exp(-((places - centre) ** 2) / (2 * (self.reach / 2) ** 2))
        return torch.softmax(scores.masked_fill(outside, -math.inf), 0) * gain

    def logits(self, source, previous):
        states = [(torch.zeros(self.hidden).double(),) * 2] * self.layers
        tops = []
        for x in self.words("source", source).flip(0):
            states = self.stack("encoder", x, states)
            tops.append(states[-1][0])
        annotations = torch.stack(tops[::-1])
        fed, rows = torch.zeros(self.hidden).double(), []
        for y in self.words("target", previous):
            states = self.stack("decoder", fed, states, more=self.linear("decoder.words", y))
            h = states[-1][0]
            context = self.weights_of(h, annotations) @ annotations
            fed = torch.tanh(self.linear("combine", torch.cat([context, h])))
            rows.append(fed)
        tops = torch.stack(rows)
        if self.tied:
            return F.linear(tops, self.weights["target.table"], self.weights["output.bias"])
        return self.linear("output", tops)


class ConvS2S(Model):
    def build(self, layers, decoder_layers, embedding, hidden, kernel, longest):
        self.layers, self.decoder_layers, self.kernel, self.longest = layers, decoder_layers, kernel, longest
        self.add_tables(embedding)
        for side in ("source", "target"):
            self.add(side + ".positions.table", longest, embedding)
        self.add_normed("encoder.in", embedding, hidden)
        self.add_normed("encoder.out", hidden, embedding)
        for i in range(layers):
            self.add_normed(f"encoder.layer{i}", kernel, hidden, 2 * hidden)
        self.add_normed("decoder.in", embedding, hidden)
        self.add_normed("decoder.out", hidden, embedding)
        for i in range(decoder_layers):
            self.add_normed(f"decoder.layer{i}.convolution", kernel, hidden, 2 * hidden)
            self.add_normed(f"decoder.layer{i}.query", hidden, embedding)
            self.add_normed(f"decoder.layer{i}.context", embedding, hidden)
        self.add_normed("output", embedding, OUTPUTS)

    def add_normed(self, name, *shape):
        self.add(name + ".direction", *shape)
        self.add(name + ".norm", shape[-1])
        self.add(name + ".bias", shape[-1])

    def weight(self, name):
        v = self.weights[name + ".direction"]
        return self.weights[name + ".norm"] * v / v.flatten(0, -2).norm(dim=0)

    def map(self, name, x):
        return x @ self.weight(name) + self.weights[name + ".bias"]

    def convolution(self, name, x, before, after):
        """x [time, hidden], padded with zeros before and after."""
        padded = F.pad(x.t().unsqueeze(0), (before, after))
        y = F.conv1d(padded, self.weight(name).permute(2, 1, 0), self.weights[name + ".bias"])
        return F.glu(y.squeeze(0).t(), 1)

    def embed(self, side, ids):
        places = torch.arange(len(ids)).clamp(max=self.longest - 1)
        return self.words(side, ids) + self.weights[side + ".positions.table"][places]

    def logits(self, source, previous):
        e = self.embed("source", source)
        x = self.map("encoder.in", e)
        for i in range(self.layers):
            half = (self.kernel - 1) // 2
            x = ROOT_HALF * (self.convolution(f"encoder.layer{i}", x, half, half) + x)
        z = self.map("encoder.out", x)
        z.register_hook(lambda gradient: gradient / (2 * self.decoder_layers))
        values = ROOT_HALF * (z + e)
        g = self.embed("target", previous)
        x = self.map("decoder.in", g)
        for i in range(self.decoder_layers):
            layer = f"decoder.layer{i}"
            h = self.convolution(layer + ".convolution", x, self.kernel - 1, 0)
            d = ROOT_HALF * (self.map(layer + ".query", h) + g)
            context = math.sqrt(len(source)) * torch.softmax(d @ z.t(), 1) @ values
            x = ROOT_HALF * (x + ROOT_HALF * (h + self.map(layer + ".context", context)))
        return self.map("output", self.map("decoder.out", x))


class Transformer(Model):
    def build(self, layers, decoder_layers, width, feed_forward, heads, norm):
        self.layers, self.decoder_layers, self.width, self.heads = layers, decoder_layers, width, heads
        self.pre = norm == "pre"
        self.add_tables(width)
        for side, count in (("encoder", layers), ("decoder", decoder_layers)):
            for i in range(count):
                layer = f"{side}.layer{i}."
                for what in ("self", "source") if side == "decoder" else ("self",):
                    for part in ("query", "key", "value", "output"):
                        self.add_linear(f"{layer}{what}.{part}", width, width)
                    self.add_norm(f"{layer}{what}_norm", width)
                self.add_linear(layer + "feed_forward.inner", width, feed_forward)
                self.add_linear(layer + "feed_forward.outer", feed_forward, width)
                self.add_norm(layer + "feed_forward_norm", width)
            if self.pre:
                self.add_norm(side + ".norm", width)

    def add_norm(self, name, width):
        self.add(name + ".gain", width)
        self.add(name + ".bias", width)

    def norm(self, name, x):
        return F.layer_norm(x, [self.width], self.weights[name + ".gain"], self.weights[name + ".bias"])

    def attention(self, name, x, memory, causal=False):
        q, k, v = (
            self.linear(f"{name}.{part}", y).unflatten(1, (self.heads, -1)).transpose(0, 1)
            for part, y in (("query", x), ("key", memory), ("value", memory))
        )
        read = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.linear(name + ".output", read.transpose(0, 1).flatten(1))

    def around(self, name, x, sublayer):
        return x + sublayer(self.norm(name, x)) if self.pre else self.norm(name, x + sublayer(x))

    def feed(self, name, x):
        return self.linear(name + ".outer", torch.relu(self.linear(name + ".inner", x)))

    def embed(self, side, ids):
        places = torch.arange(len(ids)).double().unsqueeze(1)
        angles = places / 10000 ** (torch.arange(0, self.width, 2).double() / self.width)
        sinusoids = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
        return self.words(side, ids) * math.sqrt(self.width) + sinusoids

    def logits(self, source, previous):
        x = self.embed("source", source)
        for i in range(self.layers):
            layer = f"encoder.layer{i}."
            x = self.around(layer + "self_norm", x, lambda y: self.attention(layer + "self", y, y))
            x = self.around(layer + "feed_forward_norm", x, lambda y: self.feed(layer + "feed_forward", y))
        read = self.norm("encoder.norm", x) if self.pre else x
        x = self.embed("target", previous)
        for i in range(self.decoder_layers):
            layer = f"decoder.layer{i}."
            x = self.around(layer + "self_norm", x, lambda y: self.attention(layer + "self", y, y, causal=True))
            x = self.around(layer + "source_norm", x, lambda y: self.attention(layer + "source", y, read))
            x = self.around(layer + "feed_forward_norm", x, lambda y: self.feed(layer + "feed_forward", y))
        return F.linear(self.norm("decoder.norm", x) if self.pre else x, self.weights["target.table"])


MODELS = {
    "seq2seq-lstm": Seq2SeqLstm,
    "seq2seq-gru": Seq2SeqGru,
    "rnnsearch": RnnSearch,
    "luong": Luong,
    "convs2s": ConvS2S,
    "transformer": Transformer,
}
TRANSFORMER = {"layers": 2, "decoder-layers": 2, "width": 4, "feed-forward": 6, "heads": 2}
CASES = {
    "seq2seq-lstm": {"layers": 2, "embedding": 4, "hidden": 5},
    "seq2seq-gru": {"embedding": 4, "hidden": 5, "maxout": 4, "rank": 3},
    "rnnsearch": {"embedding": 4, "hidden": 5, "maxout": 6},
    "luong": {"layers": 2, "embedding": 4, "hidden": 5, "window": "local-p", "half-width": 2},
    "luong global tied": {"layers": 2, "embedding": 5, "hidden": 5, "window": "global", "tied": True},
    "convs2s": {"layers": 2, "decoder-layers": 2, "embedding": 4, "hidden": 5, "kernel": 3, "longest": 4},
    "transformer": {**TRANSFORMER, "norm": "post"},
    "transformer pre-norm": {**TRANSFORMER, "norm": "pre"},
}


def numbers(tensor):
    return [float(f"{x:.16g}") for x in tensor.detach().flatten().tolist()]


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def loss_and_logits(model):
    logits = [model.logits(torch.tensor(x), torch.tensor(y)) for x, y in zip(SOURCES, PREVIOUS)]
    losses = [F.cross_entropy(rows, torch.tensor(words), reduction="sum") for rows, words in zip(logits, EXPECTED)]
    return sum(losses), logits


def recorded(name, settings):
    system = name.split()[0]
    model = MODELS[system](settings)
    parameters = list(model.weights.values())
    loss, logits = loss_and_logits(model)
    gradients = torch.autograd.grad(loss, parameters)
    losses = []
    for _ in range(STEPS):
        now, _ = loss_and_logits(model)
        losses.append(now)
        for parameter, gradient in zip(parameters, torch.autograd.grad(now, parameters)):
            parameter.data -= RATE * gradient
    return {
        "name": name,
        "system": system,
        "settings": {field: text(value) for field, value in settings.items()},
        "logits": [[numbers(row) for row in rows] for rows in logits],
        "loss": numbers(loss)[0],
        "gradients": {
            parameter: {"shape": list(gradient.shape), "values": numbers(gradient)}
            for parameter, gradient in zip(model.weights, gradients)
        },
        "losses": numbers(torch.stack(losses)),
    }


def main():
    batch = {"inputs": INPUTS, "outputs": OUTPUTS, "sources": SOURCES, "previous": PREVIOUS, "rate": RATE}
    lines = [json.dumps(recorded(name, settings), separators=(",", ":")) for name, settings in CASES.items()]
    opening = json.dumps(batch, separators=(",", ":"))[:-1]
    sys.stdout.write(opening + ',"cases":[\n' + ",\n".join(lines) + "\n]}\n")


if __name__ == "__main__":
    main()
