"""Signals at any time, to the program and to its child processes."""
import os
import signal
import subprocess
import time

from commands import broken_outputs, commands
from world import bad_end, left_behind

TO_PARENT = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]
TO_CHILDREN = [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM]
# The documented limit is one second; another is for other load of the machine.
LONGEST = 2.0


def duration(world, name):
    """Seconds that the command takes undisturbed."""
    directory = world.fresh("undisturbed")
    start = time.monotonic()
    world.run(commands(world, directory)[name])
    return time.monotonic() - start


def disturbed(world, name, numbers, times, send):
    """Starts the command repeatedly, sends it a signal after a delay, and waits for its end.

    Yields a description, the outcome with the seconds since the signal, and problems with the files."""
    whole = duration(world, name)
    for i in range(world.count(times)):
        directory = world.fresh("signals")
        number = numbers[i % len(numbers)]
        process = world.start(commands(world, directory)[name])
        delay = world.random.uniform(0, whole)
        time.sleep(delay)
        send(process, number)
        outcome = world.finish(process)
        yield f"{number.name} after {delay:.3f} s", number, outcome, left_behind(directory) + broken_outputs(directory)


def to_parent(world):
    for name in ("run", "context", "load", "compare", "check", "minimise", "convert"):
        send = subprocess.Popen.send_signal
        for what, number, outcome, wrong in disturbed(world, name, TO_PARENT, 52, send):
            # Killed by the signal: before or after the handler was active.
            is_killed = outcome.code is not None and -outcome.code == number
            reason = None if is_killed else bad_end(outcome)
            if reason is None and outcome.seconds > LONGEST:
                reason = f"went on for {outcome.seconds:.1f} s"
            wrong = ([reason] if reason else []) + wrong
            yield f"{name}, {what}: {'; '.join(wrong)}" if wrong else None


def children_of(parent):
    found = []
    for entry in os.listdir(f"/proc/{parent}/task") if os.path.exists(f"/proc/{parent}/task") else []:
        try:
            with open(f"/proc/{parent}/task/{entry}/children") as file:
                found += [int(word) for word in file.read().split()]
        except OSError:
            pass
    return found


def send_to_child(process, number):
    for child in children_of(process.pid)[:1]:
        try:
            os.kill(child, number)
        except ProcessLookupError:
            pass


def to_children(world):
    for name in ("compare", "check"):
        for what, _, outcome, wrong in disturbed(world, name, TO_CHILDREN, 51, send_to_child):
            wrong = ([bad_end(outcome)] if bad_end(outcome) else []) + wrong
            if outcome.code == 0 and name == "compare" and b"6 tensors compared: 6 passed" not in outcome.out:
                wrong.append("exit code 0, but not all tensors passed")
            yield f"{name}, {what} to a child: {'; '.join(wrong)}" if wrong else None
