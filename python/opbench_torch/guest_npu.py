"""The Ascend NPU as a device of a guest: torch_npu, and the patched PyTorch 1.5, whose torch.npu needs no import."""

from __future__ import annotations

import importlib
import os
from typing import Any, Optional

import torch

from .errors import DumperError
from .guest_clocks import ClockReader, driver_index, npu_clock, npu_commands
from .guest_device import Accelerator, installed_version
from .guest_memory import Refused

# Numbers of CANN's formats.
_FORMATS = {"NCHW": 0, "NHWC": 1, "ND": 2, "NC1HWC0": 3, "FRACTAL_Z": 4, "HWCN": 16, "NDHWC": 27, "FRACTAL_NZ": 29, "NCDHW": 30,
            "NDC1HWC0": 32, "FRACTAL_Z_3D": 33}
_PRIVATE = {number: name for name, number in _FORMATS.items() if name.startswith("FRACTAL") or name.endswith("C0")}


class Npu(Accelerator):
    device_type = 12  # kDLExtDev, which torch_npu uses

    def __init__(self, name: str) -> None:
        self._extension = _extension()
        module = getattr(torch, "npu", None)
        if module is None or not module.is_available():
            found = f"torch_npu {_version(self._extension)}" if self._extension else f"PyTorch {torch.__version__} without it"
            raise DumperError(f"torch:{name} needs torch_npu and an NPU with its driver; found {found}"
                              + (", which has no device" if self._extension else ""))
        super().__init__(name, module)
        if hasattr(module, "set_compile_mode"):
            module.set_compile_mode(jit_compile=False)  # the default compiles each shape in its first call
        if hasattr(module, "config"):
            module.config.allow_internal_format = True  # without it private formats become ND silently

    def software(self) -> str:
        extension = f", torch_npu {_version(self._extension)}" if self._extension else ""
        cann = _cann_version()
        return f"PyTorch {torch.__version__}{extension}" + (f", CANN {cann}" if cann else "")

    def placed(self, tensor: torch.Tensor, format_: str) -> torch.Tensor:
        placed = tensor.to(self.torch_device)
        if format_ not in _FORMATS:
            raise Refused(f"{self.name} does not hold tensors in {format_}")
        return self._cast(placed, _FORMATS[format_]) if _FORMATS[format_] in _PRIVATE else placed

    def plain(self, tensor: torch.Tensor) -> torch.Tensor:
        if self.format_of(tensor) is None:
            return tensor
        return self._cast(tensor, _FORMATS[{4: "NCHW", 5: "NCDHW"}.get(tensor.dim(), "ND")])

    def format_of(self, tensor: torch.Tensor) -> Optional[str]:
        for holder in (self._extension, torch):
            if hasattr(holder, "get_npu_format"):
                return _PRIVATE.get(int(holder.get_npu_format(tensor)))
        return None

    def private(self, format_: str) -> Optional[str]:
        return format_ if format_ in _PRIVATE.values() else None

    def _cast(self, tensor: torch.Tensor, number: int) -> torch.Tensor:
        if hasattr(self._extension, "npu_format_cast"):
            return self._extension.npu_format_cast(tensor, number)
        return tensor.npu_format_cast(number)

    def clocks(self) -> Optional[ClockReader]:
        index = driver_index(int(self.name.split(":")[1]), "ASCEND_RT_VISIBLE_DEVICES")
        return ClockReader(npu_commands(index), npu_clock)

    def begin_overflow(self) -> None:
        self._flag("clear_npu_overflow_flag")

    def overflowed(self) -> bool:
        return bool(self._flag("get_npu_overflow_flag"))

    # Chips that compute Inf and NaN have no flag, and raise.
    def _flag(self, function: str) -> Any:
        try:
            return getattr(self._module, function, lambda: None)()
        except RuntimeError:
            return None

    def set_mode(self, mode: str) -> None:
        if not hasattr(self._module, "set_option"):
            raise DumperError(f"{self.software()} has no set_option for the implementation mode {mode}")
        self._module.set_option({"ACL_OP_SELECT_IMPL_MODE": mode})
        for unit in ("matmul", "conv"):
            if hasattr(self._module, unit):
                getattr(self._module, unit).allow_hf32 = mode == "high_performance"


def _extension() -> Any:
    try:
        return importlib.import_module("torch_npu")
    except ModuleNotFoundError as error:
        if error.name != "torch_npu":
            raise
        return None
    except (ImportError, OSError, RuntimeError) as error:  # CANN's libraries are not in the path
        raise DumperError(f"torch_npu cannot be imported: {error}; load CANN's set_env.sh") from error


def _version(extension: Any) -> str:
    return str(getattr(extension, "__version__", "of unknown version"))


def _cann_version() -> Optional[str]:
    folders = [os.environ.get(name, "") for name in ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH")]
    return installed_version([folder for folder in folders if folder])
