#!/usr/bin/env python3
"""Measures writing a dump and running it again, compared with plain reading and writing of the same bytes.

  tests/bench/dumping.py                      1 GiB in $TMPDIR or /tmp
  tests/bench/dumping.py --mib 256 --rounds 5 --directory /mnt/disk

dump: seconds that `opbench --dump` reports for writing, compared with write() of as many bytes into a file in the same
directory, alternating; required: at least 80 % of that speed. load: `opbench run --load --dump`, from start to end,
compared with the sum of its parts: reading the file, running its operators, writing their results; required: at most
1.5 times. Both are medians over the rounds. Neither side flushes to the disk. Exit code 1 if a requirement is not
met."""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

MIB = 1 << 20
CALLS = 8  # of relu; half of a record's bytes are inputs


def write_plainly(path, size):
    block = os.urandom(4 * MIB)
    start = time.monotonic()
    with open(path, "wb", buffering=0) as file:
        for _ in range(size // len(block)):
            file.write(block)
    return time.monotonic() - start


def read_plainly(path):
    block = bytearray(4 * MIB)
    start = time.monotonic()
    with open(path, "rb", buffering=0) as file:
        while file.readinto(block):
            pass
    return time.monotonic() - start


def run(program, words, directory):
    """Returns the seconds of the whole process, and their parts from its results."""
    results = os.path.join(directory, "results.json")
    start = time.monotonic()
    subprocess.run([program, "-q", "--no-verify", "--overwrite", *words, "--json", results], check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - start
    with open(results) as file:
        return seconds, json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opbench", default="build/release/opbench")
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", default=None)
    flags = parser.parse_args()
    elements = flags.mib * MIB // (2 * CALLS * 4)
    with tempfile.TemporaryDirectory(dir=flags.directory) as directory:
        source, plain, loaded = (os.path.join(directory, name) for name in ("in.h5", "plain", "out.h5"))
        cases = []
        for i in range(CALLS):  # equal except for the length, so that no case occurs twice
            cases += ["--case", f"relu[{elements - 1024 * i},fp32]"]
        dump = [*cases, "--variant", "relu", "--time", "0.001", "--repetitions", "1", "--dump", source]
        ratios, parts = [], []
        for _ in range(flags.rounds):
            _, results = run(flags.opbench, dump, directory)
            size = os.path.getsize(source)
            ratios.append(write_plainly(plain, size) / results["run"]["seconds"]["dump"])
            os.remove(plain)
        load = ["--load", source, "--variant", "relu", "--dump", loaded]
        compute = sum(r["median_us"] for r in run(flags.opbench, [*load[:4], "--time", "0.01"], directory)[1]["records"])
        for _ in range(flags.rounds):
            seconds, results = run(flags.opbench, load, directory)
            written = os.path.getsize(loaded)
            read, write = read_plainly(source), write_plainly(plain, written)
            os.remove(plain)
            parts.append(seconds / (read + compute / 1e6 + write))
        speed, whole = statistics.median(ratios), statistics.median(parts)
        print(f"dump of {size / MIB:.0f} MiB: {100 * speed:.0f} % of the speed of plain writing (wanted: 80)")
        print(f"load, run and dump: {whole:.2f} times reading, running and writing {size / MIB:.0f} + {written / MIB:.0f} MiB "
              f"(wanted: 1.5; in the last round {seconds:.2f} s against {read:.2f} + {compute / 1e6:.2f} + {write:.2f})")
    return 0 if speed >= 0.8 and whole <= 1.5 else 1


if __name__ == "__main__":
    raise SystemExit(main())
