"""Ranks of mpirun that are killed, stopped, slow, whose child hangs, whose disk is full. No result may be wrong, at
most one unit may be lost, and a continued run must end like an undisturbed run."""
import glob
import json
import os
import shutil
import signal
import subprocess
import threading
import time

import h5py
import numpy

from world import bad_end

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
# Verified only, some hundredths of a second each, so that all results are equal in every run.
SIZES = range(24)
CASES = [word for size in SIZES for word in ("--case", f"relu[{4 + size}x64x56x56,fp32]")]
RUN = ["run", "-q", *CASES, "--variant", "native,onednn", "--threads", "1", "--time", "0"]
LAST = "relu[4x"  # the smallest case, which is distributed last


def faulty(world):
    """opbench_faulty under the name that results contain, with the MPI module next to it."""
    copy = world.directory / "faulty" / "opbench"
    if not copy.exists():
        copy.parent.mkdir()
        shutil.copy(f"{world.program}_faulty", copy)
        (copy.parent / "opbench_mpi.so").symlink_to(world.program.parent / "opbench_mpi.so")
    return copy


def start(world, ranks, arguments, hanging=None):
    """`hanging`: beginning of the ids of cases whose kernels never return."""
    environment = dict(os.environ, **({"OPBENCH_TEST_UNIT_HANG": hanging} if hanging else {}))
    program = faulty(world) if hanging else world.program
    command = [*MPIRUN, "-np", str(ranks), str(program), *map(str, arguments)]
    return subprocess.Popen(command, cwd=world.directory, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, start_new_session=True)


def rank_process(process, rank):
    """Process id of a rank, once mpirun has started it."""
    mark = f"OMPI_COMM_WORLD_RANK={rank}\0".encode()
    end = time.monotonic() + 30
    while time.monotonic() < end:
        for stat in glob.glob("/proc/[0-9]*/stat"):
            pid = int(stat.split("/")[2])
            try:
                parent = int(open(stat).read().rsplit(")", 1)[1].split()[1])
                if parent == process.pid and mark in open(f"/proc/{pid}/environ", "rb").read():
                    return pid
            except OSError:
                continue
        time.sleep(0.01)
    raise RuntimeError(f"mpirun has started no rank {rank}")


def lines(folder):
    found = 0
    for file in glob.glob(f"{folder}/parts/*.jsonl"):
        found += sum(line.startswith('{"unit"') for line in open(file))
    return found


def wait_for_lines(folder, count, process):
    end = time.monotonic() + 60
    while lines(folder) < count and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)


def records(file):
    return json.loads(file.read_text())["records"]


def kill_one(world, whole):
    folder = world.fresh("killed")
    process = start(world, 2, [*RUN, "--resume", folder], hanging=LAST)
    wait_for_lines(folder, len(SIZES) - 1, process)
    os.kill(rank_process(process, 1), signal.SIGKILL)
    outcome = world.finish(process)
    wrong = [reason for reason in [bad_end(outcome) if outcome.code is None else None] if reason]
    if outcome.code == 0:
        wrong.append("exit code 0")
    if b"rank 1 on " not in outcome.err and b"process rank 1 " not in outcome.err + outcome.out:
        wrong.append("no message names rank 1")
    if (folder / "results.json").exists():
        wrong.append("there are results")
    if lines(folder) != len(SIZES) - 1:
        wrong.append(f"{lines(folder)} units are recorded")
    resumed = world.finish(start(world, 2, [*RUN, "--resume", folder]))
    if resumed.code != 0 or records(folder / "results.json") != whole:
        wrong.append(f"--resume ends with {resumed.code}, or with other results")
    return wrong


def disturb(world, whole, disturbance):
    """A run in which `disturbance` acts on rank 1 from its first unit on."""
    folder = world.fresh("disturbed")
    process = start(world, 2, [*RUN, "--out", folder])
    wait_for_lines(folder, 2, process)
    end = threading.Event()
    thread = threading.Thread(target=disturbance, args=(rank_process(process, 1), end))
    thread.start()
    outcome = world.finish(process)
    end.set()
    thread.join()
    if outcome.code != 0:
        return [f"exit code {outcome.code}: {outcome.text()[:300]}"]
    return [] if records(folder / "results.json") == whole else ["other results"]


def stop_for_a_second(pid, _):
    os.kill(pid, signal.SIGSTOP)
    time.sleep(1)
    os.kill(pid, signal.SIGCONT)


def slow_down(pid, end):
    try:
        while not end.is_set():
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.05)
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.005)
    except ProcessLookupError:
        pass


def hang_a_child(world, whole):
    folder = world.fresh("hung")
    outcome = world.finish(start(world, 2, [*RUN, "--out", folder, "--unit-timeout", "3"], hanging=LAST))
    wrong = [] if outcome.code == 3 else [f"exit code {outcome.code}"]
    for now, before in zip(records(folder / "results.json"), whole, strict=True):
        is_lost = before["case"].startswith(LAST)
        if is_lost and "took longer than 3 s" not in (now["reason"] or ""):
            wrong.append(f"{now['case']} is recorded as {now['status']}, {now['reason']}")
        if not is_lost and now != before:
            wrong.append(f"{now['case']} has another result")
    return wrong


def fill_the_disk(world, whole):
    place = world.fresh("full")
    mount = ["mount", "-t", "tmpfs", "-o", "size=24k", "tmpfs", str(place)]
    if os.geteuid() != 0 or not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode != 0:
        return None
    try:
        outcome = world.finish(start(world, 2, [*RUN, "--resume", place / "d"]))
        wrong = [] if outcome.code == 3 else [f"exit code {outcome.code}"]
        if "No space left" not in outcome.text():
            wrong.append(f"no message says so: {outcome.text()[:300]}")
        subprocess.run(["mount", "-o", "remount,size=64m", str(place)], check=True)
        resumed = world.finish(start(world, 2, [*RUN, "--resume", place / "d"]))
        if resumed.code != 0 or records(place / "d/results.json") != whole:
            wrong.append(f"--resume ends with {resumed.code}, or with other results")
        return wrong
    finally:
        subprocess.run(["umount", str(place)], check=False)


def write_job(directory):
    """Dumps of eight ranks with small differences, to compare for a second."""
    for rank in range(8):
        values = numpy.random.default_rng(rank).standard_normal((10, 400_000), dtype=numpy.float32)
        for side, device in (("npu", 10), ("gpu", 1)):
            folder = directory / side / f"step0/rank{rank}"
            folder.mkdir(parents=True)
            with h5py.File(folder / "dump.h5", "w") as file:
                for number, data in enumerate(values if side == "gpu" else values * numpy.float32(1.00001)):
                    attributes = file.create_dataset(f"/Mul/{number + 1}/output/result", data=data).attrs
                    for name, value in (("DeviceType", device), ("DataType", 1), ("FormatType", 2), ("Type", 0)):
                        attributes[name] = numpy.int32(value)
                    attributes["Stride"] = numpy.array([1], dtype=numpy.int32)


def tree(folder):
    """All files without the lines on time and command."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            text = path.read_text().splitlines()
            found[str(path.relative_to(folder))] = [line for line in text if '"date":' not in line and '"command":' not in line]
    return found


def compare_ranks(world):
    place = world.fresh("job")
    write_job(place)
    compare = ["compare", place / "npu", place / "gpu", "-q", "--threads", "1", "-o"]
    alone = world.run([*compare, place / "whole"])
    whole = tree(place / "whole")
    for fault in ("killed", "stopped"):
        out = place / fault
        process = start(world, 3, [*compare, out])
        victim = rank_process(process, 2)
        while not list(out.rglob("compare.json")) and process.poll() is None:
            time.sleep(0.01)
        wrong = []
        if fault == "stopped":
            stop_for_a_second(victim, None)
            outcome = world.finish(process)
            if outcome.code != alone.code or tree(out) != whole:
                wrong.append(f"exit code {outcome.code}, or other files")
        else:
            os.kill(victim, signal.SIGKILL)
            outcome = world.finish(process)
            if outcome.code in (0, None) or (out / "summary.json").exists():
                wrong.append(f"exit code {outcome.code}, or a summary")
            if b"rank 2 on " not in outcome.err and b"process rank 2 " not in outcome.err + outcome.out:
                wrong.append("no message names rank 2")
        yield f"compare, a rank {fault}: {'; '.join(wrong)}" if wrong else None


def under_mpirun(world):
    if not shutil.which("mpirun") or not (world.program.parent / "opbench_mpi.so").exists():
        return
    whole_file = world.directory / "whole.json"
    world.run([*RUN, "--json", whole_file])
    whole = records(whole_file)
    faults = {
        "a rank killed": kill_one,
        "a rank stopped and continued": lambda *args: disturb(*args, stop_for_a_second),
        "a slow rank": lambda *args: disturb(*args, slow_down),
        "a child that hangs": hang_a_child,
        "a full disk": fill_the_disk,
    }
    for what, fault in faults.items():
        wrong = fault(world, whole)
        if wrong is not None:
            yield f"{what}: {'; '.join(wrong)}" if wrong else None
    yield from compare_ranks(world)
