#!/usr/bin/env python3
"""Times EfficientNet-Lite0 up to its head, 224 x 224 pixels, in Heed, ONNX Runtime and PyTorch, on the same weights.

    cmake --preset release -DHEED_BENCH=ON && cmake --build --preset release --target heed_eye_bench
    bench/eye/encoder.py --heed build/release/bench/heed_eye_bench --weights efficientnet-lite0.safetensors

Needs a Python with numpy, safetensors, onnx, onnxruntime and torch. They alternate, turn by turn, and rest while
another works; their features must agree before anything is timed. PyTorch's pictures are channels-last, once as it is
and once compiled. Times are those of the processor, on one thread, so that a machine that others use too can tell which
is faster. Prints the best turns and the ratio of each turn's pair.
"""

import argparse
import statistics
import subprocess
import time

import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

SIDE = 224
# repeats, kernel, stride of the first, expansion
STAGES = [(1, 3, 1, 1), (2, 3, 2, 6), (2, 5, 2, 6), (3, 3, 2, 6), (3, 5, 1, 6), (4, 5, 2, 6), (1, 3, 1, 6)]


def onnx_model(weights):
    nodes, constants = [], []

    def constant(name, value):
        constants.append(numpy_helper.from_array(value.astype(np.float32), name))
        return name

    constant("zero", np.zeros(())), constant("six", np.full((), 6))

    def convolve(name, x, stride=1, groups=1, bend=True):
        inputs = [x, constant(name + ".weight", weights[name + ".weight"]), constant(name + ".bias", weights[name + ".bias"])]
        nodes.append(helper.make_node("Conv", inputs, [name], strides=[stride, stride], group=groups, auto_pad="SAME_UPPER"))
        if not bend:
            return name
        nodes.append(helper.make_node("Clip", [name, "zero", "six"], [name + ".bent"]))
        return name + ".bent"

    x, block = convolve("stem", "pictures", stride=2), 0
    for repeats, _, first_stride, expansion in STAGES:
        for repeat in range(repeats):
            name, stride, before = f"block{block:02}", first_stride if repeat == 0 else 1, x
            if expansion > 1:
                x = convolve(name + ".expand", x)
            x = convolve(name + ".depthwise", x, stride, len(weights[name + ".depthwise.bias"]))
            x = convolve(name + ".project", x, bend=False)
            if repeat > 0:
                nodes.append(helper.make_node("Add", [x, before], [name]))
                x = name
            block += 1
    x = convolve("head", x)
    picture = helper.make_tensor_value_info("pictures", TensorProto.FLOAT, ["batch", 3, SIDE, SIDE])
    features = helper.make_tensor_value_info(x, TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "lite0", [picture], [features], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def pictures(batch):
    b, c, y, x = np.meshgrid(np.arange(batch), np.arange(3), np.arange(SIDE), np.arange(SIDE), indexing="ij")
    return ((((7 * x + 13 * y + 50 * c + 29 * b) % 256) - 127) / 128).astype(np.float32)


def milliseconds(work, repetitions):
    times = []
    for _ in range(repetitions):
        begin = time.process_time()
        work()
        times.append((time.process_time() - begin) * 1000)
    return times


class Torch:
    """Channels-last throughout; pads where SAME is not the same on both sides."""

    def __init__(self, weights, compiled):
        torch.set_num_threads(1)
        self.weights = {}
        for name, value in weights.items():
            tensor = torch.from_numpy(value)
            self.weights[name] = tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor
        self.forward = torch.compile(self.features) if compiled else self.features

    def convolve(self, name, x, stride=1, groups=1, bend=True):
        weight = self.weights[name + ".weight"]
        total = max((-(-x.size(2) // stride) - 1) * stride + weight.size(2) - x.size(2), 0)
        if total % 2:
            x = F.pad(x, (total // 2, total - total // 2) * 2)
        y = F.conv2d(x, weight, self.weights[name + ".bias"], stride, 0 if total % 2 else total // 2, 1, groups)
        return F.relu6(y, inplace=True) if bend else y

    def features(self, x):
        x, block = self.convolve("stem", x, stride=2), 0
        for repeats, _, first_stride, expansion in STAGES:
            for repeat in range(repeats):
                name, stride, before = f"block{block:02}", first_stride if repeat == 0 else 1, x
                if expansion > 1:
                    x = self.convolve(name + ".expand", x)
                x = self.convolve(name + ".depthwise", x, stride, len(self.weights[name + ".depthwise.bias"]))
                x = self.convolve(name + ".project", x, bend=False)
                x = x + before if repeat > 0 else x
                block += 1
        return self.convolve("head", x)

    @torch.inference_mode()
    def run(self, batch, repetitions):
        given = torch.from_numpy(pictures(batch)).contiguous(memory_format=torch.channels_last)
        total = self.forward(given).sum(dtype=torch.float64).item()
        return total, milliseconds(lambda: self.forward(given), repetitions)


class OnnxRuntime:
    def __init__(self, model):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def run(self, batch, repetitions):
        given = {"pictures": pictures(batch)}
        total = float(self.session.run(None, given)[0].sum(dtype=np.float64))
        return total, milliseconds(lambda: self.session.run(None, given), repetitions)


class Heed:
    def __init__(self, program, weights):
        self.process = subprocess.Popen([program, weights], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, batch, repetitions):
        print(batch, repetitions, file=self.process.stdin, flush=True)
        total, *times = map(float, self.process.stdout.readline().split())
        return total, times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", required=True)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--turns", type=int, default=7)
    options = parser.parse_args()
    weights = {name: value.astype(np.float32) for name, value in load_file(options.weights).items()}
    peers = {
        "heed": Heed(options.heed, options.weights),
        "onnxruntime": OnnxRuntime(onnx_model(weights)),
        "torch": Torch(weights, compiled=False),
        "torch compiled": Torch(weights, compiled=True),
    }
    print(f"EfficientNet-Lite0, milliseconds per batch; onnxruntime {onnxruntime.__version__}, "
          f"onnx {onnx.__version__}, torch {torch.__version__}")
    for batch in (1, 16):
        totals = {name: peer.run(batch, 1)[0] for name, peer in peers.items()}
        if not np.allclose(list(totals.values()), totals["heed"], rtol=1e-5):
            raise SystemExit(f"the features differ: {totals}")
        medians = {name: [] for name in peers}
        for _ in range(options.turns):
            for name, peer in peers.items():
                medians[name].append(statistics.median(peer.run(batch, 30 // batch + 3)[1]))
        for name, own in medians.items():
            ratios = [other / heed for heed, other in zip(medians["heed"], own)]
            beside = f", {name} / heed {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            print(f"batch {batch:2}: {name:14} {min(own):7.2f} in its best turn{beside if name != 'heed' else ''}", flush=True)


if __name__ == "__main__":
    main()
