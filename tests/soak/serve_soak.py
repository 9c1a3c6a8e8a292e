#!/usr/bin/env python3
"""Attacks `heed serve` and counts what came of it; any answer that differs from the one given alone is a failure.

    serve_soak.py [HEED] [--short]

64 clients of all paths at once, some of which leave, half-close, dawdle, say nothing or send nonsense; heavy requests
beside light ones; models that are exchanged and reloaded (SIGHUP) under load; the end (SIGTERM) under load; and the
server's memory and descriptors before and after. It goes on for SOAK_MINUTES (10), or with --short for one small round
of each. Everything happens on 127.0.0.1 and in a temporary folder. Needs nothing but Python's standard library.
"""

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from soaking import arguments, counts, fail, report

CLIENTS = 64
MOST_GROWTH = 32 << 20  # bytes of resident memory between two rounds that do the same

# The models: a translator in two versions, which `current` names in turn, and one that summarises.


def train_models(heed, folder):
    def run(*words):
        done = subprocess.run([heed, *map(str, words)], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"heed {words[0]} ended with code {done.returncode}: {done.stderr}")

    corpus = folder / "corpus"
    run("corpus", "grammar", corpus, "--pairs", "200")
    all_words = ["--vocabulary", "words", "--validate-every", "0"]
    files = ["--source", corpus / "train.en", "--target", corpus / "train.fr", *all_words]
    small = ["--width", "32", "--feed-forward", "64", "--heads", "2", "--layers", "1", "--decoder-layers", "2", "--dropout", "0"]
    rate = ["--learning-rate", "0.01", "--warm-up", "50", "--batch-words", "512", "--shards", "1", "--threads", "1"]
    for name, steps, seed in (("first", 200, 1), ("second", 150, 2)):
        run("train", "--model", "transformer", *files, *small, *rate, "--steps", steps, "--seed", seed, "--output", folder / name)
    tiny = ["--embedding", "16", "--hidden", "32", "--maxout", "16", "--steps", "50", "--threads", "1", "--shards", "1"]
    files = ["--text", corpus / "train.en", "--summary", corpus / "train.fr", *all_words]
    run("train", "--job", "summarisation", "--model", "rnnsearch", *files, *tiny, "--output", folder / "brief")
    (folder / "current").symlink_to("first")
    return (corpus / "train.en").read_text().splitlines()


class Server:
    def __init__(self, heed, folder, port=0, log="log"):
        self.log_path = folder / log
        command = [heed, "serve", f"demo={folder / 'current'}", f"brief={folder / 'brief'}", "--port", str(port),
                   "--timeout", "600", "--client-timeout", "2", "--idle-timeout", "20"]
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        for line in self.process.stdout:
            if found := re.match(r"Serving at http://127\.0\.0\.1:(\d+)/", line):
                self.port = int(found[1])
                return
        raise SystemExit(f"heed serve did not begin: exit code {self.process.wait()}")

    def log(self):
        return self.log_path.read_text()

    def resident(self):
        return int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())[1]) << 10

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def ended(self):
        code = self.process.wait(timeout=600)
        self.process.stdout.close()
        if code != 0:
            fail(f"the server ended with code {code}")


# One request, and its answer.


def request(method, path, body=b"", fields=""):
    length = f"Content-Length: {len(body)}\r\n" if method == "POST" else ""
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{fields}{length}\r\n".encode() + body


async def read_answer(reader):
    """Status and body, without what announces it."""
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        status = int(head.split(" ", 2)[1])
        if status != 100:
            break
    if "transfer-encoding: chunked" not in head:
        return status, await reader.readexactly(int(re.search(r"\r\ncontent-length: (\d+)", head)[1]))
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)
    return status, body


async def ask(port, bytes_, half_close=False):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 26)
    try:
        writer.write(bytes_)
        if half_close:
            writer.write_eof()
        return await read_answer(reader)
    finally:
        writer.close()


def all_requests(sentences):
    """Requests of every path, each with a name."""
    chance = random.Random(1)

    def some():
        return chance.choice(sentences)

    def post(path, body, fields=""):
        return request("POST", path, json.dumps(body).encode(), fields)

    def tensor(name, text):
        return {"inputs": [{"name": name, "datatype": "BYTES", "shape": [1], "data": [text]}]}

    found = {}
    for i in range(12):
        found[f"translate {i}"] = post("/translate", {"q": some(), "alternatives": i % 3})
        found[f"translate list {i}"] = post("/translate", {"q": [some() for _ in range(i + 1)]})
        found[f"summarise {i}"] = post("/summarise", {"texts": [some(), some()]})
        found[f"infer {i}"] = post("/v2/models/demo/infer", tensor("source", some()))
        found[f"explain {i}"] = post("/explain", {"text": some(), "attentions": i % 2 == 0, "alternatives": i % 3 == 0})
    for i in range(4):
        found[f"explain given {i}"] = post("/explain", {"text": some(), "target": "le chat dort", "attentions": ["decoder.layer2.source"]})
        found[f"trust {i}"] = post("/explain", {"text": some(), "target": "le chat dort", "trust": True})
        found[f"brief {i}"] = post("/explain", {"text": some(), "model": "brief", "normaliser": "sparsemax"})
        found[f"stream {i}"] = post("/explain", {"text": some(), "beam": 1 + 4 * (i % 2)}, "Accept: text/event-stream\r\n")
    for path in ("/", "/models", "/languages", "/v2", "/v2/health/live", "/v2/health/ready", "/v2/models/brief",
                 "/v2/models/demo/ready", "/openapi.json", "/trace.schema.json", "/nothing", "http://localhost/models"):
        found[f"get {path}"] = request("GET", path)
    found["detect"] = post("/detect", {"q": "a"})
    found["no JSON"] = request("POST", "/translate", b"{")
    found["too long"] = post("/explain", {"text": "a " * 2600})
    found["too deep"] = request("POST", "/translate", b'{"q": ' + b"[" * 1000)
    found["no host"] = b"GET /models HTTP/1.1\r\n\r\n"
    found["no HTTP"] = b"\x16\x03\x01\x02 what is this\r\n\r\n"
    return found


def events_of(body):
    return [(event, json.loads(data)) for event, data in re.findall(rb"event: (\w+)\ndata: (.*)\n\n", body)]


def same(a, b):
    """The same but for the last digits of numbers, which a product of another size may round otherwise."""
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a - b) <= 2e-3 * max(1, abs(a))
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def same_answer(name, answer, expected):
    if answer[0] != expected[0]:
        return False
    if answer[1] == expected[1]:
        return True
    if name.startswith("stream"):
        # A greedy draft may differ where two words are equally likely; what it leads to may not.
        return same(events_of(answer[1])[-1], events_of(expected[1])[-1])
    return answer[1][:1] == b"{" and same(json.loads(answer[1]), json.loads(expected[1]))


# The clients.


async def correct_client(server, requests, expected, rounds, chance, half_closed=0.1):
    """Asks one request after the other on one connection, a share of them half-closed on one of their own."""
    reader = writer = None
    for _ in range(rounds):
        name = chance.choice(list(requests))
        try:
            if chance.random() < half_closed:
                answer = await ask(server.port, requests[name], half_close=True)
                counts["half-closed"] += 1
            else:
                if writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1 << 26)
                writer.write(requests[name])
                answer = await read_answer(reader)
                if answer[0] >= 400:  # such a connection may be closed
                    writer.close()
                    writer = None
        except (OSError, asyncio.IncompleteReadError, ValueError) as error:
            fail(f"{name}: {error!r}")
            return
        counts["checked"] += 1
        if not any(same_answer(name, answer, each[name]) for each in expected):
            fail(f"{name}: {answer[0]} {answer[1][:300]!r} instead of {expected[0][name][1][:300]!r}")
    if writer is not None:
        writer.close()


async def leaving_client(server, requests, rounds, chance, heavy):
    """Asks for much and leaves at any moment, politely or not."""
    for _ in range(rounds):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(heavy if chance.random() < 0.5 else chance.choice(list(requests.values())))
        await asyncio.sleep(chance.choice([0, 0.001, 0.01, 0.1, 0.3]))
        if chance.random() < 0.5:
            writer.transport.abort()
        writer.close()
        counts["left"] += 1


async def slow_client(server, requests, expected, rounds, chance):
    """Sends a request in pieces, but in time."""
    for _ in range(rounds):
        name = chance.choice([name for name in requests if name.startswith(("translate", "explain"))])
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1 << 26)
        cuts = sorted(chance.sample(range(1, len(requests[name])), 4))
        for begin, end in zip([0, *cuts], [*cuts, None]):
            writer.write(requests[name][begin:end])
            await asyncio.sleep(0.1)
        answer = await read_answer(reader)
        counts["slow"] += 1
        if not any(same_answer(name, answer, each[name]) for each in expected):
            fail(f"slow {name}: {answer[0]} {answer[1][:300]!r}")
        writer.close()


async def silent_client(server, rounds):
    """Begins a request and says no more: it must be told, and let go."""
    for _ in range(rounds):
        status, _ = await ask(server.port, b"POST /translate HTTP/1.1\r\nHost: loc")
        counts["silent"] += 1
        if status != 408:
            fail(f"silent: {status} instead of 408")


# The attacks.


def heavy_request(sentences, kind):
    """As much as may be asked: 480 words with all attentions, or as many as trust is measured of."""
    words = " ".join(sentences).split()
    if kind == "trust":
        body = {"text": " ".join(words[:90]), "target": " ".join(words[:90]), "trust": True}
    else:
        body = {"text": " ".join(words[:480]), "alternatives": True}
    return request("POST", "/explain", json.dumps(body).encode())


async def answers_alone(server, requests):
    return {name: await ask(server.port, bytes_) for name, bytes_ in requests.items()}


async def crowd(server, requests, expected, sentences, rounds):
    chance = random.Random(rounds)
    heavy = heavy_request(sentences, "long")
    await asyncio.gather(
        *(correct_client(server, requests, expected, rounds, chance) for _ in range(CLIENTS - 16)),
        *(leaving_client(server, requests, rounds, chance, heavy) for _ in range(8)),
        *(slow_client(server, requests, expected, max(1, rounds // 8), chance) for _ in range(4)),
        *(silent_client(server, max(1, rounds // 16)) for _ in range(4)),
    )


async def heavy_beside_light(server, requests, expected, sentences, light):
    """Eight heavy clients while light ones ask; how long the light ones wait is printed, not judged."""
    heavy = [heavy_request(sentences, kind) for kind in ("trust", "long")]
    running = True

    async def heavy_client(i):
        while running:
            status, body = await ask(server.port, heavy[i % 2])
            counts["heavy"] += 1
            if status != 200:
                fail(f"heavy: {status} {body[:300]!r}")

    clients = [asyncio.create_task(heavy_client(i)) for i in range(8)]
    times = []
    for i in range(light):
        name = f"translate {i % 12}"
        began = time.perf_counter()
        answer = await ask(server.port, requests[name])
        times.append(time.perf_counter() - began)
        counts["light"] += 1
        if not any(same_answer(name, answer, each[name]) for each in expected):
            fail(f"light {name}: {answer}")
    running = False
    for client in clients:  # what they still wait for is not wanted any more
        client.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
    times.sort()
    print(f"light beside 8 heavy: {light} requests, p50 {1e3 * times[light // 2]:.0f} ms, "
          f"p99 {1e3 * times[min(light - 1, light * 99 // 100)]:.0f} ms, longest {1e3 * times[-1]:.0f} ms", flush=True)


async def reload_under_load(server, requests, versions, folder, exchanges):
    """Exchanges the model while clients ask: every answer is of one version or the other, and none is missing."""
    chance = random.Random(2)
    names = [name for name in requests if name.startswith(("translate", "explain", "infer", "stream"))]
    running = True

    async def client():
        while running:
            await correct_client(server, {name: requests[name] for name in names}, versions, 4, chance)

    clients = [asyncio.create_task(client()) for _ in range(16)]
    for i in range(exchanges):
        seen = server.log().count("demo: loaded again")
        link = folder / "next"
        link.symlink_to(("second", "first")[i % 2])
        os.replace(link, folder / "current")
        server.process.send_signal(signal.SIGHUP)
        while server.log().count("demo: loaded again") == seen:
            if server.process.poll() is not None:
                return fail(f"the server ended while it reloaded: {server.process.returncode}")
            await asyncio.sleep(0.01)
        counts["reloads"] += 1
        for name in names[:8]:
            if not same_answer(name, await ask(server.port, requests[name]), versions[(i + 1) % 2][name]):
                fail(f"after reloading {name} is not of the new model")
    running = False
    await asyncio.gather(*clients)


async def end_under_load(server, requests, expected):
    """SIGTERM while 64 clients wait: whoever was taken is answered, whoever was not is told or turned away."""
    names = [name for name in requests if name.startswith(("translate", "explain", "infer"))]
    connections = [await asyncio.open_connection("127.0.0.1", server.port, limit=1 << 26) for _ in range(CLIENTS)]

    async def client(i, reader, writer):
        name = names[i % len(names)]
        writer.write(requests[name])
        try:
            answer = await read_answer(reader)
        except (OSError, asyncio.IncompleteReadError) as error:
            return fail(f"end {name}: {error!r}")
        finally:
            writer.close()
        counts[f"answered {answer[0]} at the end"] += 1
        if answer[0] != 503 and not any(same_answer(name, answer, each[name]) for each in expected):
            fail(f"end {name}: {answer[0]} {answer[1][:300]!r}")

    clients = [asyncio.create_task(client(i, *each)) for i, each in enumerate(connections)]
    await asyncio.sleep(0.05)
    server.process.send_signal(signal.SIGTERM)
    await asyncio.gather(*clients)
    server.ended()
    counts["ends"] += 1


async def settled(server, descriptors):
    """Waits until the server has noticed that all have left."""
    for _ in range(600):
        if server.descriptors() <= descriptors:
            return
        await asyncio.sleep(0.05)


async def attack(heed, folder, short, until):
    sentences = train_models(heed, folder)
    requests = all_requests(sentences)
    versions = []
    for name in ("second", "first"):  # ends with what `current` names
        (folder / "current").unlink()
        (folder / "current").symlink_to(name)
        server = Server(heed, folder)
        versions.insert(0, await answers_alone(server, requests))
        server.process.send_signal(signal.SIGTERM)
        server.ended()
    rounds, light, exchanges = (4, 20, 2) if short else (32, 400, 10)
    while True:
        (folder / "current").unlink()
        (folder / "current").symlink_to("first")
        server = Server(heed, folder)
        descriptors, resident = server.descriptors(), []
        await answers_alone(server, requests)
        while True:
            await crowd(server, requests, versions[:1], sentences, rounds)
            await heavy_beside_light(server, requests, versions[:1], sentences, light)
            await reload_under_load(server, requests, versions, folder, exchanges)
            await settled(server, descriptors)
            resident.append(server.resident())
            if short or len(resident) == 3 or time.monotonic() > until:
                break
        print(f"descriptors {descriptors} before, {server.descriptors()} after; "
              f"resident MB {', '.join(f'{each / 2**20:.0f}' for each in resident)}", flush=True)
        if server.descriptors() > descriptors:
            fail(f"{server.descriptors()} descriptors are open, {descriptors} were before")
        if resident[-1] > resident[0] + MOST_GROWTH:
            fail(f"the server grew from {resident[0]} to {resident[-1]} bytes in {len(resident)} rounds of the same")
        await end_under_load(server, requests, versions[:1])
        unexpected = [line for line in server.log().splitlines() if "unexpected" in line]
        if unexpected:
            fail(f"the log has {unexpected[0]}")
        if short or time.monotonic() > until:
            return


def main():
    given = arguments(__doc__)
    with tempfile.TemporaryDirectory(prefix="heed-soak-") as folder:
        asyncio.run(attack(given.heed, Path(folder), given.short, given.end))
    report()


if __name__ == "__main__":
    main()
