"""python -m opbench_torch serve --kernels FILE.py: kernels of a user, right and wrong."""

import os
import textwrap
import time

import numpy as np
import pytest
import torch
from conftest import ROOT
from guest_host import Call, Host

import opbench_torch

KERNELS = """
    import threading, time, sys, os
    import numpy as np
    import torch
    import torch.nn.functional as F
    import opbench_torch
    import helper

    kernel = opbench_torch.kernel

    @kernel("softplus", dtypes=["fp32", "bf16"])
    def mine(x, beta, threshold):
        "log1p of exp"
        print("printed by the kernel")
        return torch.where(x * beta > threshold, x, torch.log1p(torch.exp(x * beta)) / beta)

    @kernel("softplus", array="numpy", name="numpy_arrays")
    def of_numpy(x, **attrs):
        assert type(x) is np.ndarray and sorted(attrs) == ["beta", "threshold"]
        return np.log1p(np.exp(x * x.dtype.type(attrs["beta"]))) / x.dtype.type(attrs["beta"])

    @kernel("softplus", destination=True)
    def filled(x, y, *, beta):
        y.copy_(F.softplus(x, beta))

    @kernel("linear")
    def product(x, weight, bias):
        return x @ weight.T + (bias if isinstance(bias, torch.Tensor) else 0)

    @kernel("softplus", refuse=lambda x, beta: "beta must be 1" if beta != 1 else None)
    def particular(x):
        return torch.from_numpy(helper.softplus(x.numpy()))

    @kernel("max")
    def two(x):
        return tuple(x.max(1))

    @kernel("softplus")
    def parameter(x):
        return torch.nn.Parameter(F.softplus(x))

    @kernel("add")
    def view(x, other):
        return x

    @kernel("add")
    def transposed(x, other):
        return (x + other).T.contiguous().T

    @kernel("softplus")
    def raises(x):
        x + torch.ones(7)

    @kernel("softplus")
    def exits(x):
        sys.exit(3)

    class LazyTensor(torch.Tensor):
        pass

    @kernel("softplus")
    def lazy(x):
        return torch.Tensor._make_subclass(LazyTensor, x)

    @kernel("softplus")
    def meta(x):
        return torch.empty_like(x, device="meta")

    @kernel("softplus")
    def narrow(x):
        return x[:1].clone()

    @kernel("softplus")
    def double(x):
        return x.double()

    @kernel("softplus")
    def nothing(x):
        pass

    @kernel("softplus", destination=True)
    def beyond(x, y):
        y.as_strided((y.numel() + 1,), (1,)).fill_(1)

    cached = []

    @kernel("softplus")
    def cache(x):
        if not cached:
            cached.append(F.softplus(x))
        return cached[0]

    @kernel("softplus", destination=True)
    def later(x, y):
        def work():
            time.sleep(0.05)
            y.copy_(F.softplus(x))
        threading.Thread(target=work).start()

    @kernel("softplus")
    def slow(x):
        before = time.clock_gettime(time.CLOCK_MONOTONIC)
        while time.clock_gettime(time.CLOCK_MONOTONIC) < before + 0.02:
            pass
        return F.softplus(x)

    @kernel("softplus")
    def ends(x):
        os._exit(9)

    time.perf_counter_ns = time.monotonic_ns = lambda: 0
    time.perf_counter = lambda: 0.0
    torch.cuda.synchronize = lambda: None
"""
ATTRS = {"beta": 1.0, "threshold": 20.0}
X = np.linspace(-4, 30, 12, dtype=np.float32).reshape(3, 4)
SOFTPLUS = np.logaddexp(X, 0)


@pytest.fixture(scope="module")
def guest(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "helper.py").write_text("import numpy as np\ndef softplus(x):\n    return np.logaddexp(x, 0)\n")
    (folder / "mine.py").write_text(textwrap.dedent(KERNELS))
    with Host("--kernels", folder / "mine.py") as host:
        host.numbers = {kernel["name"]: number for number, kernel in enumerate(host.describe()["kernels"])}
        yield host


def unary(guest, name, attrs=ATTRS):
    return Call(guest, [("fp32", X)], [("fp32", X.shape)], attrs, guest.numbers[name])


@pytest.mark.parametrize("name", ["mine", "numpy_arrays", "filled", "particular", "parameter", "slow"])
def test_a_right_kernel(guest, name):
    call = unary(guest, name)
    for _ in range(2):  # the second one gets memory that the first one used
        np.testing.assert_allclose(call.result(), SOFTPLUS, rtol=1e-6)
    assert call.ask("close") == {} and "is not open" in call.ask("call")["error"]


def test_the_description_has_what_the_decorator_says(guest):
    found = guest.describe()
    assert found["protocol"] == [1, 1] and found["device_type"] == 1 and found["software"] == f"PyTorch {torch.__version__}"
    mine = found["kernels"][0]
    line = textwrap.dedent(KERNELS).splitlines().index('@kernel("softplus", dtypes=["fp32", "bf16"])') + 1
    assert mine == {"op": "softplus", "name": "mine", "summary": "log1p of exp", "dtypes": ["fp32", "bf16"], "formats": [],
                    "source": f"mine.py:{line}"}
    assert "speaks protocol 2.0" in guest.ask(do="describe", protocol=[2, 0])["error"]


def test_operators_of_the_framework_are_reported(guest):
    call = unary(guest, "filled")
    assert "aten::softplus" in call.run()["ran"] and "calls aten::softplus" in call.note
    assert "ran" not in call.run()
    assert unary(guest, "numpy_arrays").run()["ran"] == []


def test_optional_inputs_and_several_outputs(guest):
    weight = np.ones((2, 4), np.float32)
    for bias, plus in ([], 0), ([1, 2], np.array([1, 2])):
        call = Call(guest, [("fp32", X), ("fp32", weight), ("fp32", bias)], [("fp32", (3, 2))], {}, guest.numbers["product"])
        np.testing.assert_allclose(call.result(), X @ weight.T + plus, rtol=1e-6)
    call = Call(guest, [("fp32", X)], [("fp32", (3,)), ("int64", (3,))], {}, guest.numbers["two"])
    call.run()
    assert [output.tolist() for output in call.outputs()] == [X.max(1).tolist(), [3, 3, 3]]


@pytest.mark.parametrize("dtype, name", [("fp64", "numpy_arrays"), ("fp64", "filled"), ("bf16", "mine"), ("bf16", "filled")])
def test_dtypes(guest, dtype, name):
    x = X.astype(np.float64)
    given = x if dtype == "fp64" else (X.view(np.uint32) >> 16).astype(np.uint16).view(np.int16)
    result = Call(guest, [(dtype, given)], [(dtype, X.shape)], ATTRS, guest.numbers[name]).result()
    if dtype == "bf16":
        result = (result.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_allclose(result, SOFTPLUS, rtol=1e-6 if dtype == "fp64" else 0.02)


def test_a_kernel_and_the_package_refuse(guest):
    assert unary(guest, "particular", {"beta": 2.0}).opened == {"refused": "beta must be 1"}
    bits = X.astype(np.int16)
    assert Call(guest, [("hif8", bits)], [("hif8", X.shape)], ATTRS).opened == {"refused": f"PyTorch {torch.__version__} has no hif8"}
    for inputs in ("bf16", "fp32"):
        call = Call(guest, [(inputs, bits)], [("bf16", X.shape)], ATTRS, guest.numbers["numpy_arrays"])
        assert call.opened == {"refused": "NumPy has no bfloat16"}


def test_a_view_is_copied_within_the_time(guest):
    inputs = [("fp32", X), ("fp32", X)]
    call = Call(guest, inputs, [("fp32", X.shape)], {}, guest.numbers["view"])
    assert (call.result() == X).all() and "a view, copied" in call.note
    call = Call(guest, inputs, [("fp32", X.shape)], {}, guest.numbers["transposed"])
    assert (call.result() == X + X).all() and "a view, copied" in call.note
    large = np.zeros(1 << 24, np.float32)
    assert Call(guest, [("fp32", large)] * 2, [("fp32", large.shape)], {}, guest.numbers["view"]).run()["seconds"] > 1e-3


@pytest.mark.parametrize("name, error", [
    ("raises", "RuntimeError: The size of tensor a (4) must match"), ("exits", "SystemExit: 3"),
    ("lazy", "returned a LazyTensor, not a plain tensor"), ("meta", "on the device meta, expected cpu"),
    ("narrow", "with the shape [1, 4], expected [3, 4]"), ("double", "with the dtype float64, expected float32"),
    ("nothing", "destination=True"), ("beyond", "wrote after its output t1")])
def test_a_wrong_kernel_is_an_error(guest, name, error):
    assert error in unary(guest, name).run()["error"]
    np.testing.assert_allclose(unary(guest, "mine").result(), SOFTPLUS, rtol=1e-6)


def test_an_error_has_the_line_of_the_file(guest):
    line = textwrap.dedent(KERNELS).splitlines().index("    x + torch.ones(7)") + 1
    assert unary(guest, "raises").run()["error"].startswith(f"mine.py:{line}: RuntimeError: ")


def test_tricks_do_not_help(guest):
    cache = unary(guest, "cache")
    assert np.allclose(cache.result(), SOFTPLUS) and not np.allclose(cache.result(), SOFTPLUS)
    later = unary(guest, "later")
    assert not np.allclose(later.result(), SOFTPLUS) and "threads run after the call" in later.note
    assert unary(guest, "slow").run()["seconds"] >= 0.02  # by a clock that the file replaces


def test_arguments_that_a_kernel_does_not_take(guest):
    call = Call(guest, [("fp32", X)], [("fp32", X.shape)], {}, guest.numbers["mine"])
    assert "missing a required argument: 'beta'" in call.opened["error"]


def test_a_kernel_that_ends_the_process(tmp_path):
    (tmp_path / "helper.py").write_text("softplus = None")
    (tmp_path / "mine.py").write_text(textwrap.dedent(KERNELS))
    with Host("--kernels", tmp_path / "mine.py") as host:
        host.numbers = {kernel["name"]: number for number, kernel in enumerate(host.describe()["kernels"])}
        with pytest.raises(EOFError, match="9"):
            unary(host, "ends").run()


@pytest.mark.parametrize("text, error", [
    ("import torch\nx = torhc\n", "bad.py:2: NameError: name 'torhc' is not defined"),
    ("import opbench_torch\ndef f(:\n", "bad.py:2: SyntaxError: invalid syntax"),
    ("x = 1\n", "has no kernel; decorate a function"),
    ("import opbench_torch as o\no.kernel('relu', dtypes=['float'])(abs)\n",
     "bad.py:2: ValueError: dtype 'float' is unknown; one of fp64, fp32"),
    ("import opbench_torch as o\nfor _ in range(2):\n  o.kernel('relu', name='a')(lambda x: x)\n",
     "bad.py:3: ValueError: relu has a kernel 'a' at bad.py:3 already")])
def test_a_file_with_an_error(tmp_path, monkeypatch, text, error):
    monkeypatch.setattr(opbench_torch.kernels, "_REGISTERED", [])
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(opbench_torch.DumperError) as caught:
        opbench_torch.kernels.load_kernels(os.fspath(path))
    assert error in str(caught.value)


def test_what_is_printed_does_not_reach_opbench(tmp_path):
    (tmp_path / "loud.py").write_text(
        "import os, sys, opbench_torch\nprint('while loading')\n"
        "@opbench_torch.kernel('relu')\ndef loud(x):\n    os.write(1, b'by descriptor'); print(repr(sys.stdin.read()))\n"
        "    os.close(3); return x.clamp(min=0)\n")
    with Host("--kernels", tmp_path / "loud.py") as host:
        assert (Call(host, [("fp32", X)], [("fp32", X.shape)], op="relu").result() == np.maximum(X, 0)).all()
        code, printed = host.end()
    assert code == 0 and printed == "while loading\nby descriptor''\n"


def test_the_example():
    with Host("--kernels", os.path.join(ROOT, "examples/kernels_python/kernels.py")) as host:
        for number in range(len(host.describe()["kernels"])):
            call = Call(host, [("fp32", X)], [("fp32", X.shape)], ATTRS, number)
            np.testing.assert_allclose(call.result(), SOFTPLUS, rtol=1e-6)


CHANGES = """
    import gc, sys, concurrent.futures, torch, opbench_torch
    kernel = opbench_torch.kernel
    pool = concurrent.futures.ThreadPoolExecutor(1)
    pool.submit(int).result()

    def late(x, y):
        import time
        time.sleep(0.15)
        y.copy_(x.clamp(min=0))

    @kernel("relu")
    def by_pool(x):
        y = torch.zeros_like(x)
        pool.submit(late, x, y)
        return y

    @kernel("relu")
    def method(x):
        to = torch.Tensor.to
        torch.Tensor.to = lambda *args: to(*args)
        return x.clamp(min=0)

    @kernel("relu")
    def clock(x):
        device = next(held for held in gc.get_objects() if type(held).__name__ == "Cpu")
        timed = device.timed
        device.timed = lambda function: timed(function)._replace(seconds=1e-9)
        return x.clamp(min=0)
"""


def test_changes_of_the_guest(tmp_path):
    (tmp_path / "changes.py").write_text(textwrap.dedent(CHANGES))
    with Host("--kernels", tmp_path / "changes.py") as host:
        calls = [Call(host, [("fp32", X)], [("fp32", X.shape)], {}, number, op="relu") for number in range(3)]
        calls[0].load()
        calls[0].ask("call")
        time.sleep(0.3)
        assert "wrote its output t1 after the call" in calls[0].ask("fetch")["error"]
        assert (calls[1].result() == np.maximum(X, 0)).all() and "torch.Tensor.to is replaced" in calls[1].note
        assert calls[2].run()["error"].endswith("changed timed of the guest, which measures it")
