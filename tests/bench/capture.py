#!/usr/bin/python3
"""Measures the cost of capturing: a training step of a ResNet-18 (batch 8, 224 x 224), bare, captured, and reduced to
statistics, compared with h5py writing the same bytes. Each runs in a separate process, so that memory is measured
separately.

    tests/bench/capture.py [--folder /tmp] [--batch 8] [--size 224] [--repeat 3]

Prints the median seconds of --repeat runs, and how much more memory a capture takes than the bare step."""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))


def model_step(options):
    import torch
    import torchvision

    torch.manual_seed(0)
    model = torchvision.models.resnet18()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = torch.randn(options.batch, 3, options.size, options.size), torch.randint(0, 1000, (options.batch,))

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    step()
    return step


def seconds(work, repeat):
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def captured(options, path, **how):
    from opbench_torch import dumper

    step = model_step(options)

    def work():
        if os.path.exists(path):
            os.unlink(path)
        with dumper(path, **how):
            step()

    return work


def copied(path, copy):
    """Writes the datasets of `path` with h5py's ordinary interface, large ones first. Reading is not timed."""
    import h5py
    import numpy as np

    sizes = []
    with h5py.File(path) as file:
        file.visititems(lambda _, item: sizes.append((item.shape, item.dtype)) if isinstance(item, h5py.Dataset) else None)
    largest = np.random.rand(max(int(np.prod(shape)) * kind.itemsize for shape, kind in sizes) // 8 + 1).view(np.uint8)

    def work():
        if os.path.exists(copy):
            os.unlink(copy)
        with h5py.File(copy, "w") as file:
            for number, (shape, kind) in enumerate(sizes):
                data = largest[:int(np.prod(shape)) * kind.itemsize].view(kind).reshape(shape)
                file.create_dataset(f"{number % 16}/{number}", data=data)

    return work


def measure(options):
    dump, copy = (os.path.join(options.folder, f"capture_bench_{name}.h5") for name in ("dump", "copy"))
    work = {"bare": lambda: model_step(options), "capture": lambda: captured(options, dump, overwrite=True),
            "statistics": lambda: captured(options, dump + ".s.h5", statistics=True), "h5py": lambda: copied(dump, copy)}
    result = {"seconds": seconds(work[options.only](), options.repeat),
              "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
    if options.only == "capture":
        result.update(largest_sixteen(dump), bytes=os.path.getsize(dump))
    print(json.dumps(result))


def largest_sixteen(path):
    import h5py

    sizes = []
    with h5py.File(path) as file:
        file.visititems(lambda _, item: sizes.append(int(item.nbytes)) if isinstance(item, h5py.Dataset) else None)
    return {"largest": sum(sorted(sizes)[-16:]), "datasets": len(sizes)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--folder", default="/tmp")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", choices=["bare", "capture", "h5py", "statistics"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        return measure(options)
    found = {}
    for name in ("bare", "capture", "h5py", "statistics"):
        done = subprocess.run([sys.executable, "-B", __file__, *sys.argv[1:], "--only", name], stdout=subprocess.PIPE, check=True)
        found[name] = json.loads(done.stdout)
    for name in ("dump.h5", "copy.h5", "dump.h5.s.h5"):
        path = os.path.join(options.folder, f"capture_bench_{name}")
        if os.path.exists(path):
            os.unlink(path)
    times = {name: result["seconds"] for name, result in found.items()}
    mebibyte = 1 << 20
    more = found["capture"]["memory"] - found["bare"]["memory"]
    allowed = found["capture"]["largest"] + 256 * mebibyte
    print(f"dump            {found['capture']['bytes'] / mebibyte:8.0f} MiB in {found['capture']['datasets']} datasets")
    print(f"bare step       {times['bare']:8.2f} s")
    print(f"h5py            {times['h5py']:8.2f} s for the same bytes")
    print(f"capture         {times['capture']:8.2f} s = {times['capture'] / (times['bare'] + times['h5py']):.2f} x (bare + h5py)")
    print(f"statistics only {times['statistics']:8.2f} s = {times['statistics'] / times['bare']:.2f} x bare")
    print(f"memory          {more / mebibyte:8.0f} MiB more than bare; the 16 largest tensors + 256 MiB are {allowed / mebibyte:.0f} MiB")
    return None


if __name__ == "__main__":
    main()
