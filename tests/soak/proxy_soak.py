#!/usr/bin/env python3
"""Two servers behind nginx (deploy/nginx.conf) that are killed and ended under load; a request that fails is a failure.

    proxy_soak.py [HEED] [--short]

Clients ask through the proxy without a pause while one server after the other is killed (SIGKILL) or ended (SIGTERM) and
started again. Every answer must be the one that a server gives alone, though the proxy had to repeat some; a server that
is ended must finish its streams too. Before and after, both must have answered. It goes on for SOAK_MINUTES (10), or
with --short for one round. Everything happens on 127.0.0.1 and in a temporary folder. Needs nginx (Debian's nginx-light).
"""

import asyncio
import itertools
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from serve_soak import Server, all_requests, answers_alone, correct_client, train_models
from soaking import ROOT, arguments, counts, fail, report

CLIENTS = 16
PATIENCE = 60  # seconds in which a server must have done something
STREAMS = "stream"  # how their names begin

# Around the example, which is what a distribution's own nginx.conf includes: everything in one folder, and a log that
# tells which servers were asked for each request and what they said.
MAIN = """
daemon off;
worker_processes 2;
pid nginx.pid;
error_log error.log;
events {}
http {
    log_format asked '$status $upstream_addr|$upstream_status';
    access_log access.log asked;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    include heed.conf;
}
"""


def free_ports(count):
    with_ports = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in with_ports]
    for each in with_ports:
        each.close()
    return ports


class Proxy:
    """nginx with the example, whose ports are replaced by ones that are free."""

    def __init__(self, folder, ports):
        self.folder, (self.port, *_) = folder, ports
        folder.mkdir()
        example = (ROOT / "deploy/nginx.conf").read_text()
        for written, port in zip((8080, 8081, 8082), ports):
            example, found = re.subn(rf"\b127\.0\.0\.1:{written}\b", f"127.0.0.1:{port}", example)
            if found != 1:
                raise SystemExit(f"deploy/nginx.conf has {found} times port {written}")
        (folder / "heed.conf").write_text(example)
        (folder / "nginx.conf").write_text(MAIN)
        nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
        if nginx is None:
            raise SystemExit("there is no nginx; Debian's package is nginx-light")
        os.chmod(folder.parent, 0o755)  # nginx's workers are another user where this is root
        self.process = subprocess.Popen([nginx, "-p", str(folder), "-c", "nginx.conf"])
        self.until(lambda: (folder / "nginx.pid").exists() and (folder / "nginx.pid").read_text())

    def until(self, holds):
        end = time.monotonic() + PATIENCE
        while not holds():
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"nginx did not begin: {(self.folder / 'error.log').read_text()}")
            time.sleep(0.01)

    def asked(self):
        """For each request so far: the status that the client saw, and (port, status) of every server that was asked."""
        lines = (self.folder / "access.log").read_text().splitlines()
        for line in lines:
            status, addresses, statuses = re.fullmatch(r"(\d+) ([^|]*)\|(.*)", line).groups()
            ports = [int(address.rsplit(":", 1)[1]) for address in addresses.split(", ") if ":" in address]
            yield int(status), list(zip(ports, statuses.split(", ")))

    def ended(self):
        self.process.send_signal(signal.SIGQUIT)
        if (code := self.process.wait(timeout=PATIENCE)) != 0:
            fail(f"nginx ended with code {code}")


class Load:
    """Clients that ask without a pause, until they are told to stop."""

    def __init__(self, proxy, requests, expected, streams):
        chance = random.Random(3)
        chosen = {name: each for name, each in requests.items() if streams or not name.startswith(STREAMS)}
        self.running = True

        async def client():
            while self.running:
                await correct_client(proxy, chosen, [expected], 4, chance, half_closed=0)

        self.clients = [asyncio.create_task(client()) for _ in range(CLIENTS)]

    async def stop(self):
        self.running = False
        await asyncio.gather(*self.clients)


async def answers_of(proxy, port, more):
    """Waits until the server at `port` has answered so many requests more."""

    def answered():
        return sum(servers[-1] == (port, "200") for _, servers in proxy.asked() if servers)

    before, end = answered(), time.monotonic() + PATIENCE
    while answered() < before + more:
        if time.monotonic() > end:
            return fail(f"the server at {port} has answered {answered() - before} requests in {PATIENCE} s, not {more}")
        await asyncio.sleep(0.1)


async def besiege(given, folder):
    requests = {
        name: bytes_
        for name, bytes_ in all_requests(train_models(given.heed, folder)).items()
        if name.startswith(("translate", "summarise", "infer", "explain", "trust", "brief", STREAMS))
    }
    ports = free_ports(3)
    servers = {port: Server(given.heed, folder, port, f"log-{port}") for port in ports[1:]}
    expected = await answers_alone(servers[ports[1]], requests)
    proxy = Proxy(folder / "proxy", ports)
    try:
        await attack(given, folder, proxy, servers, requests, expected)
        for server in servers.values():
            server.process.send_signal(signal.SIGTERM)
            server.ended()
        proxy.ended()
    finally:  # where something has failed on the way, nobody else ends them
        for each in (proxy, *servers.values()):
            each.process.kill()
    for status, asked in proxy.asked():
        counts["answered"] += 1
        counts["repeated"] += len(asked) > 1
        if status != 200:
            fail(f"a client was told {status}: {asked}")
    if counts["repeated"] == 0:
        fail("no request had to be repeated: nothing was tried")


async def attack(given, folder, proxy, servers, requests, expected):
    """Ends each server in each way, again and again; `servers` are by port."""
    ports = list(servers)
    endings = ((signal.SIGKILL, "kills"), (signal.SIGTERM, "ends"))
    for port, (ending, name) in itertools.cycle(itertools.product(ports, endings)):
        load = Load(proxy, requests, expected, streams=ending == signal.SIGTERM)
        for each in ports:
            await answers_of(proxy, each, 10)
        server = servers[port]
        server.process.send_signal(ending)
        await asyncio.to_thread(server.process.wait, PATIENCE)
        if ending == signal.SIGTERM:
            server.ended()
        counts[name] += 1
        (other,) = set(ports) - {port}
        await answers_of(proxy, other, 10)
        servers[port] = Server(given.heed, folder, port, f"log-{port}")
        for each in ports:
            await answers_of(proxy, each, 10)
        await load.stop()
        if (port, ending) == (ports[-1], signal.SIGTERM) and (given.short or time.monotonic() > given.end):
            return


def main():
    given = arguments(__doc__)
    with tempfile.TemporaryDirectory(prefix="heed-soak-") as folder:
        asyncio.run(besiege(given, Path(folder)))
    report()


if __name__ == "__main__":
    main()
