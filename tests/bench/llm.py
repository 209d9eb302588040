#!/usr/bin/env python3
"""Operators of language models: opbench's best variant, oneDNN, and the fastest composition of PyTorch, alternating.

  tests/bench/llm.py                               every case, fp32, fp16 and bf16, one thread and two
  tests/bench/llm.py --quick                       the smaller cases, fp32 and bf16, one thread, one round
  tests/bench/llm.py --family attention,norms
  tests/bench/llm.py --op swiglu,swiglu_grad --dtype bf16 --threads 1

Times are medians over the rounds; `best` and `onednn` are followed by their ratio to PyTorch's time. roof% is the
share of the roofline that the best variant reaches: of the bandwidth of a copy of the same bytes, or of the peak rate
of multiply-adds in fp32. PyTorch 1.13 has no fp16 for most operators on a CPU. The products of Debian's PyTorch in fp32
are those of libblas.so.3: `apt-get install libopenblas0-pthread`, because those of the reference BLAS are 20 times
slower."""
import argparse
import json
import os
import statistics
import sys

from llm_calls import ROWS
from native import ALLOCATOR, ROOT, opbench_round, torch_times, words

QUICK = {"dtype": "fp32,bf16", "threads": "1", "rounds": 1, "time": 0.03, "size": "small"}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="less than two minutes")
    parser.add_argument("--family", default="", help="only these: " + ", ".join(dict.fromkeys(r.family for r in ROWS)))
    parser.add_argument("--op", default="", help="only these operators, separated by commas")
    parser.add_argument("--variant", help="only these variants of opbench, separated by commas")
    parser.add_argument("--dtype", default="fp32,fp16,bf16")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--size", default="small,large", help="large: seconds for each call")
    parser.add_argument("--rounds", type=int, default=3, help="alternating rounds [%(default)s]")
    parser.add_argument("--time", type=float, default=0.1, help="seconds per case and round [%(default)s]")
    parser.add_argument("--no-torch", action="store_true", help="only opbench")
    parser.add_argument("--json", help="write the rows there")
    parser.add_argument("--opbench", default=os.path.join(ROOT, "build/release/opbench"))
    quick, _ = parser.parse_known_args()
    if quick.quick:
        parser.set_defaults(**QUICK)
    return parser.parse_args()


def selected(options):
    ops, families, sizes = words(options.op), words(options.family), words(options.size)
    rows = [r for r in ROWS if (not ops or r.op in ops) and (not families or r.family in families) and r.size in sizes]
    if not rows:
        sys.exit("llm.py: no case has these operators, families and sizes")
    return rows


def measure(torch, options, cases):
    """Returns {(case, dtype, threads): ([(microseconds, composition)], {variant: [record]})} of one family."""
    threads = [int(count) for count in words(options.threads)]
    asked = {case: [d for d in words(options.dtype) if not case.dtypes or d in case.dtypes] for case in cases}
    found = {(case, dtype, count): ([], {}) for case in cases for dtype in asked[case] for count in threads}
    ids = {case.id(dtype): (case, dtype) for case in cases for dtype in asked[case]}
    for _ in range(options.rounds if ids else 0):
        for dtype in words(options.dtype) if torch else ():
            of_dtype = [case for case in cases if dtype in asked[case]]
            for (case, count), time in torch_times(torch, options, of_dtype, dtype, threads).items():
                found[case, dtype, count][0].append(time)
        for (name, variant, count), record in opbench_round(options, list(ids), options.threads, False).items():
            found[(*ids[name], count)][1].setdefault(variant, []).append(record)
    return found


def median_us(records):
    times = [r["median_us"] for r in records if r["median_us"] is not None]
    return statistics.median(times) if times else None


def row(case, dtype, threads, torch_found, variants):
    times = {name: us for name, us in ((name, median_us(found)) for name, found in variants.items()) if us}
    own = {name: us for name, us in times.items() if name != "onednn"}
    best = min(own, key=own.get, default=None)
    middle = sorted(variants[best], key=lambda r: r["median_us"])[len(variants[best]) // 2] if best else {}
    torch_us = statistics.median([us for us, _ in torch_found]) if torch_found else None
    return {"op": case.op, "label": case.label, "case": case.id(dtype), "dtype": dtype, "threads": threads,
            "torch_us": torch_us, "torch": torch_found[-1][1] if torch_found else None, "best_us": own.get(best),
            "best": best, "onednn_us": times.get("onednn"), "roof": middle.get("percent_of_roofline"),
            "bound": middle.get("bound"), "gb_per_s": middle.get("gb_per_s"), "gflop_per_s": middle.get("gflop_per_s")}


def shown(value, form, width):
    return format("-" if value is None else format(value, form), f">{width}")


def line_of(r):
    def ratio(name):
        return r[name] / r["torch_us"] if r[name] and r["torch_us"] else None
    rate = (f"{r['gflop_per_s']:7.1f} GF/s" if r["bound"] == "compute" else f"{r['gb_per_s']:7.1f} GB/s") \
        if r["gb_per_s"] else ""
    return (f"{r['op']:<27} {r['label']:<31} {r['dtype']:<4} {r['threads']:>3} {shown(r['torch_us'], '.0f', 9)} "
            f"{shown(r['best_us'], '.0f', 9)} {shown(ratio('best_us'), '.2f', 5)} {shown(r['onednn_us'], '.0f', 9)} "
            f"{shown(ratio('onednn_us'), '.2f', 5)} {shown(r['roof'], '.0f', 5)} {rate:>12}  {r['best'] or '-'}"
            f" / {r['torch'] or '-'}")


def main():
    options = parse()
    if os.environ.get("MALLOC_MMAP_MAX_") != "0":
        os.execve(sys.executable, [sys.executable] + sys.argv, {**os.environ, **ALLOCATOR})
    torch = None
    if not options.no_torch:
        try:
            import torch
        except ImportError:
            print("llm.py: PyTorch is missing, so only opbench is measured; Debian: apt-get install python3-torch")
    print(f"{'operator':<27} {'shape':<31} type thr  torch us   best us ratio onednn us ratio roof%         rate  "
          "best variant / PyTorch's composition")
    rows, cases = [], selected(options)
    for family in dict.fromkeys(case.family for case in cases):
        for key, of_key in measure(torch, options, [case for case in cases if case.family == family]).items():
            rows.append(row(*key, *of_key))
            print(line_of(rows[-1]), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
