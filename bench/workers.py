"""The processes being measured: started, spoken to line by line, and watched for what they cost."""

import json
import os
import subprocess
import threading


class WorkerError(Exception):
    pass


class Worker:
    """A process that answers each command with one line of JSON, and sleeps in between."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **(environment or {})},
        )

    def ask(self, *words, patience=900):
        """The answer, or a WorkerError with the worker's own words; a worker that hangs is ended."""
        if self.ended():
            raise WorkerError("the worker has ended")
        timer = threading.Timer(patience, self.process.kill)
        timer.start()
        try:
            print(*words, file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if not line:
            raise WorkerError(f"the worker ended during '{' '.join(map(str, words))}' (code {self.process.wait()})")
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(" ".join(answer["error"].split())[:300])
        return answer

    def ended(self):
        return self.process.poll() is not None

    def cpu_seconds(self):
        """Processor time of all threads so far, to the nanosecond."""
        total = 0
        tasks = f"/proc/{self.process.pid}/task"
        for task in os.listdir(tasks):
            try:
                with open(f"{tasks}/{task}/schedstat") as status:
                    total += int(status.read().split()[0])
            except OSError:
                pass  # the thread ended meanwhile
        return total * 1e-9

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def machine_busy_seconds():
    """Processor time the whole machine has spent working since it started."""
    with open("/proc/stat") as status:
        user, nice, system, _idle, _wait, irq, soft, *_ = map(int, status.readline().split()[1:])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")
