#!/usr/bin/python3
"""One training step of a network in fp32 and under bf16 autocast, from the same initial state, as two dumps.

    PYTHONPATH=python examples/capture/two_precisions.py [shufflenet_v2_x1_0|resnet18|...] [FOLDER]
    opbench compare bf16.h5 fp32.h5
    opbench judge bf16.h5"""

import os
import sys

import torch
import torchvision

from opbench_torch import compare_setup, dumper, reproducible


def capture(name: str, folder: str, precision: str) -> None:
    reproducible(0)
    model = getattr(torchvision.models, name)(num_classes=10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    # For a run on two machines, copy this file from the first to the second.
    x, labels = compare_setup(os.path.join(folder, f"{name}.pt"), model, optimizer,
                              (torch.randn(4, 3, 64, 64), torch.randint(0, 10, (4,))))
    with dumper(os.path.join(folder, f"{precision}.h5"), overwrite=True) as session:
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            result = model(x)
        torch.nn.functional.cross_entropy(result.float(), labels).backward()
        optimizer.step()
    print(f"{session.written}: {session.count} operators")


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "shufflenet_v2_x1_0"
    folder = sys.argv[2] if len(sys.argv) > 2 else "."
    for precision in ("fp32", "bf16"):
        capture(name, folder, precision)


if __name__ == "__main__":
    main()
