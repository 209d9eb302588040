#!/usr/bin/env python3
"""Runs operators through the door for kernels from outside: tests/bench/foreign.py PROGRAM [--ops N] [--kernels FILE..]

Prints N operators with PyTorch on the CPU (--device torch:cpu) and `native`, verified, then what the door costs: the
time of a request, which no row contains, and the time that a case takes more with a kernel from outside."""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import tempfile
import time

#: Operators with a torch expression, on one shape.
OPS = """softplus relu sigmoid tanh gelu silu hardswish leaky_relu elu mish erf exp log sqrt rsqrt abs neg sin cos floor ceil
round eq lt add mul sub div maximum minimum muls adds softmax log_softmax sum mean softplus_grad sin_grad cos_grad transpose
concat reshape triu tril layer_norm batch_norm pow addcmul addcdiv where tanh_grad sigmoid_grad cumsum flip stack logical_not tril""".split()


def run(program, *args):
    done = subprocess.run([program, *args, "--threads", "1", "-q", "--json", "-"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if not done.stdout:
        raise SystemExit(done.stderr.decode())
    return json.loads(done.stdout)["records"]


def known(program):
    names = subprocess.run([program, "list", "--names"], stdout=subprocess.PIPE, check=True).stdout.decode().split()
    return [op for op in OPS if op in names]


def operators(program, most):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("shapes:\n  - [4, 16, 56, 56]\n")
        file.flush()
        ops = [op for op in known(program) if subprocess.run(
            [program, "--op", op, "--shapes", file.name, "--dtype", "fp32", "--dry-run"], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, check=False).returncode == 0]
        rows = run(program, "--op", ",".join(ops), "--shapes", file.name, "--dtype", "fp32", "--device", "torch:cpu",
                   "--time", "0.02")
    by_op = collections.defaultdict(dict)
    for row in rows:
        by_op[row["op"]][row["variant"]] = row
    by_op = dict([(op, found) for op, found in by_op.items() if found["torch:cpu"]["status"] != "skipped"][:most])
    print(f"{'operator':<16} {'native us':>10} {'torch:cpu us':>13}  verdict of torch:cpu")
    for op, found in by_op.items():
        native, torch = found["native"].get("median_us"), found["torch:cpu"].get("median_us")
        print(f"{op:<16} {native or 0:>10.1f} {torch or 0:>13.1f}  {found['torch:cpu']['status']}"
              f"  {found['torch:cpu']['reason'] if not torch else ''}"[:110])
    passed = sum(found["torch:cpu"]["status"] == "passed" for found in by_op.values())
    print(f"{passed} of {len(by_op)} operators passed")


def door(program, kernels):
    """Seconds of one process for many cases, with and without a kernel from outside."""
    cases = [word for n in range(1, 101) for word in ("--case", f"softplus[{n}x5,fp32]")]

    def seconds(*args):
        begin = time.perf_counter()
        run(program, *cases, "--time", "0", *args)
        return time.perf_counter() - begin

    for file in kernels:
        one = run(program, "--case", "softplus[2x5,fp32]", "--kernels", file, "--time", "0.02")
        name = next(row["variant"] for row in one if "--kernels" in row["reproduce"] and row["status"] == "passed")
        start = min(seconds("--kernels", file, "--variant", name) for _ in range(3))
        few = cases[:2]
        begin = time.perf_counter()
        run(program, *few, "--time", "0", "--kernels", file, "--variant", name)
        first = time.perf_counter() - begin
        native = min(seconds("--variant", "native") for _ in range(3))
        begin = time.perf_counter()
        run(program, *few, "--time", "0", "--variant", "native")
        first_native = time.perf_counter() - begin
        per_case = ((start - first) - (native - first_native)) / 99
        call = next(row["median_us"] for row in one if row["variant"] == name)
        print(f"{os.path.basename(file):<32} {name:<12} smallest call {call:8.2f} us, a case {1e3 * per_case:6.2f} ms more, "
              f"a process {1e3 * (first - first_native):7.1f} ms more")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--ops", type=int, default=40)
    parser.add_argument("--kernels", nargs="*", default=[])
    args = parser.parse_args()
    if args.ops:
        operators(args.program, args.ops)
    door(args.program, args.kernels)


if __name__ == "__main__":
    main()
