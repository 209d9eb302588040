#!/usr/bin/env python3
"""Computes expected_links.json of tests/data/profiles/traces, the expected results of `opbench ingest`, in a simple way.

    trace_links.py TRACE.json.gz... > expected_links.json

For each kernel, all operators of the launching thread that run at the time of the launch are searched. The shortest one
with shapes is taken, or else the shortest. Device time is the length of the union of intervals, by marking every border.
"""
import collections
import gzip
import json
import os
import sys
from fractions import Fraction

COMPUTING = {"AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV", "AI_CPU", "DSA_SQE"}


def interval(event):
    begin = Fraction(str(event["ts"]))
    return begin, begin + Fraction(str(event["dur"]))


def is_communication(event):
    return event["name"].split("/")[-1].startswith(("hcom_", "nccl", "AllReduce"))


def is_kernel(event):
    if event.get("cat") in ("kernel", "Kernel"):
        return True
    task = event.get("args", {}).get("Task Type")
    return task in COMPUTING or (not event.get("cat") and not task and is_communication(event))


def union(intervals):
    total, end = Fraction(0), None
    for begin, last in sorted(intervals):
        if end is None or begin > end:
            total, end = total + last - begin, last
        elif last > end:
            total, end = total + last - end, last
    return total


def clip(intervals, window):
    cut = [(max(a, window[0]), min(b, window[1])) for a, b in intervals]
    return [(a, b) for a, b in cut if a < b]


def describe(path):
    document = json.load(gzip.open(path, "rt"))
    events = document if isinstance(document, list) else document["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    is_step = lambda e: e.get("cat") == "Iteration Time" or (
        e["name"].startswith("ProfilerStep#") and e.get("cat") != "gpu_user_annotation")
    operators = [(*interval(e), e) for e in spans if e.get("cat") in ("cpu_op", "Operator") and not is_step(e)]
    kernels = [e for e in spans if is_kernel(e)]
    runtime = {e["args"]["correlation"]: e for e in spans if e.get("cat") in ("cuda_runtime", "cuda_driver")}
    arrows = {e["id"]: e for e in events if e["ph"] == "s" and e.get("cat") == "async_npu"}
    ends = {(e["ts"]): e["id"] for e in events if e["ph"] == "f" and e.get("cat") == "async_npu"}
    by_id = {e["args"].get("External id"): (a, b, e) for a, b, e in operators}
    counts, linked = collections.Counter(), 0
    for kernel in kernels:
        args = kernel.get("args", {})
        launch = runtime.get(args.get("correlation")) or arrows.get(ends.get(kernel["ts"]))
        external = args.get("External id", args.get("external id"))
        if launch is None and external is not None and external != args.get("correlation") and external in by_id:
            launch = by_id[external][2]
        if launch is None:
            continue
        time = Fraction(str(launch["ts"]))
        around = [(b - a, e) for a, b, e in operators
                  if a <= time <= b and (e["pid"], str(e["tid"])) == (launch["pid"], str(launch["tid"]))]
        if launch.get("cat") in ("cpu_op", "Operator"):  # linked by id: it contains no other
            length = interval(launch)[1] - interval(launch)[0]
            around = [(d, e) for d, e in around if d >= length and (d > length or e is launch)]
        if not around:
            continue
        around.sort(key=lambda pair: (pair[0], -pair[1]["args"].get("External id", 0)))  # equal times: the later one is inside
        holder = next((e for _, e in around if e["args"].get("Input Dims")), around[0][1])
        counts[holder["name"]] += 1
        linked += 1
    computing = [interval(e) for e in kernels if not is_communication(e)]
    every = [interval(e) for e in kernels]
    steps = [{"name": e["name"], "us": float(interval(e)[1] - interval(e)[0]),
              "computing_us": float(union(clip(computing, interval(e)))),
              "communication_alone_us": float(union(clip(every, interval(e))) - union(clip(computing, interval(e))))}
             for e in sorted(filter(is_step, spans), key=lambda e: Fraction(str(e["ts"])))]
    return {"kernels": len(kernels), "linked": linked, "by_operator": dict(counts.most_common()),
            "computing_us": float(union(computing)), "communication_alone_us": float(union(every) - union(computing)),
            "steps": steps}


def main():
    json.dump({os.path.basename(path): describe(path) for path in sys.argv[1:]}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
