#!/usr/bin/env python3
"""Compares `native`, the NPU variants and oneDNN with PyTorch: equal shapes, dtype and threads, alternating.

  tests/bench/native.py                        every operator, one thread and two
  tests/bench/native.py --op softmax,gather    only these
  tests/bench/native.py --family attention,norms
  tests/bench/native.py --threads 1 --size small --isa best,avx2
  tests/bench/native.py --isa best,avx2 --markdown results/kernels.md

Prints a row for each case: times as multiples of PyTorch's, below 1 is faster, and the share of the roofline that the
best NPU variant reaches (of the bandwidth of a copy, or of the peak rate of multiply-adds in fp32). At the end it lists
the cases slower than --limit times PyTorch's time. Exit code 1 if there are any, 2 if nothing could be measured.
PyTorch: `apt-get install python3-torch libopenblas0-pthread` (Debian; products of the reference BLAS are 20 times
slower) or `pip install torch`. Every round runs opbench, then PyTorch; ratios are those of medians over the rounds.
PyTorch writes into existing outputs (out=, copy_) if possible; otherwise its allocator reuses memory. Both sides use
huge pages. With --isa avx2 all libraries run as on a machine without AVX-512.

opbench writes all inputs again before every repetition, so the first call of each finds no part of a large input in the
caches; PyTorch's loop has no such call. Rows beyond a limit are therefore measured again, LONGER times as long, so that
this call is a small part of a repetition. Only the second result counts."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from native_calls import CASES
from native_llm_calls import LLM_CASES
from native_math_calls import MATH_CASES
from native_table import beyond, heading, line_of, write_markdown
from side_by_side import ALLOCATOR, opbench_round, torch_times, words

ALL_CASES = CASES + MATH_CASES + LLM_CASES
LONGER = 8  # factor of the seconds in the second measurement
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Variables that limit opbench, PyTorch and oneDNN to an instruction set.
LIMITS = {"best": {}, "avx2": {"OPBENCH_MAX_ISA": "avx2", "ATEN_CPU_CAPABILITY": "avx2", "DNNL_MAX_CPU_ISA": "AVX2"}}
CHILD = "OPBENCH_NATIVE_CHILD"  # set in the process that measures
# Limits of the device that a variant states, and results of a noisy machine, are not errors.
FINE = ("passed", "mistrusted", "suspicious", "xfailed")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    families = ", ".join(dict.fromkeys(case.family for case in LLM_CASES))
    parser.add_argument("--threads", default="1,2", help="numbers of threads [%(default)s]")
    parser.add_argument("--op", default="", help="only these operators, separated by commas")
    parser.add_argument("--family", default="", help="only these of language models: " + families)
    parser.add_argument("--variant", help="only these variants of opbench, separated by commas")
    parser.add_argument("--dtype", default="fp32,fp16,bf16", help="[%(default)s]")
    parser.add_argument("--size", default="large,small",
                        help="large: of real networks; small: in the L2 cache; huge: seconds a call [%(default)s]")
    parser.add_argument("--isa", default="best", help="of: " + ", ".join(LIMITS) + " [%(default)s]")
    parser.add_argument("--rounds", type=int, default=3, help="alternating rounds [%(default)s]")
    parser.add_argument("--time", type=float, default=0.05, help="seconds per case and round [%(default)s]")
    parser.add_argument("--limit", type=float, default=1.2, help="of native's time over PyTorch's [%(default)s]")
    parser.add_argument("--npu-limit", type=float, default=1.0, help="of the best NPU variant's [%(default)s]")
    parser.add_argument("--noise", type=float, default=0.05, help="what a ratio may be beyond a limit [%(default)s]")
    parser.add_argument("--json", help="write the rows there")
    parser.add_argument("--markdown", help="write a table there; text of the file before '## Machine' stays")
    parser.add_argument("--opbench", default=os.path.join(ROOT, "build/release/opbench"))
    options = parser.parse_args()
    if not set(words(options.isa)) <= set(LIMITS):
        parser.error(f"--isa is a list of {', '.join(LIMITS)}, found {options.isa}")
    return options


def selected(options):
    ops, families, sizes = words(options.op), words(options.family), words(options.size)
    unknown = set(ops) - {case.op for case in ALL_CASES} | set(families) - {case.family for case in LLM_CASES}
    if unknown:
        sys.exit(f"native.py: no case for {', '.join(sorted(unknown))}")
    return [case for case in ALL_CASES
            if (not ops or case.op in ops) and (not families or case.family in families) and case.size in sizes]


def measure(torch, options, cases, dtype):
    """Returns the rows of one operator and dtype."""
    threads = [int(count) for count in words(options.threads)]
    ours, theirs = {}, {}
    for turn in range(options.rounds):
        for key, value in torch_times(torch, options, cases, dtype, threads).items():
            theirs.setdefault(key, []).append(value)
        timed = [case for case in cases if (case, threads[0]) in theirs]
        if not timed:
            return []
        ids = {case.id(dtype): case for case in timed}
        for (name, variant, count), found in opbench_round(options, list(ids), options.threads, turn == 0).items():
            ours.setdefault((ids[name], count), {}).setdefault(variant, []).append(found)
    return [row(options, case, dtype, count, theirs[case, count], variants)
            for (case, count), variants in ours.items()]


def row(options, case, dtype, threads, theirs, variants):
    torch_us = statistics.median([us for us, _ in theirs])
    times, roofs, wrong = {}, {}, []
    for variant, found in variants.items():
        first = found[0]
        if first["status"] == "skipped":
            continue
        if first["status"] not in FINE:
            wrong.append(f"{variant}: {first['status']} {first['reason']}")
        if any(r["median_us"] is None for r in found):
            continue
        times[first["provider"], variant] = statistics.median([r["median_us"] for r in found])
        roofs[variant] = statistics.median([r["percent_of_roofline"] or r["percent_of_copy"] or 0 for r in found])
    native, onednn = times.get(("native", "native")), times.get(("vendor", "onednn"))
    npu_us, npu_variant = min(((us, variant) for (provider, variant), us in times.items() if provider == "npu"),
                              default=(None, None))
    return {
        "op": case.op, "label": case.label, "size": case.size, "case": case.id(dtype), "dtype": dtype,
        "threads": threads, "isa": options.isa, "torch_us": torch_us, "torch": theirs[-1][1], "native_us": native,
        "native": native and native / torch_us, "npu_variant": npu_variant, "npu_us": npu_us,
        "npu": npu_us and npu_us / torch_us, "onednn_us": onednn, "onednn": onednn and onednn / torch_us,
        "roof": roofs.get(npu_variant or "native"), "wrong": wrong,
    }


def look_again(torch, options, found):
    """Returns the rows. Those beyond a limit are measured again, LONGER times as long."""
    longer = argparse.Namespace(**{**vars(options), "time": options.time * LONGER})
    again = {}
    for r in found:
        if not beyond(options, [{**r, "wrong": []}]):
            continue
        print(f"{line_of(r)}  (once more, longer)", flush=True)
        case = next(case for case in ALL_CASES if case.id(r["dtype"]) == r["case"])
        longer.threads = str(r["threads"])
        again.update({(r["case"], r["threads"]): new for new in measure(torch, longer, [case], r["dtype"])})
    return [again.get((r["case"], r["threads"]), r) for r in found]


def measure_all(options):
    """Measures and prints in a process whose libraries are limited to one instruction set; returns the rows."""
    try:
        import torch
    except ImportError:
        sys.exit("native.py: PyTorch is missing; Debian: apt-get install python3-torch")
    rows, cases = [], selected(options)
    for op in dict.fromkeys(case.op for case in cases):
        for dtype in words(options.dtype):
            asked = [case for case in cases if case.op == op and (not case.dtypes or dtype in case.dtypes)]
            for found in look_again(torch, options, measure(torch, options, asked, dtype) if asked else []):
                rows.append(found)
                print(line_of(found), flush=True)
    return rows


def in_children(options):
    """Returns the rows of all instruction sets."""
    rows = []
    for isa in words(options.isa):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.json")
            print(heading(isa), flush=True)
            child = subprocess.run([sys.executable] + sys.argv + ["--isa", isa, "--json", path], check=False,
                                   env={**os.environ, **ALLOCATOR, **LIMITS[isa], CHILD: "1"})
            if child.returncode != 0:
                sys.exit(child.returncode)
            with open(path, encoding="utf-8") as file:
                rows += json.load(file)
    return rows


def main():
    options = parse()
    is_child = CHILD in os.environ
    rows = measure_all(options) if is_child else in_children(options)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    if is_child:
        return 0
    lines = beyond(options, rows)
    print(f"\n{len(rows)} rows; beyond {options.limit}x (native), {options.npu_limit}x (the best variant):"
          f" {len(lines)}")
    print("\n".join(lines))
    if options.markdown:
        write_markdown(options, rows)
    return 2 if not rows else 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
