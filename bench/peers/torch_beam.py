"""Beam search over many sentences at once in PyTorch: src/search/beam.cpp's search, the states [batch, beam, ·]."""

import torch

BEGIN, END = 1, 2


def length_penalty(length, alpha=0.6):
    return ((5 + length) / 6) ** alpha


def picked(state, rows):
    """Rows [batch, beam] of the beam of each sentence."""
    sentences = torch.arange(len(rows)).unsqueeze(1)
    return tuple(part[sentences, rows] for part in state)


@torch.inference_mode()
def beam_search(model, source, lengths, beam=5):
    """Words [batch, longest] with zeros behind, and scores; sentences are as long as their sources at most."""
    batch = len(source)
    best_words = torch.zeros(batch, source.size(1), dtype=torch.int64)
    best_scores = torch.full((batch,), -torch.inf)
    memory, state = model.begin(source, lengths, beam)
    left = torch.arange(batch)  # sentences whose search goes on, and what they have
    totals = torch.full((batch, beam), -torch.inf)
    totals[:, 0] = 0
    words = torch.empty(batch, beam, 0, dtype=torch.int64)
    previous = torch.full((batch, beam), BEGIN)
    for position in range(source.size(1) + 1):
        logits, state = model.step(memory, state, previous, position)
        candidates = torch.log_softmax(logits, -1) + totals.unsqueeze(-1)
        # At its longest a sentence ends, whatever the model says.
        full = lengths == position
        if full.any():
            ends = candidates[full, :, END]
            candidates[full] = -torch.inf
            candidates[full, :, END] = ends
        totals, places = candidates.flatten(1).topk(beam)
        rows, previous = places // logits.size(-1), places % logits.size(-1)
        words, state = picked((words,), rows)[0], picked(state, rows)
        ended = previous == END
        if ended.any():
            scores, which = totals.masked_fill(~ended, -torch.inf).div(length_penalty(position + 1)).max(1)
            better = scores > best_scores[left]
            chosen = left[better]
            best_scores[chosen] = scores[better]
            best_words[chosen] = 0
            best_words[chosen, :position] = words[better, which[better]]
            totals = totals.masked_fill(ended, -torch.inf)
        # Nothing that remains can become better, were it to lose nothing more.
        alive = totals.amax(1) / length_penalty(lengths + 1) > best_scores[left]
        if not alive.any():
            break
        words = torch.cat([words, previous.unsqueeze(-1)], -1)
        if not alive.all():
            left, lengths, totals, words, previous = (x[alive] for x in (left, lengths, totals, words, previous))
            memory, state = (tuple(part[alive] for part in parts) for parts in (memory, state))
    return best_words, best_scores
