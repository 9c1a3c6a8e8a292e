"""The package against NumPy, and against PyTorch where it is installed."""

import numpy as np
import pytest

import heed


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def triple(n=2, m=6, width=4):
    return numbers(1, n, width, seed=1), numbers(1, m, width, seed=2), numbers(1, m, width, seed=3)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_scaled_dot_is_the_formula():
    q, k, v = numbers(2, 3, 5, 8, seed=1), numbers(2, 3, 7, 8, seed=2), numbers(2, 3, 7, 4, seed=3)
    a = heed.attend(q, k, v, return_weights=True)
    weights = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(8))
    np.testing.assert_allclose(a.weights, weights, atol=1e-6)
    np.testing.assert_allclose(a.read, weights @ v, atol=1e-5)


def test_two_axes():
    q, k, v = triple()
    flat = heed.attend(q[0], k[0], v[0]).read
    assert flat.shape == (2, 4)
    np.testing.assert_array_equal(flat, heed.attend(q, k, v).read[0])


def test_lengths_hide_padding():
    q, k, v = numbers(2, 1, 8, seed=1), numbers(2, 6, 8, seed=2), numbers(2, 6, 8, seed=3)
    a = heed.attend(q, k, v, lengths=[6, 2], return_weights=True)
    assert (a.weights[1, 0, 0, 2:] == 0).all()
    alone = heed.attend(q[1:], k[1:, :2], v[1:, :2])
    np.testing.assert_allclose(a.read[1], alone.read[0], atol=1e-6)


def test_a_mask_hides():
    q, k, v = triple(n=6)
    lower = np.tril(np.ones((6, 6), dtype=bool))
    masked, causal = heed.attend(q, k, v, mask=lower), heed.attend(q, k, v, window="causal")
    np.testing.assert_allclose(masked.read, causal.read, atol=1e-6)


def test_gradient_by_differences():
    q, k, v = triple(m=3)
    direction = numbers(1, 2, 4, seed=4)
    gradients = heed.attend(q, k, v, window="causal").backward(direction)

    def projected():
        return float((heed.attend(q, k, v, window="causal").read.astype(np.float64) * direction).sum())

    step = 2.0**-6
    for name, array in (("q", q), ("k", k), ("v", v)):
        numeric = np.zeros_like(array)
        for i in np.ndindex(array.shape):
            at = array[i]
            array[i] = at + step
            above = projected()
            array[i] = at - step
            numeric[i] = (above - projected()) / (2 * step)
            array[i] = at
        np.testing.assert_allclose(gradients[name], numeric, atol=2e-3)


@pytest.mark.parametrize("entry", heed.attentions(), ids=lambda entry: entry["name"])
def test_every_mechanism_runs_and_has_gradients(entry):
    q, k, v = triple(n=1)
    a = heed.attend(q, k, v, mechanism=entry["name"], return_weights=True)
    assert np.isfinite(a.read).all()
    assert (a.weights.sum(-1) <= 1 + 1e-5).all()
    gradients = a.backward(np.ones_like(a.read))
    assert set(gradients) == {"q", "k", "v", *a.parameters}
    assert all(np.isfinite(g).all() for g in gradients.values())
    assert all(entry[field] for field in ("paper", "equation", "score", "window", "normaliser"))


def test_given_parameters_are_used():
    q, k, v = triple()
    identity = {"score.weight": np.eye(4, dtype=np.float32)}
    general = heed.attend(q, k, v, score="general", parameters=identity)
    np.testing.assert_allclose(general.read, heed.attend(q, k, v, score="dot").read, atol=1e-6)


def test_summaries():
    a = heed.attend(*triple(n=4), return_weights=True, summaries=("entropy", "column_sums", "top"))
    np.testing.assert_allclose(a.entropy, -(a.weights * np.log(a.weights)).sum(-1), atol=1e-5)
    np.testing.assert_allclose(a.column_sums, a.weights.sum(-2), atol=1e-6)
    np.testing.assert_array_equal(a.top, a.weights.argmax(-1))


@pytest.mark.parametrize("score", ["scaled-dot", "additive"])  # fused and composed
def test_rows_and_heads_on_request(score):
    q, k, v = numbers(2, 3, 5, 4, seed=1), numbers(2, 3, 7, 4, seed=2), numbers(2, 3, 7, 4, seed=3)
    a = heed.attend(q, k, v, score=score, lengths=[7, 2], return_weights=[4, 0])
    everything = a.weights_of()
    assert everything.shape == (2, 3, 5, 7)
    np.testing.assert_allclose(a.weights, everything[:, :, [4, 0]], atol=1e-6)
    np.testing.assert_allclose(a.weights_of([1], [2, 0]), everything[:, [2, 0]][:, :, [1]], atol=1e-6)
    found = a.summarise(top=3)
    np.testing.assert_allclose(found["top_weights"], -np.sort(-everything)[..., :3], atol=1e-6)
    np.testing.assert_array_equal(found["top"][0], np.argsort(-everything[0], axis=-1)[..., :3])
    assert (found["top"][1, :, :, 2] == -1).all()
    with pytest.raises(ValueError, match="row 5 is outside 0..4"):
        a.weights_of([5])
    with pytest.raises(ValueError, match="top 8 of 7 keys does not exist"):
        a.summarise(top=8)


def test_nothing_seen_has_no_largest_weight():
    a = heed.attend(*triple(), lengths=[0], summaries=("entropy", "top"))
    assert (a.read == 0).all() and (a.entropy == 0).all() and (a.top == -1).all()


def test_the_inputs_are_left_alone():
    arrays = triple()
    before = [x.copy() for x in arrays]
    a = heed.attend(*arrays)
    a.backward(np.ones_like(a.read))
    for x, y in zip(arrays, before):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda q, k, v: heed.attend(q, k, v, score="scaled-dott"), "did you mean scaled-dot"),
        (lambda q, k, v: heed.attend(q, k, v, windw="causal"), "there is no option windw; did you mean window"),
        (lambda q, k, v: heed.attend(q, k, v, half_width="wide"), "half_width has a value of the wrong type"),
        (lambda q, k, v: heed.attend(q, k, v, lengths=[9]), "a length of 9 is outside 0..6"),
        (lambda q, k, v: heed.attend(q, k, v, lengths=[float("nan")]), "float64, not whole numbers"),
        (lambda q, k, v: heed.attend(q, k, v, mask=[0.0, 1, 1, float("nan"), 1, 1]), "the mask holds nan"),
        (lambda q, k, v: heed.attend(q, k, v, mask=np.ones((3, 6))), "do not broadcast: 3 against 2"),
        (lambda q, k, v: heed.attend(q, k, v, window="restricted", neighbours=0), "must be positive: 0"),
        (lambda q, k, v: heed.attend(q, k[:, :0], v[:, :0]), "the memory is empty"),
        (lambda q, k, v: heed.attend(q, k, v[:, :3]), "do not belong together"),
        (lambda q, k, v: heed.attend(np.array(["a"]), k, v), "not numbers"),
        (lambda q, k, v: heed.attend(q, k, v, normaliser="sharpened", temperature=0.0), "must be positive"),
        (lambda q, k, v: heed.attend(q, k, v, summaries=("entropi",)), "there is no summary entropi"),
        (lambda q, k, v: heed.attend(q, k, v, parameters={"nothing": k}), "there is no parameter nothing"),
    ],
)
def test_mistakes_are_value_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call(*triple())


def test_notebook_display():
    shown = heed.attend(*triple(n=2, m=3))._repr_html_()
    assert shown.count("<tr>") == 2 and shown.count("<td") == 6


def test_parity_with_torch_multihead_attention():
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    width, heads, n = 16, 4, 7
    layer = torch.nn.MultiheadAttention(width, heads, batch_first=True)
    x = torch.randn(2, n, width)
    expected, weights = layer(x, x, x, average_attn_weights=False)

    w, b = layer.in_proj_weight.detach().numpy(), layer.in_proj_bias.detach().numpy()
    parts = [x.numpy() @ w[i * width : (i + 1) * width].T + b[i * width : (i + 1) * width] for i in range(3)]
    q, k, v = (np.ascontiguousarray(p.reshape(2, n, heads, width // heads).swapaxes(1, 2)) for p in parts)
    a = heed.attend(q, k, v, return_weights=True)
    joined = a.read.swapaxes(1, 2).reshape(2, n, width)
    out = joined @ layer.out_proj.weight.detach().numpy().T + layer.out_proj.bias.detach().numpy()
    np.testing.assert_allclose(out, expected.detach().numpy(), atol=1e-5)
    np.testing.assert_allclose(a.weights, weights.detach().numpy(), atol=1e-6)


def test_lists_and_double_numbers_are_computed_in_float():
    q, k, v = triple(m=3)
    plain = heed.attend(q, k, v).read
    np.testing.assert_array_equal(heed.attend(q.astype(np.float64), k.tolist(), v.tolist()).read, plain)


def test_heads_of_queries_share_fewer_of_keys():
    q, k, v = numbers(1, 4, 3, 2, seed=1), numbers(1, 2, 5, 2, seed=2), numbers(1, 2, 5, 2, seed=3)
    shared = heed.attend(q, k, v)
    repeated = heed.attend(q, np.repeat(k, 2, axis=1), np.repeat(v, 2, axis=1))
    np.testing.assert_allclose(shared.read, repeated.read, atol=1e-6)
    ones = np.ones_like(shared.read)
    summed = repeated.backward(ones)["k"].reshape(1, 2, 2, 5, 2).sum(axis=2)
    np.testing.assert_allclose(shared.backward(ones)["k"], summed, atol=1e-5)
    with pytest.raises(ValueError, match="3 heads of q cannot share 2 heads of k"):
        heed.attend(numbers(1, 3, 3, 2, seed=1), k, v)
