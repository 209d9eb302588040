"""Load mode and overflow mode."""

import numpy as np
import pytest
import torch
from conftest import names, record, records
from torch import nn

from opbench_torch import dumper


def network(seed):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 2))
    return model, torch.randn(2, 2, 4, 4)


def step(model, x):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    (torch.softmax(model(x), 1) * 3).pow(2).sum().backward()
    optimizer.step()


def test_every_operator_gets_its_recorded_inputs(tmp_path):
    model, x = network(0)
    with dumper(tmp_path / "gpu.h5"):
        step(model, x)
    model, x = network(1)  # other weights, other data
    with dumper(tmp_path / "npu.h5", mode="load", load_path=tmp_path / "gpu.h5"):
        step(model, x)
    original, loaded = records(tmp_path / "gpu.h5"), records(tmp_path / "npu.h5")
    assert [group.name for _, group in loaded] == [group.name for _, group in original]
    for (_, mine), (_, theirs) in zip(loaded, original):
        assert "input" not in mine
        theirs["output"].visititems(lambda name, item: item.shape is None or np.testing.assert_array_equal(
            item, mine["output"][name], err_msg=mine.name) if hasattr(item, "shape") else None)


def test_an_error_reaches_only_its_own_outputs(tmp_path, opbench):
    class Bad(nn.ReLU):
        def forward(self, x):
            return torch.relu(x) if self.training else torch.relu(x * 1.5)

    def run(path, wrong, **options):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 8), Bad(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 4))
        model[1].train(not wrong)
        with dumper(path, **options):
            model(torch.randn(16, 8)).exp()

    run(tmp_path / "gpu.h5", False)
    run(tmp_path / "npu.h5", True)
    run(tmp_path / "load.h5", True, mode="load", load_path=tmp_path / "gpu.h5")
    assert opbench("compare", tmp_path / "npu.h5", tmp_path / "gpu.h5").returncode == 1
    loaded = opbench("compare", tmp_path / "load.h5", tmp_path / "gpu.h5")
    assert loaded.returncode == 0 and " 0 failed" in loaded.stdout, loaded.stdout


def test_what_was_changed_for_a_node_is_restored(tmp_path):
    model, x = network(0)
    with dumper(tmp_path / "gpu.h5"):
        step(model, x)
    model, x = network(1)
    weights = [parameter.detach().clone() for parameter in model.parameters()]
    with dumper(tmp_path / "npu.h5", mode="load", load_path=tmp_path / "gpu.h5"):
        model(x).sum().backward()
    assert all(torch.equal(a, b) for a, b in zip(weights, model.parameters()))


def test_calls_without_a_record_are_named(tmp_path, capsys):
    x = torch.ones(3)
    with dumper(tmp_path / "gpu.h5"):
        x.exp()
        torch.sum(x.view(1, 3), 1)
    with dumper(tmp_path / "npu.h5", mode="load", load_path=tmp_path / "gpu.h5"):
        y = (x * 2).exp()
        x.exp()
        torch.sum(x.view(1, 3), 0)  # another dim
    assert names(tmp_path / "npu.h5") == ["exp"] and np.allclose(y, np.exp(1))
    assert "3 calls have no record" in capsys.readouterr().err


def test_integers_bytes_and_halves_are_loaded_as_they_were(tmp_path):
    values = [torch.tensor([200, 3], dtype=torch.uint8), torch.tensor([True, False]), torch.tensor([1.5, 2]).half(),
              torch.tensor([1.5, 2]).bfloat16(), torch.tensor([1 + 2j])]
    with dumper(tmp_path / "a.h5"):
        for value in values:
            value.clone()
    with dumper(tmp_path / "b.h5", mode="load", load_path=tmp_path / "a.h5"):
        results = [torch.zeros_like(value).clone() for value in values]
    assert all(torch.equal(a, b) for a, b in zip(results, values))


def test_overflow_mode_names_and_keeps_what_overflows(tmp_path, capsys):
    x = torch.full((4,), 300.0).bfloat16()
    with dumper(tmp_path / "d.h5", mode="overflow"):
        torch.ones(3).exp()
        y = (x.float() * 1e38)
        y.exp()  # Inf came in with its input
        (torch.tensor([60000.0]).half() + torch.tensor([60000.0]).half())
    assert names(tmp_path / "d.h5") == ["mul_Tensor", "add_Tensor"]
    said = capsys.readouterr().out.splitlines()
    numbers = [group.name.split("/")[2] for _, group in records(tmp_path / "d.h5")]
    assert said == [f"IR: mul_Tensor SeqId: {numbers[0]} is overflow!", f"IR: add_Tensor SeqId: {numbers[1]} is overflow!"]
    assert record(tmp_path / "d.h5", "mul_Tensor")["input/self"][0] == 300


def test_overflow_mode_asks_the_devices_flag(monkeypatch, tmp_path, capsys):
    import sys
    import types

    from opbench_torch import layout

    raised = []
    utils = types.SimpleNamespace(clear_npu_overflow_flag=lambda: raised.clear(), get_npu_overflow_flag=lambda: True)
    monkeypatch.setitem(sys.modules, "torch_npu", types.SimpleNamespace(npu=types.SimpleNamespace(utils=utils)))
    monkeypatch.setitem(layout.DEVICE_TYPES, "cpu", 10)
    with dumper(tmp_path / "d.h5", mode="overflow"):
        torch.ones(2).exp()
    assert "IR: exp SeqId:" in capsys.readouterr().out


@pytest.mark.parametrize("level", ["operators", "composite"])
def test_without_overflow_there_is_no_file(tmp_path, level):
    with dumper(tmp_path / "d.h5", mode="overflow", level=level):
        torch.ones(2, requires_grad=True).exp().sum().backward()
    assert not (tmp_path / "d.h5").exists()
