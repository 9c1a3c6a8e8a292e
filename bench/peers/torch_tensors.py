"""What the PyTorch peers share: tensors of the benchmark's numbers, differentiated functions, torch.compile."""

import sys

import torch

from worker import filled_array, filled_id_array

COMPILE = "--compile" in sys.argv[1:]


def compiled(function):
    return torch.compile(function) if COMPILE else function


def filled(shape, seed, scale=1.0):
    return torch.from_numpy(filled_array(shape, seed, scale))


def filled_ids(shape, seed, bound):
    return torch.from_numpy(filled_id_array(shape, seed, bound))


def leaf(shape, seed, scale=1.0):
    return filled(shape, seed, scale).requires_grad_()


def transposed_leaf(shape, seed, scale=1.0):
    """Heed stores a weight [in, out], PyTorch [out, in]: each gets its own layout of the same numbers."""
    return filled(shape, seed, scale).t().contiguous().requires_grad_()


def differentiated(function, names, inputs, dy, back=None):
    """A step: the value and the gradients of all inputs. back(name, gradient) brings one into Heed's layout."""
    function = compiled(function)

    def step(keep):
        y = function(*inputs)
        gradients = torch.autograd.grad(y, inputs, dy)
        if keep:
            result = {"y": y}
            for name, gradient in zip(names, gradients):
                result["d" + name] = back(name, gradient) if back else gradient
            return result

    return step


def inferred(function, inputs):
    """A step: the value alone, without a gradient."""
    function = compiled(function)

    @torch.inference_mode()
    def step(keep):
        y = function(*inputs)
        return {"y": y} if keep else None

    return step
