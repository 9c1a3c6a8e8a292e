"""The attention section: the works of its table with their bars, and the mechanisms of its figure.

Names are those of bench/attention: a family and its settings. Arithmetic is counted as it is for fused attention
everywhere: a forward is two products of n × m × d for each head, a backward five (one of them the scores again).
"""

from cases import Bar, Beside, Case, Lane, Section

HEADS, WIDTH = 8, 64


def dot_flops(n, seen=None, training=False):
    """Every query sees `seen` keys on average; all n unless said otherwise."""
    return (14 if training else 4) * HEADS * WIDTH * n * (n if seen is None else seen)


def attention_case(name, title, flops=0, **more):
    return Case(name, title, flops, steps=1, patience=1.5, **more)


def lanes(name, **ways):
    """Lanes by label; a label's ways are (program, way, way, ...)."""
    return tuple(
        Lane(label, program, tuple(f"{name},way={way}" for way in each)) for label, (program, *each) in ways.items()
    )


def dot_lanes(name, storing=True):
    """Without `storing`, only the ways that never hold the n × n matrix."""
    fused = {"sdpa": ("torch", "sdpa"), "flex": ("compiled", "flex")}
    stored = {"jax": ("jax", "nn", "composed"), "composed": ("torch", "composed"), "compiled": ("compiled", "composed")}
    return lanes(name, **fused, **(stored if storing else {}))


def scaled_dot(n, training):
    name = f"dot,n={n},training={int(training)}"
    peak, factor = (0.5, 1.3) if training else (0.65, 1.2)
    # At n = 8192 one n × n matrix of all heads takes 2.1 GB; several of them, and minutes a call, are far from the best.
    storing = n < 8192 or not training
    return attention_case(
        name,
        f"scaled dot, n = {n}, {'forward + backward' if training else 'forward'}",
        dot_flops(n, training=training),
        lanes=dot_lanes(name, storing),
        bars=(
            Bar("of_peak", peak, True, f"≥ {peak:.0%} of FMA peak"),
            Bar("speedup", factor, True, f"≥ {factor} × the best peer"),
        ),
        group="scaled dot, forward + backward" if training else "scaled dot, forward",
    )


def causal(n, training):
    name = f"dot,n={n},causal=1,training={int(training)}"
    return attention_case(
        name,
        f"causal, n = {n}, {'forward + backward' if training else 'forward'}",
        dot_flops(n, (n + 1) / 2, training),
        lanes=dot_lanes(name),
        beside=(Beside("full", f"dot,n={n},training={int(training)}", 0.5),),
        bars=(Bar("over_full", 1.1, False, "≤ 1.1 × half the full time"),),
        group="causal",
    )


def additive(n, m, width):
    name = f"additive,n={n},m={m},width={width}"
    shape = f"{n} queries × {m} keys" if n > 1 else f"1 query × {m} keys"
    return attention_case(
        name,
        f"additive, batch 64, {shape}, d = {width}, forward + backward",
        lanes=lanes(name, compiled=("compiled", "composed"), jax=("jax", "composed"), composed=("torch", "composed")),
        bars=(Bar("speedup", 4, True, "≥ 4 × the best peer"),),
        group="additive",
    )


def restricted(n, beside, bars):
    name = f"dot,n={n},neighbours=256,training=1"
    return attention_case(
        name,
        f"restricted r = 256, n = {n}, forward + backward",
        dot_flops(n, 257, training=True),
        lanes=lanes(
            name,
            flex=("compiled", "flex"),
            blocks=("torch", "blocks"),
            compiled=("compiled", "blocks"),
            jax=("jax", "blocks"),
        ),
        beside=beside,
        bars=bars,
        group="restricted",
    )


def decoding(keys):
    name = f"decoding,keys={keys}"
    return attention_case(
        name,
        f"one query over a cache of {keys}, batch 32",
        bytes=2 * 4 * 32 * HEADS * keys * WIDTH,
        lanes=dot_lanes(name),
        bars=(
            Bar("speedup", 1.2, True, "≥ 1.2 × the best peer"),
            Bar("of_bandwidth", 0.7, True, "≥ 70 % of the memory bandwidth"),
        ),
        group="decoding",
        memory=False,  # it holds many caches
    )


def requested_rows(n):
    name = f"dot,n={n},rows=16"
    return attention_case(
        name,
        f"scaled dot, n = {n}, forward, with the weights of 16 rows",
        dot_flops(n),
        lanes=lanes(name, composed=("torch", "composed"), compiled=("compiled", "composed"), jax=("jax", "composed")),
        beside=(Beside("without", f"dot,n={n}"),),
        bars=(Bar("over_without", 1.05, False, "≤ 1.05 × the call without"),),
        group="weights of 16 rows",
    )


def composition(title, settings):
    name = f"attention,training=1,{settings}"
    return attention_case(
        name,
        title,
        lanes=(
            *lanes(name, composed=("torch", "composed")),
            Lane("compiled", "compiled", (f"{name},way=composed",), counts=False),  # shown beside
        ),
        bars=(Bar("speedup", 2, True, "≥ 2 × composed PyTorch"),),
        group="local-p, hybrid, hard, sparsemax",
    )


ATTENTION = Section(
    "attention",
    "Attention against its peers",
    [
        *(scaled_dot(n, training=False) for n in (512, 2048, 8192)),
        *(scaled_dot(n, training=True) for n in (512, 2048, 8192)),
        causal(2048, training=False),
        causal(8192, training=False),
        causal(2048, training=True),
        additive(1, 30, 256),
        additive(1, 200, 256),
        additive(1, 200, 512),
        additive(128, 128, 256),
        restricted(
            8192,
            (Beside("dense", "dot,n=8192,training=1"),),
            (Bar("times_dense", 10, True, "≥ 10 × dense"),),
        ),
        restricted(
            32768,
            (
                Beside("quarter_length", "dot,n=8192,neighbours=256,training=1", 4),
                Beside("twice_the_neighbours", "dot,n=32768,neighbours=512,training=1", 0.5),
            ),
            (
                Bar("over_quarter_length", 1.1, False, "∝ n: ≤ 1.1 × 4 × the time of n = 8192"),
                Bar("over_twice_the_neighbours", 1.1, False, "∝ r: ≤ 1.1 × half the time of r = 512"),
                Bar("memory_over_quarter_length", 1.1, False, "memory O(n): ≤ 1.1 × 4 × that of n = 8192"),
            ),
        ),
        *(decoding(keys) for keys in (64, 512, 4096)),
        requested_rows(2048),
        composition("local-p, D = 10, batch 64, 20 words over 50 keys, d = 512, forward + backward",
                    "score=general,window=local-p,batch=64,words=20,m=50,width=512"),
        composition("hybrid, 10 filters of 201, batch 32, 20 words over 200 keys, d = 256, forward + backward",
                    "score=location-aware,batch=32,words=20,m=200,width=256"),
        composition("hard, REINFORCE, batch 64, 20 words over 196 keys, d = 512, forward + backward",
                    "score=additive,normaliser=hard,soft-mixing=0,batch=64,words=20,m=196,width=512"),
        composition("sparsemax, 8 heads, n = 512, forward + backward",
                    "normaliser=sparsemax,heads=8,n=512,m=512,width=64"),
    ],
)  # fmt: skip


# The figure -----------------------------------------------------------------------------------------------------------

LENGTHS = (64, 256, 1024, 4096)


def through_sdpa(options):
    """Whether scaled_dot_product_attention can do the mechanism."""
    return (
        options.get("score", "scaled-dot") in ("dot", "scaled-dot", "general", "alibi", "rotary")
        and options.get("window", "global") not in ("local-p", "median")
        and options.get("normaliser", "softmax") == "softmax"
    )


def in_jax(options):
    """Whether bench/peers/jax_worker.py has the mechanism."""
    return (
        options.get("score", "scaled-dot") in ("dot", "scaled-dot", "additive", "concat")
        and options.get("window", "global") in ("global", "causal", "restricted")
        and options.get("normaliser", "softmax") == "softmax"
    )


def mechanism_case(mechanism, n):
    """One call of a registered mechanism over n keys, by one query if it goes step by step, else by n."""
    options = "".join(f",{key}={value}" for key, value in mechanism["options"].items())
    name = f"attention,n={1 if mechanism['one_query'] else n},m={n}{options}"
    ways = {"composed": ("torch", "composed")}
    if through_sdpa(mechanism["options"]):
        ways["sdpa"] = ("torch", "sdpa")
    if in_jax(mechanism["options"]):
        ways["jax"] = ("jax", "composed")
    return Case(name, f"{mechanism['name']}, n = {n}", lanes=lanes(name, **ways), steps=1)
