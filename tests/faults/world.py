"""Runs the program under test, and checks the guarantees for every end of it."""
import os
import pathlib
import signal
import subprocess
import time


class Outcome:
    """Result of a process: its exit code, minus the signal that killed it; its output; seconds."""

    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    def text(self):
        return (self.out + self.err).decode("utf-8", "replace")


class World:
    """`share`: one of this many faults is tried."""

    def __init__(self, program, root, directory, random, share):
        self.program, self.root, self.directory, self.random, self.share = program, root, directory, random, share

    def count(self, whole):
        return max(1, whole // self.share)

    def start(self, arguments, cwd=None, **options):
        environment = {name: value for name, value in os.environ.items() if name != "GITHUB_ACTIONS"}
        environment["XDG_CACHE_HOME"] = "/dev/null"  # results of runs cannot be stored there, which must not be an error
        return subprocess.Popen([str(self.program), *map(str, arguments)], cwd=cwd or self.directory, env=environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True, **options)

    @staticmethod
    def finish(process, limit=60):
        """Waits. A process that does not end in time is killed and has code None."""
        start = time.monotonic()
        try:
            out, err = process.communicate(timeout=limit)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            code = None
        return Outcome(code, out, err, time.monotonic() - start)

    def run(self, arguments, cwd=None, limit=60, **options):
        return self.finish(self.start(arguments, cwd, **options), limit)

    def fresh(self, name):
        """Creates an empty directory of that name."""
        directory = self.directory / name
        if directory.exists():
            for path in sorted(directory.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        directory.mkdir(exist_ok=True)
        return directory


def bad_end(outcome):
    """Returns why an end of a process violates the guarantees, or None."""
    if outcome.code is None:
        return "did not end"
    if outcome.code < 0:
        return f"killed by signal {-outcome.code}"
    if outcome.code > 5:
        return f"exit code {outcome.code}"
    if "internal error" in outcome.text():
        return "internal error"
    return None


def left_behind(directory):
    """Temporary files that a process did not remove."""
    return [str(path.name) for path in pathlib.Path(directory).rglob("*.part")]
