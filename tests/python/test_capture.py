"""What is recorded of a running model, and where."""

import contextlib
import sys
import threading
import types

import networks
import numpy as np
import pytest
import torch
from conftest import names, record, records
from torch import nn
from torch.utils.checkpoint import checkpoint

from opbench_torch import DumperError, dumper


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU())
        self.head = nn.Linear(3, 4)

    def forward(self, x):
        y = self.body(x)
        return self.head(torch.tanh(y.mean((2, 3))))


def one_step(model, x):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(x).sum().backward()
    optimizer.step()


def test_a_training_step_is_recorded_in_its_order(tmp_path):
    model, x = Network(), torch.randn(2, 2, 4, 4)
    with dumper(tmp_path / "d.h5"):
        one_step(model, x)
    found = names(tmp_path / "d.h5")
    forward = ["convolution", "add__Tensor", "native_batch_norm", "relu", "mean_dim", "tanh", "addmm", "sum"]
    backward = ["SumBackward0", "AddmmBackward0", "TanhBackward0", "MeanBackward1", "ReluBackward0", "NativeBatchNormBackward0",
                "ConvolutionBackward0"]
    assert found[:len(forward)] == forward
    assert [name for name in found if "Backward" in name] == backward
    assert found[-1] == "add__Tensor"  # parameter - rate * buffer


def test_capturing_changes_no_bit(tmp_path):
    results = []
    for capture in (False, True):
        torch.manual_seed(3)
        model, x = Network(), torch.randn(2, 2, 4, 4)
        if capture:
            with dumper(tmp_path / "d.h5"):
                one_step(model, x)
        else:
            one_step(model, x)
        results.append([parameter.detach().clone() for parameter in model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*results))


def test_notes_say_module_line_and_step(tmp_path):
    model, x = Network(), torch.randn(2, 2, 4, 4)
    with dumper(tmp_path / "d.h5"):
        one_step(model, x)
        model(x)
    path = tmp_path / "d.h5"
    convolution = record(path, "convolution")["input/weight"]
    assert convolution.attrs["opbench_module"] == b"body.0" and convolution.attrs["opbench_step"] == b"0"
    assert b"test_capture.py:" in convolution.attrs["opbench_source"]
    assert "opbench_module" not in record(path, "tanh")["input/self"].attrs
    assert record(path, "convolution", 1)["input/weight"].attrs["opbench_step"] == b"1"
    modules = {name: group["output/grad_inputs"][list(group["output/grad_inputs"])[-1]].attrs.get("opbench_module")
               for name, group in records(path) if "Backward" in name}
    assert modules["ConvolutionBackward0"] == b"body.0" and modules["ReluBackward0"] == b"body.2"
    assert modules["AddmmBackward0"] == b"head" and modules["TanhBackward0"] is None


def test_composite_level_has_what_the_model_calls(tmp_path):
    model, x = Network(), torch.randn(2, 2, 4, 4)
    with dumper(tmp_path / "d.h5", level="composite"):
        y = model(x)
        (1 - y + y).sum().backward()
        y.detach().add_(1)
    path = tmp_path / "d.h5"
    assert names(path)[:10] == ["conv2d", "add_", "batch_norm", "relu", "mean", "tanh", "linear", "rsub", "add", "sum"]
    assert names(path)[-1] == "add_" and "AddmmBackward0" in names(path)
    assert record(path, "conv2d")["input/padding"][...].tolist() == [1, 1]
    assert "self" in record(path, "relu")["input"] and "running_mean" in record(path, "batch_norm")["input"]


def test_works_without_gradients_and_under_autocast(tmp_path):
    model, x = Network().eval(), torch.randn(2, 2, 4, 4)
    with dumper(tmp_path / "d.h5"):
        with torch.no_grad():
            model(x)
        with networks.products("bf16"), torch.autocast("cpu", torch.bfloat16):
            model(x).sum().backward()
    assert record(tmp_path / "d.h5", "convolution", 1)["input/weight"].attrs["opbench_dtype"] == b"bf16"
    assert names(tmp_path / "d.h5").count("ConvolutionBackward0") == 1


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoints_run_again_and_keep_their_gradients(tmp_path, reentrant):
    layer, x = nn.Linear(3, 3), torch.randn(2, 3, requires_grad=True)

    def gradient():
        layer.zero_grad()
        checkpoint(lambda y: torch.tanh(layer(y)), x, use_reentrant=reentrant).sum().backward()
        return layer.weight.grad.clone()

    expected = gradient()
    with dumper(tmp_path / "d.h5"):
        assert torch.equal(gradient(), expected)
    found = names(tmp_path / "d.h5")
    assert found.count("addmm") >= 2 and found.count("AddmmBackward0") == 1 and found.count("TanhBackward0") == 1


def test_threads_of_data_parallel_are_followed(tmp_path, monkeypatch):
    for name in ("device", "stream"):  # parallel_apply asks for CUDA's without looking where the model is
        monkeypatch.setattr(torch.cuda, name, contextlib.nullcontext)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: None)
    models, x = [nn.Linear(3, 3), nn.Linear(3, 3)], torch.randn(2, 3)
    with dumper(tmp_path / "d.h5"):
        nn.parallel.parallel_apply(models, [x, x], devices=None)
    assert names(tmp_path / "d.h5") == ["addmm", "addmm"]
    assert sys.modules["torch.nn.parallel.parallel_apply"].threading is threading


class Doubled(torch.autograd.Function):
    opbench_saved = ["self", "factor"]

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.factor = 2
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor


def test_custom_functions_leave_themselves_and_what_they_call(tmp_path):
    x = torch.randn(3, requires_grad=True)
    with dumper(tmp_path / "d.h5"):
        Doubled.apply(x).sum().backward()
    path = tmp_path / "d.h5"
    assert names(path) == ["mul_Tensor", "sum", "SumBackward0", "mul_Tensor", "DoubledBackward"]
    assert np.array_equal(record(path, "DoubledBackward")["input/self"], x.detach())
    assert record(path, "DoubledBackward")["input/factor"][()] == 2


def test_sums_of_gradients_are_operators(tmp_path):
    x = torch.randn(3, requires_grad=True)
    with dumper(tmp_path / "d.h5"):
        (x.exp() + x.tanh()).sum().backward()
    assert names(tmp_path / "d.h5").count("add_Tensor") == 2


def test_a_second_pass_through_the_graph_is_recorded_too(tmp_path):
    x = torch.randn(3, requires_grad=True)
    with dumper(tmp_path / "d.h5"):
        y = x.exp().sum()
        y.backward(retain_graph=True)
        (gradient,) = torch.autograd.grad(y, x, create_graph=True)
        torch.autograd.grad(gradient.sum(), x)
    assert names(tmp_path / "d.h5").count("ExpBackward0") >= 3


def test_nothing_stays_behind(tmp_path):
    call, engine = nn.Module.__call__, torch.autograd.Variable._execution_engine
    x = torch.randn(3, requires_grad=True)
    with dumper(tmp_path / "d.h5"):
        y = x.exp().sum()
    assert nn.Module.__call__ is call and torch.autograd.Variable._execution_engine is engine
    y.backward()
    assert "ExpBackward0" not in names(tmp_path / "d.h5")


def test_compiled_models_are_refused(tmp_path):
    compiled = type("OptimizedModule", (nn.Linear,), {})(2, 2)
    with pytest.raises(DumperError, match="eagerly"):
        with dumper(tmp_path / "d.h5"):
            compiled(torch.ones(1, 2))


def test_models_on_two_devices_are_refused(tmp_path):
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2, device="meta"))
    with pytest.raises(DumperError, match="cpu, meta"):
        with dumper(tmp_path / "d.h5"):
            model(torch.ones(1, 2))


def test_device_types_are_c10s(monkeypatch):
    from opbench_torch import layout

    fake = types.SimpleNamespace(layout=torch.strided, dtype=torch.float32, device=types.SimpleNamespace(type="npu"))
    layout.check_storable(fake, "x")
    assert [layout.DEVICE_TYPES[name] for name in ("cpu", "cuda", "npu")] == [0, 1, 10]
    monkeypatch.setitem(sys.modules, "torch_npu", types.SimpleNamespace(get_npu_format=lambda tensor: 3))
    assert layout.storage_format(fake) == 3
