"""Runs the program on one hostile input, and returns the guarantees that it violated."""
import os
import resource
import signal
import subprocess
import tempfile
import time

CPU_SECONDS = 5  # processor time of the program and its children, independent of other load
WALL_SECONDS = 120
RESIDENT_BYTES = 1 << 30
ADDRESS_BYTES = 16 << 30  # protects the machine from a program that allocates without limit


class Attempt:
    """Result of a process: its exit code, minus the signal that killed it, None if it did not end."""

    def __init__(self, program, arguments, directory):
        words = [str(program), *map(str, arguments)]
        environment = {name: value for name, value in os.environ.items() if name != "GITHUB_ACTIONS"}
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(words, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=err, start_new_session=True, preexec_fn=limit_memory)
            self.code, usage = wait(process)
            out.seek(0), err.seek(0)
            self.out, self.err = out.read().decode("utf-8", "replace"), err.read().decode("utf-8", "replace")
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        self.resident_bytes = usage.ru_maxrss * 1024

    def broken_promises(self):
        if self.code is None:
            return [f"did not end within {WALL_SECONDS} s"]
        if self.code < 0:
            return [f"signal {signal.Signals(-self.code).name}"]
        broken = []
        if self.code > 5:
            broken.append(f"exit code {self.code}")
        if self.code > 1 and not any(line.startswith("opbench: ") for line in self.err.splitlines()):
            broken.append(f"exit code {self.code} without a line 'opbench: ...' on standard error")
        if "internal error" in self.out + self.err:
            broken.append("internal error")
        if self.cpu_seconds > CPU_SECONDS:
            broken.append(f"{self.cpu_seconds:.1f} s of processor time")
        if self.resident_bytes > RESIDENT_BYTES or "out of memory" in self.err:
            broken.append(f"{self.resident_bytes >> 20} MiB of memory")
        return broken


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES, ADDRESS_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def wait(process):
    end = time.monotonic() + WALL_SECONDS
    pause = 0.001
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid != 0:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage
        if time.monotonic() > end:
            os.killpg(process.pid, signal.SIGKILL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            return None, usage
        time.sleep(pause)
        pause = min(0.02, pause * 1.5)


def left_behind(directory, before):
    """Temporary files that were created and not removed."""
    return [str(path.name) for path in directory.rglob(".opbench-*") if path not in before]
