#!/usr/bin/env python3
"""Records values and gradients of torch.nn.LSTM and torch.nn.GRU for tests/autograd/ops/recurrent_test.cpp.

    python3 make_recurrent_cases.py > ../autograd/ops/recurrent_torch.json

Weights are written in Heed's layout: [in, gates·hidden], and the two biases merged where they only ever occur as a
sum. The loss is sum(outputs ∘ R) + sum(last states ∘ S), so that every result has a gradient of its own.
"""

import json
import torch

BATCH, TIME, IN, HIDDEN = 3, 4, 2, 3


def numbers(tensor):
    return [float(f"{x:.8g}") for x in tensor.detach().flatten()]


def case(kind, lengths, reverse):
    layer = getattr(torch.nn, kind)(IN, HIDDEN, batch_first=True)
    for weight in layer.parameters():
        torch.nn.init.normal_(weight)
    states = ["hidden", "cell"] if kind == "LSTM" else ["hidden"]
    x = torch.randn(BATCH, TIME, IN, requires_grad=True)
    initial = [torch.randn(1, BATCH, HIDDEN, requires_grad=True) for _ in states]

    # torch reads backwards only as half of a bidirectional layer: turn each sentence round by hand.
    def turned(t):
        return torch.stack([torch.cat([s[:n].flip(0), s[n:]]) for s, n in zip(t, lengths)]) if reverse else t

    packed = torch.nn.utils.rnn.pack_padded_sequence(turned(x), lengths, batch_first=True, enforce_sorted=False)
    given = tuple(initial) if kind == "LSTM" else initial[0]
    outputs, last = layer(packed, given)
    outputs, _ = torch.nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True, total_length=TIME)
    outputs = turned(outputs)
    last = list(last) if kind == "LSTM" else [last]
    doutputs, dlast = torch.randn_like(outputs), [torch.randn_like(s) for s in last]
    loss = (outputs * doutputs).sum() + sum((s * d).sum() for s, d in zip(last, dlast))
    loss.backward()

    def biases(b_ih, b_hh):
        if kind == "LSTM":
            return {"bias": numbers(b_ih + b_hh)}
        merged = b_ih + torch.cat([b_hh[: 2 * HIDDEN], torch.zeros(HIDDEN)])
        return {"bias": numbers(merged), "candidate_bias": numbers(b_hh[2 * HIDDEN:])}

    def bias_gradients(d_ih, d_hh):
        result = {"bias": numbers(d_ih)}
        return result if kind == "LSTM" else {**result, "candidate_bias": numbers(d_hh[2 * HIDDEN:])}

    return {
        "kind": kind, "lengths": lengths, "reverse": int(reverse),
        "sizes": [BATCH, TIME, IN, HIDDEN],
        "inputs": {"x": numbers(x), "input": numbers(layer.weight_ih_l0.T), "recurrent": numbers(layer.weight_hh_l0.T),
                   **biases(layer.bias_ih_l0.detach(), layer.bias_hh_l0.detach()),
                   **{name: numbers(s) for name, s in zip(states, initial)}},
        "results": {"outputs": numbers(outputs), **{name: numbers(s) for name, s in zip(states, last)}},
        "seeds": {"outputs": numbers(doutputs), **{name: numbers(d) for name, d in zip(states, dlast)}},
        "gradients": {"x": numbers(x.grad), "input": numbers(layer.weight_ih_l0.grad.T),
                      "recurrent": numbers(layer.weight_hh_l0.grad.T),
                      **bias_gradients(layer.bias_ih_l0.grad, layer.bias_hh_l0.grad),
                      **{name: numbers(s.grad) for name, s in zip(states, initial)}},
    }


torch.manual_seed(1997)
cases = [case(kind, lengths, reverse) for kind in ("LSTM", "GRU") for lengths in ([4, 4, 4], [2, 4, 1])
         for reverse in (False, True)]
print(json.dumps(cases, separators=(",", ":")).replace('{"kind"', '\n{"kind"'))
