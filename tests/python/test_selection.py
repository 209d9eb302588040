"""Filters, samples, statistics, steps."""

import h5py
import numpy as np
import pytest
import torch
from conftest import names, record
from torch import nn

from opbench_torch import DumperError, dumper


@pytest.fixture
def model():
    return nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), nn.Linear(4, 2))


def test_names_are_included_and_excluded_by_patterns(tmp_path, model):
    with dumper(tmp_path / "d.h5", include="addmm|Relu|relu", exclude="Backward"):
        model(torch.randn(2, 3)).sum().backward()
    assert names(tmp_path / "d.h5") == ["addmm", "relu", "addmm"]
    with pytest.raises(DumperError, match="regular expression"):
        dumper(tmp_path / "e.h5", include="(")


@pytest.mark.parametrize("which", ["0", "model.0", "module"])
def test_modules_are_chosen_by_path_or_by_themselves(tmp_path, model, which):
    with dumper(tmp_path / "d.h5", modules=model[0] if which == "module" else [which]):
        model(torch.randn(2, 3)).sum().backward()
    assert names(tmp_path / "d.h5") == ["addmm", "relu", "ReluBackward0", "AddmmBackward0"]


def test_only_so_many_steps_are_recorded(tmp_path, model):
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    with dumper(tmp_path / "d.h5", steps=2) as session:
        for _ in range(4):
            model(torch.randn(2, 3)).sum().backward()
            optimizer.step()
    assert session.step >= 2 and names(tmp_path / "d.h5").count("addmm") == 4
    assert [name for name in names(tmp_path / "d.h5")][-1].startswith("add")  # the update belongs to the step
    with pytest.raises(DumperError, match="1 step or more"):
        dumper(tmp_path / "e.h5", steps=0)


def test_views_are_recorded_where_they_are_wanted(tmp_path):
    x = torch.randn(2, 3, requires_grad=True)
    with dumper(tmp_path / "a.h5"):
        x.t().reshape(6).exp()
    with dumper(tmp_path / "b.h5", views=True):
        x.t().exp().sum().backward()
    assert names(tmp_path / "a.h5") == ["clone", "exp"]
    assert names(tmp_path / "b.h5")[:2] == ["t", "exp"] and "TBackward0" in names(tmp_path / "b.h5")


def test_samples_stand_apart_from_whole_tensors(tmp_path):
    x = torch.arange(1000.0).reshape(10, 100).t()
    with dumper(tmp_path / "d.h5", sample=64):
        torch.add(x, torch.ones(()))
    group = record(tmp_path / "d.h5", "add_Tensor")
    assert list(group["input"]) == ["alpha", "other"] and list(group["output"]) == []
    sample = group["sample/input/self"]
    assert np.array_equal(sample, x.reshape(-1)[::16]) and sample.attrs["opbench_shape"] == b"100x10"
    assert np.array_equal(group["sample/output/result"], x.reshape(-1)[::16] + 1)


def test_statistics_are_those_of_the_values(tmp_path):
    x = torch.randn(300, 100)
    with dumper(tmp_path / "d.h5", statistics=True):
        y = x.exp()
        y.mul_(2)
        y.exp()
        y.data[0] = 5
        torch.neg(y)
        torch.neg(torch.tensor([7, 2]))
    path = tmp_path / "d.h5"

    def close(dataset, values):
        values = values.double()
        return np.allclose(dataset, [values.min(), values.max(), values.mean(), values.norm()], rtol=1e-5)

    exp = record(path, "exp")["statistics"]
    assert close(exp["input/self"], x) and close(exp["output/result"], x.exp())
    twice = record(path, "mul__Tensor")["statistics"]
    assert close(twice["input/self"], x.exp()) and close(twice["output/self"], x.exp() * 2)
    assert twice["output/self"].attrs["opbench_hash"] == record(path, "exp", 1)["statistics/input/self"].attrs["opbench_hash"]
    assert close(record(path, "neg")["statistics/input/self"], y)
    assert close(record(path, "neg", 1)["statistics/output/result"], torch.tensor([-7, -2]))
    assert exp["input/self"].attrs["opbench_shape"] == b"300x100" and exp["input/self"].dtype == np.float32


def test_the_hash_sees_one_bit_and_one_place(tmp_path):
    base = torch.randn(20000)
    other, moved = base.clone(), base.clone()
    other.numpy()[12345] = np.nextafter(other.numpy()[12345], np.float32(np.inf))
    moved[[1, 15000]] = moved[[15000, 1]]
    with dumper(tmp_path / "d.h5", statistics=True):
        for tensor in (base, base.clone(), other, moved):
            tensor.exp()
    inputs = [record(tmp_path / "d.h5", "exp", index)["statistics/input/self"].attrs["opbench_hash"] for index in range(4)]
    assert inputs[0] == inputs[1] and len({*inputs}) == 3


def test_readers_take_no_sample_for_a_tensor(tmp_path, model, opbench):
    paths = []
    for name, options in (("sample", {"sample": 2}), ("statistics", {"statistics": True})):
        for copy in "ab":
            torch.manual_seed(0)
            paths.append(tmp_path / f"{name}_{copy}.h5")
            with dumper(paths[-1], **options):
                model(torch.randn(2, 3)).exp()
        judged = opbench("judge", paths[-1])
        assert "0 GUILTY" in judged.stdout, judged.stdout
        compared = opbench("compare", *paths[-2:])
        assert compared.returncode == 0 and " 0 failed" in compared.stdout, compared.stdout + compared.stderr
    with h5py.File(paths[-1]) as file:
        assert "input" in file["exp"][list(file["exp"])[0]]  # without the group a reader takes it for a load dump


# Statistics of large tensors are computed while the model goes on and writes these tensors.
@pytest.mark.parametrize("exclude", [None, "mul_"])
def test_statistics_are_of_the_moment(tmp_path, exclude):
    x = torch.randn(1 << 20)
    norms = []
    with dumper(tmp_path / "d.h5", statistics=True, exclude=exclude):
        for _ in range(20):
            norms.append(x.double().norm().item())
            x.neg()
            x.mul_(1.01)
    found = [record(tmp_path / "d.h5", "neg", index)["statistics/input/self"][3] for index in range(20)]
    assert np.allclose(found, norms, rtol=1e-6)


def test_a_module_that_no_model_has_is_an_error(tmp_path, model):
    with pytest.raises(DumperError, match="modules='layer9': the model has no such module; it has 0, 1"):
        with dumper(tmp_path / "d.h5", modules=["0", "layer9"]):
            model(torch.randn(2, 3))
    with pytest.raises(DumperError, match="no module with parts was called"):
        with dumper(tmp_path / "e.h5", modules="layer9"):
            torch.randn(2, 3).exp()
    with dumper(tmp_path / "f.h5", modules=["1"]):
        model(torch.randn(2, 3))
