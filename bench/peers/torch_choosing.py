"""The peer of bench/choosing in PyTorch: the same documents and pairs, weights and updates."""

import os
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from torch_tensors import compiled, filled_ids
from torch_translation_parts import linear, parameter, reversal, visible

WORDS, LABELS = 30000, 3
DOCUMENTS, SENTENCES, LONGEST_SENTENCE = 32, (6, 10, 14, 20), 20
PAIRS, PREMISE, HYPOTHESIS = 64, (9, 13, 17, 22), 9
QUESTIONS, STORY, QUESTION, CHOICES = 32, (300, 400, 500, 600), 25, 10
BEGIN, END = 1, 2


def words_of(bits):
    """bench/choosing/choosing.cpp: the frequent words come first."""
    return 3 + ((((bits * bits) >> 24) * bits >> 24) * (WORDS - 3) >> 24)


def documents(sentences, seed):
    """Words [documents, sentences, words] and the lengths of the sentences. No word stands in the padding: SparseAdam
    would move it, with a gradient of zero."""
    words = words_of(filled_ids((DOCUMENTS, sentences, LONGEST_SENTENCE), seed, 1 << 24))
    lengths = LONGEST_SENTENCE - filled_ids((DOCUMENTS, sentences), seed + 1, 10)
    return torch.where(torch.arange(LONGEST_SENTENCE) < lengths.unsqueeze(2), words, END), lengths


def flat(words, lengths):
    """Documents as one text each, with the end: words [documents, longest] and lengths."""
    visible = torch.arange(words.size(2)) < lengths.unsqueeze(2)
    rows = [torch.cat([text[seen], torch.tensor([END])]) for text, seen in zip(words, visible)]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=END), lengths.sum(1) + 1


def texts(count, longest, seed):
    lengths = longest - filled_ids((count,), seed + 1, 5)
    words = words_of(filled_ids((count, longest), seed, 1 << 24))
    return torch.where(torch.arange(longest) < lengths.unsqueeze(1), words, END), lengths


def question(longest, seed):
    """A document, a question, and which choice each word of the document is; those that are none are the last."""
    marks = filled_ids((QUESTIONS, longest + 1), seed + 5, 60)[:, :longest]
    document, lengths = texts(QUESTIONS, longest, seed)
    marks = marks.clamp(max=CHOICES).masked_fill(torch.arange(longest) >= lengths.unsqueeze(1), CHOICES)
    return (document, lengths, *texts(QUESTIONS, QUESTION, seed + 2), marks)


def made_up(model):
    batches = []
    for i in range(4):
        seed = 4000 + 10 * i
        if model == "rocktaschel":
            inputs = (*texts(PAIRS, PREMISE[i], seed), *texts(PAIRS, HYPOTHESIS, seed + 2))
        elif model == "aoa":
            inputs = question(STORY[i], seed)
        else:
            inputs = documents(SENTENCES[i], seed)
            inputs = flat(*inputs) if model == "self-attentive" else inputs
        batches.append((inputs, filled_ids((len(inputs[0]),), seed + 4, CHOICES if model == "aoa" else LABELS)))
    return batches


def embedding(weights):
    """Its gradient is the touched rows, as Heed's is."""
    return nn.Embedding.from_pretrained(weights["words.table"].clone(), freeze=False, sparse=True)


def recurrent(layer, weights, name):
    """Fills a layer of one direction with Heed's weights. PyTorch adds two biases where Heed has one: of the second only
    what a GRU's candidate needs is learned, or biases would move twice as far."""
    gates, hidden = 3 if isinstance(layer, nn.GRU) else 4, layer.hidden_size
    second = torch.zeros(gates * hidden)
    if gates == 3:
        second[2 * hidden :] = weights[name + ".candidate_bias"]
    layer.weight_ih_l0, layer.weight_hh_l0 = (parameter(weights[f"{name}.{key}"].t()) for key in ("input", "recurrent"))
    layer.bias_ih_l0, layer.bias_hh_l0 = parameter(weights[name + ".bias"]), parameter(second)
    if gates == 3:
        learned = torch.arange(gates * hidden) >= 2 * hidden
        layer.bias_hh_l0.register_hook(lambda gradient: gradient * learned)
    else:
        layer.bias_hh_l0.requires_grad_(False)
    layer.flatten_parameters()
    return layer


class BothWays(nn.Module):
    """A layer of both directions; outputs [batch, time, 2·hidden] with zeros in the padding. The rows are padded and
    turned round, not packed: over 600 words, forward and backward, PyTorch's packed GRU takes 8 times as long on a CPU
    and its packed LSTM 30 times."""

    def __init__(self, kind, weights, name):
        super().__init__()
        width, hidden = weights[name + ".forward.input"].size(0), weights[name + ".forward.recurrent"].size(0)
        self.ahead, self.back = (
            recurrent(kind(width, hidden, batch_first=True), weights, f"{name}.{way}") for way in ("forward", "backward")
        )

    def forward(self, x, lengths):
        backwards = reversal(lengths, x.size(1)).unsqueeze(-1)
        back = self.back(x.gather(1, backwards.expand_as(x)))[0]
        back = back.gather(1, backwards.expand_as(back))
        return torch.cat([self.ahead(x)[0], back], -1) * visible(lengths, x.size(1)).unsqueeze(-1)


def read(layer, x, lengths, state=None):
    """One direction: outputs [batch, time, ·] with zeros in the padding, and the state after each row's last word, which
    only packed sequences give of an LSTM."""
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    outputs, last = layer(packed, state)
    return pad_packed_sequence(outputs, batch_first=True, total_length=x.size(1))[0], last


class Pooling(nn.Module):
    """softmax over places of rows · tanh(W h + b), read: [batch, rows, width]."""

    def __init__(self, weights, name):
        super().__init__()
        self.key = linear(weights, name + ".score.key")
        self.rows = parameter(weights[name + ".score.rows"])
        self.weigh = compiled(self.weights_of)

    def weights_of(self, annotations, hidden):
        scores = torch.tanh(self.key(annotations)) @ self.rows
        return scores.masked_fill(hidden.unsqueeze(2), -torch.inf).softmax(1).transpose(1, 2)

    def forward(self, annotations, lengths):
        hidden = torch.arange(annotations.size(1)) >= lengths.unsqueeze(1)
        return self.weigh(annotations, hidden) @ annotations


class Han(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.words = embedding(weights)
        self.word_encoder = BothWays(nn.GRU, weights, "word.encoder")
        self.sentence_encoder = BothWays(nn.GRU, weights, "sentence.encoder")
        self.word_pooling, self.sentence_pooling = Pooling(weights, "word.attention"), Pooling(weights, "sentence.attention")  # fmt: skip
        self.labels = linear(weights, "labels")

    def forward(self, words, lengths):
        batch, sentences, _ = words.shape
        embedded = F.dropout(self.words(words.flatten(0, 1)), 0.2, self.training)
        annotations = self.word_encoder(embedded, lengths.flatten())
        vectors = self.word_pooling(annotations, lengths.flatten()).view(batch, sentences, -1)
        counts = torch.full((batch,), sentences)
        annotations = self.sentence_encoder(F.dropout(vectors, 0.3, self.training), counts)
        return self.labels(F.dropout(self.sentence_pooling(annotations, counts).squeeze(1), 0.3, self.training))


class SelfAttentive(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.words = embedding(weights)
        self.encoder = BothWays(nn.LSTM, weights, "encoder")
        self.pooling = Pooling(weights, "attention")
        self.layer, self.labels = linear(weights, "layer"), linear(weights, "labels")

    def forward(self, words, lengths):
        embedded = F.dropout(self.words(words), 0.2, self.training)
        annotations = self.encoder(embedded, lengths)
        vector = F.dropout(self.pooling(annotations, lengths).flatten(1), 0.5, self.training)
        return self.labels(F.dropout(self.layer(vector).relu(), 0.5, self.training))


class Rocktaschel(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.words, self.input = embedding(weights), linear(weights, "input")
        self.premise = recurrent(nn.LSTM(100, 100, batch_first=True), weights, "premise")
        self.hypothesis = recurrent(nn.LSTM(100, 100, batch_first=True), weights, "hypothesis")
        names = ("query", "key", "read", "transition")
        self.query, self.key, self.read, self.transition = (linear(weights, f"attention.score.{name}") for name in names)
        self.v = parameter(weights["attention.score.v"])
        self.combined, self.labels = linear(weights, "combined"), linear(weights, "labels")
        self.step = compiled(self.look)

    def look(self, annotations, keys, mask, asked, last):
        scores = torch.tanh(keys + (asked + self.read(last)).unsqueeze(1)) @ self.v + mask
        return (scores.softmax(1).unsqueeze(1) @ annotations).squeeze(1) + torch.tanh(self.transition(last))

    def forward(self, first, first_lengths, second, second_lengths):
        drop = lambda x: F.dropout(x, 0.2, self.training)  # noqa: E731
        annotations, (_, cell) = read(self.premise, drop(self.input(self.words(first))), first_lengths)
        delimited = torch.cat([torch.full((len(second), 1), BEGIN), second], 1)
        start = (torch.zeros_like(cell), cell)
        states, (last, _) = read(self.hypothesis, drop(self.input(self.words(delimited))), second_lengths + 1, start)
        keys = self.key(annotations)
        hidden = torch.arange(first.size(1)) >= first_lengths.unsqueeze(1)
        mask = torch.zeros(hidden.shape).masked_fill(hidden, -torch.inf)
        asked, r, reads = self.query(states).unbind(1), torch.zeros_like(annotations[:, 0]), []
        for t in range(states.size(1)):
            r = self.step(annotations, keys, mask, asked[t], r)
            reads.append(r)
        final = torch.stack(reads, 1)[torch.arange(len(first)), second_lengths]
        pair = torch.tanh(self.combined(torch.cat([final, last.squeeze(0)], -1)))
        return self.labels(drop(pair))


class Aoa(nn.Module):
    """src/models/aoa.cpp (Cui et al. 2017): candidates that stand in the document."""

    def __init__(self, weights):
        super().__init__()
        self.words = embedding(weights)
        self.encoder = BothWays(nn.GRU, weights, "encoder")
        self.look = compiled(self.weights_of)

    def weights_of(self, document, lengths, question, question_lengths):
        pairs = document @ question.transpose(1, 2)
        beyond = (torch.arange(document.size(1)) >= lengths.unsqueeze(1)).unsqueeze(2)
        unasked = (torch.arange(question.size(1)) >= question_lengths.unsqueeze(1)).unsqueeze(1)
        onto_words = pairs.masked_fill(beyond, -torch.inf).softmax(1)
        onto_asked = pairs.masked_fill(unasked, -torch.inf).softmax(2).masked_fill(beyond, 0)
        matters = onto_asked.sum(1) / lengths.unsqueeze(1)
        return (onto_words @ matters.unsqueeze(2)).squeeze(2)

    def forward(self, document, lengths, question, question_lengths, marks):
        def encode(text, of):
            return F.dropout(self.encoder(self.words(text), of), 0.1, self.training)

        weights = self.look(encode(document, lengths), lengths, encode(question, question_lengths), question_lengths)
        sums = torch.zeros(len(document), CHOICES + 1).scatter_add(1, marks, weights)[:, :CHOICES]
        return (sums + 1e-10).log()


MODELS = {"aoa": Aoa, "han": Han, "self-attentive": SelfAttentive, "rocktaschel": Rocktaschel}


EPSILON = 1e-12  # bench/choosing/choosing.cpp says why


def model_named(name):
    """With the first weights that Heed wrote."""
    return MODELS[name](load_file(Path(os.environ["HEED_BENCH_FOLDER"]) / f"{name}.safetensors"))


def training(settings):
    """A repetition is an update for each batch; dropout only where time is taken."""
    name = settings.word("model", "han")
    model = model_named(name)
    rest = [each for key, each in model.named_parameters() if key != "words.weight" and each.requires_grad]
    optimisers = [
        torch.optim.SparseAdam([model.words.weight], lr=1e-3, eps=EPSILON),
        torch.optim.Adam(rest, lr=1e-3, eps=EPSILON, fused=True),
    ]
    batches = made_up(name)

    def step(keep):
        results = {}
        model.train(not keep)
        for i, (inputs, labels) in enumerate(batches):
            for optimiser in optimisers:
                optimiser.zero_grad(set_to_none=True)
            loss = F.cross_entropy(model(*inputs), labels)
            loss.backward()
            for optimiser in optimisers:
                optimiser.step()
            if keep:
                results[f"loss of batch {i}"] = loss
        return results

    return step


def running(settings):
    name = settings.word("model", "han")
    model, together = model_named(name).eval(), settings.number("samples", 16)
    batches = made_up(name)

    @torch.inference_mode()
    def step(keep):
        results = {}
        for i, (inputs, _) in enumerate(batches):
            some = [model(*(each[begin : begin + together] for each in inputs)) for begin in range(0, 16, together)]
            if keep:
                results[f"scores of batch {i}"] = torch.cat(some)
        return results

    return step


FAMILIES = {"choosing-training": training, "choosing-running": running}
