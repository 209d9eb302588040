"""Sessions of a guest: one kernel or expression with one case."""

from __future__ import annotations

import contextlib
import gc
import random
import sys
from typing import Any, Dict, Iterator, List, Optional, Sequence

import torch

from .guest_device import Cpu
from .guest_expression import refusal_of
from .guest_memory import Refused, SharedMemory, TensorDesc, torch_dtype
from .guest_operators import listed, recorded
from .guest_results import as_tensor, dense_copy, has_same_bits, is_view, range_of, sample_of, spoil

_count_threads = sys._current_frames
_SAMPLED = 0.25  # of the calls


class Session:
    """`call` computes the outputs from the inputs of the last `load`; `fetch` stores them."""

    def __init__(self, computation: Any, inputs: Sequence[TensorDesc], outputs: Sequence[TensorDesc], memory: SharedMemory,
                 device: Cpu, threads: int) -> None:
        self._computation, self._device, self._threads = computation, device, threads
        self._inputs, self._outputs = inputs, outputs
        self._shared = [memory.tensor(desc) for desc in inputs]
        self._stored = [memory.tensor(desc) for desc in outputs]
        self._placed: Optional[List[torch.Tensor]] = None
        self._results: List[torch.Tensor] = []
        self._samples: List[torch.Tensor] = []  # of the results when the time ended
        self._notes: Dict[str, None] = {}  # in their order
        self._is_first = True
        self._draw = random.Random().random  # of its own: a kernel cannot foresee it by random.seed

    def open(self) -> None:
        """Errors: Refused if the device or the kernel does not take the case."""
        self._set_threads()
        if self._computation.is_users:
            self._place(self._shared)
            self._computation.refusal(self._placed)
        else:
            self._try()
        self._placed = None

    # Computes from zeros: a dtype that the device does not compute is an error of the first operator that gets it. Other
    # errors may be due to the zeros.
    def _try(self) -> None:
        names: List[str] = []
        try:
            self._place([torch.zeros(desc.storage, dtype=torch_dtype(desc.dtype)) for desc in self._inputs])
            self._computation.prepare(self._placed)
            with recorded(names):
                self._computation.run()
            self._device.synchronize()
        except Refused:
            raise
        except Exception as error:
            reason = refusal_of(error)
            if reason:
                raise Refused(reason) from error
        if names:
            self.note(f"runs {listed(names)}")

    def load(self) -> None:
        self._set_threads()
        self._release()
        self._place(self._shared)
        self._computation.prepare(self._placed)
        self._device.begin_overflow()
        self._device.synchronize()

    def empty_caches(self) -> None:
        self._device.empty_caches()

    def call(self) -> Dict[str, Any]:
        if self._placed is None:
            self.load()
        self._set_threads()
        threads = len(_count_threads())
        names: List[str] = []
        with _without_collection(), recorded(names) if self._is_first else contextlib.nullcontext(), torch.no_grad():
            timed = self._device.timed(self._computation.run)
        results = self._computation.results(timed.result)
        answer = {"seconds": timed.seconds, "device_seconds": timed.device_seconds}
        self._copy_views(results, answer)
        self._results = [as_tensor(result) for result in results]
        # Threads of PyTorch, processes and threads of earlier calls are not counted below. Not in all calls: opbench counts
        # time that the clock leaves out.
        if self._computation.is_users and self._device.device_type == 1 and (self._is_first or self._draw() < _SAMPLED):
            self._samples = [sample_of(result) for result in self._results]
        if len(_count_threads()) > threads:
            self.note("its threads run after the call")
            # Their later writes do not count.
            self._results = [dense_copy(result) for result in self._results]
        if self._is_first:
            self._is_first = False
            answer["ran"] = names
            if names and self._computation.is_users:
                self.note(f"calls {listed(names)}")
        return {name: value for name, value in answer.items() if value is not None}

    # A view computes nothing: making the elements of the output belongs to the call.
    def _copy_views(self, results: List[Any], answer: Dict[str, Any]) -> None:
        inputs = [range_of(tensor) for tensor in self._placed or []]
        views = [i for i, result in enumerate(results) if is_view(result, inputs, self._format(i))]
        if not views:
            return
        with torch.no_grad():
            timed = self._device.timed(lambda: [dense_copy(results[i]) for i in views])
        for i, copy in zip(views, timed.result):
            results[i] = copy
        answer["seconds"] += timed.seconds
        if timed.device_seconds is not None:
            answer["device_seconds"] += timed.device_seconds
        self.note("a view, copied")

    def fetch(self) -> None:
        for desc, sample, result in zip(self._outputs, self._samples, self._results):
            if not has_same_bits(sample, sample_of(result)):
                raise ValueError(f"wrote its output {desc.name} after the call")
        with torch.no_grad():
            for i, (stored, result) in enumerate(zip(self._stored, self._results)):
                held = self._device.format_of(result)
                if not self._computation.is_users and held != self._device.private(self._format(i)):
                    self.note(f"{self._outputs[i].name} is in {held or 'the origin format'} on the device")
                if result.dtype is not stored.dtype:
                    self.note(f"PyTorch returns {str(result.dtype).replace('torch.', '')}")
                stored.copy_(self._device.plain(result))
        if self._device.overflowed():
            self.note("the device's overflow flag is set")
        if self._computation.is_users:
            self._check_inputs()
        self._release()

    # Inputs in shared memory are checked by opbench.
    def _check_inputs(self) -> None:
        for desc, shared, placed in zip(self._inputs, self._shared, self._placed or []):
            if placed.device.type != "cpu" and not has_same_bits(placed.cpu(), shared):
                raise ValueError(f"changed its input {desc.name}")

    def close(self) -> None:
        self._release()

    def note(self, text: str) -> None:
        self._notes[text] = None

    def notes(self) -> str:
        return "; ".join(self._notes)

    def _format(self, output: int) -> str:
        return "ND" if self._computation.is_users else self._outputs[output].format

    # Tensors of a user's kernel are in the extents of the storage.
    def _place(self, tensors: Sequence[torch.Tensor]) -> None:
        formats = ["ND" if self._computation.is_users else desc.format for desc in self._inputs]
        self._placed = [self._device.placed(tensor, format_) for tensor, format_ in zip(tensors, formats)]

    def _release(self) -> None:
        if self._computation.is_users:
            with torch.no_grad():
                for result in self._results:
                    spoil(result)
        self._results, self._samples = [], []

    def _set_threads(self) -> None:
        if torch.get_num_threads() != self._threads:
            torch.set_num_threads(self._threads)


@contextlib.contextmanager
def _without_collection() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
