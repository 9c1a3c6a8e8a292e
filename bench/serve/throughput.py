#!/usr/bin/env python3
"""How many requests a second `heed serve` answers to one client at a time and to many at once.

Starts the server, lets clients translate sentences one after the other, each on a connection of its own, and reports
throughput, failures and latencies; with wrk (Debian's) also the bare server at /v2/health/live. The JSON file has every
latency. Needs nothing but Python's standard library.
"""

import argparse
import asyncio
import datetime
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
sys.path.insert(1, str(ROOT / "bench"))
from run import machine  # noqa: E402

BAR = 3  # many clients together against one at a time


def demo_model(heed, folder):
    """A small model and sentences of its language, made once."""
    model, corpus = folder / "transformer", folder / "corpus"
    if not (model / "model.safetensors").exists():
        print("Training a small model for the benchmark (once)", file=sys.stderr, flush=True)
        subprocess.run([heed, "corpus", "grammar", corpus, "--pairs", "4000", "--force"], check=True, stdout=sys.stderr)
        files = [f"--{side}={corpus}/train.{language}" for side, language in (("source", "en"), ("target", "fr"))]
        size = ["--width=128", "--feed-forward=256", "--layers=4", "--decoder-layers=4", "--dropout=0.3"]
        rate = ["--learning-rate=0.003", "--warm-up=100"]
        steps = ["--steps=500", "--validate-every=0", "--force"]
        subprocess.run([heed, "train", "--model=transformer", *files, *size, *rate, *steps, "--output", model], check=True)
    return model, corpus / "test.en"


class Server:
    """heed serve on a free port."""

    def __init__(self, heed, model, options):
        command = [heed, "serve", f"bench={model}", "--port", "0", "--quiet", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if found := re.match(r"Serving at http://127\.0\.0\.1:(\d+)/", line):
                self.port = int(found[1])
                return
        raise SystemExit(f"heed serve did not begin: exit code {self.process.wait()}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait()
        if code != 0:
            raise SystemExit(f"heed serve ended with code {code} instead of 0")


async def answer_on(reader):
    """Status and body of one answer."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = int(re.search(r"(?i)\r\ncontent-length: (\d+)", head)[1])
    return int(head.split(" ", 2)[1]), await reader.readexactly(length)


async def one_client(port, path, bodies, until, latencies, failures):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < until:
        body = next(bodies)
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        began = time.perf_counter()
        try:
            writer.write(head.encode() + body)
            status, answer = await answer_on(reader)
        except (OSError, asyncio.IncompleteReadError) as error:
            failures.append(repr(error))
            return
        latencies.append(time.perf_counter() - began)
        if status != 200:
            failures.append(f"{status} {answer.decode()}")
    writer.close()


def percentile(sorted_values, share):
    return sorted_values[min(len(sorted_values) - 1, int(share * len(sorted_values)))]


def endless(bodies):
    while True:
        yield from bodies


def measure(port, path, bodies, clients, seconds):
    """One row: `clients` at once for so many seconds."""
    latencies, failures = [], []

    async def together():
        until = time.perf_counter() + seconds
        work = endless(bodies)
        await asyncio.gather(*(one_client(port, path, work, until, latencies, failures) for _ in range(clients)))

    began = time.perf_counter()
    asyncio.run(together())
    taken = time.perf_counter() - began
    times = sorted(latencies)
    if not times:
        raise SystemExit(f"no request was answered: {failures[:3]}")
    return {
        "path": path,
        "clients": clients,
        "seconds": taken,
        "requests": len(times),
        "per_second": len(times) / taken,
        "failures": len(failures),
        "first_failures": failures[:3],
        "p50_ms": 1e3 * percentile(times, 0.5),
        "p99_ms": 1e3 * percentile(times, 0.99),
        "latencies_ms": [round(1e3 * each, 3) for each in latencies],
    }


def measure_bare(port, clients, seconds):
    """wrk against a path that needs no model."""
    if shutil.which("wrk") is None:
        return {"missing": "wrk is not installed"}
    command = ["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--latency", f"http://127.0.0.1:{port}/v2/health/live"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    milliseconds = {"us": 1e-3, "ms": 1.0, "s": 1e3}

    def latency(share):
        number, unit = re.search(rf"{share}%\s+([\d.]+)(us|ms|s)", text).groups()
        return float(number) * milliseconds[unit]

    failures = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    sockets = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    return {
        "clients": clients,
        "per_second": float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]),
        "failures": int(failures[1] if failures else 0) + sum(int(each) for each in (sockets.groups() if sockets else ())),
        "p50_ms": latency(50),
        "p99_ms": latency(99),
    }


def markdown(report):
    lines = ["| path | clients | requests/s | failures | p50 ms | p99 ms |", "|---|---|---|---|---|---|"]
    rows = [*report["rows"]]
    if "per_second" in report["bare"]:
        rows.append({"path": "/v2/health/live (wrk)", **report["bare"]})
    for row in rows:
        lines.append(
            f"| {row['path']} | {row['clients']} | {row['per_second']:.0f} | {row['failures']} "
            f"| {row['p50_ms']:.1f} | {row['p99_ms']:.1f} |"
        )
    if "missing" in report["bare"]:
        lines.append(f"\nNot measured: /v2/health/live: {report['bare']['missing']}")
    for path, bar in report["bars"].items():
        met = "met" if bar["met"] else "not met"
        lines.append(f"\n{path}: {bar['ratio']:.2f} times the throughput of one client; at least {BAR} are asked for: {met}")
    return "\n".join(lines) + "\n"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--heed", type=Path, default=BUILD / "release/heed", help="the command")
    parser.add_argument("--model", type=Path, help="model folder (default: a small one is trained)")
    parser.add_argument("--text", type=Path, help="sentences, one per line; needed with --model")
    parser.add_argument("--clients", default="1,64", help="how many at once, e.g. 1,64")
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement")
    parser.add_argument("--path", action="append", choices=("/translate", "/explain"), help="default: both")
    parser.add_argument("--threads", type=int, default=0, help="of the server's models (0: all)")
    parser.add_argument("--out", type=Path, default=BUILD / "bench", help="where serve.json and serve.md go")
    options = parser.parse_args()
    if (options.model is None) != (options.text is None):
        parser.error("--model and --text belong together")
    return options


def main():
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    model, text = (options.model, options.text) if options.model else demo_model(options.heed, options.out / "serve")
    sentences = [line for line in text.read_text().splitlines() if line.strip()][:500]
    counts = [int(count) for count in options.clients.split(",")]
    report = {
        "section": "serve",
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": shlex.join(["bench/serve/throughput.py", f"--seconds={options.seconds:g}"]),
        "machine": machine(),
        "sentences": len(sentences),
        "rows": [],
        "bars": {},
    }
    server = Server(options.heed, model, ["--threads", str(options.threads)])
    try:
        for path in options.path or ["/translate", "/explain"]:
            field = {"/translate": "q", "/explain": "text"}[path]
            bodies = [json.dumps({field: sentence}).encode() for sentence in sentences]
            measure(server.port, path, bodies, max(counts), min(1, options.seconds))  # warm-up
            rows = [measure(server.port, path, bodies, count, options.seconds) for count in counts]
            report["rows"] += rows
            if len(rows) > 1:
                ratio = rows[-1]["per_second"] / rows[0]["per_second"]
                report["bars"][path] = {"ratio": ratio, "met": ratio >= BAR and not any(row["failures"] for row in rows)}
        report["bare"] = measure_bare(server.port, max(counts), max(1, round(options.seconds)))
    finally:
        server.stop()
    (options.out / "serve.json").write_text(json.dumps(report, indent=1) + "\n")
    table = markdown(report)
    (options.out / "serve.md").write_text(table)
    print(table)


if __name__ == "__main__":
    main()
