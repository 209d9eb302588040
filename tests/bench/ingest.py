#!/usr/bin/env python3
"""opbench ingest on large tables, beside pandas on the same files.

    ingest.py OPBENCH [GIGABYTES...]

Repeats the rows of tests/data/profiles/kernel_details/llm_bf16_st_rank0.csv to files of 1, 2 and 4 GB, or those given,
and prints seconds and peak memory of each. pandas reads them whole: it is left out where the memory of the machine
does not hold eight times the file.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SAMPLE = pathlib.Path(__file__).parents[1] / "data/profiles/kernel_details/llm_bf16_st_rank0.csv"
PANDAS = "import sys, pandas; t = pandas.read_csv(sys.argv[1]); t.groupby(['Type', 'Accelerator Core'])['Duration(us)'].sum()"


def repeat(path, size):
    header, _, rows = SAMPLE.read_bytes().partition(b"\n")
    with open(path, "wb") as file:
        file.write(header + b"\n")
        while file.tell() < size:
            file.write(rows)


def measure(command):
    """Seconds, of the processor and of the clock, and the largest memory in MiB of a command."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command[0]} ended with status {status}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    program = sys.argv[1]
    sizes = [float(word) for word in sys.argv[2:]] or [1, 2, 4]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    print(f"{'GB':>4} {'reader':<8} {'seconds':>8} {'of CPU':>8} {'MiB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = os.path.join(folder, "kernel_details.csv")
            repeat(path, size * 1e9)
            readers = {"opbench": [program, "ingest", path, "--top", "1"]}
            if 8 * size * 1e9 < memory:
                readers["pandas"] = ["/usr/bin/python3", "-c", PANDAS, path]
            for name, command in readers.items():
                measure(["cat", path])  # into the page cache
                seconds, cpu, mebibytes = measure(command)
                print(f"{size:>4g} {name:<8} {seconds:>8.2f} {cpu:>8.2f} {mebibytes:>8.0f}", flush=True)


if __name__ == "__main__":
    main()
