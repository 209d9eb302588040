#!/usr/bin/python3
"""Measures reading of large results.

  tests/bench/large_results.py                       150,000 and 1,000,000 records
  tests/bench/large_results.py --records 150000 --opbench build/release/opbench

Writes results.json with that many records by repeating those of results/samples with other ids, and converts it to CSV
with opbench. Prints size, seconds and peak memory. Exit code 1 if the CSV has another number of lines."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def write(path, sample, count):
    """Document in the format of opbench, but with one line for each record."""
    records = sample.pop("records")
    head = json.dumps(sample, indent=2)
    with open(path, "w") as file:
        file.write(head[:head.rindex("}")].rstrip() + ',\n  "records": [')
        for i in range(count):
            record = dict(records[i % len(records)])
            record["case"] = f"{record['op']}[{i},fp32]"
            text = json.dumps(record, indent=2)
            file.write((",\n" if i else "\n") + text.replace("\n", "\n    "))
        file.write("\n  ]\n}\n")


def measured(command, output):
    """Returns exit code, seconds, peak MiB."""
    begin = time.perf_counter()
    with open(output, "wb") as file:
        process = subprocess.Popen(command, stdout=file)
        _, status, usage = os.wait4(process.pid, 0)
    return os.waitstatus_to_exitcode(status), time.perf_counter() - begin, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opbench", default=os.path.join(ROOT, "build/release/opbench"))
    parser.add_argument("--records", type=int, nargs="+", default=[150_000, 1_000_000])
    args = parser.parse_args()
    wrong = 0
    print(f"{'records':>9} {'MiB':>7} {'seconds':>8} {'peak MiB':>9}")
    for count in args.records:
        with open(os.path.join(ROOT, "results/samples/results.json")) as file:
            sample = json.load(file)
        with tempfile.TemporaryDirectory() as folder:
            path, csv = os.path.join(folder, "results.json"), os.path.join(folder, "results.csv")
            write(path, sample, count)
            size = os.path.getsize(path) / 2**20
            code, seconds, memory = measured([args.opbench, "report", path, "--format", "csv"], csv)
            with open(csv, "rb") as file:
                lines = sum(1 for _ in file)
            is_right = code == 0 and lines == count + 1
            wrong += not is_right
            print(f"{count:9} {size:7.0f} {seconds:8.1f} {memory:9.0f}{'' if is_right else f'  WRONG: code {code}, {lines} lines'}", flush=True)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
