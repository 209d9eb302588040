#!/usr/bin/python3
"""Measures `opbench judge`: correct records that it fails, and planted faults that it does not detect.

  tests/bench/judge.py                          10,000 correct records and 1,000 faults, all kinds
  tests/bench/judge.py --honest 500 --faults 100 --seed 7
  tests/bench/judge.py --keep DIR               keeps the dumps and reports

Correct records are dumps of all variants that pass their verification, over all operators below, their dtypes, odd
shapes and seeds. Faults are planted into copies of such records, with h5py (python3-h5py). Prints precision and recall
by kind of fault. Exit code 1 if a correct record fails or less than 99 % of the faults are found."""
import argparse
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLOATS = ("fp32", "fp16", "bf16")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opbench", default=os.path.join(ROOT, "build/release/opbench"))
    parser.add_argument("--honest", type=int, default=10000, help="records [%(default)s]")
    parser.add_argument("--faults", type=int, default=1000, help="[%(default)s]")
    parser.add_argument("--seed", type=int, default=1, help="of shapes and faults [%(default)s]")
    parser.add_argument("--keep", default="", help="folder for dumps and reports")
    return parser.parse_args()


def dims(*extents):
    return "x".join(str(extent) for extent in extents)


def plane(rng, channels=None):
    return (rng.randint(1, 3), channels or rng.choice([1, 3, 15, 16, 17, 24, 33]), rng.randint(1, 9), rng.randint(1, 9))


def any_shape(rng):
    return rng.choice([(rng.randint(1, 3000),), (rng.randint(1, 40), rng.randint(1, 70)), plane(rng)])


def alike(op, count, attrs=lambda rng: ""):
    def case(rng):
        shape = dims(*any_shape(rng))
        return f"{op}[{','.join([shape] * count)},{{dtype}}{attrs(rng)}]"
    return case


def convolution(op):
    def case(rng):
        n, c, m, h, w = rng.randint(1, 2), rng.choice([3, 8, 16, 19]), rng.choice([4, 16, 21]), rng.randint(4, 9), rng.randint(4, 9)
        k = rng.choice([1, 3])
        pad = k // 2
        if op == "conv2d":
            return f"conv2d[{dims(n, c, h, w)},{dims(m, c, k, k)},{{dtype}},padding={pad}]"
        if op == "conv2d_grad_input":
            return f"{op}[{dims(n, m, h, w)},{dims(m, c, k, k)},{{dtype}},padding={pad}]"
        return f"{op}[{dims(n, m, h, w)},{dims(n, c, h, w)},{{dtype}},padding={pad},kernel_size={k}]"
    return case


def product(rng):
    m, k, n = (rng.randint(1, 70) for _ in range(3))
    return f"matmul[{dims(m, k)},{dims(k, n)},{{dtype}}]"


def layer(rng):
    m, k, n = (rng.randint(1, 70) for _ in range(3))
    return f"linear[{dims(m, k)},{dims(n, k)},{n},{{dtype}}]"


def batch_norm(rng):
    n, c, h, w = plane(rng)
    return f"batch_norm[{dims(n + 1, c, h, w + 1)},{c},{c},{c},{c},{{dtype}}]"


def batch_norm_grad(rng):
    n, c, h, w = plane(rng)
    x = dims(n + 1, c, h, w + 1)
    return f"batch_norm_grad[{x},{x},{c},{c},{c},{{dtype}}]"


def selected(rng):
    n, c, h, w = plane(rng)
    return f"index_select[{dims(n, c, h, w)},{rng.randint(1, c)},{{dtype}}]"


def joined(rng):
    n, c, h, w = plane(rng)
    return f"concat[{dims(n, c, h, w)},{dims(n, c + 1, h, w)},{{dtype}}]"


def broadcast(op):
    def case(rng):
        n, c, h, w = plane(rng)
        return f"{op}[{dims(n, c, h, w)},{dims(1, c, 1, 1)},{{dtype}}]"
    return case


def pool(rng):
    n, c, h, w = plane(rng)
    return f"max_pool2d[{dims(n, c, h + 3, w + 3)},{{dtype}},kernel_size=3,stride=2,padding=1]"


def shuffled(rng):
    n, c, h, w = plane(rng)
    return f"channel_shuffle[{dims(n, 2 * c, h, w)},{{dtype}}]"


def of_plane(op):
    return lambda rng: f"{op}[{dims(*plane(rng))},{{dtype}}]"


def of_rows(op, attrs=""):
    return lambda rng: f"{op}[{dims(rng.randint(1, 40), rng.randint(2, 90))},{{dtype}}{attrs}]"


def loss(rng):
    rows = rng.randint(1, 30)
    return f"cross_entropy[{dims(rows, rng.randint(2, 90))},{rows},{{dtype}}]"


def normed(op):
    def case(rng):
        x = (rng.randint(1, 40), rng.randint(2, 90))
        c = x[1]
        if op == "layer_norm":
            return f"{op}[{dims(*x)},{c},{c},{{dtype}}]"
        return f"{op}[{dims(*x)},{dims(*x)},{x[0]}x1,{x[0]}x1,{c},{{dtype}}]"
    return case


def added_product(rng):
    b, m, k, n = rng.choice([0, 3]), rng.randint(1, 40), rng.randint(1, 70), rng.randint(1, 40)
    batch = (b,) if b else ()
    return f"addmm[{n},{dims(*batch, m, k)},{dims(*batch, k, n)},{{dtype}}]"


def of_classes(op):
    def case(rng):
        rows = rng.randint(1, 30)
        dy = "" if op == "nll_loss" else "scalar,"
        return f"{op}[{dy}{dims(rows, rng.randint(2, 90))},{rows},{{dtype}}]"
    return case


def embedded(op):
    def case(rng):
        n, d, table = rng.randint(1, 60), rng.randint(1, 40), rng.randint(1, 50)
        if op == "embedding":
            return f"embedding[{dims(table, d)},{n},{{dtype}}]"
        return f"{op}[{dims(n, d)},{n},{{dtype}},num_weights={table}]"
    return case


LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "bce_with_logits")
REDUCTIONS = ("mean", "sum", "none")


def loss_slope(rng):
    x, reduction = dims(*any_shape(rng)), rng.choice(REDUCTIONS)
    dy = x if reduction == "none" else "scalar"
    return f"{rng.choice(LOSSES)}_grad[{dy},{x},{x},{{dtype}},reduction={reduction}]"


CASES = {
    "softplus": (alike("softplus", 1, lambda rng: f",beta={rng.choice([1, 0.5, 2])}"), FLOATS),
    "softplus_grad": (alike("softplus_grad", 2), FLOATS),
    "relu": (alike("relu", 1), FLOATS),
    "relu_grad": (alike("relu_grad", 2), FLOATS),
    "add": (alike("add", 2), FLOATS),
    "add broadcast": (broadcast("add"), FLOATS),
    "mul": (alike("mul", 2), FLOATS),
    "mul broadcast": (broadcast("mul"), FLOATS),
    "muls": (alike("muls", 1, lambda rng: ",value=1.7"), FLOATS),
    "axpy": (alike("axpy", 2, lambda rng: ",alpha=0.3"), FLOATS),
    "cast": (lambda rng: f"cast[{dims(*any_shape(rng))},fp32,to=fp16]", ("fp32",)),
    "sum": (alike("sum", 1), FLOATS),
    "mean": (alike("mean", 1), FLOATS),
    "reduce_mean": (of_rows("reduce_mean", ",axes=[1]"), FLOATS),
    "softmax": (of_rows("softmax"), FLOATS),
    "log_softmax": (of_rows("log_softmax"), FLOATS),
    "log_softmax_grad": (alike("log_softmax_grad", 2), FLOATS),
    "layer_norm": (normed("layer_norm"), FLOATS),
    "layer_norm_grad": (normed("layer_norm_grad"), FLOATS),
    "nll_loss": (of_classes("nll_loss"), FLOATS),
    "nll_loss_grad": (of_classes("nll_loss_grad"), FLOATS),
    "addmm": (added_product, FLOATS),
    "embedding": (embedded("embedding"), FLOATS),
    "embedding_grad": (embedded("embedding_grad"), FLOATS),
    "dropout": (alike("dropout", 2, lambda rng: ",p=0.1"), FLOATS),
    "pow": (alike("pow", 1, lambda rng: f",exponent={rng.choice([2, 3, -1, 1.5])}"), FLOATS),
    "losses": (lambda rng: alike(rng.choice(LOSSES), 2, lambda r: f",reduction={r.choice(REDUCTIONS)}")(rng), FLOATS),
    "losses_grad": (loss_slope, FLOATS),
    "stack": (alike("stack", 2), FLOATS),
    "flip": (alike("flip", 1), FLOATS),
    "roll": (alike("roll", 1), FLOATS),
    "pad": (of_rows("pad", ",pad=[1,2],value=3"), FLOATS),
    "adaptive_avg_pool2d": (of_plane("adaptive_avg_pool2d"), FLOATS),
    "adaptive_avg_pool2d_grad": (of_plane("adaptive_avg_pool2d_grad"), FLOATS),
    "upsample_nearest2d": (of_plane("upsample_nearest2d"), FLOATS),
    "upsample_nearest2d_grad": (of_plane("upsample_nearest2d_grad"), FLOATS),
    "cumsum": (of_rows("cumsum"), FLOATS),
    "topk": (of_rows("topk", ",k=2"), ("fp32", "fp16")),
    "adam": (alike("adam", 4, lambda rng: f",step={rng.randint(1, 9)},weight_decay=0.01"), ("fp32", "fp16")),
    "max": (of_rows("max"), FLOATS),
    "sort": (of_rows("sort"), ("fp32", "fp16")),
    "matmul": (product, FLOATS),
    "linear": (layer, FLOATS),
    "conv2d": (convolution("conv2d"), FLOATS),
    "conv2d_grad_input": (convolution("conv2d_grad_input"), FLOATS),
    "conv2d_grad_weight": (convolution("conv2d_grad_weight"), FLOATS),
    "batch_norm": (batch_norm, FLOATS),
    "batch_norm_grad": (batch_norm_grad, FLOATS),
    "max_pool2d": (pool, FLOATS),
    "global_avg_pool2d": (of_plane("global_avg_pool2d"), FLOATS),
    "cross_entropy": (loss, FLOATS),
    "bias_grad": (of_plane("bias_grad"), FLOATS),
    "index_select": (selected, FLOATS),
    "concat": (joined, FLOATS),
    "transpose": (of_rows("transpose"), FLOATS),
    "channel_shuffle": (shuffled, FLOATS),
}


def case_ids(rng, count):
    ids = []
    while len(ids) < count:
        for make, dtypes in CASES.values():
            case = make(rng).format(dtype=rng.choice(dtypes))
            ids.append(f"{case[:-1]},seed={rng.randint(0, 2**32)}]")
    return ids[:count]


def dump(program, ids, path, extra=()):
    """Runs cases with all variants and dumps them. Cases that an operator refuses are removed one by one."""
    command = [program, "run", "-q", "--overwrite", "--dump", path, "--time", "0.0001", "--repetitions", "1", "--threads", "1", *extra]
    for case in ids:
        command += ["--case", case]
    result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode not in (0, 1):
        sys.exit(f"judge.py: {result.stderr.splitlines()[-1] if result.stderr else result.returncode}")


def judged(program, path, report):
    command = [program, "judge", path, "-q", "--json", report, "--implementations", "none"]
    result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode not in (0, 1):
        sys.exit(f"judge.py: {' '.join(command)}: {result.stderr}")
    with open(report, encoding="utf-8") as file:
        return json.load(file)["records"]


def tell(progress):
    if sys.stderr.isatty():
        print(f"\r{progress}", end="", file=sys.stderr)


def note(group, name):
    found = []
    group.visititems(lambda _, item: found.append(item.attrs.get(name, b"")) if isinstance(item, h5py.Dataset) else None)
    text = found[0] if found else b""
    return text.decode() if isinstance(text, bytes) else text


def outputs(group):
    found = []
    group["output"].visititems(lambda _, item: found.append(item) if isinstance(item, h5py.Dataset) else None)
    return found


def honest(options, work, rng):
    """Returns the number of records, the failed ones, and the unknown ones by operator."""
    records, accused, unknown, part = 0, [], collections.Counter(), 0
    while records < options.honest:
        path = os.path.join(work, f"honest{part}.h5")
        dump(options.opbench, case_ids(rng, 320), path)
        with h5py.File(path) as file:
            for record in judged(options.opbench, path, path + ".json"):
                if note(file[record["path"]], "opbench_status") not in ("passed", "mistrusted"):
                    continue  # failed its verification; its dump is not a correct record
                records += 1
                if record["verdict"] == "GUILTY":
                    wrong = next(output for output in record["outputs"] if output["wrong"])
                    accused.append(f"{note(file[record['path']], 'opbench_call')} "
                                   f"{note(file[record['path']], 'opbench_kernel')}: {wrong['reason']}")
                elif record["verdict"] != "OK":
                    unknown[record["op"]] += 1
        part += 1
        tell(f"{records} honest records")
        if not options.keep:
            os.remove(path)
    return records, accused, unknown


def exact_result(call, group):
    """Results of element-wise operators before rounding, in fp64; None for other operators."""
    values = {name: item[()].astype(np.float64) for name, item in group["input"].items()
              if isinstance(item, h5py.Dataset) and item.attrs["Type"] == 0}
    op = call.split("[")[0]
    if op in ("add", "mul"):
        return values["self"] + values["other"] if op == "add" else values["self"] * values["other"]
    if op == "muls":
        return values["self"] * np.float64(np.float32(1.7))
    if op == "softplus" and ",beta=1," in call:
        return np.log1p(np.exp(values["self"]))
    return None


def truncated(exact, dtype):
    """Truncates instead of rounding."""
    bits, least = {"fp16": (10, -14), "bf16": (7, -126)}[dtype]
    unit = np.ldexp(1.0, np.maximum(np.frexp(np.abs(exact))[1] - 1, least) - bits)
    return (np.trunc(exact / unit) * unit).astype(np.float32)


def narrow_sum(a, b):
    """Computes a @ b with sums in fp16."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float16)
    for k in range(a.shape[1]):
        total = (total + (a[:, k:k + 1] * b[k:k + 1, :]).astype(np.float16)).astype(np.float16)
    return total.astype(np.float32)


def plant(kind, group, call, rng, stale):
    """Breaks the first output of a record. Returns False if this kind of fault changes nothing in it."""
    data = outputs(group)[0]
    before = data[()]
    if before.dtype.kind != "f" or before.size < 8 or not np.isfinite(before).all() and kind != "NaN swallowed":
        return False
    dtype = next((name for name in ("fp16", "bf16") if f",{name}" in call), "fp32")
    after = before.copy()
    flat = after.reshape(-1)
    if kind == "tail not written":
        flat[-(flat.size % 16 or 7):] = 0
    elif kind == "one block":
        start = rng.randrange(0, max(1, flat.size - 64))
        flat[start:start + 64] = np.roll(flat, 61)[start:start + 64]
    elif kind == "one channel":
        if after.ndim < 2 or after.shape[1] < 2:
            return False
        after[:, rng.randrange(after.shape[1])] = 0
    elif kind == "wrong rounding":
        exact = exact_result(call, group)
        if dtype == "fp32" or exact is None or after.size < 100:
            return False
        after = truncated(exact, dtype)
    elif kind == "NaN swallowed":
        after[np.isnan(after)] = 0
    elif kind == "fp16 accumulation":
        if not call.startswith("matmul") or dtype != "fp32":
            return False
        a, b = group["input/self"][()], group["input/mat2"][()]
        if a.shape[1] < 16:
            return False
        after = narrow_sum(a, b)
    elif kind == "wrong broadcast":
        if "x1x" not in call.split(",")[1] or after.shape[1] < 2:
            return False
        after[:] = after[:, :1]
    elif kind == "stale output":
        if stale is None or stale.shape != after.shape:
            return False
        after = stale
    changed = ~((after == before) | (np.isnan(after) & np.isnan(before)))
    if not changed.any():
        return False
    data[...] = after
    return True


KINDS = ["tail not written", "one block", "one channel", "wrong rounding", "NaN swallowed", "fp16 accumulation",
         "wrong broadcast", "stale output"]


def faults(options, work, rng):
    """Returns the planted and the found faults by kind."""
    planted, found, missed, part = collections.Counter(), collections.Counter(), [], 0
    wanted = options.faults // len(KINDS)
    while any(planted[kind] < wanted for kind in KINDS) and part < 200:
        path = os.path.join(work, f"faults{part}.h5")
        ids = case_ids(rng, 96)
        kinds_left = [kind for kind in KINDS if planted[kind] < wanted]
        if "NaN swallowed" in kinds_left:
            ids += [case[:-1] + ",data=special]" for case in case_ids(rng, 32) if case.split("[")[0] in
                    ("softplus", "relu", "add", "mul", "muls", "axpy", "relu_grad")]
        if "fp16 accumulation" in kinds_left:
            ids += [product(rng).format(dtype="fp32") for _ in range(16)]
        if "wrong broadcast" in kinds_left:
            ids += [broadcast(rng.choice(["add", "mul"]))(rng).format(dtype=rng.choice(FLOATS)) for _ in range(16)]
        if "wrong rounding" in kinds_left:
            ids += [f"softplus[{rng.randint(100, 3000)},{dtype},seed={rng.randint(0, 9999)}]" for dtype in ("fp16", "bf16") * 4]
        dump(options.opbench, sorted(set(ids)), path, ["--variant", "native"])
        broken = {}
        with h5py.File(path, "r+") as file:
            last = {}
            for op in file:
                for seq in file[op]:
                    group = file[op][seq]
                    if note(group, "opbench_status") not in ("passed", "mistrusted"):
                        continue
                    call = note(group, "opbench_call")
                    left = [kind for kind in KINDS if planted[kind] < wanted]
                    rng.shuffle(left)
                    shape = outputs(group)[0].shape
                    stale, last[op, shape] = last.get((op, shape)), outputs(group)[0][()]
                    for kind in left:
                        if plant(kind, group, call, rng, stale):
                            broken[f"/{op}/{seq}"] = (kind, call)
                            planted[kind] += 1
                            break
        for record in judged(options.opbench, path, path + ".json"):
            if record["path"] not in broken:
                continue
            kind, call = broken[record["path"]]
            if record["verdict"] == "GUILTY":
                found[kind] += 1
            else:
                missed.append(f"{kind}: {call}: {record['verdict']} {record.get('reason', '')}"
                              f"{record['outputs'][0].get('numerics', '') if record['outputs'] else ''}")
        part += 1
        tell(f"{sum(planted.values())} faults")
        if not options.keep:
            os.remove(path)
    return planted, found, missed


def main():
    options = parse()
    rng = random.Random(options.seed)
    work = options.keep or tempfile.mkdtemp()
    os.makedirs(work, exist_ok=True)
    try:
        records, accused, unknown = honest(options, work, rng)
        planted, found, missed = faults(options, work, rng)
    finally:
        if not options.keep:
            shutil.rmtree(work)
    print(f"honest: {records} records, {len(accused)} GUILTY, {sum(unknown.values())} UNKNOWN")
    for line in accused[:20]:
        print("  " + line)
    print(f"{'fault':20} {'planted':>8} {'found':>8} {'recall':>8}")
    for kind in KINDS:
        share = 100 * found[kind] / planted[kind] if planted[kind] else 0
        print(f"{kind:20} {planted[kind]:8} {found[kind]:8} {share:7.1f}%")
    total, hits = sum(planted.values()), sum(found.values())
    print(f"{'all':20} {total:8} {hits:8} {100 * hits / max(1, total):7.1f}%")
    print(f"precision: {100 * hits / max(1, hits + len(accused)):.2f} % of what is called GUILTY is")
    for line in missed[:20]:
        print("  missed " + line)
    sys.exit(0 if not accused and hits >= 0.99 * total else 1)


if __name__ == "__main__":
    main()
