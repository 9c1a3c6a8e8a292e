"""Heed's parts of attention composed of ordinary PyTorch ops, by the names of the registry (src/attention).

Masks, biases and rotations that depend on positions alone are made beforehand, which spares PyTorch work that Heed
does inside the measured time.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F

from torch_tensors import compiled, filled, leaf
from worker import seed_of


def uniforms(count, stream):
    """Heed's random numbers of key {1, stream} (Philox4x32-10): what a sampling normaliser draws, after its first."""
    blocks = (count + 2) // 2
    c = [np.full(blocks, start, np.uint64) for start in (0, 0, stream, 0)]
    c[0] += np.arange(blocks, dtype=np.uint64)
    key, low = [1, 0], np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        shift = np.uint64(32)
        c = [(p1 >> shift) ^ c[1] ^ np.uint64(key[0]), p1 & low, (p0 >> shift) ^ c[3] ^ np.uint64(key[1]), p0 & low]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    pairs = np.stack(c, 1).reshape(-1, 2)
    numbers = ((pairs[:, 0] >> np.uint64(5)) * np.uint64(67108864) + (pairs[:, 1] >> np.uint64(6))) / 2.0**53
    return torch.from_numpy(numbers[1 : count + 1])


class Composition:
    """One score × window × normaliser with its parameters; `self.p(name, *shape)` makes one of Heed's."""

    def __init__(self, settings):
        self.score = settings.word("score", "scaled-dot")
        self.window = settings.word("window", "global")
        self.normaliser = settings.word("normaliser", "softmax")
        self.batch, self.heads = settings.number("batch", 1), settings.number("heads", 1)
        self.width, self.n = settings.number("width", 64), settings.number("n", 1)
        self.words = settings.number("words", 1)
        self.m = settings.number("m", self.n)
        self.training = bool(settings.number("training"))
        self.filters, self.filter_width = settings.number("filters", 10), settings.number("filter-width", 201)
        self.fertility, self.rows = settings.real("fertility", 0), settings.number("rows", 1)
        self.relative, self.half_width = settings.number("relative", 16), settings.number("half-width", 10)
        self.neighbours, self.global_tokens = settings.number("neighbours", 256), settings.number("global-tokens", 1)
        self.temperature, self.top_k = settings.real("temperature", 1), settings.number("top-k", 0)
        if settings.real("soft-mixing", 0.5) and self.training and self.normaliser == "hard":
            raise ValueError("soft mixing would need Heed's coin")
        self.parameters = {}
        b, h, n, m, d = self.batch, self.heads, self.n, self.m, self.width
        self.past_weights = torch.full((b, h, 1, m), np.float32(1) / np.float32(m))
        self.past_read = filled((b, h, 1, d), 4)
        self.start = (self.past_weights, self.past_weights, self.past_read)
        self.reward = filled((b, h, n * self.words), 6)
        at, to = torch.arange(n)[:, None], torch.arange(m)[None, :]
        self.distance = to - at
        self.drawn = [uniforms(b * h * n, word).view(b, h, n, 1) for word in range(self.words)]
        self.map_keys = lambda k: k
        self.score_by = self.score_function()
        self.view_by = self.view_function(at, to)
        self.normalise = self.normaliser_function()
        self.reread = self.reread_function()

    def p(self, name, *shape):
        if name not in self.parameters:
            make = leaf if self.training else filled
            self.parameters[name] = make(shape, seed_of(name), math.sqrt(3 / shape[0]))
        return self.parameters[name]

    # Scores: f(q, mapped keys) → [batch, heads, n, m]; map_keys is done once for all words

    def score_function(self):
        d, m = self.width, self.m
        root = math.sqrt(d)
        if self.score == "dot":
            return lambda q, k: q @ k.transpose(-2, -1)
        if self.score == "scaled-dot":
            return lambda q, k: q @ k.transpose(-2, -1) / root
        if self.score == "general":
            w = self.p("score.weight", d, d)
            self.map_keys = lambda k: k @ w
            return lambda q, k: q @ k.transpose(-2, -1)
        if self.score == "alibi":
            slopes = torch.exp2(-8.0 * torch.arange(1, self.heads + 1) / self.heads)
            bias = -slopes[:, None, None] * self.distance.abs()
            return lambda q, k: q @ k.transpose(-2, -1) / root + bias
        if self.score == "rotary":
            turned, self.map_keys = self.rotation(self.n), self.rotation(m)
            return lambda q, k: turned(q) @ k.transpose(-2, -1) / root
        if self.score == "relative":
            vectors = self.p("score.keys", 2 * self.relative + 1, d)
            index = (self.distance.clamp(-self.relative, self.relative) + self.relative).expand(
                self.batch, self.heads, self.n, m
            )
            return lambda q, k: (q @ k.transpose(-2, -1) + (q @ vectors.t()).gather(-1, index)) / root
        if self.score == "location":
            w = self.p("score.weight", d, m)
            return lambda q, k: q @ w
        if self.score in ("context", "rows"):
            w = self.p("score.key.weight", d, d)
            rows = self.p("score.rows", d, self.rows if self.score == "rows" else 1)
            bias = self.p("score.key.bias", d) if self.score == "context" else 0
            self.map_keys = lambda k: torch.tanh(k @ w + bias)
            return lambda q, k: (k @ rows).transpose(-2, -1)
        return self.additive_function()

    def additive_function(self):
        d, m = self.width, self.m
        wq, v = self.p("score.query.weight", d, d), self.p("score.v", d)

        def additive(q, k):  # q [.., n, d], k [.., m, d]
            return torch.tanh(q.unsqueeze(-2) + k.unsqueeze(-3)) @ v

        if self.score == "concat-identity":
            return lambda q, k: additive(q @ wq, k)
        wk = self.p("score.key.weight", d, d)
        self.map_keys = lambda k: k @ wk
        if self.score in ("additive", "concat"):
            return lambda q, k: additive(q @ wq, k)
        if self.score == "word-by-word":
            wr = self.p("score.read.weight", d, d)
            return lambda q, k: additive(q @ wq + self.past_read @ wr, k)
        bias = self.p("score.key.bias", d)
        self.map_keys = lambda k: k @ wk + bias
        if self.score == "location-aware":
            wf = self.p("score.filter.weight", self.filters, d)
            filters = self.p("score.filters", self.filter_width, 1, self.filters)

            def located(q, k):
                last = self.past_weights.reshape(-1, 1, m)
                features = F.conv1d(last, filters.permute(2, 1, 0), padding=self.filter_width // 2).transpose(1, 2)
                return additive(q @ wq, k + (features @ wf).view(k.shape))

            return located
        if self.score == "coverage":
            wc = self.p("score.coverage.weight", 1, d)
            u = self.p("score.fertility.weight", d, 1) if self.fertility else None

            def covering(q, k):
                covered = self.coverage.transpose(-2, -1)
                if u is not None:
                    covered = covered / (self.fertility * torch.sigmoid(self.keys @ u))
                return additive(q @ wq, k + covered @ wc)

            return covering
        raise NotImplementedError(f"no composed PyTorch for the score {self.score}")

    def rotation(self, count):
        d = self.width
        angles = torch.arange(count, dtype=torch.float64)[:, None] * 10000.0 ** (
            -2.0 * torch.arange(d // 2, dtype=torch.float64) / d
        )
        cosine, sine = torch.cos(angles).float(), torch.sin(angles).float()

        def turned(x):
            a, b = x[..., 0::2], x[..., 1::2]
            return torch.stack([a * cosine - b * sine, a * sine + b * cosine], -1).flatten(-2)

        return turned

    def reread_function(self):
        d = self.width
        if self.score == "word-by-word":
            transition = self.p("score.transition.weight", d, d)
            return lambda read, weights: read + torch.tanh(self.past_read @ transition)
        if self.score == "relative":
            vectors = self.p("score.values", 2 * self.relative + 1, d)
            index = (self.distance.clamp(-self.relative, self.relative) + self.relative).expand(
                self.batch, self.heads, self.n, self.m
            )

            def with_distances(read, weights):
                shape = (*weights.shape[:-1], 2 * self.relative + 1)
                return read + torch.zeros(shape).scatter_add(-1, index, weights) @ vectors

            return with_distances
        return lambda read, weights: read

    # Windows: f(q) → what is visible (None: all) and a gain on the weights (None: none)

    def view_function(self, at, to):
        reach = self.half_width
        masks = {
            "global": lambda: None,
            "causal": lambda: to <= at,
            "local-m": lambda: (to - at).abs() <= reach,
            "restricted": lambda: (to - at).abs() <= self.neighbours // 2,
            "sliding": lambda: (
                ((to - at).abs() <= self.neighbours // 2) | (at < self.global_tokens) | (to < self.global_tokens)
            ),
        }
        if self.window in masks:
            mask = masks[self.window]()
            return lambda q: (mask, None)
        places = torch.arange(self.m)
        if self.window == "median":

            def around_median(q):
                sums = self.past_weights.double().cumsum(-1)
                middle = (sums < sums[..., -1:] / 2).sum(-1, keepdim=True)
                return (places - middle).abs() <= reach, None

            return around_median
        if self.window == "local-p":
            hidden = self.p("window.hidden.weight", self.width, self.width)
            centre = self.p("window.centre.weight", self.width, 1)

            def around_predicted(q):
                p = (self.m - 1) * torch.sigmoid(torch.tanh(q @ hidden) @ centre)
                seen = (places - torch.floor(p)).abs() <= reach
                return seen, torch.exp(-((places - p) ** 2) / (2 * (reach / 2) ** 2))

            return around_predicted
        raise NotImplementedError(f"no composed PyTorch for the window {self.window}")

    # Normalisers: f(scores, mask) → weights, and what a sampled choice adds to the loss (None: nothing)

    def normaliser_function(self):
        def hidden(e, mask, value=-math.inf):
            return e if mask is None else e.masked_fill(~mask, value)

        def sharpened(e, mask):
            e = hidden(e / self.temperature, mask)
            if self.top_k:
                e = e.masked_fill(e < e.topk(self.top_k, -1).values[..., -1:], -math.inf)
            return torch.softmax(e, -1)

        def smoothed(e, mask):
            s = hidden(torch.sigmoid(e), mask, 0)
            return s / s.sum(-1, keepdim=True)

        def sparsemax(e, mask):
            e = hidden(e, mask, -1e9)
            falling = e.sort(-1, descending=True).values
            sums, rank = falling.cumsum(-1) - 1, torch.arange(1, e.shape[-1] + 1)
            count = (rank * falling > sums).sum(-1, keepdim=True)
            return (e - sums.gather(-1, count - 1) / count).clamp(min=0)

        def entmax(e, mask):
            e = hidden(e, mask, -1e4)
            e = (e - e.amax(-1, keepdim=True)) / 2
            falling, rank = e.sort(-1, descending=True).values, torch.arange(1, e.shape[-1] + 1)
            mean, square = falling.cumsum(-1) / rank, (falling**2).cumsum(-1) / rank
            tau = mean - ((1 - rank * (square - mean**2)) / rank).clamp(min=0).sqrt()
            count = (tau <= falling).sum(-1, keepdim=True)
            return (e - tau.gather(-1, count - 1)).clamp(min=0) ** 2

        def monotonic(e, mask):
            # In logarithms: the paper's division by a running product underflows on long memories.
            stay = F.logsigmoid(-e).cumsum(-1) - F.logsigmoid(-e)
            reach = torch.logcumsumexp(self.past_weights.log() - stay, -1) + stay
            return torch.sigmoid(e) * reach.exp()

        plain = {
            "softmax": lambda e, mask: torch.softmax(hidden(e, mask), -1),
            "sharpened": sharpened,
            "smoothed": smoothed,
            "sparsemax": sparsemax,
            "entmax": entmax,
            "monotonic": monotonic,
        }
        if self.normaliser in plain:
            normalise = plain[self.normaliser]
            return lambda e, mask: (normalise(e, mask), None)
        if self.normaliser == "hard":
            return lambda e, mask: self.hard(hidden(e, mask))
        raise NotImplementedError(f"no composed PyTorch for the normaliser {self.normaliser}")

    def hard(self, e):
        word = self.word
        if not self.training:
            return F.one_hot(e.argmax(-1), e.shape[-1]).to(e.dtype), None
        log_p = torch.log_softmax(e, -1)
        p = log_p.exp()
        picks = (p.detach().double().cumsum(-1) <= self.drawn[word]).sum(-1, keepdim=True)
        chosen = torch.zeros_like(e).scatter(-1, picks, 1.0)
        entropy = -(p * log_p).sum(-1)
        reward = self.reward[..., word * self.n : (word + 1) * self.n]
        return chosen, -(0.1 * reward * log_p.gather(-1, picks).squeeze(-1)).sum() - 0.002 * entropy.sum()

    def __call__(self, q, k, values):
        """Reads of all words one after the other, and what sampled choices add to the loss."""
        self.past_weights, self.coverage, self.past_read = self.start
        self.keys = k
        mapped, reads, losses = self.map_keys(k), [], []
        for self.word in range(self.words):
            query = q[:, :, self.word * self.n : (self.word + 1) * self.n]
            seen, gain = self.view_by(query)
            weights, loss = self.normalise(self.score_by(query, mapped), seen)
            weights = weights if gain is None else weights * gain
            reads.append(self.reread(weights @ values, weights))
            losses += [] if loss is None else [loss]
            if self.words > 1:
                self.past_weights, self.coverage, self.past_read = weights, self.coverage + weights, reads[-1]
        read = reads[0] if self.words == 1 else torch.cat(reads, 2)
        return (read, sum(losses)) if losses else read

    def through_sdpa(self):
        """The same through the fused kernel, where the score is a product and the weights a softmax."""
        if self.normaliser != "softmax" or self.window in ("local-p", "median"):
            raise NotImplementedError("scaled_dot_product_attention cannot do this")
        if self.words > 1:
            raise NotImplementedError("one word at a time")
        mask, _ = self.view_by(None)
        d = self.width
        scale = 1 / math.sqrt(d) if self.score in ("scaled-dot", "alibi", "rotary") else 1.0
        causal = self.window == "causal" and self.score != "alibi"
        bias = None if mask is None or causal else torch.zeros(mask.shape).masked_fill(~mask, -math.inf)
        prepare_q = prepare_k = lambda x: x
        if self.score == "general":
            w = self.parameters["score.weight"]
            prepare_k = lambda k: k @ w  # noqa: E731
        elif self.score == "rotary":
            prepare_q, prepare_k = self.rotation(self.n), self.rotation(self.m)
        elif self.score == "alibi":
            slopes = torch.exp2(-8.0 * torch.arange(1, self.heads + 1) / self.heads)
            bias = -slopes[:, None, None] * self.distance.abs() + (0 if bias is None else bias)
        elif self.score not in ("dot", "scaled-dot"):
            raise NotImplementedError("scaled_dot_product_attention cannot do this")
        return lambda q, k, values: F.scaled_dot_product_attention(
            prepare_q(q), prepare_k(k), values, attn_mask=bias, is_causal=causal, scale=scale
        )


def attention(settings):
    composition = Composition(settings)
    shape = (composition.batch, composition.heads)
    make = leaf if composition.training else filled
    queries = composition.n * composition.words
    q = make((*shape, queries, composition.width), 1, 3.0)
    k, values = (make((*shape, composition.m, composition.width), seed) for seed in (2, 3))
    read = compiled(composition if settings.word("way", "composed") == "composed" else composition.through_sdpa())
    if not composition.training:

        @torch.inference_mode()
        def forward(keep):
            y = read(q, k, values)
            return {"y": y} if keep else None

        return forward

    dy = filled((*shape, queries, composition.width), 5)
    names = list(composition.parameters)
    inputs = [q, k, values, *composition.parameters.values()]

    def step(keep):
        y = read(q, k, values)
        if isinstance(y, tuple):
            y, loss = y
            # One-hot weights: the read reaches the values alone.
            gradients = torch.autograd.grad((y, loss), inputs, (dy, None), allow_unused=True)
        else:
            gradients = torch.autograd.grad(y, inputs, dy, allow_unused=True)
        if keep:
            results = {"y": y}
            for name, x, gradient in zip(["dq", "dk", "dvalues", *("d " + name for name in names)], inputs, gradients):
                results[name] = torch.zeros_like(x) if gradient is None else gradient
            return results

    return step
