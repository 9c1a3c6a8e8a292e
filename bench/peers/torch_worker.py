"""The peer of heed_bench in PyTorch. With --compile the differentiable part of each case goes through torch.compile.

Settings: float32, the asked number of threads, no Python work inside the measured time beyond what a PyTorch user has
too.
"""

import torch

import torch_attention
import torch_captioning
import torch_choosing
import torch_engine
import torch_listener
import torch_summarising
import torch_translation
from torch_tensors import COMPILE
from worker import Worker


class TorchWorker(Worker):
    def version(self):
        return {"torch": torch.__version__, "cpu": torch.backends.cpu.get_cpu_capability()}

    def as_array(self, tensor):
        return tensor.detach().contiguous().to_dense().numpy()

    def use(self, threads):
        torch.set_num_threads(threads)
        if COMPILE:
            torch.compiler.reset()


if __name__ == "__main__":
    PEERS = (
        torch_attention,
        torch_translation,
        torch_choosing,
        torch_captioning,
        torch_listener,
        torch_summarising,
    )
    TorchWorker(torch_engine.CASES, {name: made for peer in PEERS for name, made in peer.FAMILIES.items()}).serve()
