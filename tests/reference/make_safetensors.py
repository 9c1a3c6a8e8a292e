"""Writes tests/store/data/*.safetensors with the reference implementation (pip: safetensors, numpy, torch).

Run from the root of the repository:  python3 tests/reference/make_safetensors.py
"""

import pathlib

import numpy
import safetensors.torch
import torch
from safetensors.numpy import save_file

FOLDER = pathlib.Path(__file__).parent.parent / "store" / "data"


def real_tensors(dtype):
    """What safetensors_test.cpp writes itself and compares byte by byte."""
    return {
        "weight": (numpy.arange(6).reshape(2, 3) * 0.5 - 1).astype(dtype),
        "bias": numpy.array([1e-3, -2.0, 3.25], dtype),
        "größe \"1\"\n": numpy.array(7, dtype),
        "empty": numpy.zeros((0, 4), dtype),
    }


def mixed_tensors():
    values = [0.0, -0.0, 1.0, -1.5, 65504.0, 2.0**-24, 2.0**-14, float("inf"), float("-inf"), float("nan")]
    return {
        "f16": numpy.array(values, numpy.float16),
        "f32": numpy.array([1.5, -2.25, 3.4e38], numpy.float32),
        "f64": numpy.array([0.1, -1e-3], numpy.float64),
        "i8": numpy.array([-128, 127], numpy.int8),
        "u8": numpy.array([0, 255], numpy.uint8),
        "i16": numpy.array([-32768, 32767], numpy.int16),
        "i32": numpy.array([[1, -2], [3, 2**31 - 1]], numpy.int32),
        "i64": numpy.array([0, -(2**31), 2**31 - 1], numpy.int64),
        "i64_large": numpy.array([1, 2**31], numpy.int64),
        "bool": numpy.array([True, False, True]),
    }


FOLDER.mkdir(exist_ok=True)
METADATA = {"author": "a \"test\""}  # one: the reference writes several in no fixed order
save_file(real_tensors(numpy.float32), FOLDER / "float.safetensors", METADATA)
save_file(real_tensors(numpy.float64), FOLDER / "double.safetensors", METADATA)
save_file(mixed_tensors(), FOLDER / "mixed.safetensors")
save_file({}, FOLDER / "none.safetensors")
# NumPy has no bfloat16. 1, -2, the largest, the smallest subnormal, infinity.
bits = torch.tensor([0x3F80, -0x4000, 0x7F7F, 0x0001, 0x7F80], dtype=torch.int16)
safetensors.torch.save_file({"bf16": bits.view(torch.bfloat16)}, FOLDER / "brain.safetensors")
