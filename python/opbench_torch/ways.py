"""Processing of a call: record it, replace its inputs, or check it for overflow."""

from __future__ import annotations

import itertools
import sys
import threading
from collections import Counter
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import torch

from .backward import saved_values
from .calls import NodeCall, OperatorCall
from .layout import Named, TensorValue
from .recorded import Match, Recorded, describe
from .reduction import Statistics

# One counter for the process, for all names and files, like in the original dumper.
_sequence = itertools.count(1)

_HALF, _LARGEST_HALF = 10, 65504.0


class Dump:
    """Records every call, with inputs and outputs."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def operator(self, call: Any) -> Any:
        session = self._session
        with session.quiet():
            seq = next(_sequence)
            inputs = call.inputs(session.copy)
        result = self._run(call)
        with session.quiet():
            for tensor in call.written() if isinstance(session.copy, Statistics) else ():
                session.copy.written(tensor)
            outputs = call.outputs(result, session.copy)
        if outputs:
            self._keep(call, seq, inputs, outputs)
        return result

    def before_node(self, call: NodeCall) -> Any:
        return None

    def after_node(self, call: NodeCall, grad_inputs: Any) -> None:
        with self._session.quiet():
            seq = next(_sequence)
            copy = self._session.copy
            self._keep(call, seq, call.inputs(copy), call.outputs(grad_inputs, copy))

    def finish(self) -> None:
        pass

    def _run(self, call: Any) -> Any:
        return call.run()

    def _keep(self, call: Any, seq: int, inputs: List[Named], outputs: List[Named]) -> None:
        self._session.say(call, seq, "dump inputs")
        self._session.say(call, seq, "dump outputs")
        self._session.put(call, seq, inputs, outputs)


class Overflow(Dump):
    """Records only calls that overflow: by the device's flag if it has one, else by special values that the inputs do
    not have."""

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._flag = _device_flag()
        self._thread = threading.local()

    def before_node(self, call: NodeCall) -> Any:
        if self._flag:
            self._flag[0]()

    def _run(self, call: Any) -> Any:
        if self._flag:
            self._flag[0]()
        return call.run()

    def _keep(self, call: Any, seq: int, inputs: List[Named], outputs: List[Named]) -> None:
        is_npu = any(isinstance(value, TensorValue) and value.device_type == 10 for _, value in outputs)
        if self._flag and is_npu:
            is_overflow = bool(self._flag[1]())
        else:
            is_overflow = _has_special(outputs) and not _has_special(inputs)
        if is_overflow:
            print(f"IR: {call.name} SeqId: {seq} is overflow!")
            self._session.put(call, seq, inputs, outputs)


def _device_flag() -> Optional[Tuple[Any, Any]]:
    """Clears and reads an NPU's overflow flag."""
    torch_npu = sys.modules.get("torch_npu")
    utils = getattr(getattr(torch_npu, "npu", None), "utils", None)
    clear, read = getattr(utils, "clear_npu_overflow_flag", None), getattr(utils, "get_npu_overflow_flag", None)
    return (clear, read) if clear and read else None


# Special values are Inf and NaN; in fp16 also the largest number, because some devices saturate.
def _has_special(values: List[Named]) -> bool:
    for _, value in values:
        if not isinstance(value, TensorValue) or value.array.dtype.kind not in "fc":
            continue
        if not np.isfinite(value.array).all():
            return True
        if value.data_type == _HALF and (np.abs(value.array) == _LARGEST_HALF).any():
            return True
    return False


class Load:
    """Runs each call on the inputs from a dump. Writes outputs only, with the dump's numbers."""

    def __init__(self, session: Any, recorded: Recorded) -> None:
        self._session, self._recorded = session, recorded
        self.unmatched: "Counter[str]" = Counter()
        self._running: Dict[Any, Tuple[Match, List[Tuple[torch.Tensor, torch.Tensor]]]] = {}

    def operator(self, call: Any) -> Any:
        assert isinstance(call, OperatorCall)
        with self._session.quiet():
            match = self._find(call)
            if match is not None:
                call = match.feed(call)
        result = call.run()
        if match is not None:
            with self._session.quiet():
                self._session.put(call, match.seq, None, call.outputs(result, self._session.copy))
        return result

    def before_node(self, call: NodeCall) -> Any:
        with self._session.quiet():
            match = self._find(call)
            if match is None:
                return None
            restored = []
            for name, tensor in saved_values(call.node).items():
                if isinstance(tensor, torch.Tensor):
                    restored.append((tensor, tensor.detach().clone()))
                    match.fill(name, tensor)
            self._running[call.node] = (match, restored)
            return tuple(match.tensor(f"grads/grads_{index}", grad) if grad is not None else None
                         for index, grad in enumerate(call.grads))

    def after_node(self, call: NodeCall, grad_inputs: Any) -> None:
        match, restored = self._running.pop(call.node, (None, []))
        if match is None:
            return
        with self._session.quiet():
            self._session.put(call, match.seq, None, call.outputs(grad_inputs, self._session.copy))
            for tensor, before in restored:
                tensor.data.copy_(before)

    def finish(self) -> None:
        self._recorded.close()
        if self.unmatched:
            total = sum(self.unmatched.values())
            names = ", ".join(f"{name} x{count}" for name, count in sorted(self.unmatched.items()))
            print(f"opbench: {total} calls have no record in {self._recorded.path} and ran with their own inputs: {names}",
                  file=sys.stderr)

    def _find(self, call: Any) -> Optional[Match]:
        match = self._recorded.find(call.name, call.inputs(describe))
        if match is None:
            self.unmatched[call.name] += 1
        else:
            self._session.say(call, match.seq, "load inputs")
        return match
