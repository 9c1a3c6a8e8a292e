"""The peer of bench/cluster: a rank of PyTorch's DistributedDataParallel over Gloo, on the sentences that Heed trains on.

Reads "run STEPS" line by line and answers with the target words of all ranks and the seconds that they took. Settings:
one thread per rank, fused Adam, gradients that live in DDP's buckets, one graph for all steps, and a glibc allocator that
keeps its memory. Eager, which trains these two models faster than torch.compile does (bench/translation).
"""

import argparse
import json
import os
import random
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from safetensors.torch import load_file
from torch.nn.parallel import DistributedDataParallel

from torch_translation import BEGIN, END, MODELS

CLIPPING, SMOOTHING = 1, 0.1


def read_pairs(options):
    """The sentences as ids, by Heed's vocabularies."""
    sides = []
    for side, path in (("source", options.source), ("target", options.target)):
        known = {word: i for i, word in enumerate((options.folder / f"{side}.vocab.txt").read_text().split("\n"))}
        sides.append([[known[word] for word in line.split()] for line in path.read_text().splitlines()])
    return list(zip(*sides))


def batches_of(pairs, most_words):
    """Pairs of like length together, at most so many words per side with padding and ends, in a random order."""
    batches, batch, longest = [], [], 0
    for pair in sorted(pairs, key=lambda pair: (max(map(len, pair)), len(pair[1]))):
        longest = max(longest, *(len(side) + 1 for side in pair))
        if (len(batch) + 1) * longest > most_words:
            batches.append(batch)
            batch, longest = [], max(len(side) + 1 for side in pair)
        batch.append(pair)
    batches.append(batch)
    random.Random(1).shuffle(batches)
    return batches


def tensors_of(pairs):
    """source [sentences, m] and its lengths, previous and expected words [sentences, n]."""
    sources, targets = ([torch.tensor(side + [END]) for side in sides] for sides in zip(*pairs))
    source = torch.nn.utils.rnn.pad_sequence(sources, batch_first=True, padding_value=END)
    expected = torch.nn.utils.rnn.pad_sequence(targets, batch_first=True, padding_value=-1)
    previous = torch.cat([torch.full((len(pairs), 1), BEGIN), expected[:, :-1]], 1)
    return source, torch.tensor([len(each) for each in sources]), previous.masked_fill(previous < 0, END), expected


class Training:
    """One rank. A batch is dealt out to the ranks sentence by sentence, so that all have as much to do."""

    def __init__(self, options):
        self.rank, self.ranks = options.rank, options.ranks
        model = MODELS[options.model](load_file(options.folder / "model.safetensors")).train()
        self.learned = [each for each in model.parameters() if each.requires_grad]
        if self.ranks > 1:
            model = DistributedDataParallel(model, gradient_as_bucket_view=True, static_graph=True)
        self.model = model
        self.adam = torch.optim.Adam(self.learned, lr=3e-4, betas=(0.9, 0.98), fused=True)
        self.batches = batches_of(read_pairs(options), options.batch_words)
        self.place = 0

    def step(self):
        """The target words of all ranks, with their ends."""
        batch = self.batches[self.place % len(self.batches)]
        self.place += 1
        source, lengths, previous, expected = tensors_of(batch[self.rank :: self.ranks])
        # With DDP the buckets hold the gradients: they are set to zero there.
        self.adam.zero_grad(set_to_none=self.ranks == 1)
        logits = self.model(source, lengths, previous)
        loss = F.cross_entropy(logits.flatten(0, 1), expected.flatten(), ignore_index=-1, label_smoothing=SMOOTHING)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.learned, CLIPPING)
        self.adam.step()
        return sum(len(target) + 1 for _, target in batch)

    def run(self, steps):
        self.place = 0  # every turn does the same work
        if self.ranks > 1:
            dist.barrier()
        begin = time.perf_counter()
        words = sum(self.step() for _ in range(steps))
        return {"words": words, "seconds": time.perf_counter() - begin}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", choices=MODELS, required=True)
    parser.add_argument("--folder", type=Path, required=True, help="a model folder of Heed's: first weights, vocabularies")
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--batch-words", type=int, required=True, help="of all ranks together")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--meeting", default="127.0.0.1:29500", help="address and port of rank 0")
    parser.add_argument("--interface", default="lo", help="the network between the ranks")
    return parser.parse_args()


def main():
    options = arguments()
    replies = sys.stdout
    sys.stdout = sys.stderr  # what libraries print must not disturb the protocol
    torch.set_num_threads(1)
    torch.manual_seed(options.rank)
    if options.ranks > 1:
        os.environ["GLOO_SOCKET_IFNAME"] = options.interface
        dist.init_process_group("gloo", f"tcp://{options.meeting}", world_size=options.ranks, rank=options.rank)
    training = Training(options)
    for line in sys.stdin:
        command, steps = line.split()
        answer = {"torch": torch.__version__, **training.run(int(steps))} if command == "run" else {"error": line}
        print(json.dumps(answer), file=replies, flush=True)
    if options.ranks > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
