#!/usr/bin/python3
"""Measures the cost of running many tiny cases in work units: overhead for each, and how busy rank 0 is with
distributing them.

    tests/bench/units.py [BUILD] [--units 100000] [--ranks 1 2 4]     BUILD: build/release

Overhead is the rest of wall time x ranks (at most the cores) without the seconds of the units and of planning, for each
unit. Rank 0's share of a core is that of the distributing thread, over the busiest second. Exit code 1 above 1 ms, or
above 50 %."""
import argparse
import glob
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

TICK = os.sysconf("SC_CLK_TCK")


def thread_seconds(pid):
    """Processor time of a process' first thread, which distributes units."""
    fields = open(f"/proc/{pid}/task/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def first_rank(mpirun):
    for entry in glob.glob("/proc/[0-9]*/stat"):
        try:
            pid = int(entry.split("/")[2])
            parent = int(open(entry).read().rsplit(")", 1)[1].split()[1])
            if parent == mpirun and b"OMPI_COMM_WORLD_RANK=0\0" in open(f"/proc/{pid}/environ", "rb").read():
                return pid
        except OSError:
            continue
    return None


def done(folder):
    """Size of the results, which stops growing when all units are done."""
    return sum(os.path.getsize(file) for file in glob.glob(f"{folder}/parts/*.jsonl"))


def run(program, cases, ranks, folder):
    """Returns the seconds from the first result to the last, and rank 0's busiest second."""
    line = [program, "--op", "relu", "--shapes", cases, "--variant", "native", "--threads", "1", "--time", "0", "--quiet"]
    launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)] if ranks > 1 else []
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    process = subprocess.Popen(launcher + line + ["--out", folder], stdout=subprocess.DEVNULL, env=environment)
    start = last = None
    size = 0
    pid, busiest, before, at = None, 0.0, None, 0.0
    while process.poll() is None:
        time.sleep(0.05)
        now, grown = time.monotonic(), done(folder)
        if grown == size:
            continue
        size = grown
        start = start or now
        last = now
        if ranks == 1:
            continue
        pid = pid or first_rank(process.pid)
        try:
            used = thread_seconds(pid)
        except (OSError, TypeError):
            continue
        if before is None or now - at >= 1:
            if before is not None:
                busiest = max(busiest, (used - before) / (now - at))
            before, at = used, now
    if process.returncode != 0:
        sys.exit(f"units.py: opbench ended with {process.returncode}")
    return last - start, busiest


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("build", nargs="?", default="build/release")
    arguments.add_argument("--units", type=int, default=100000)
    arguments.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    options = arguments.parse_args()
    program = str(pathlib.Path(options.build, "opbench").resolve())
    work = tempfile.mkdtemp()
    is_well = True
    try:
        cases = f"{work}/cases.yaml"
        with open(cases, "w") as file:
            file.write("dtypes: [fp32]\nshapes:\n")
            file.writelines(f"  - [{length}]\n" for length in range(1, options.units + 1))
        print(f"{'ranks':>5} {'units':>8} {'wall s':>8} {'unit s':>8} {'overhead ms':>12} {'rank 0':>7}")
        for ranks in options.ranks:
            if ranks > 1 and shutil.which("mpirun") is None:
                print("there is no mpirun")
                continue
            folder = f"{work}/out{ranks}"
            wall, busiest = run(program, cases, ranks, folder)
            seconds = units = 0
            for file in glob.glob(f"{folder}/parts/*.jsonl"):
                for line in open(file):
                    if line.startswith('{"unit"'):
                        seconds += float(line.split('"seconds":', 1)[1].split(",", 1)[0])
                        units += 1
            overhead = 1e3 * (wall * min(ranks, os.cpu_count()) - seconds) / units
            share = f"{100 * busiest:.0f} %" if ranks > 1 else "-"
            print(f"{ranks:5} {units:8} {wall:8.1f} {seconds:8.1f} {overhead:12.3f} {share:>7}", flush=True)
            is_well &= units == options.units and overhead <= 1 and busiest <= 0.5
            shutil.rmtree(folder)
    finally:
        shutil.rmtree(work)
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
