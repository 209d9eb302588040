"""python -m opbench_torch serve: computes kernels and operators for opbench, by the protocol of docs/devices.md."""

from __future__ import annotations

import importlib
import json
import math
import os
import signal
import sys
from typing import Any, Callable, Dict, Iterator, List, Optional

from .errors import DumperError, missing
from .guest_clocks import as_answer
from .kernels import Kernel, described, first_line, load_kernels

PROTOCOL = (1, 1)
_MEMORY_DESCRIPTOR = 3
_NUMBERS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
Answer = Dict[str, Any]


class Channel:
    """Requests and answers. Takes standard input and output for itself: what kernels print goes to standard error."""

    def __init__(self) -> None:
        self._in = os.fdopen(os.dup(0), "rb")
        self._out = os.dup(1)
        self._write = os.write
        os.dup2(2, 1)
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        sys.stdout = sys.__stdout__ = sys.stderr

    def lines(self) -> Iterator[bytes]:
        return iter(self._in.readline, b"")

    def answer(self, answer: Answer) -> None:
        rest = memoryview(json.dumps(answer).encode() + b"\n")
        while rest:
            rest = rest[self._write(self._out, rest):]


class Guest:
    """Answers requests. An error at the start is the answer to all of them."""

    def __init__(self, device: str, kernels: Optional[str], mode: Optional[str]) -> None:
        self._file = os.path.abspath(kernels) if kernels else ""
        self._kernels: List[Kernel] = []
        self._sessions: Dict[int, Any] = {}
        self._said: Dict[int, str] = {}
        self._failure: Optional[str] = None
        try:
            self._start(device, mode)
        except DumperError as error:
            self._failure = str(error)
        except Exception as error:
            self._failure = f"{type(error).__name__}: {first_line(str(error))}"

    def _start(self, device: str, mode: Optional[str]) -> None:
        try:
            self._modules = {name: importlib.import_module(f".guest_{name}", __package__)
                             for name in ("device", "expression", "integrity", "kernel", "memory", "session")}
        except ModuleNotFoundError as error:
            raise missing(error, f"torch:{device}") from error
        self._memory = self._modules["memory"].SharedMemory(_MEMORY_DESCRIPTOR)
        self._device = self._modules["device"].open_device(device, mode)
        self._clocks = self._device.clocks()
        self._integrity = self._modules["integrity"].Integrity([self._device])
        self._modules["memory"].limit_memory()
        if self._file:
            self._kernels = load_kernels(self._file)

    def answer(self, line: bytes) -> Answer:
        try:
            request = json.loads(line)
            if self._failure:
                raise DumperError(self._failure)
            handlers: Dict[str, Callable[[Answer], Answer]] = {
                "describe": self._describe, "open": self._open, "load": self._load, "call": self._call, "fetch": self._fetch,
                "clocks": self._read_clocks, "close": self._close}
            handler = handlers.get(request.get("do"))
            if handler is None:
                raise DumperError(f"{request.get('do')!r} is unknown; one of {', '.join(handlers)}")
            return self._with_note(request, handler(request))
        except BaseException as error:  # a kernel may raise SystemExit
            return self._error(error)

    def _error(self, error: BaseException) -> Answer:
        if "memory" in getattr(self, "_modules", {}) and isinstance(error, self._modules["memory"].Refused):
            return {"refused": str(error)}
        if isinstance(error, DumperError):
            return {"error": str(error)}
        return {"error": described(error, self._file)}

    def is_lost(self) -> bool:
        """True if the device fails from now on."""
        return self._failure is None and self._device.is_lost()

    def _with_note(self, request: Answer, answer: Answer) -> Answer:
        number = request.get("session", -1)
        session = self._sessions.get(number)
        if session is not None and session.notes() != self._said.get(number, ""):
            answer["note"] = self._said[number] = session.notes()
        return answer

    def _describe(self, request: Answer) -> Answer:
        version = request.get("protocol", PROTOCOL)
        if version[0] != PROTOCOL[0]:
            raise DumperError(f"opbench speaks protocol {version[0]}.{version[1]}, this package {PROTOCOL[0]}.{PROTOCOL[1]}; "
                              f"install the package of this opbench")
        kernels = [{"op": kernel.op, "name": kernel.name, "summary": kernel.summary, "dtypes": kernel.dtypes,
                    "formats": kernel.formats, "source": kernel.source} for kernel in self._kernels]
        # Work before and after a timed call is done in `load` and `fetch`, on the CPU too.
        return {"protocol": list(PROTOCOL), "device": self._device.name, "hardware": self._device.hardware(),
                "software": self._device.software(), "device_type": self._device.device_type, "has_own_memory": True,
                "runs_torch": True, "reports_clocks": self._clocks is not None and self._clocks.is_there(),
                "kernels": kernels}

    def _open(self, request: Answer) -> Answer:
        self._memory.grow(request.get("memory", 0))
        desc_of = self._modules["memory"].TensorDesc.of
        inputs, outputs = ([desc_of(tensor) for tensor in request[side]] for side in ("inputs", "outputs"))
        attrs = {name: _number(value) for name, value in request.get("attrs", {}).items()}
        session = self._modules["session"].Session(self._computation(request, inputs, outputs, attrs), inputs, outputs,
                                                   self._memory, self._device, request.get("threads", 1))
        session.open()
        self._said.pop(request["session"], None)
        self._sessions[request["session"]] = session
        return {}

    def _computation(self, request: Answer, inputs: Any, outputs: Any, attrs: Dict[str, Any]) -> Any:
        torch_call = request.get("torch")
        if torch_call is None:
            kernel = self._kernels[request["kernel"]]
            return self._modules["kernel"].KernelCall(kernel, inputs, outputs, attrs, self._device.torch_device)
        module, expression = self._modules["expression"], torch_call["expression"]
        if "gradients" not in torch_call:
            return module.ExpressionCall(expression, outputs, attrs)
        return module.GradientCall(expression, torch_call["gradients"], torch_call["arguments"], inputs, outputs, attrs)

    def _session(self, request: Answer) -> Any:
        if request.get("session") not in self._sessions:
            raise DumperError(f"session {request.get('session')} is not open")
        self._memory.grow(request.get("memory", 0))
        return self._sessions[request["session"]]

    def _load(self, request: Answer) -> Answer:
        session = self._session(request)
        session.load()
        if request.get("cold"):
            session.empty_caches()
        return {}

    def _call(self, request: Answer) -> Answer:
        return self._session(request).call()

    def _fetch(self, request: Answer) -> Answer:
        session = self._session(request)
        session.fetch()
        self._integrity.check(session)
        replaced = self._integrity.replaced_methods()
        if replaced:
            session.note(f"torch.Tensor.{replaced[0]} is replaced")
        return {}

    def _read_clocks(self, request: Answer) -> Answer:
        return as_answer(self._clocks.read()) if self._clocks is not None else {}

    def _close(self, request: Answer) -> Answer:
        session = self._sessions.pop(request.get("session"), None)
        if session is not None:
            session.close()
        return {}


# Numbers that JSON does not have are texts.
def _number(value: Any) -> Any:
    if isinstance(value, list):
        return [_number(element) for element in value]
    return _NUMBERS.get(value, value) if isinstance(value, str) else value


def serve(device: str, kernels: Optional[str], mode: Optional[str]) -> int:
    """Returns the exit code: 0 after the end of standard input, 1 if the device failed for good.
    Errors: DumperError if opbench did not start this process."""
    try:
        os.fstat(_MEMORY_DESCRIPTOR)
    except OSError as error:
        raise DumperError("`serve` is started by opbench, which shares memory as descriptor 3: pass --kernels FILE.py or "
                          "--device torch:cpu to `opbench run`") from error
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    channel = Channel()
    guest = Guest(device, kernels, mode)
    try:
        for line in channel.lines():
            answer = guest.answer(line)
            channel.answer(answer)
            if "error" in answer and guest.is_lost():
                return 1
    except BrokenPipeError:
        pass
    return 0
