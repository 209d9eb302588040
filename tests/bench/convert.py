#!/usr/bin/env python3
"""convert.py [--opbench PROGRAM] [--mib 1024]: measures opbench convert on a directory of device dumps.

Writes dumps of 16 MiB each (fp16, NC1HWC0). Converts them without a change of format and to NCHW, and copies the same
files one after the other. Prints seconds, cores in use (user + sys time / seconds), MiB/s relative to the copy, and
peak memory. Asserts nothing. The first run of each is discarded."""
import argparse
import os
import shutil
import struct
import tempfile
import time

SHAPE = (4, 4, 256, 128, 16)  # N, C1, H, W, C0
MIB = 1 << 20


def varint(number):
    text = b""
    while number >= 128:
        text += bytes([number & 127 | 128])
        number >>= 7
    return text + bytes([number])


def field(number, text):
    return bytes([number << 3 | 2]) + varint(len(text)) + text


def dims(*extents):
    return field(1, b"".join(map(varint, extents)))


def write_dumps(directory, mib):
    n, c1, h, w, c0 = SHAPE
    size = 2 * n * c1 * h * w * c0
    output = (b"\x08\x02\x10\x03" + field(3, dims(*SHAPE)) + b"\x30" + varint(size) +
              field(7, dims(n, c1 * c0 - 3, h, w)))
    header = field(3, output)
    for i in range(max(1, mib * MIB // size)):
        with open(os.path.join(directory, f"Conv2D.conv{i}.{i}.1.{i}"), "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header + os.urandom(MIB) * (size // MIB))


def run(words):
    """Returns seconds, cores in use, peak memory in MiB."""
    start = time.monotonic()
    child = os.spawnvp(os.P_NOWAIT, words[0], words)
    _, status, usage = os.wait4(child, 0)
    seconds = time.monotonic() - start
    if status != 0:
        raise SystemExit(f"{' '.join(words)}: {status}")
    return seconds, (usage.ru_utime + usage.ru_stime) / seconds, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opbench", default="build/release/opbench")
    parser.add_argument("--mib", type=int, default=1024)
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        dumps, out = os.path.join(directory, "dumps"), os.path.join(directory, "out")
        os.mkdir(dumps)
        write_dumps(dumps, flags.mib)
        convert = [flags.opbench, "convert", "-q", "-d", dumps, "-out", out]
        ways = {"cp": ["cp", "-r", dumps, out], "as stored": convert, "to NCHW": convert + ["-f", "NCHW"]}
        copy = None
        print(f"{flags.mib} MiB     seconds  cores   MiB/s  v. cp  peak MiB")
        for name, words in ways.items():
            for _ in range(2):
                shutil.rmtree(out, ignore_errors=True)
                seconds, cores, peak = run(words)
            copy = copy or seconds
            print(f"{name:<10} {seconds:9.2f} {cores:6.2f} {flags.mib / seconds:7.0f} {copy / seconds:6.2f} {peak:9.0f}")


main()
