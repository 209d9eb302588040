"""Same seeds, same algorithms, same weights, same data."""

import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from opbench_torch import DumperError, compare_setup, reproducible


def test_seeds_and_data_order_repeat():
    def draw():
        with reproducible(7):
            torch.rand(random.randrange(5))  # devices draw different amounts before the data is shuffled
            order = [batch.tolist() for batch in DataLoader(torch.arange(8), batch_size=3, shuffle=True)]
        return order

    def numbers():
        with reproducible(7):
            return random.random(), np.random.rand(), torch.rand(1).item()

    assert draw() == draw() and numbers() == numbers()
    with reproducible(8):
        assert (random.random(), np.random.rand(), torch.rand(1).item()) != numbers()


def test_flags_are_set_and_taken_back():
    before = torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark, DataLoader.__init__
    with reproducible(0):
        assert torch.are_deterministic_algorithms_enabled() and torch.backends.cudnn.deterministic
        assert not torch.backends.cuda.matmul.allow_tf32
    assert before == (torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark, DataLoader.__init__)


def test_dropout_can_be_off():
    layers = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.5).train()
    x = torch.randn(3, 2, 8)
    with reproducible(0, dropout=False):
        assert torch.equal(nn.Dropout(0.5)(x), x) and torch.equal(layers(x), layers(x))
    assert not torch.equal(nn.Dropout(0.5)(x), x)


def build(seed):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(5, 3)).pow(2).sum().backward()
    optimizer.step()
    return model, optimizer


def test_the_second_machine_begins_as_the_first(tmp_path):
    path = tmp_path / "setup.pt"
    model, optimizer = build(0)
    batch = {"x": torch.randn(2, 3), "y": (torch.tensor([1]), "text")}
    assert compare_setup(path, model, optimizer, batch) is batch
    other, other_optimizer = build(1)
    loaded = compare_setup(path, other, other_optimizer, {"x": None})
    assert torch.equal(loaded["x"], batch["x"]) and loaded["y"][1] == "text"
    for mine, theirs in zip(model.state_dict().values(), other.state_dict().values()):
        assert torch.equal(mine, theirs)
    for (m, o) in ((model, optimizer), (other, other_optimizer)):
        o.zero_grad()
        m(loaded["x"]).sum().backward()
        o.step()
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters()))


def test_another_precision_takes_the_values(tmp_path):
    model, _ = build(0)
    compare_setup(tmp_path / "s.pt", model)
    double = build(1)[0].double()
    compare_setup(tmp_path / "s.pt", double)
    assert double[0].weight.dtype == torch.float64 and torch.equal(double[0].weight, model[0].weight.double())


def test_files_of_other_models_are_refused(tmp_path):
    model, optimizer = build(0)
    compare_setup(tmp_path / "s.pt", model, optimizer)
    with pytest.raises(DumperError, match="0.weight is \\(4, 3\\) there and \\(4, 2\\) here"):
        compare_setup(tmp_path / "s.pt", nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4)), optimizer)
    with pytest.raises(DumperError, match="with an optimizer"):
        compare_setup(tmp_path / "s.pt", model)
    with pytest.raises(DumperError, match="without a batch"):
        compare_setup(tmp_path / "s.pt", model, optimizer, torch.ones(1))
    (tmp_path / "bad.pt").write_bytes(b"no pickle")
    with pytest.raises(DumperError, match="cannot be read"):
        compare_setup(tmp_path / "bad.pt", model)
    torch.save({"a": 1}, tmp_path / "other.pt")
    with pytest.raises(DumperError, match="not of compare_setup"):
        compare_setup(tmp_path / "other.pt", model)
