#!/usr/bin/env python3
"""Compares the device's convolutions of cases/layers.yaml with oneDNN's: forward and both gradients.

  tests/bench/convolutions.py                                 every layer, one thread and two, four images
  tests/bench/convolutions.py --filter conv1 --threads 1      layers whose name contains this
  tests/bench/convolutions.py --use forward,grad_input -n 32

Prints a row for each layer and use: oneDNN's time in fp32 (the better of NCHW and NC1HWC0), and the speedup of the
device's variant, stored in fp32 and in fp16. Times of a row come from one run, medians over --rounds of them. Rows
below --limit are listed at the end. Exit code 1 if there are any, 2 if nothing could be measured."""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Suffixes of the device's variants: conv2d and depthwise_conv2d.
USES = {"forward": "", "grad_input": "_backprop_input", "grad_weight": "_backprop_filter"}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=4, help="images [%(default)s]")
    parser.add_argument("--threads", default="1,2", help="numbers of threads [%(default)s]")
    parser.add_argument("--use", default=",".join(USES), help="[%(default)s]")
    parser.add_argument("--filter", default="", help="only layers whose name holds this")
    parser.add_argument("--rounds", type=int, default=3, help="runs of every row [%(default)s]")
    parser.add_argument("--time", type=float, default=0.05, help="seconds per variant and round [%(default)s]")
    parser.add_argument("--limit", type=float, default=0.9, help="of oneDNN's speed [%(default)s]")
    parser.add_argument("--opbench", default=os.path.join(ROOT, "build/release/opbench"))
    return parser.parse_args()


def records_of(command):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "results.json")
        result = subprocess.run(command + ["-q", "--no-verify", "--json", path], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, check=False)
        if result.returncode not in (0, 1):
            sys.exit(f"convolutions.py: {' '.join(command)}\n{result.stderr}")
        with open(path, encoding="utf-8") as file:
            return json.load(file)["records"]


def layers(options):
    """{(name, inputs): attributes} of the file's forward convolutions, fp32 in NCHW."""
    command = [options.opbench, "--cases", os.path.join(ROOT, "cases/layers.yaml"), "--filter", "conv2d", "--set",
               f"N={options.n}", "--dtype", "fp32", "--format", "NCHW", "--variant", "onednn", "--threads", "1",
               "--time", "0.001", "--repetitions", "1"]
    found = {}
    for record in records_of(command):
        if record["op"] == "conv2d" and options.filter in record["name"]:
            attrs = dict(re.findall(r"(\w+)=(\[[^]]*\]|\d+)", record["case"]))
            found.setdefault((record["name"], record["shape"]), attrs)
    return found


def pair(text):
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return numbers if len(numbers) > 1 else numbers * 2


def extents(shape):
    return [int(extent) for extent in shape.split("x")]


def case_of(use, shape, attrs, dtype, form):
    """Returns the id of a layer's forward pass or of one of its gradients."""
    inputs = shape.split(",")
    (n, _, *plane), (m, _, *kernel) = extents(inputs[0]), extents(inputs[1])
    window = zip(plane, kernel, pair(attrs["stride"]), pair(attrs["padding"]), pair(attrs["dilation"]))
    y = "x".join(map(str, [n, m] + [(i + 2 * p - d * (k - 1) - 1) // s + 1 for i, k, s, p, d in window]))
    others = [f"{name}={value}" for name, value in attrs.items()]
    if use == "grad_input":
        inputs, others = [y, inputs[1]], others + [f"input_size={plane}".replace(" ", "")]
    if use == "grad_weight":
        inputs, others = [y, inputs[0]], others + [f"kernel_size={kernel}".replace(" ", "")]
    op = "conv2d" if use == "forward" else f"conv2d_{use}"
    return f"{op}[{','.join(inputs + [dtype, form] + others)}]"


def measure(options, use, shape, attrs):
    """{threads: (oneDNN's microseconds, {dtype: the device's})} of one layer."""
    cases = [("fp32", "NCHW"), ("fp32", "NC1HWC0"), ("fp16", "NC1HWC0")]
    variants = f"onednn,conv2d{USES[use]},depthwise_conv2d{USES[use]}"
    command = [options.opbench, "--variant", variants, "--threads", options.threads, "--time", str(options.time),
               "--repetitions", "3"]
    for dtype, form in cases:
        command += ["--case", case_of(use, shape, attrs, dtype, form)]
    samples = {}
    for _ in range(options.rounds):
        for r in records_of(command):
            if r["median_us"]:
                key = (r["threads"], "onednn" if r["variant"] == "onednn" else r["dtype"], r["variant"], r["format"])
                samples.setdefault(key, []).append(r["median_us"])
    best = {}
    for (threads, who, *_), values in samples.items():
        times = best.setdefault(threads, {})
        times[who] = min(times.get(who, float("inf")), statistics.median(values))
    return best


def main():
    options = parse()
    uses = options.use.split(",")
    if set(uses) - set(USES):
        sys.exit(f"convolutions.py: --use takes {', '.join(USES)}, found {options.use}")
    slow, rows = [], 0
    print(f"{'layer':<36} {'inputs':<32} {'use':<12} threads  oneDNN us   fp32   fp16")
    for (name, shape), attrs in layers(options).items():
        for use in uses:
            for threads, times in measure(options, use, shape, attrs).items():
                ratios = {dtype: times["onednn"] / times[dtype] for dtype in ("fp32", "fp16") if dtype in times}
                text = " ".join(f"{ratios.get(dtype, float('nan')):5.2f}x" for dtype in ("fp32", "fp16"))
                line = f"{name:<36} {shape:<32} {use:<12} {threads:>7} {times['onednn']:>10.1f} {text}"
                print(line, flush=True)
                rows += 1
                if min(ratios.values()) < options.limit:
                    slow.append(line)
    if rows == 0:
        sys.exit(2)
    print(f"\n{len(slow)} of {rows} rows below {options.limit} of oneDNN's speed")
    print("\n".join(slow))
    sys.exit(1 if slow else 0)


if __name__ == "__main__":
    main()
