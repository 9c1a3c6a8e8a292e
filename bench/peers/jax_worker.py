"""The peer of heed_bench in JAX: jitted, float32, on the asked number of cores. Knows the attention families only.

`way`: nn is jax.nn.dot_product_attention in its own layout, composed is ordinary jitted ops, blocks is the composed
form over blocks of neighbours.
"""

import math
import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from worker import Worker, filled_array, seed_of, spread_rows  # noqa: E402


def filled(shape, seed, scale=1.0):
    return jnp.asarray(filled_array(shape, seed, scale))


def inferred(read, inputs, back=lambda y: y):
    read = jax.jit(read)

    def step(keep):
        y = jax.block_until_ready(read(*inputs))
        return {"y": back(y)} if keep else None

    return step


def differentiated(read, names, inputs, dy, back=lambda x: x):
    """A step: the value and the gradients of all inputs, in one jitted call."""

    @jax.jit
    def both(inputs, dy):
        y, pull = jax.vjp(read, *inputs)
        return y, pull(dy)

    def step(keep):
        y, gradients = jax.block_until_ready(both(inputs, dy))
        if keep:
            return {"y": back(y), **{"d" + name: back(g) for name, g in zip(names, gradients)}}

    return step


def composed(q, k, mask):
    scores = q @ k.swapaxes(-2, -1) / math.sqrt(q.shape[-1])
    return jax.nn.softmax(scores if mask is None else jnp.where(mask, scores, -jnp.inf), -1)


def in_blocks(n, neighbours):
    """Blocks of r/2 queries see themselves and the block on either side; the rest is masked."""
    reach = neighbours // 2
    count = n // reach
    query = np.arange(n).reshape(count, reach, 1)
    key = np.arange(count).reshape(count, 1, 1) * reach + np.arange(-reach, 2 * reach)
    mask = jnp.asarray((abs(query - key) <= reach) & (key >= 0) & (key < n))

    def around(x):
        x = jnp.pad(x, ((0, 0), (0, 0), (reach, reach), (0, 0)))
        x = x.reshape(*x.shape[:2], count + 2, reach, x.shape[-1])
        return jnp.concatenate([x[:, :, :-2], x[:, :, 1:-1], x[:, :, 2:]], 3)

    def read(q, k, v):
        blocks = q.reshape(*q.shape[:2], count, reach, q.shape[-1])
        return (composed(blocks, around(k), mask) @ around(v)).reshape(q.shape)

    return read


def dot(settings):
    n, width = settings.number("n", 512), settings.number("width", 64)
    shape = (settings.number("batch", 1), settings.number("heads", 8), n, width)
    causal, neighbours = bool(settings.number("causal")), settings.number("neighbours")
    way, rows, training = settings.word("way"), spread_rows(settings.number("rows"), n), settings.number("training")
    inputs = [filled(shape, 1, 3.0), filled(shape, 2), filled(shape, 3)]
    dy, back = filled(shape, 4), lambda x: x
    if way == "nn":
        back = lambda x: x.swapaxes(1, 2)  # noqa: E731 [batch, n, heads, width] is the layout it wants
        inputs, dy = [jnp.array(back(x)) for x in inputs], jnp.array(back(dy))
        read = lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=causal)  # noqa: E731
    elif way == "blocks":
        read = in_blocks(n, neighbours)
    else:
        at = np.arange(n)
        mask = jnp.asarray(at[:, None] >= at[None, :]) if causal else None
        read = lambda q, k, v: composed(q, k, mask) @ v  # noqa: E731
    if training:
        return differentiated(read, ["q", "k", "v"], inputs, dy, back)
    if not rows:
        return inferred(read, inputs, back)

    @jax.jit
    def with_rows(q, k, v):
        weights = composed(q, k, None)
        return weights @ v, weights[:, :, jnp.asarray(rows)]

    def step(keep):
        y, weights = jax.block_until_ready(with_rows(*inputs))
        return {"y": y, "weights": weights} if keep else None

    return step


def additive(settings):
    batch, n, m = settings.number("batch", 64), settings.number("n", 1), settings.number("m", 30)
    width = settings.number("width", 256)

    def read(q, k, v, values):
        return jax.nn.softmax(jnp.tanh(q[..., :, None, :] + k[..., None, :, :]) @ v, -1) @ values

    settings.word("way")
    inputs = [filled((batch, 1, n, width), 1), filled((batch, 1, m, width), 2)]
    inputs += [filled((width,), 3, 0.3), filled((batch, 1, m, width), 4)]
    return differentiated(read, ["q", "k", "v", "values"], inputs, filled((batch, 1, n, width), 5))


def decoding(settings):
    batch, heads, width, keys = 32, 8, 64, settings.number("keys", 64)
    way = settings.word("way")
    layout = (lambda x: x.swapaxes(1, 2)) if way == "nn" else (lambda x: x)
    cache = (batch, heads, keys, width)
    layers = max(1, (1 << 27) // (2 * math.prod(cache)))
    first = tuple(jnp.array(layout(filled(cache, seed))) for seed in (2, 3))
    caches = [first] + [tuple(jnp.array(x, copy=True) for x in first) for _ in range(layers - 1)]
    q = jnp.array(layout(filled((batch, heads, 1, width), 1, 3.0)))
    read = jax.jit(jax.nn.dot_product_attention if way == "nn" else lambda q, k, v: composed(q, k, None) @ v)
    turn = 0

    def step(keep):
        nonlocal turn
        y = jax.block_until_ready(read(q, *caches[turn % layers]))
        turn += 1
        return {"y": layout(y)} if keep else None

    return step


def attention(settings):
    """The compositions that are a few lines of JAX: products and additive scores, windows by position, softmax."""
    score, window = settings.word("score", "scaled-dot"), settings.word("window", "global")
    batch, heads, width, n = (settings.number(k, d) for k, d in (("batch", 1), ("heads", 1), ("width", 64), ("n", 1)))
    m = settings.number("m", n)
    settings.word("way")
    at, to = np.arange(n)[:, None], np.arange(m)[None, :]
    masks = {"global": None, "causal": to <= at, "restricted": abs(to - at) <= settings.number("neighbours", 256) // 2}
    if window not in masks or settings.word("normaliser", "softmax") != "softmax":
        raise NotImplementedError(f"not written in JAX: {window}, {settings.word('normaliser')}")
    mask = None if masks[window] is None else jnp.asarray(masks[window])

    def parameter(name, *shape):
        return filled(shape, seed_of(name), math.sqrt(3 / shape[0]))

    if score in ("dot", "scaled-dot"):
        scale = 1 / math.sqrt(width) if score == "scaled-dot" else 1.0
        score_by = lambda q, k: q @ k.swapaxes(-2, -1) * scale  # noqa: E731
    elif score in ("additive", "concat"):
        wq, wk = (parameter(f"score.{side}.weight", width, width) for side in ("query", "key"))
        v = parameter("score.v", width)
        score_by = lambda q, k: jnp.tanh((q @ wq)[..., :, None, :] + (k @ wk)[..., None, :, :]) @ v  # noqa: E731
    else:
        raise NotImplementedError(f"not written in JAX: {score}")

    def read(q, k, values):
        e = score_by(q, k)
        return jax.nn.softmax(e if mask is None else jnp.where(mask, e, -jnp.inf), -1) @ values

    inputs = [filled((batch, heads, n, width), 1, 3.0)] + [filled((batch, heads, m, width), seed) for seed in (2, 3)]
    return inferred(read, inputs)


def warm_up():
    """Next to nothing, but it loads what JAX loads late: the memory of the libraries is read after it."""
    inputs = [filled((8, 8), 1), filled((8, 8), 2)]
    return differentiated(lambda x, y: jnp.tanh(x @ y), ["x", "y"], inputs, filled((8, 8), 3))


class JaxWorker(Worker):
    def version(self):
        return {"jax": jax.__version__}

    def as_array(self, tensor):
        return np.asarray(tensor)

    def use(self, threads):
        jax.clear_caches()
        cores = sorted(os.sched_getaffinity(os.getppid()))[:threads]  # XLA has a thread for each core it sees
        for task in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(task), cores)


if __name__ == "__main__":
    families = {"dot": dot, "additive": additive, "decoding": decoding, "attention": attention}
    JaxWorker({"warm-up": warm_up}, families).serve()
