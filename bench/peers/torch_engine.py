"""The engine's benchmark in PyTorch: the cases of bench/engine under the same names."""

import math

import torch
import torch.nn.functional as F

from torch_tensors import COMPILE, compiled, differentiated, filled, filled_ids, leaf, transposed_leaf

CASES = {}


def case(name):
    """Registers a function that prepares a case and returns its step; step(keep) returns results if asked to."""

    def register(prepare):
        CASES[name] = prepare
        return prepare

    return register


def to_rows(name, gradient):
    return gradient.t() if name.startswith("w") else gradient


# Single ops -----------------------------------------------------------------------------------------------------------


def matrix_product(m, n, k):
    def prepare():
        a, b = filled((m, k), 1), filled((k, n), 2)
        multiply = compiled(torch.matmul)

        @torch.inference_mode()
        def step(keep):
            c = multiply(a, b)
            return {"c": c} if keep else None

        return step

    return prepare


for shape in [(256, 256, 256), (1024, 1024, 1024), (2048, 2048, 512), (4096, 256, 256), (64, 2048, 512)]:
    CASES["matmul-{}x{}x{}".format(*shape)] = matrix_product(*shape)


@case("linear-forward")
def linear_forward():
    x, w, b = filled((2048, 512), 1), filled((512, 2048), 2, 0.05).t().contiguous(), filled((2048,), 3)
    linear = compiled(F.linear)

    @torch.inference_mode()
    def step(keep):
        y = linear(x, w, b)
        return {"y": y} if keep else None

    return step


@case("linear-training")
def linear_training():
    inputs = [leaf((2048, 512), 1), transposed_leaf((512, 2048), 2, 0.05), leaf((2048,), 3)]
    return differentiated(F.linear, ["x", "w", "b"], inputs, filled((2048, 2048), 4), to_rows)


@case("layer-norm")
def layer_norm():
    inputs = [leaf((4096, 512), 1), leaf((512,), 2), leaf((512,), 3)]
    return differentiated(
        lambda x, gain, bias: F.layer_norm(x, (512,), gain, bias, 1e-5),
        ["x", "gain", "bias"],
        inputs,
        filled((4096, 512), 4),
    )


@case("softmax")
def softmax():
    return differentiated(lambda x: torch.softmax(x, -1), ["x"], [leaf((2048, 2048), 1, 4.0)], filled((2048, 2048), 2))


@case("cross-entropy")
def cross_entropy():
    ids = filled_ids((1024,), 2, 32000)
    # The mean, as training takes it; dy = 1.
    return differentiated(
        lambda x: F.cross_entropy(x, ids, label_smoothing=0.1), ["x"], [leaf((1024, 32000), 1, 4.0)], torch.tensor(1.0)
    )


@case("op-chain")
def op_chain():
    def chain(x, b):
        y = x
        for _ in range(500):
            y = y * 0.99 + b
        return y

    return differentiated(chain, ["x", "b"], [leaf((64,), 1), leaf((64,), 2, 0.01)], filled((64,), 3))


# Recurrent layers -----------------------------------------------------------------------------------------------------


def recurrent(kind, gates):
    """64 sentences of 30 steps, 512 in and 512 hidden; time-major, which is PyTorch's fast layout."""

    def prepare():
        module = kind(512, 512)
        scale = 1 / math.sqrt(512)
        with torch.no_grad():
            # Heed's [in, gates·hidden] numbers, transposed into PyTorch's layout. Of PyTorch's two biases only the
            # GRU's candidate needs the second.
            module.weight_ih_l0.copy_(filled((512, gates * 512), 2, scale).t())
            module.weight_hh_l0.copy_(filled((512, gates * 512), 3, scale).t())
            module.bias_ih_l0.copy_(filled((gates * 512,), 4, scale))
            module.bias_hh_l0.zero_()
            if kind is torch.nn.GRU:
                module.bias_hh_l0[1024:] = filled((512,), 5, scale)
        x, dy = (filled((64, 30, 512), seed).transpose(0, 1).contiguous() for seed in (1, 6))
        x.requires_grad_()
        weights = [module.weight_ih_l0, module.weight_hh_l0, module.bias_ih_l0, module.bias_hh_l0]
        forward = compiled(lambda x: module(x)[0])

        def step(keep):
            y = forward(x)
            dx, dw, du, db, dc = torch.autograd.grad(y, [x, *weights], dy)
            if keep:
                result = {"y": y.transpose(0, 1), "dx": dx.transpose(0, 1), "dw": dw.t(), "du": du.t(), "db": db}
                return {**result, "dc": dc[1024:]} if kind is torch.nn.GRU else result

        return step

    return prepare


CASES["gru"] = recurrent(torch.nn.GRU, 3)
CASES["lstm"] = recurrent(torch.nn.LSTM, 4)


# Training steps -------------------------------------------------------------------------------------------------------


def adam(parameters, rate):
    try:
        return torch.optim.Adam(parameters, lr=rate, betas=(0.9, 0.98), eps=1e-9, fused=True)
    except RuntimeError:  # no fused kernel for this machine
        return torch.optim.Adam(parameters, lr=rate, betas=(0.9, 0.98), eps=1e-9, foreach=True)


def embedding_with(optimiser, sparse):
    def prepare():
        table = leaf((32000, 512), 1)
        ids, dy = filled_ids((4096,), 2, 32000), filled((4096, 512), 3)
        if sparse and COMPILE:
            raise NotImplementedError("torch.compile has no sparse gradients")
        look_up = compiled(lambda: F.embedding(ids, table, sparse=sparse))
        update = optimiser([table])

        def step(keep):
            update.zero_grad(set_to_none=True)
            look_up().backward(dy)
            update.step()
            return {"table": table} if keep else None

        return step

    return prepare


CASES["embedding-adam"] = embedding_with(lambda parameters: adam(parameters, 1e-3), sparse=False)
CASES["embedding-lazy-adam"] = embedding_with(
    lambda parameters: torch.optim.SparseAdam(parameters, lr=1e-3, betas=(0.9, 0.98), eps=1e-9), sparse=True
)


@case("warm-up")
def warm_up():
    """Next to nothing, but it loads what PyTorch loads late: the memory of the libraries is read after it."""
    inputs = [leaf((8, 8), 1), leaf((8, 8), 2)]
    update = adam(inputs, 1e-3)
    expected = torch.zeros(8, dtype=torch.int64)
    loss_of = compiled(lambda x, w: F.cross_entropy(F.linear(x, w), expected))

    def step(keep):
        loss_of(*inputs).backward()
        update.step()

    return step


class Transformer:
    """bench/engine/transformer.cpp in PyTorch: post-norm, 3 + 3 layers, width 256, 4 heads, 1024 inner, 8000 words."""

    SENTENCES, LENGTH, WIDTH, HEADS, INNER, WORDS, LAYERS = 64, 64, 256, 4, 1024, 8000, 3

    def __init__(self, fused_attention):
        self.fused_attention = fused_attention
        self.parameters = {}
        for side in ("source", "target"):
            self.add(side + ".embedding", (self.WORDS, self.WIDTH), math.sqrt(3))
        for layer in range(self.LAYERS):
            self.attention_parameters(f"encoder{layer}.self")
            self.inner_parameters(f"encoder{layer}.inner")
        for layer in range(self.LAYERS):
            self.attention_parameters(f"decoder{layer}.self")
            self.attention_parameters(f"decoder{layer}.cross")
            self.inner_parameters(f"decoder{layer}.inner")
        self.linear_parameters("output", self.WIDTH, self.WORDS)
        self.positions = filled((self.LENGTH, self.WIDTH), 1000)
        self.causal = torch.ones(self.LENGTH, self.LENGTH, dtype=torch.bool).triu(1)

    def add(self, name, shape, scale, transposed=False):
        make = transposed_leaf if transposed else leaf
        self.parameters[name] = make(shape, len(self.parameters) + 1, scale)

    def linear_parameters(self, name, inputs, outputs):
        self.add(name + ".weight", (inputs, outputs), math.sqrt(3 / inputs), transposed=True)
        self.add(name + ".bias", (outputs,), 0.1)

    def norm_parameters(self, name):
        self.add(name + ".gain", (self.WIDTH,), 1)
        self.add(name + ".bias", (self.WIDTH,), 0.1)

    def attention_parameters(self, name):
        self.linear_parameters(name + ".query", self.WIDTH, self.WIDTH)
        self.linear_parameters(name + ".memory", self.WIDTH, 2 * self.WIDTH)
        self.linear_parameters(name + ".joined", self.WIDTH, self.WIDTH)
        self.norm_parameters(name + ".norm")

    def inner_parameters(self, name):
        self.linear_parameters(name + ".wide", self.WIDTH, self.INNER)
        self.linear_parameters(name + ".narrow", self.INNER, self.WIDTH)
        self.norm_parameters(name + ".norm")

    def linear(self, name, x):
        return F.linear(x, self.parameters[name + ".weight"], self.parameters[name + ".bias"])

    def add_and_norm(self, name, x, residual):
        gain, bias = self.parameters[name + ".norm.gain"], self.parameters[name + ".norm.bias"]
        return F.layer_norm(x + residual, (self.WIDTH,), gain, bias, 1e-5)

    def heads(self, x):
        return x.view(self.SENTENCES, self.LENGTH, self.HEADS, self.WIDTH // self.HEADS).transpose(1, 2)

    def attention(self, name, x, memory, causal):
        query = self.heads(self.linear(name + ".query", x))
        keys, values = self.linear(name + ".memory", memory).split(self.WIDTH, -1)
        keys, values = self.heads(keys), self.heads(values)
        if self.fused_attention:
            read = F.scaled_dot_product_attention(query, keys, values, is_causal=causal)
        else:
            scores = query @ keys.transpose(2, 3) / math.sqrt(self.WIDTH // self.HEADS)
            if causal:
                scores = scores.masked_fill(self.causal, -math.inf)
            read = torch.softmax(scores, -1) @ values
        joined = read.transpose(1, 2).reshape(self.SENTENCES, self.LENGTH, self.WIDTH)
        return self.add_and_norm(name, self.linear(name + ".joined", joined), x)

    def inner(self, name, x):
        return self.add_and_norm(name, self.linear(name + ".narrow", F.relu(self.linear(name + ".wide", x))), x)

    def loss(self, source, target, expected):
        x = F.embedding(source, self.parameters["source.embedding"]) + self.positions
        for layer in range(self.LAYERS):
            x = self.attention(f"encoder{layer}.self", x, x, causal=False)
            x = self.inner(f"encoder{layer}.inner", x)
        y = F.embedding(target, self.parameters["target.embedding"]) + self.positions
        for layer in range(self.LAYERS):
            y = self.attention(f"decoder{layer}.self", y, y, causal=True)
            y = self.attention(f"decoder{layer}.cross", y, x, causal=False)
            y = self.inner(f"decoder{layer}.inner", y)
        logits = self.linear("output", y).view(-1, self.WORDS)
        return F.cross_entropy(logits, expected.view(-1), label_smoothing=0.1)


def transformer(fused_attention):
    def prepare():
        model = Transformer(fused_attention)
        shape = (model.SENTENCES, model.LENGTH)
        source, target, expected = (filled_ids(shape, seed, model.WORDS) for seed in (2001, 2002, 2003))
        loss_of = compiled(model.loss)
        update = adam(list(model.parameters.values()), 1e-4)
        first = True

        def step(keep):
            nonlocal first
            update.zero_grad(set_to_none=True)
            loss = loss_of(source, target, expected)
            loss.backward()
            result = None
            if keep:
                result = {"loss": loss}
                if first:  # later gradients differ by how Adam answers to rounding
                    for name, parameter in model.parameters.items():
                        gradient = parameter.grad
                        result["d " + name] = gradient.t() if name.endswith(".weight") else gradient
                    result = {key: value.detach().clone() for key, value in result.items()}
            first = False
            update.step()
            return result

        return step

    return prepare


CASES["transformer-fused-attention"] = transformer(True)
CASES["transformer-composed-attention"] = transformer(False)
