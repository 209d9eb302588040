#!/usr/bin/env python3
"""Measures opbench ingest on large tables and traces, compared with pandas and json on the same files.

    ingest.py OPBENCH [GIGABYTES...] [--table] [--trace]

Repeats samples of tests/data/profiles to files of 1, 2 and 4 GB, or GIGABYTES: the rows of
kernel_details/llm_bf16_st_rank0.csv, and the events of a step of traces/torch_kineto_2021_resnet50_one_step.json.gz,
each with later times and new ids. Prints seconds and peak memory of each. pandas.read_csv and json.load read whole
files. They are skipped if the machine's memory is below eight, or fifteen, times the file."""
import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

PROFILES = pathlib.Path(__file__).parents[1] / "data/profiles"
TABLE = PROFILES / "kernel_details/llm_bf16_st_rank0.csv"
TRACE = PROFILES / "traces/torch_kineto_2021_resnet50_one_step.json.gz"
PANDAS = "import sys, pandas; t = pandas.read_csv(sys.argv[1]); t.groupby(['Type', 'Accelerator Core'])['Duration(us)'].sum()"
JSON = ("import sys, json; t = json.load(open(sys.argv[1]))['traceEvents']; "
        "sum(e['dur'] for e in t if e.get('cat') == 'Kernel')")


def repeat_table(path, size):
    header, _, rows = TABLE.read_bytes().partition(b"\n")
    with open(path, "wb") as file:
        file.write(header + b"\n")
        while file.tell() < size:
            file.write(rows)


def repeat_trace(path, size):
    text = gzip.open(TRACE).read()
    begin = text.index(b"[", text.index(b'"traceEvents"')) + 1
    end = text.rindex(b"]")
    parts = re.split(rb'("(?:ts|External id|external id|correlation)"\s*:\s*)(\d+)', text[begin:end].rstrip())
    numbers = [(key, int(number), 200_000 if b'"ts"' in key else 100_000, after)
               for key, number, after in zip(parts[1::3], parts[2::3], parts[3::3])]
    with open(path, "wb") as file:
        file.write(text[:begin])
        for times in range(10**9):
            file.write(parts[0])
            file.write(b"".join(b"%b%d%b" % (key, number + times * later, after) for key, number, later, after in numbers))
            if file.tell() >= size:
                break
            file.write(b",\n")
        file.write(text[end:])


def measure(command):
    """Returns wall and processor seconds, and the peak memory in MiB of a command."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command[0]} ended with status {status}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


KINDS = {
    "--table": ("kernel_details.csv", repeat_table, "pandas", PANDAS, 8),
    "--trace": ("trace.json", repeat_trace, "json.load", JSON, 15),
}


def main():
    program = sys.argv[1]
    kinds = [word for word in sys.argv[2:] if word in KINDS] or list(KINDS)
    sizes = [float(word) for word in sys.argv[2:] if word not in KINDS] or [1, 2, 4]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    print(f"{'GB':>4} {'file':<20} {'reader':<10} {'seconds':>8} {'of CPU':>8} {'MiB':>8}")
    for kind in kinds:
        name, repeat, other, script, times = KINDS[kind]
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, name)
                repeat(path, size * 1e9)
                readers = {"opbench": [program, "ingest", path, "--top", "1"]}
                if times * size * 1e9 < memory:
                    readers[other] = ["/usr/bin/python3", "-c", script, path]
                for reader, command in readers.items():
                    measure(["cat", path])  # loads the page cache
                    seconds, cpu, mebibytes = measure(command)
                    print(f"{size:>4g} {name:<20} {reader:<10} {seconds:>8.2f} {cpu:>8.2f} {mebibytes:>8.0f}", flush=True)


if __name__ == "__main__":
    main()
