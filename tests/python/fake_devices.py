"""A stand-in for torch.cuda and torch_npu. Its work waits until a synchronisation; a wrong order of calls is an error."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

ND, NC1HWC0, FRACTAL_NZ = 2, 3, 29


class WrongOrder(AssertionError):
    pass


class Stream:
    def __init__(self, name):
        self.name, self.queue = name, []

    def synchronize(self):
        while self.queue:
            self.queue.pop(0)()


class FakeDevice:
    """The module torch.cuda or torch.npu, and torch_npu itself. `log` has the calls in their order."""

    __version__ = "2.1"
    DEFAULT, SIDE = range(2)

    def __init__(self):
        self.log, self.formats = [], {}  # the formats of the device's tensors by address
        self._kept = []  # an address is used once
        self.streams = [Stream("default"), Stream("side")]
        self.current, self.window = self.streams[0], None
        self.config = type("Config", (), {"allow_internal_format": False})()

    # The names that torch.cuda and torch.npu have.
    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 1)
    current_device = staticmethod(lambda: 0)
    get_device_name = staticmethod(lambda index: "stand-in")
    set_device = staticmethod(lambda index: None)

    def set_compile_mode(self, jit_compile):
        self.log.append(f"jit_compile={jit_compile}")

    def current_stream(self):
        return self.current

    def set_stream(self, stream):
        self.current = stream

    def synchronize(self):
        self.log.append("synchronize")
        for stream in self.streams:
            stream.synchronize()

    def Event(self, enable_timing=False):
        return FakeEvent(self)

    # The names of torch_npu.
    def get_npu_format(self, tensor):
        return self.formats.get(tensor.data_ptr(), ND)

    def npu_format_cast(self, tensor, number):
        if self.window is not None:
            raise WrongOrder(f"a format cast to {number} within the time")
        self.log.append(f"cast to {number}")
        return self._made(lambda: tensor, tensor, number, self.current)

    def to(self, tensor, device):
        """The method of tensors."""
        self.log.append("to the device")
        return self._made(lambda: tensor, tensor, ND, self.current)

    def compute(self, function, tensor, stream=None):
        """Starts an elementwise operator. Its result has the format of its input."""
        self.log.append("work")
        return self._made(lambda: function(tensor), tensor, self.get_npu_format(tensor), stream or self.current)

    def _made(self, value, like, number, stream):
        made = torch.full_like(like, float("nan"))
        self.formats[made.data_ptr()] = number
        self._kept.append(made)
        stream.queue.append(lambda: made.copy_(value()))
        return made

    def busy(self):
        return [stream.name for stream in self.streams if stream.queue]

    def copying(self):
        """A mode that checks copies to the host, which wait for the current stream."""
        fake = self

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                if func._schema.name == "aten::copy_" and args[1].data_ptr() in fake.formats and \
                        args[0].data_ptr() not in fake.formats:
                    fake.read(args[1])
                return func(*args, **(kwargs or {}))

        return Mode()

    def read(self, tensor):
        self.log.append("to the host")
        if self.get_npu_format(tensor) in (NC1HWC0, FRACTAL_NZ):
            raise WrongOrder(f"an output is in the private format {self.get_npu_format(tensor)}")
        self.current.synchronize()
        if self.busy():
            raise WrongOrder(f"the stream {self.busy()[0]} is not waited for")


class FakeEvent:
    def __init__(self, device):
        self._device, self._stream, self._is_over = device, None, False

    def record(self, stream=None):
        device = self._device
        self._stream = stream or device.current
        if device.window is None:
            if device.busy():
                raise WrongOrder(f"the time starts while the stream {device.busy()[0]} works")
            device.window = self
        else:
            device.window = None
        self._is_over = False
        self._stream.queue.append(self._end)
        device.log.append("record")

    def _end(self):
        self._is_over = True

    def synchronize(self):
        self._device.log.append("wait for the event")
        while not self._is_over:
            self._stream.queue.pop(0)()

    def elapsed_time(self, end):
        self._device.log.append("elapsed")
        if not self._is_over or not end._is_over:
            raise WrongOrder("the time is read before a synchronisation")
        if self._device.busy():
            raise WrongOrder(f"the time is read while the stream {self._device.busy()[0]} works")
        return 1.0
