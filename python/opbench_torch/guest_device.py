"""Devices of a guest: time of a call, formats, caches and names."""

from __future__ import annotations

import glob
import importlib
import os
import platform
import time
from typing import Any, Callable, List, NamedTuple, Optional

import torch

from .errors import DumperError
from .guest_clocks import ClockReader, driver_index, nvidia_clock, nvidia_commands
from .guest_memory import Refused

#: More than the caches of any device: 192 MB on an Ascend 910B, 50 MB on an H100, 1.1 GB on CPUs with stacked caches,
#: of which one core uses 96 MB.
_CACHE_BYTES = 256 << 20
#: Work that ends this long after the events of the call's stream is on another stream.
_OTHER_STREAM_SECONDS = 50e-6
_MODES = ("high_precision", "high_performance")


class Timed(NamedTuple):
    result: Any
    seconds: float
    device_seconds: Optional[float]


class Cpu:
    """The CPU. Its tensors are the shared memory itself."""

    name = "cpu"
    device_type = 1  # of DLPack, as below

    def __init__(self) -> None:
        self.torch_device = torch.device("cpu")
        self.timed = _cpu_clock()
        self._cache: Optional[torch.Tensor] = None

    def hardware(self) -> str:
        try:
            with open("/proc/cpuinfo", encoding="utf-8") as file:
                names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
        except OSError:
            names = []
        return names[0] if names else platform.processor() or platform.machine()

    def software(self) -> str:
        return f"PyTorch {torch.__version__}"

    def synchronize(self) -> None:
        pass

    def is_lost(self) -> bool:
        return False

    def empty_caches(self) -> None:
        if self._cache is None:
            self._cache = torch.empty(_CACHE_BYTES, dtype=torch.uint8, device=self.torch_device)
        self._cache.fill_(1)
        self.synchronize()

    def placed(self, tensor: torch.Tensor, format_: str) -> torch.Tensor:
        """The tensor on the device in a format. Errors: Refused for a format that the device does not have."""
        return _in_memory_format(tensor, format_, self.name)

    def plain(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor in the origin format, still on the device."""
        return tensor

    def format_of(self, tensor: torch.Tensor) -> Optional[str]:
        """A private format; None for others."""
        return None

    def private(self, format_: str) -> Optional[str]:
        """The format if it is a private one of the device, else None."""
        return None

    def clocks(self) -> Optional[ClockReader]:
        """None if this device does not report its clock. opbench reads that of the CPU."""
        return None

    def begin_overflow(self) -> None:
        pass

    def overflowed(self) -> bool:
        return False

    def set_mode(self, mode: str) -> None:
        raise DumperError(f"{self.name} has no implementation modes")


class Accelerator(Cpu):
    """A device with streams and events: `module` is torch.cuda or torch.npu."""

    def __init__(self, name: str, module: Any) -> None:
        super().__init__()
        self.name = name
        self._module = module
        index = int(name.split(":")[1])
        if index >= module.device_count():
            raise DumperError(f"torch:{name} does not exist; {module.device_count()} devices are visible, counted from 0")
        module.set_device(index)
        self.torch_device = torch.device(name)
        self._synchronize = module.synchronize
        self.timed = _device_clock(module)

    def synchronize(self) -> None:
        self._synchronize()

    def is_lost(self) -> bool:
        try:
            self._synchronize()
        except RuntimeError:
            return True
        return False

    def placed(self, tensor: torch.Tensor, format_: str) -> torch.Tensor:
        return _in_memory_format(tensor.to(self.torch_device), format_, self.name)

    def hardware(self) -> str:
        return str(self._module.get_device_name(self._module.current_device()))


class Cuda(Accelerator):
    device_type = 10 if getattr(torch.version, "hip", None) else 2

    def __init__(self, name: str) -> None:
        if not torch.cuda.is_available():
            raise DumperError(f"torch:{name} needs a PyTorch with CUDA and a driver; found PyTorch {torch.__version__}, which "
                              f"has no CUDA device")
        super().__init__(name, torch.cuda)

    def software(self) -> str:
        return f"{super().software()}, CUDA {torch.version.cuda or getattr(torch.version, 'hip', None)}"

    def clocks(self) -> Optional[ClockReader]:
        index = int(self.name.split(":")[1])
        named = getattr(torch.cuda.get_device_properties(index), "uuid", None)  # PyTorch 2.3 and later
        device = f"GPU-{named}" if named else driver_index(index, "CUDA_VISIBLE_DEVICES")
        return ClockReader(nvidia_commands(device), nvidia_clock)

    def set_mode(self, mode: str) -> None:
        torch.backends.cuda.matmul.allow_tf32 = mode == "high_performance"
        torch.backends.cudnn.allow_tf32 = mode == "high_performance"


def open_device(name: str, mode: Optional[str]) -> Cpu:
    """`name`: cpu, cuda:N, npu:N. Errors: DumperError if there is no such device."""
    kind, _, index = name.partition(":")
    if kind in ("cuda", "npu") and not (index or "0").isdigit() or kind == "cpu" and index or kind not in ("cpu", "cuda", "npu"):
        raise DumperError(f"torch:{name} is not a device; torch:cpu, torch:cuda:N or torch:npu:N")
    if mode is not None and mode not in _MODES:
        raise DumperError(f"the implementation mode {mode!r} is unknown; {' or '.join(_MODES)}")
    numbered = f"{kind}:{int(index or '0')}"
    if kind == "cpu":
        device = Cpu()
    elif kind == "cuda":
        device = Cuda(numbered)
    else:
        device = importlib.import_module(".guest_npu", __package__).Npu(numbered)
    if mode is not None:
        device.set_mode(mode)
    return device


# Functions of the clocks are bound here, before a user's file is loaded: a file that replaces them does not change times.
def _cpu_clock(now: Callable[[], int] = time.perf_counter_ns) -> Callable[[Callable[[], Any]], Timed]:
    def timed(function: Callable[[], Any]) -> Timed:
        start = now()
        result = function()
        return Timed(result, (now() - start) * 1e-9, None)

    return timed


def _device_clock(module: Any, now: Callable[[], int] = time.perf_counter_ns) -> Callable[[Callable[[], Any]], Timed]:
    event, synchronize, stream_of, set_stream = module.Event, module.synchronize, module.current_stream, module.set_stream
    event(enable_timing=True).record()  # the first one sets up the device

    def timed(function: Callable[[], Any]) -> Timed:
        stream, begin, end = stream_of(), event(enable_timing=True), event(enable_timing=True)
        synchronize()
        start = now()
        begin.record(stream)
        try:
            result = function()
        finally:
            set_stream(stream)
        end.record(stream)
        end.synchronize()
        of_stream = now()
        synchronize()  # all streams
        finish = now()
        device_seconds = begin.elapsed_time(end) * 1e-3  # of milliseconds
        later = (finish - of_stream) * 1e-9
        if later > _OTHER_STREAM_SECONDS:
            device_seconds += later
        return Timed(result, (finish - start) * 1e-9, device_seconds)

    return timed


def _in_memory_format(tensor: torch.Tensor, format_: str, device: str) -> torch.Tensor:
    if format_ in ("NHWC", "NDHWC"):
        layout = {4: torch.channels_last, 5: getattr(torch, "channels_last_3d", None)}.get(tensor.dim())
        if layout is not None:
            return tensor.contiguous(memory_format=layout)
    if format_ in ("ND", "NCHW", "NCDHW"):
        return tensor
    raise Refused(f"{device} does not hold {tensor.dim()}D tensors in {format_}")


def installed_version(folders: List[str], pattern: str = "*/ascend_toolkit_install.info") -> Optional[str]:
    """`version=` of a file that an installer of CANN writes."""
    for folder in folders:
        for path in glob.glob(os.path.join(folder, pattern)):
            with open(path, encoding="utf-8", errors="replace") as file:
                for line in file:
                    if line.lower().startswith("version="):
                        return line.split("=", 1)[1].strip()
    return None
