"""Signals at any time, to the program and to the processes that it starts."""
import os
import signal
import time

from commands import broken_outputs, commands
from world import bad_end, left_behind

TO_PARENT = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]
TO_CHILDREN = [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM]
# A second is promised; another is for a machine that does something else as well.
LONGEST = 2.0


def duration(world, name):
    """Seconds that the command takes undisturbed."""
    directory = world.fresh("undisturbed")
    start = time.monotonic()
    world.run(commands(world, directory)[name])
    return time.monotonic() - start


def to_parent(world):
    for name in ("run", "context", "compare", "check"):
        whole = duration(world, name)
        for i in range(world.count(52)):
            directory = world.fresh("signals")
            number = TO_PARENT[i % len(TO_PARENT)]
            process = world.start(commands(world, directory)[name])
            delay = world.random.uniform(0, whole)
            time.sleep(delay)
            sent = time.monotonic()
            process.send_signal(number)
            outcome = world.finish(process)
            reason = None
            if outcome.code is not None and -outcome.code == number:
                pass  # before or after there was anything to end in order
            else:
                reason = bad_end(outcome)
            if reason is None and time.monotonic() - sent > LONGEST:
                reason = f"went on for {time.monotonic() - sent:.1f} s"
            wrong = ([reason] if reason else []) + left_behind(directory) + broken_outputs(directory)
            yield f"{name}, {number.name} after {delay:.3f} s: {'; '.join(wrong)}" if wrong else None


def children_of(parent):
    found = []
    for entry in os.listdir(f"/proc/{parent}/task") if os.path.exists(f"/proc/{parent}/task") else []:
        try:
            with open(f"/proc/{parent}/task/{entry}/children") as file:
                found += [int(word) for word in file.read().split()]
        except OSError:
            pass
    return found


def to_children(world):
    for name in ("compare", "check"):
        whole = duration(world, name)
        for i in range(world.count(51)):
            directory = world.fresh("signals")
            number = TO_CHILDREN[i % len(TO_CHILDREN)]
            process = world.start(commands(world, directory)[name])
            delay = world.random.uniform(0, whole)
            time.sleep(delay)
            children = children_of(process.pid)
            for child in children[:1]:
                try:
                    os.kill(child, number)
                except ProcessLookupError:
                    pass
            outcome = world.finish(process)
            wrong = [bad_end(outcome)] if bad_end(outcome) else []
            wrong += left_behind(directory) + broken_outputs(directory)
            if outcome.code == 0 and name == "compare" and b"6 tensors compared: 6 passed" not in outcome.out:
                wrong.append("exit code 0, but not all tensors passed")
            yield f"{name}, {number.name} to a child after {delay:.3f} s: {'; '.join(wrong)}" if wrong else None
