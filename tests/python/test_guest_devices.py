"""The order of calls for CUDA and NPUs, against a stand-in: no such device is here."""

import os
import sys

import numpy as np
import pytest
import torch
from fake_devices import FRACTAL_NZ, NC1HWC0, FakeDevice, WrongOrder

from opbench_torch import guest_device, guest_kernel, guest_memory, guest_session, kernels
from opbench_torch.errors import DumperError

X = np.linspace(-3, 3, 32, dtype=np.float32).reshape(1, 2, 4, 4)
TIMED = ["synchronize", "record", "work", "record", "wait for the event", "synchronize", "elapsed"]


@pytest.fixture
def fake():
    return FakeDevice()


@pytest.fixture(params=["cuda", "npu"])
def device(request, fake, monkeypatch):
    return opened(request.param, fake, monkeypatch)


@pytest.fixture
def npu(fake, monkeypatch):
    return opened("npu", fake, monkeypatch)


def opened(kind, fake, monkeypatch):
    cpu = torch.device("cpu")
    monkeypatch.setattr(torch, kind, fake, raising=False)
    monkeypatch.setitem(sys.modules, "torch_npu", fake)
    monkeypatch.setattr(torch.Tensor, "to", lambda tensor, device: fake.to(tensor, device))
    with monkeypatch.context() as patch:
        patch.setattr(torch, "device", lambda name: cpu)
        device = guest_device.open_device(f"{kind}:0", None)
    fake.synchronize()
    fake.window = None
    fake.log.clear()
    return device


def one_call(fake, device, function, format_="ND", cold=False):
    """load, call, fetch. Returns the output and the answer of `call`."""
    descriptor = os.memfd_create("tensors")
    os.ftruncate(descriptor, 4096)
    memory = guest_memory.SharedMemory(descriptor)
    os.close(descriptor)
    memory.grow(4096)
    x, y = (guest_memory.TensorDesc(name, "fp32", format_, list(X.shape), list(X.shape), at) for name, at in (("x", 0), ("y", 1024)))
    kernel = kernels.Kernel("relu", "mine", function, [], [], False, "torch", None, __file__, 1)
    computation = guest_kernel.KernelCall(kernel, [x], [y], {}, device.torch_device)
    computation.is_users = format_ == "ND"  # other formats are those of expressions
    session = guest_session.Session(computation, [x], [y], memory, device, torch.get_num_threads())
    memory.tensor(x).copy_(torch.from_numpy(X))
    with fake.copying():
        session.load()
        if cold:
            session.empty_caches()
        answer = session.call()
        session.fetch()
    return memory.tensor(y).numpy().copy(), answer, session.notes()


def test_the_order_of_a_call(fake, device):
    for _ in range(2):
        fake.log.clear()
        result, answer, _ = one_call(fake, device, lambda x: fake.compute(torch.relu, x))
        assert (result == np.maximum(X, 0)).all() and answer["device_seconds"] == pytest.approx(1e-3, rel=0.5)
        assert fake.log == ["to the device", "synchronize", *TIMED, "to the host"]


def test_caches_are_emptied_before_the_time(fake, device, monkeypatch):
    monkeypatch.setattr(guest_device, "_CACHE_BYTES", 64)
    one_call(fake, device, lambda x: fake.compute(torch.relu, x), cold=True)
    assert fake.log == ["to the device", "synchronize", "synchronize", *TIMED, "to the host"]


def test_work_of_another_stream_is_waited_for(fake, device):
    result, _, _ = one_call(fake, device, lambda x: fake.compute(torch.relu, x, fake.streams[fake.SIDE]))
    assert (result == np.maximum(X, 0)).all()


@pytest.mark.parametrize("fails", [False, True])
def test_the_stream_is_restored(fake, device, fails):
    def switches(x):
        fake.set_stream(fake.streams[fake.SIDE])
        return fake.compute(torch.relu, None if fails else x)

    if fails:
        with pytest.raises(AttributeError):
            one_call(fake, device, switches)
        fake.window = None
        result, _, _ = one_call(fake, device, lambda x: fake.compute(torch.relu, x))
    else:
        result, _, _ = one_call(fake, device, switches)
    assert (result == np.maximum(X, 0)).all() and fake.current is fake.streams[fake.DEFAULT]


@pytest.mark.parametrize("format_, number", [("NC1HWC0", NC1HWC0), ("FRACTAL_NZ", FRACTAL_NZ)])
def test_formats_are_cast_outside_of_the_time(fake, npu, format_, number):
    result, _, notes = one_call(fake, npu, lambda x: fake.compute(torch.relu, x), format_)
    assert (result == np.maximum(X, 0)).all() and notes == ""
    assert fake.log == ["to the device", f"cast to {number}", "synchronize", *TIMED, "cast to 0", "to the host"]
    assert fake.config.allow_internal_format


def test_the_overflow_flag_is_that_of_the_call(fake, npu, monkeypatch):
    monkeypatch.setattr(fake, "clear_npu_overflow_flag", lambda: fake.log.append("clear the flag"), raising=False)
    monkeypatch.setattr(fake, "get_npu_overflow_flag", lambda: True, raising=False)
    _, _, notes = one_call(fake, npu, lambda x: fake.compute(torch.relu, x))
    assert notes.endswith("the device's overflow flag is set")
    assert fake.log == ["to the device", "clear the flag", "synchronize", *TIMED, "to the host"]


def test_the_implementation_mode_is_an_option_of_the_npu(fake, npu, monkeypatch):
    options = {}
    monkeypatch.setattr(fake, "set_option", options.update, raising=False)
    npu.set_mode("high_performance")
    assert options == {"ACL_OP_SELECT_IMPL_MODE": "high_performance"}


def test_what_an_npu_does_not_hold_is_refused(npu):
    with pytest.raises(guest_memory.Refused, match="npu:0 does not hold tensors in NHWC0"):
        npu.placed(torch.zeros(1), "NHWC0")


def test_a_device_that_is_not_visible(fake, device, monkeypatch):
    with pytest.raises(DumperError, match=f"{device.name[:-2]}:3 does not exist; 1 devices are visible"):
        guest_device.open_device(f"{device.name[:-2]}:3", None)


# Wrong orders, and what the stand-in says.
def unsynchronized_time(fake, device):
    begin, end = fake.Event(), fake.Event()
    begin.record()
    fake.compute(torch.relu, torch.zeros(1))
    end.record()
    begin.elapsed_time(end)


def unsynchronized_start(fake, device):
    device.placed(torch.zeros(1), "ND")
    fake.Event().record()


def other_stream(fake, device):
    result = fake.compute(torch.relu, torch.zeros(1), fake.streams[fake.SIDE])
    with fake.copying():
        torch.zeros(1).copy_(result)


def other_stream_in_time(fake, device):
    begin, end = fake.Event(), fake.Event()
    begin.record()
    fake.compute(torch.relu, torch.zeros(1), fake.streams[fake.SIDE])
    end.record()
    end.synchronize()
    begin.elapsed_time(end)


def guest_without_synchronize(fake, device):
    device._synchronize = fake.synchronize = lambda: None
    device.timed = guest_device._device_clock(fake)
    fake.window = None
    one_call(fake, device, lambda x: fake.compute(torch.relu, x))


def private_output(fake, device):
    device.plain = lambda tensor: tensor
    one_call(fake, device, lambda x: fake.compute(torch.relu, x), "FRACTAL_NZ")


def cast_in_time(fake, device):
    one_call(fake, device, lambda x: device.plain(fake.compute(torch.relu, x)), "NC1HWC0")


@pytest.mark.parametrize("wrong, text", [
    (unsynchronized_time, "is read before a synchronisation"), (unsynchronized_start, "starts while the stream default works"),
    (other_stream, "the stream side is not waited for"), (other_stream_in_time, "is read while the stream side works"),
    (guest_without_synchronize, "starts while the stream default works"), (private_output, "in the private format 29"),
    (cast_in_time, "a format cast to 0 within the time")])
def test_the_stand_in_finds_a_wrong_order(fake, npu, wrong, text):
    with pytest.raises(WrongOrder, match=text):
        wrong(fake, npu)
