"""Case files from models."""

import json
import os
import re
from collections import Counter

import pytest
import torch
import torchvision
from conftest import PROGRAM, ROOT
from torch import nn

import networks
import opbench_torch
from opbench_torch import operator_table, program
from opbench_torch.operator_table import Described, dtypes_of, spellings
from opbench_torch.views import chain_of




def test_the_built_package_has_the_table_of_the_program(opbench):
    with open(os.path.join(os.path.dirname(PROGRAM), "python/opbench_torch/op_table.json"), encoding="utf-8") as file:
        assert json.load(file) == json.loads(opbench("opmap", "--as", "json").stdout)


def test_without_table_and_program_the_error_tells_the_next_step(monkeypatch):
    monkeypatch.delenv("OPBENCH_PROGRAM")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(program, "_PLACES", ())
    operator_table._table.cache_clear()
    with pytest.raises(FileNotFoundError, match="pip install build/release/python"):
        dtypes_of("relu")


def test_dtypes_are_those_of_the_program(opbench):
    rows = json.loads(opbench("opmap", "--as", "json").stdout)["operators"]
    operators = sorted({part["op"] for row in rows for part in row.get("parts", [])})
    listed = opbench("list", *operators).stdout
    for name, dtypes in zip(re.findall(r"^(\w+): ", listed, re.M), re.findall(r"^  dtypes (.*?);", listed, re.M | re.S)):
        assert dtypes_of(name) == set(dtypes.split()), name


@pytest.mark.parametrize("name, plainer", [
    ("add__Tensor", ["add__Tensor", "add_Tensor", "add"]), ("aten::relu_", ["aten::relu_", "relu_", "relu"]),
    ("ReluBackward0", ["ReluBackward0", "ReluBackward"]), ("_softmax", ["_softmax"])])
def test_names_are_spelled_as_the_program_spells_them(name, plainer):
    assert spellings(name) == plainer


@pytest.mark.parametrize("make, chain", [
    (lambda x: x, ""), (lambda x: x.transpose(1, 2), "transpose(1,2)"), (lambda x: x.permute(2, 0, 1), "permute(2,0,1)"),
    (lambda x: x[:, ::2], "as_strided([2,2,4],[12,8,1],0)"),
    (lambda x: x[:, :, :1].expand(2, 3, 5), "as_strided([2,3,5],[12,4,0],0)")])
def test_views_are_chains(make, chain):
    view = make(torch.arange(24).reshape(2, 3, 4))
    assert chain_of(Described(tuple(view.shape), view.stride(), "int64")) == chain


def counts(rows):
    return Counter({(row.use.op, tuple(tensor.shape for tensor in row.use.inputs)): row.count for row in rows})


# The case file has the counts of torchvision's ShuffleNetV2, with views and copies.
def test_shufflenets_counts_are_those_of_the_case_file():
    model, x = torchvision.models.shufflenet_v2_x1_0(), torch.randn(1, 3, 224, 224)
    forward = counts(opbench_torch.cases(model, x, backward=False).rows)
    both = counts(opbench_torch.cases(model, x).rows)
    with open(os.path.join(ROOT, "cases/shufflenet_v2.yaml"), encoding="utf-8") as file:
        text = re.sub(r",\n +", ", ", file.read())
    compared = 0
    for line in text.splitlines():
        match = re.search(r"name: (\S+), op: (\w+), *inputs: (\[\[.*?\]\])[,}]", line)
        if not match or not re.search(r"concat|shuffle_contiguous|chunk$|relu|^mean", match.group(1)):
            continue
        shapes = tuple(tuple(shape) for shape in json.loads(match.group(3).replace("N", "1")))
        count = int((re.search(r"count: (\d+)", line) or [0, 1])[1])
        found = both if match.group(2).endswith("_grad") else forward
        assert found[(match.group(2), shapes)] == count, line
        compared += 1
    assert compared == 19


@pytest.mark.parametrize("name", ["shufflenet", "resnet", "transformer"])
def test_opbench_runs_them(tmp_path, opbench, name):
    model, x, _ = networks.build(name, batch=2)
    found = opbench_torch.cases(model, x)
    found.write(tmp_path / "model.yaml")
    planned = opbench("run", "--cases", tmp_path / "model.yaml", "--dry-run")
    assert planned.returncode == 0, planned.stderr
    assert sum(found.unknown.values()) < 0.2 * sum(row.count for row in found.rows)


def test_a_small_model_is_benchmarked(tmp_path, opbench):
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 4))
    found = opbench_torch.cases(model, torch.randn(2, 2, 6, 6))
    found.write(tmp_path / "model.yaml")
    done = opbench("run", "--cases", tmp_path / "model.yaml", "--time", "0.001", "--repetitions", "3", "--variant", "native")
    assert done.returncode == 0, done.stdout + done.stderr


def test_forward_alone_halves_and_unknown_operators():
    class Model(nn.Module):
        def forward(self, x):
            return torch.linalg.det(torch.relu(x)).sum() + torch.nn.functional.dropout(x, 0.5).sum()

    found = opbench_torch.cases(Model(), torch.randn(3, 3), backward=False)
    assert not any(row.use.op.endswith("_grad") for row in found.rows)
    assert any("det" in name or "lu" in name for name in found.unknown)
    half = opbench_torch.cases(nn.ReLU(), torch.randn(3, 3).bfloat16(), backward=False)
    assert [(row.use.op, row.dtype) for row in half.rows] == [("relu", "bf16")]
    assert "# not known to opbench: " in found.text


@pytest.mark.parametrize("module, x", [
    (torchvision.models.resnet18(num_classes=10).layer2[0], torch.randn(2, 64, 8, 8)),
    (torchvision.models.shufflenet_v2_x1_0().stage2[1], torch.randn(2, 116, 8, 8)),
    (nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 8), nn.GELU(), nn.Dropout(0.5),
                   nn.LayerNorm(8)), torch.randn(3, 2, 8, 8))])
def test_a_module_is_a_context(tmp_path, opbench, module, x):
    (tmp_path / "unit.yaml").write_text(opbench_torch.context(module, x, "unit"))
    done = opbench("run", "--cases", tmp_path / "unit.yaml", "--variant", "native", "--time", "0.001", "--repetitions", "2")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
    planned = opbench("run", "--cases", tmp_path / "unit.yaml", "--dry-run")
    assert planned.returncode == 0, planned.stderr


def test_modules_with_unknown_operators_are_no_context():
    with pytest.raises(opbench_torch.DumperError, match="multi_head_attention_forward is not an operator of opbench"):
        opbench_torch.context(nn.MultiheadAttention(8, 2), tuple(torch.randn(3, 2, 8) for _ in range(3)))
