#!/usr/bin/env python3
"""Compares `native` and the NPU variants with PyTorch: equal shapes, dtype and threads, alternating.

  tests/bench/native.py                        every operator, one thread and two
  tests/bench/native.py --op softmax,gather    only these
  tests/bench/native.py --threads 1 --size small

Prints a row for each case, and at the end the cases slower than --limit times PyTorch's time. Exit code 1 if there are
any, 2 if nothing could be measured. PyTorch: `apt-get install python3-torch` (Debian) or `pip install torch`. Every
round runs opbench, then PyTorch; ratios are those of medians over the rounds. PyTorch writes into existing outputs
(out=, copy_) if possible; otherwise its allocator reuses memory. Both sides use huge pages.

opbench writes all inputs again before every repetition, so the first call of each finds no part of a large input in the
caches; PyTorch's loop has no such call. Rows beyond a limit are therefore measured again, LONGER times as long, so that
this call is a small part of a repetition. Only the second result counts."""
import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from native_calls import CASES

LONGER = 8  # factor of the seconds in the second measurement
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Freed memory is kept and reused instead of being returned to the system and faulted in for every call.
ALLOCATOR = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_TOP_PAD_": str(256 << 20),
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2", help="numbers of threads [%(default)s]")
    parser.add_argument("--op", default="", help="only these operators, separated by commas")
    parser.add_argument("--dtype", default="fp32,fp16", help="fp32, fp16, bf16 [%(default)s]")
    parser.add_argument("--size", default="large,small", help="large: of real networks; small: in the L2 cache")
    parser.add_argument("--rounds", type=int, default=3, help="alternating rounds [%(default)s]")
    parser.add_argument("--time", type=float, default=0.05, help="seconds per case and round [%(default)s]")
    parser.add_argument("--limit", type=float, default=1.2, help="of native's time over PyTorch's [%(default)s]")
    parser.add_argument("--npu-limit", type=float, default=1.0, help="of the best NPU variant's [%(default)s]")
    parser.add_argument("--noise", type=float, default=0.05, help="what a ratio may be beyond a limit [%(default)s]")
    parser.add_argument("--json", help="write the rows there")
    parser.add_argument("--opbench", default=os.path.join(ROOT, "build/release/opbench"))
    return parser.parse_args()


def words(text):
    return [word for word in text.split(",") if word]


def opbench_round(options, cases, threads, verify):
    """Returns {(case, variant, threads): record} of one run of the program."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "results.json")
        command = [options.opbench, "-q", "--threads", threads, "--time", str(options.time), "--repetitions", "5"]
        command += ["--json", path] + ([] if verify else ["--no-verify"])
        if getattr(options, "variant", None):
            command += ["--variant", options.variant]
        for case in cases:
            command += ["--case", case]
        result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if result.returncode not in (0, 1):
            sys.exit(f"native.py: {' '.join(command)}\n{result.stderr}")
        with open(path, encoding="utf-8") as file:
            records = json.load(file)["records"]
    # Ids contain their default attributes, in the order of the cases.
    written, names = list(dict.fromkeys(record["case"] for record in records)), {}
    for case, name in zip(cases, written):
        names[name] = case
    return {(names[r["case"]], r["variant"], r["threads"]): r for r in records}


def torch_microseconds(torch, call, seconds):
    """Returns the median of five samples of `call`, each long enough for the clock."""
    with torch.inference_mode():
        call()
        start = time.perf_counter()
        call()
        once = max(time.perf_counter() - start, 1e-7)
        count = max(1, int(seconds / 5 / once))
        for _ in range(max(1, count // 5)):
            call()
        samples = []
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(count):
                call()
            samples.append((time.perf_counter() - start) / count * 1e6)
    return statistics.median(samples)


class Tensors:
    """Inputs like opbench's: normal numbers, evenly spaced indices."""

    def __init__(self, torch, dtype):
        self.torch = torch
        self.dtype = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[dtype]
        torch.manual_seed(7)

    def normal(self, *shape):
        return self.torch.randn(shape).to(self.dtype)

    def uniform(self, *shape):
        return self.torch.rand(shape).to(self.dtype)

    def empty(self, *shape, dtype=None):
        return self.torch.zeros(shape, dtype=dtype or self.dtype)

    def index(self, limit, *shape):
        return self.torch.randint(0, limit, shape)

    def permutation(self, count):
        return self.torch.randperm(count)



def selected(options):
    wanted = words(options.op)
    unknown = set(wanted) - {case.op for case in CASES}
    if unknown:
        sys.exit(f"native.py: no case for {', '.join(sorted(unknown))}")
    sizes = words(options.size)
    return [case for case in CASES if (not wanted or case.op in wanted) and case.size in sizes]


def torch_times(torch, options, cases, dtype, threads):
    """Returns {(case, threads): (microseconds, name of the fastest computation)}, without cases that PyTorch cannot
    compute in this dtype."""
    times = {}
    for case in cases:
        try:
            calls = case.torch_calls(torch, Tensors(torch, dtype))
        except (RuntimeError, NotImplementedError) as error:
            calls = no_calls_if_missing(error)
        for name, call in calls.items():
            try:
                for count in threads:
                    set_threads(torch, count)
                    time = (torch_microseconds(torch, call, options.time), name)
                    times[case, count] = min(time, times.get((case, count), time))
            except (RuntimeError, NotImplementedError) as error:
                no_calls_if_missing(error)
    return times


def set_threads(torch, count):
    """OpenBLAS, which PyTorch of Debian uses for products in fp32 if it is installed, has its own number of threads."""
    torch.set_num_threads(count)
    try:
        ctypes.CDLL("libblas.so.3").openblas_set_num_threads(count)
    except (AttributeError, OSError):
        pass


def no_calls_if_missing(error):
    """Returns no calls if the error says that PyTorch has no such computation for a dtype, else raises it."""
    if "not implemented" not in str(error).lower() and "expected scalar type" not in str(error):
        raise error
    return {}


def measure(torch, options, cases, dtype):
    """Returns the rows of one operator and dtype."""
    threads = [int(count) for count in words(options.threads)]
    ours, theirs = {}, {}
    for turn in range(options.rounds):
        for key, value in torch_times(torch, options, cases, dtype, threads).items():
            theirs.setdefault(key, []).append(value[0])
        timed = [case for case in cases if (case, threads[0]) in theirs]
        if not timed:
            return []
        ids = {case.id(dtype): case for case in timed}
        for (name, variant, count), found in opbench_round(options, list(ids), options.threads, turn == 0).items():
            ours.setdefault((ids[name], count), {}).setdefault(variant, []).append(found)
    return [row(case, dtype, count, theirs[case, count], variants) for (case, count), variants in ours.items()]


def row(case, dtype, threads, theirs, variants):
    torch_us = statistics.median(theirs)
    times, wrong = {}, []
    for variant, found in variants.items():
        first = found[0]
        if first["status"] == "skipped":
            continue
        if first["status"] not in ("passed", "mistrusted"):
            wrong.append(f"{variant}: {first['status']} {first['reason']}")
        if any(r["median_us"] is None for r in found):
            continue
        times[first["provider"], variant] = statistics.median([r["median_us"] for r in found])
    native = times.get(("native", "native"))
    npu = min(((us, variant) for (provider, variant), us in times.items() if provider == "npu"), default=None)
    return {
        "op": case.op, "label": case.label, "size": case.size, "case": case.id(dtype), "dtype": dtype,
        "threads": threads, "torch_us": torch_us, "native_us": native, "native": native and native / torch_us,
        "npu_variant": npu and npu[1], "npu": npu and npu[0] / torch_us, "wrong": wrong,
    }


def look_again(torch, options, found):
    """Returns the rows. Those beyond a limit are measured again, LONGER times as long."""
    longer = argparse.Namespace(**{**vars(options), "time": options.time * LONGER})
    again = {}
    for r in found:
        if not beyond(options, [{**r, "wrong": []}]):
            continue
        print(f"{line_of(r)}  (once more, longer)", flush=True)
        case = next(case for case in CASES if case.id(r["dtype"]) == r["case"])
        longer.threads = str(r["threads"])
        again.update({(r["case"], r["threads"]): new for new in measure(torch, longer, [case], r["dtype"])})
    return [again.get((r["case"], r["threads"]), r) for r in found]


def line_of(row):
    native = f"{row['native_us']:10.1f} {row['native']:7.2f}" if row["native"] else f"{'-':>10} {'-':>7}"
    npu = f"{row['npu']:7.2f} {row['npu_variant']}" if row["npu"] else f"{'-':>7}"
    return (f"{row['op']:<22} {row['label']:<34} {row['dtype']:<5} {row['threads']:>3} {row['torch_us']:>10.1f} "
            f"{native} {npu}")


def beyond(options, rows):
    """Lists rows beyond a limit, and wrong results."""
    lines = []
    for r in rows:
        place = f"{r['case']} --threads {r['threads']}"
        if r["native"] and r["native"] > options.limit * (1 + options.noise):
            lines.append(f"native {r['native']:.2f}x  {place}")
        if r["npu"] and r["npu"] > options.npu_limit * (1 + options.noise):
            lines.append(f"{r['npu_variant']} {r['npu']:.2f}x  {place}")
        lines += [f"wrong: {place}: {text}" for text in r["wrong"]]
    return lines


def main():
    options = parse()
    if os.environ.get("MALLOC_MMAP_MAX_") != "0":
        os.execve(sys.executable, [sys.executable] + sys.argv, {**os.environ, **ALLOCATOR})
    try:
        import torch
    except ImportError:
        sys.exit("native.py: PyTorch is missing; Debian: apt-get install python3-torch")
    print(f"{'operator':<22} {'shape':<34} dtype thr   torch us  native us   ratio   best variant's ratio")
    rows, cases = [], selected(options)
    for op in dict.fromkeys(case.op for case in cases):
        for dtype in words(options.dtype):
            first = measure(torch, options, [case for case in cases if case.op == op], dtype)
            for found in look_again(torch, options, first):
                rows.append(found)
                print(line_of(found), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    lines = beyond(options, rows)
    print(f"\n{len(rows)} rows; beyond {options.limit}x (native), {options.npu_limit}x (the best variant):"
          f" {len(lines)}")
    print("\n".join(lines))
    return 2 if not rows else 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
