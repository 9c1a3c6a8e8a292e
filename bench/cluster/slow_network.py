"""Two network namespaces with a cable of so many bits per second between them, which stand for two machines.

Needs root, ip and tc (Debian's iproute2) and a kernel with veth and the token bucket filter. The cable is slow, not long:
it adds no delay.
"""

import os
import shutil
import subprocess
from pathlib import Path

from cluster.lanes import AS_ROOT, TRANSPORTS, LaneError

HERE = Path(__file__).resolve().parent
BURST = 128 * 1024  # bytes that may go at once


class SlowNetwork:
    NAMES = ("heed-bench-0", "heed-bench-1")
    CABLE = ("heed-cable-0", "heed-cable-1")

    def __init__(self, gigabits):
        self.gigabits = gigabits
        self.close()  # what an interrupted run left
        try:
            for name in self.NAMES:
                self.tell("ip", "netns", "add", name)
            self.tell("ip", "link", "add", self.CABLE[0], "netns", self.NAMES[0], "type", "veth", "peer", "name",
                      self.CABLE[1], "netns", self.NAMES[1])  # fmt: skip
            for i, (name, end) in enumerate(zip(self.NAMES, self.CABLE)):
                self.tell("ip", "-n", name, "address", "add", f"{self.address(i)}/24", "dev", end)
                for interface in ("lo", end):
                    self.tell("ip", "-n", name, "link", "set", interface, "up")
                self.tell("tc", "-n", name, "qdisc", "add", "dev", end, "root", "tbf", "rate", f"{gigabits}gbit", "burst",
                          BURST, "latency", "100ms")  # fmt: skip
        except LaneError:
            self.close()
            raise

    @staticmethod
    def tell(*words):
        if shutil.which(words[0]) is None:
            raise LaneError(f"there is no {words[0]}; Debian's package is iproute2")
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if done.returncode != 0:
            raise LaneError(f"{words[0]}: {done.stderr.strip()}")

    @staticmethod
    def address(machine):
        return f"10.77.0.{machine + 1}"

    def interface(self, machine):
        return self.CABLE[machine]

    def inside(self, machine, words):
        return ["ip", "netns", "exec", self.NAMES[machine], *words]

    def mpirun(self, words):
        """A rank on each machine. Each has a host name of its own, or Open MPI would take them for one. It would bind the
        first rank of each machine to the first core, which is the same one here."""
        hosts = ",".join(f"{self.address(i)}:1" for i in range(2))
        agent = ["--mca", "plm_rsh_agent", str(HERE / "enter_namespace.sh")]
        started = ["mpirun", *agent, *TRANSPORTS["tcp"], "--bind-to", "none", "--host", hosts, "-n", "2", *words]
        as_machine = ["unshare", "--uts", "sh", "-c", 'hostname heed-bench-0 && exec "$@"', "sh"]
        return self.inside(0, [*as_machine, *started]), AS_ROOT

    def close(self):
        for name in self.NAMES:
            if Path("/run/netns", name).exists():
                subprocess.run(["ip", "netns", "delete", name], check=False)


def allowed():
    """Why not, or nothing."""
    return None if os.geteuid() == 0 else "network namespaces need root"
