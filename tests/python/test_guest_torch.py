"""python -m opbench_torch serve: operators by their expressions in ops/*.cc, and gradients by autograd."""

import numpy as np
import pytest
import torch
from guest_host import Call, Host

X = np.linspace(-3, 3, 24, dtype=np.float32).reshape(2, 3, 4)
Y = X[::-1] * 0.5 + 0.25
S = 1 / (1 + np.exp(-X))
ZERO_ONE = np.array([1, 0], np.int64)


@pytest.fixture(scope="module")
def guest():
    with Host() as host:
        yield host


def value(guest, expression, inputs, shape, attrs=None, dtype="fp32"):
    call = Call(guest, inputs, [(dtype, shape)], attrs or {}, torch={"expression": expression})
    assert "refused" not in call.opened and "error" not in call.opened, call.opened
    return call.result()


UNARY = {
    "torch.relu(x[0])": np.maximum(X, 0), "torch.sin(x[0])": np.sin(X), "torch.cos(x[0])": np.cos(X), "torch.floor(x[0])": np.floor(X),
    "torch.ceil(x[0])": np.ceil(X), "torch.trunc(x[0])": np.trunc(X), "torch.round(x[0])": np.round(X), "F.silu(x[0])": X * S,
    "F.logsigmoid(x[0])": np.log(S), "x[0] * torch.sigmoid(1.702 * x[0])": X / (1 + np.exp(-1.702 * X)), "x[0] * a[\"v\"]": X * 2.5,
    "F.mish(x[0])": X * np.tanh(np.logaddexp(X, 0)), "x[0].permute([2, 0, 1])": X.transpose(2, 0, 1),
    "F.leaky_relu(x[0], a[\"s\"])": np.where(X > 0, X, X * 0.1), "torch.triu(x[0], 1)": np.triu(X, 1), "x[0].reshape(SHAPE)": X,
    "torch.softmax(x[0], 2)": np.exp(X) / np.exp(X).sum(2, keepdims=True), "F.hardshrink(x[0], 0.5)": np.where(abs(X) > 0.5, X, 0),
    "torch.full_like(x[0], a[\"inf\"])": np.full_like(X, np.inf), "x[0].to(getattr(torch, DTYPE))": X,
    "x[0].sum().reshape(SHAPE)": X.sum(keepdims=True)[:, 0, 0], "torch.max(x[0], 1, False)[0]": X.max(1)}


@pytest.mark.parametrize("expression", UNARY)
def test_an_operator_of_one_input(guest, expression):
    attrs = {"v": 2.5, "s": 0.1, "inf": "inf"}
    result = value(guest, expression, [("fp32", X)], UNARY[expression].shape, attrs)
    np.testing.assert_allclose(result, UNARY[expression], rtol=2e-6, atol=2e-6)


BINARY = {"x[0] + x[1]": X + Y, "x[0] * x[1]": X * Y, "torch.add(x[0], x[1], alpha=a[\"alpha\"])": X + 2 * Y,
          "torch.where(x[1] <= 0, torch.zeros_like(x[0]), x[0])": np.where(Y <= 0, 0, X), "torch.cat(x, 1)": np.concatenate([X, Y], 1),
          "torch.matmul(x[0], x[1].transpose(-1, -2))": X @ Y.transpose(0, 2, 1), "torch.fmod(x[0], x[1])": np.fmod(X, Y)}


@pytest.mark.parametrize("expression", BINARY)
def test_an_operator_of_two_inputs(guest, expression):
    result = value(guest, expression, [("fp32", X), ("fp32", Y)], BINARY[expression].shape, {"alpha": 2})
    np.testing.assert_allclose(result, BINARY[expression], rtol=2e-6, atol=2e-6)


def test_indices_optional_inputs_and_ranges(guest):
    selected = value(guest, "torch.index_select(x[0], a[\"axis\"], x[1] % x[0].shape[a[\"axis\"]])",
                     [("fp32", X), ("int64", ZERO_ONE)], (2, 2, 4), {"axis": 1})
    assert (selected == X[:, [1, 0]]).all()
    linear = "F.linear(x[0], x[1], (x[2] if len(x) > 2 else None))"
    weight = np.ones((2, 4), np.float32)
    for inputs in [("fp32", X), ("fp32", weight)], [("fp32", X), ("fp32", weight), ("fp32", [])]:
        np.testing.assert_allclose(value(guest, linear, inputs, (2, 3, 2)), X @ weight.T, rtol=1e-6, atol=1e-6)
    arange = ("torch.arange((x[1] if len(x) > 1 and x[1].shape != (0,) else None).item(), x[0].item(), "
              "(x[2] if len(x) > 2 else None).item(), dtype=getattr(torch, DTYPE))")
    assert value(guest, arange, [("fp32", [7]), ("fp32", [1]), ("fp32", [2])], (3,)).tolist() == [1, 3, 5]


@pytest.mark.parametrize("dtype", ["fp64", "fp32", "bf16", "int64", "int32", "int16", "int8", "uint8", "bool"])
def test_dtypes(guest, dtype):
    data = np.arange(24).reshape(2, 3, 4) % (2 if dtype == "bool" else 100)
    result = value(guest, "torch.cat([x[0], x[0]], 0)", [(dtype, data)], (4, 3, 4), dtype=dtype)
    assert (result == np.concatenate([data, data])).all()


def test_what_the_device_does_not_compute_is_refused(guest):
    def opened(dtype, expression="F.softplus(x[0])", format_="ND"):
        return Call(guest, [(dtype, X, format_)], [(dtype, X.shape)], torch={"expression": expression}).opened

    assert opened("fp16") == {"refused": '"softplus_cpu" not implemented for \'Half\''}
    assert opened("fp8_e5m2")["refused"].endswith("has no fp8_e5m2")
    assert opened("fp32", format_="NC1HWC0") == {"refused": "cpu does not hold 3D tensors in NC1HWC0"}
    assert "is not an expression" in opened("fp32", "x[0")["error"]
    call = Call(guest, [("fp32", X)], [("fp32", (3,))], torch={"expression": "x[0] * 2"})
    assert "with the shape [2, 3, 4], expected [3]" in call.run()["error"]


# Expression, arguments by source with their values, gradients of inputs, expected.
GRADIENTS = [
    ("F.softplus(x[0])", [("output_gradient", 0, Y), ("input", 0, X)], [0], [Y * S]),
    ("torch.sin(x[0])", [("output_gradient", 0, Y), ("input", 0, X)], [0], [Y * np.cos(X)]),
    ("x[0] * x[1]", [("output_gradient", 0, Y), ("input", 0, X), ("input", 1, S)], [0, 1], [Y * S, Y * X]),
    ("x[0] * x[1]", [("output_gradient", 0, Y), ("input", 1, S)], [0], [Y * S]),
    ("torch.relu(x[0])", [("output_gradient", 0, Y), ("output", 0, np.maximum(X, 0))], [0], [np.where(X > 0, Y, 0)]),
    ("torch.sigmoid(x[0])", [("output_gradient", 0, Y), ("output", 0, S)], [0], [Y * S * (1 - S)]),
    ("x[0].reshape(SHAPE)", [("output_gradient", 0, Y)], [0], [Y]),
    ("torch.floor(x[0])", [("zeros_like_input", 0, X)], [0], [X * 0]),
    ("torch.max(x[0], 1, False)", [("output_gradient", 0, Y[:, 0]), ("input", 0, X)], [0],
     [np.where(X == X.max(1, keepdims=True), Y[:, :1], 0)]),
    ("x[0] + 0 * x[1].detach()", [("output_gradient", 0, Y), ("input", 0, X), ("input", 1, X)], [0, 1], [Y, X * 0])]


@pytest.mark.parametrize("expression, arguments, gradients, expected", GRADIENTS)
def test_gradients(guest, expression, arguments, gradients, expected):
    message = {"expression": expression, "gradients": gradients, "arguments": [[source, k] for source, k, _ in arguments]}
    call = Call(guest, [("fp32", array) for _, _, array in arguments], [("fp32", array.shape) for array in expected], torch=message)
    assert call.opened.keys() <= {"note"}
    for _ in range(2):
        assert call.run()["seconds"] > 0
        for found, right in zip(call.outputs(), expected):
            np.testing.assert_allclose(found, right, rtol=2e-6, atol=1e-6)


def test_a_gradient_without_the_input_that_autograd_needs_is_refused(guest):
    message = {"expression": "torch.sin(x[0])", "gradients": [0], "arguments": [["output_gradient", 0], ["output", 0]]}
    call = Call(guest, [("fp32", Y), ("fp32", X)], [("fp32", X.shape)], torch=message)
    assert call.opened == {"refused": "autograd needs an input that the operator does not take"}


def test_notes_and_cold_calls(guest):
    call = Call(guest, [("fp32", X)], [("fp32", X.shape)], torch={"expression": "F.softplus(x[0])"})
    assert call.note == "runs aten::softplus"
    assert np.allclose(call.result(cold=True), torch.nn.functional.softplus(torch.from_numpy(X)))


@pytest.mark.parametrize("device, text", [("cuda:0", "torch:cuda:0 needs a PyTorch with CUDA"), ("npu:0", "torch:npu:0 needs torch_npu"),
                                          ("tpu", "torch:tpu is not a device; torch:cpu, torch:cuda:N or torch:npu:N")])
def test_a_device_that_is_not_there(device, text):
    with Host("--device", device) as host:
        assert host.describe()["error"].startswith(text)
        assert host.end()[0] == 0
