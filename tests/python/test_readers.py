"""opbench and h5dump read what is captured."""

import shutil
import subprocess

import torch
from torch import nn

from opbench_torch import dumper


def capture(path, dtype=torch.float32):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(2, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                          nn.Linear(36, 5)).to(dtype)
    x = torch.randn(3, 2, 8, 8).to(dtype)
    with dumper(path):
        torch.softmax(model(x), 1).pow(2).sum().backward()


def test_show_judge_compare_and_h5dump_read_it(tmp_path, opbench):
    single, double = tmp_path / "fp32.h5", tmp_path / "fp64.h5"
    capture(single)
    capture(double, torch.float64)
    shown = opbench("show", single)
    assert shown.returncode == 0 and "/ConvolutionBackward0/" in shown.stdout, shown.stderr
    judged = opbench("judge", single)
    assert judged.returncode == 0 and "0 GUILTY" in judged.stdout, judged.stdout + judged.stderr
    compared = opbench("compare", single, double)
    assert compared.returncode == 0 and "0 failed" in compared.stdout, compared.stdout + compared.stderr
    loaded = opbench("run", "--load", single, "--dump", tmp_path / "again.h5", "--only", "^relu")
    assert loaded.returncode == 0, loaded.stdout + loaded.stderr
    if shutil.which("h5dump"):
        assert subprocess.run(["h5dump", "-H", single], capture_output=True, check=False).returncode == 0
