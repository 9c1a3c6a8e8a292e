"""Writes tests/train/optimiser_cases.json: what torch.optim does, in double, to six numbers over six steps.

Run from the root of the repository with any Python that has PyTorch 2.x. The file stores inputs, not seeds.
"""

import json
import pathlib

import torch

START = [0.5, -1.25, 2.0, 0.0, -0.03, 7.5]
STEPS = 6
CASES = [
    ("sgd", torch.optim.SGD, {}),
    ("sgd", torch.optim.SGD, {"weight_decay": 0.1}),
    ("sgd", torch.optim.SGD, {"momentum": 0.9}),
    ("sgd", torch.optim.SGD, {"momentum": 0.9, "nesterov": True}),
    ("sgd", torch.optim.SGD, {"momentum": 0.99, "nesterov": True, "weight_decay": 0.05}),
    ("adagrad", torch.optim.Adagrad, {}),
    ("adagrad", torch.optim.Adagrad, {"eps": 1e-3, "weight_decay": 0.1}),
    ("adadelta", torch.optim.Adadelta, {}),
    ("adadelta", torch.optim.Adadelta, {"rho": 0.95, "eps": 1e-2, "weight_decay": 0.1}),
    ("rmsprop", torch.optim.RMSprop, {}),
    ("rmsprop", torch.optim.RMSprop, {"alpha": 0.9, "eps": 1e-2, "weight_decay": 0.1}),
    ("rmsprop", torch.optim.RMSprop, {"momentum": 0.9}),
    ("rmsprop", torch.optim.RMSprop, {"centered": True, "eps": 1e-4}),
    ("rmsprop", torch.optim.RMSprop, {"centered": True, "momentum": 0.5, "eps": 1e-3}),
    ("adam", torch.optim.Adam, {}),
    ("adam", torch.optim.Adam, {"betas": (0.9, 0.98), "eps": 1e-3, "weight_decay": 0.1}),
    ("adamw", torch.optim.AdamW, {"weight_decay": 0.1}),
    ("adamw", torch.optim.AdamW, {"betas": (0.5, 0.9), "eps": 1e-2, "weight_decay": 0.5}),
]


def run(optimiser_class, options, gradients, rates):
    value = torch.tensor(START, dtype=torch.float64, requires_grad=True)
    optimiser = optimiser_class([value], lr=rates[0], **options)
    values = []
    for gradient, rate in zip(gradients, rates):
        optimiser.param_groups[0]["lr"] = rate
        value.grad = torch.tensor(gradient, dtype=torch.float64)
        optimiser.step()
        values.append(value.detach().tolist())
    return values


def main():
    generator = torch.Generator().manual_seed(3)
    # Four decimal places: short in the file, and the same number wherever it is read.
    draws = torch.randn(STEPS, len(START), generator=generator, dtype=torch.float64)
    gradients = [[round(x, 4) for x in row] for row in draws.tolist()]
    gradients[2][1] = 0.0
    rates = [0.25, 0.25, 0.25, 0.125, 0.0625, 0.5]  # exact in float too
    cases = [
        {"algorithm": name, "options": options, "values": run(optimiser_class, options, gradients, rates)}
        for name, optimiser_class, options in CASES
    ]
    text = {"torch": torch.__version__.split("+")[0], "start": START, "rates": rates, "gradients": gradients, "cases": cases}
    path = pathlib.Path(__file__).parent.parent / "train" / "optimiser_cases.json"
    path.write_text(json.dumps(text, indent=1) + "\n")


if __name__ == "__main__":
    main()
