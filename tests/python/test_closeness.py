"""assert_close: right results pass, wrong ones fail with the report of `opbench judge`."""

import os
import stat

import numpy as np
import pytest
import torch
from conftest import PROGRAM
from torch.nn import functional

from opbench_torch import DumperError, assert_close, closeness, program

X = torch.linspace(-20, 100, 256)
Y = functional.softplus(X)


@pytest.fixture(autouse=True)
def built(opbench):
    return opbench


def wrong(*arguments, **options):
    with pytest.raises(AssertionError) as caught:
        assert_close(*arguments, **options)
    return str(caught.value)


def refused(*arguments, **options):
    with pytest.raises(ValueError) as caught:
        assert_close(*arguments, **options)
    return str(caught.value)


class Exported:
    """An array of another library."""

    def __init__(self, tensor):
        self._tensor = tensor

    def __dlpack__(self, stream=None):
        return torch.utils.dlpack.to_dlpack(self._tensor)

    def __dlpack_device__(self):
        return (1, 0)


A, B = torch.randn(3, 4), torch.randn(4, 5)
ROWS, WEIGHT, BIAS = torch.randn(4, 8), torch.randn(8), torch.randn(8)


@pytest.mark.parametrize("actual, op, inputs, attrs", [
    (Y, "softplus", [X], {}),
    (Y, "softplus", X, {"beta": 1, "threshold": 20.0}),
    (Y.numpy(), "Softplus", {"x": X.numpy()}, {}),
    (Exported(Y), "softplus", [Exported(X)], {}),
    (np.exp(X.numpy()[:99].astype("f8")).astype(">f8"), "exp", [X.numpy()[:99].astype(">f8")], {}),
    (functional.softplus(X.bfloat16()), "softplus", [X.bfloat16()], {}),
    (functional.layer_norm(ROWS, [8], WEIGHT, BIAS, 1e-3), "layer_norm", [ROWS, WEIGHT, BIAS],
     {"normalized_shape": [8], "eps": 1e-3}),
    (torch.native_layer_norm(ROWS, [8], WEIGHT, BIAS, 1e-5), "native_layer_norm", [ROWS, WEIGHT, BIAS], {"eps": 1e-5}),
    ((torch.tensor([3.0, 2.0]), torch.tensor([1, 2])), "topk", [torch.tensor([1.0, 3.0, 2.0])], {"k": 2}),
    ({"result0": functional.layer_norm(ROWS, [8], WEIGHT, BIAS)}, "native_layer_norm",
     {"input": ROWS, "weight": WEIGHT, "bias": BIAS}, {}),
    ({"result1": ROWS.mean(1, keepdim=True)}, "layer_norm", [ROWS, WEIGHT, BIAS], {}),
    ((functional.layer_norm(ROWS, [8], WEIGHT, BIAS), None), "layer_norm", [ROWS, WEIGHT, BIAS], {}),
    (A @ B, "matmul", [A.T.contiguous(), B], {"transpose_a": True}),
    (A + 2 * A, "add_Tensor", [A, A], {"alpha": 2}),
    (A * 2, "mul", [A, 2.0], {}),
    (torch.cat([A, A]), "cat", {"tensors": [A, A]}, {"dim": 0}),
    (torch.cat([A, A], 1), "concat", [[A, A]], {"axis": 1}),
    (functional.mse_loss(A, -A, reduction="sum"), "mse_loss", [A, -A], {"reduction": "sum"}),
    (functional.mse_loss(A, -A, reduction="sum"), "mse_loss", {"self": A, "target": -A}, {"reduction": "sum"}),
    (functional.conv2d(A[None, None], B[None, None, :2, :2], stride=2, padding=(1, 1)), "conv2d",
     [A[None, None], B[None, None, :2, :2]], {"stride": 2, "padding": (1, 1)}),
    (A.half(), "cast", [A], {"to": torch.float16}),
])
def test_right_results_pass(actual, op, inputs, attrs):
    assert_close(actual, op=op, inputs=inputs, **attrs)


def test_a_gradient_passes_by_the_names_of_its_node():
    x = X.clone().requires_grad_()
    functional.softplus(x).backward(Y)
    assert_close(x.grad, op="SoftplusBackward0", inputs={"grads/grads_0": Y, "self": x}, beta=1, threshold=20)


def test_the_message_has_the_words_of_judge(monkeypatch, opbench):
    actual = Y.clone()
    actual[X > 80] += 1
    printed = []

    def run(arguments):
        if "some" in arguments:
            printed.append(opbench(*[word for word in arguments if word not in ("--json", "-", "--quiet")]).stdout)
        return program.run_program(arguments)

    monkeypatch.setattr(closeness, "run_program", run)
    lines = wrong(actual, op="softplus", inputs=[X]).splitlines()
    assert lines[0] == "GUILTY: softplus fp32, inputs self [256]"
    assert lines[1].startswith("result: 43 of 256 elements exceed their error bound; worst at [")
    assert lines[2] == "43 of 256 elements are wrong: only self > 79.7647" and lines[3].startswith("Looks like: ")
    printed_words = " ".join(printed[0].split())
    for line in lines[1:]:
        assert " ".join(line.removeprefix("result: ").split()) in printed_words


def test_only_an_error_beyond_the_bound_is_wrong():
    x = torch.rand(1000) + 1
    exact = x.double().exp().float()
    assert_close(exact * (1 + 2**-23), op="exp", inputs=[x])
    assert "error bound" in wrong(exact * (1 + 2**-10), op="exp", inputs=[x])
    assert_close(exact * (1 + 2**-10), op="exp", inputs=[x], standard="prec=0.01")
    assert_close(exact * (1 + 2**-17), op="exp", inputs=[x])  # by the claim "approximate functions"
    assert "cosine" in refused(exact, op="exp", inputs=[x], standard="near")


def test_attributes_change_the_expected_values():
    assert "256 elements" in wrong(Y, op="softplus", inputs=[X], beta=3)
    assert "256 elements" in wrong(Y, op="softplus", inputs={"self": X}, beta=3)


def test_each_of_several_outputs_is_checked():
    out, mean, deviation = torch.native_layer_norm(ROWS, [8], WEIGHT, BIAS, 1e-5)
    message = wrong((out, mean, 2 * deviation), op="native_layer_norm", inputs=[ROWS, WEIGHT, BIAS], eps=1e-5)
    assert "\nresult2: 4 of 4 elements" in message and "\nresult0" not in message


@pytest.mark.parametrize("op, inputs, attrs, text", [
    ("rms_nrom", [X], {}, "operator 'rms_nrom' is not known; "),
    ("SOFTPLUS", [X], {}, "nearest: Softplus, softplus, "),
    ("softplus", [X], {"betta": 1}, "softplus has no attribute 'betta'; `opbench list softplus`"),
    ("softplus", {"self": X}, {"betta": 1}, "softplus has no attribute 'betta' of 1; it has beta, threshold"),
    ("softplus", [X], {"beta": "steep"}, "attribute 'beta' is 'steep'"),
    ("softplus", [X], {"beta": object()}, "allowed are tensors, numbers"),
    ("aten::softpluss.out", [X], {}, "nearest: Softplus, softplus, "),
    ("softplus", None, {}, "inputs holds no tensor"),
    ("exp", [X + 0j], {}, "inputs[0] is a tensor of torch.complex64; allowed are dense tensors of fp32, "),
    ("layer_norm", [X, None, X], {}, "'weight' has shape 0; allowed: 256, the extents of a row"),
    ("softplus", {"me": X}, {}, "softplus has no input 'me'; it has self|x|X"),
    ("softplus", [X[1:]], {}, "output result is 256; that of softplus is 255"),
    ("aten::softplus", [X, X, X], {}, "softplus with 3 inputs is not known; name them"),
    ("SoftplusBackward0", {"self": X}, {}, "input grads/grads_0 or grad_output is not recorded"),
    ("rand_like", [X], {}, "rand_like draws its result at random"),
    ("softplus", [X.to_sparse()], {}, r"inputs[0] is a tensor of torch.sparse_coo; allowed are dense"),
    ("softplus", ["X"], {}, r"inputs[0] cannot be read: it is a str; give a torch tensor"),
])
def test_calls_that_cannot_be_checked_say_why(op, inputs, attrs, text):
    assert text in refused(Y, op=op, inputs=inputs, **attrs)


def test_outputs_that_are_not_checked_are_refused():
    assert "output result1 is not one that opbench computes" in refused((Y, Y), op="softplus", inputs=[X])
    assert "softplus has no output 'y2'; it has result|out|y|Y" in refused({"y2": Y}, op="softplus", inputs=[X])
    assert "actual holds no tensor" in refused(None, op="softplus", inputs=[X])
    assert "aten::softplus has 1 outputs that opbench knows" in refused((Y, Y), op="aten::softplus", inputs=[X])


def test_the_program_must_be_there(monkeypatch, tmp_path):
    monkeypatch.setenv("OPBENCH_PROGRAM", str(tmp_path / "absent"))
    with pytest.raises(DumperError, match="absent, which is not a program; name opbench"):
        assert_close(Y, op="softplus", inputs=[X])
    monkeypatch.delenv("OPBENCH_PROGRAM")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(program, "_PLACES", ())
    with pytest.raises(DumperError, match="opbench is not found; put it into PATH"):
        assert_close(Y, op="softplus", inputs=[X])
    os.symlink(PROGRAM, tmp_path / "opbench")
    assert program.find_program() == str(tmp_path / "opbench")
    assert_close(Y, op="softplus", inputs=[X])


def test_the_program_of_an_installation_is_found(monkeypatch, tmp_path):
    package = tmp_path / "share/opbench/python/opbench_torch"
    package.mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/opbench").write_text("#!/bin/sh\n")
    monkeypatch.delenv("OPBENCH_PROGRAM")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(program, "__file__", str(package / "program.py"))
    assert program.find_program() is None
    (tmp_path / "bin/opbench").chmod(stat.S_IRWXU)
    assert program.find_program() == str(tmp_path / "bin/opbench")


def test_a_rank_of_mpirun_checks_alone(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    assert_close(Y, op="softplus", inputs=[X])


def test_nothing_is_left_in_the_temporary_folder(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert_close(Y, op="softplus", inputs=[X])
    wrong(2 * Y, op="softplus", inputs=[X])
    assert os.listdir(tmp_path) == []


def test_a_bfloat16_array_of_numpy_is_read():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.linspace(-2, 2, 64).astype(ml_dtypes.bfloat16)
    assert_close(x, op="abs", inputs=[np.abs(x)])
