"""Records every operator of a running model, forward and backward."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

import torch

from . import threads
from .arguments import has_tensor, makes_view, operator_name, writes
from .backward import BackwardWatch, node_name
from .calls import FunctionCall, NodeCall, OperatorCall
from .errors import DumperError
from .modes import CompositeMode, OperatorMode, bind_function, function_name, no_modes
from .places import ModulePaths, module_of
from .selection import Selection

_active: Optional["Observer"] = None


class Observer:
    """Passes selected calls to `way` while it watches: operator(call) runs a call and returns its result;
    before_node(call) and after_node(call, grad_inputs) are called around a node of autograd.

    level: "operators" as backends get them, or "composite" as the model calls them, outermost only.
    Errors: DumperError from `watch` if another dumper watches, and for models whose operators are hidden."""

    way: Any

    def __init__(self, what: str, level: str, select: Selection) -> None:
        if level not in ("operators", "composite"):
            raise DumperError(f"level is {level!r}; allowed are 'operators' and 'composite'")
        self.step = 0  # number of completed optimizer steps
        self.on_done: Optional[Callable[[], None]] = None  # called at the start of the first step that is not requested
        self.on_write: Optional[Callable[[torch.Tensor], None]] = None  # called with each tensor before an operator changes it
        self._what, self._level, self._select = what, level, select
        self._step_ends = False
        self._process = os.getpid()
        self._paths = ModulePaths(self._check_model)
        self._watch = BackwardWatch(self._begin_pass, self._before_node, self._after_node)

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        global _active
        if _active is not None:
            raise DumperError(f"{_active._what} is being captured already; one dumper at a time, so end that one first")
        with contextlib.ExitStack() as exits:
            exits.callback(_deactivate)
            _active = self
            self._paths.install()
            exits.callback(self._paths.remove)
            self._watch.install()
            exits.callback(self._watch.remove)
            exits.enter_context(threads.followed(self))
            exits.enter_context(self.modes())
            yield

    @contextlib.contextmanager
    def modes(self) -> Iterator[None]:
        """Hooks and modes that record operators of this thread."""
        with contextlib.ExitStack() as exits:
            exits.enter_context(OperatorMode(self._operator))
            if self._level == "composite":
                exits.enter_context(CompositeMode(self._function))
            yield

    def thread_state(self) -> List[Any]:
        return self._paths.stack

    def enter_thread(self, state: List[Any]) -> None:
        self._paths.enter_thread(state)

    # Hooks.

    def _operator(self, func: Any, args: Sequence[Any], kwargs: Dict[str, Any], frame: Any) -> Any:
        schema = func._schema
        # PyTorch signals the start of an optimizer's step, but not its end.
        if schema.name.startswith("profiler::_record_function_enter") and str(args[0]).startswith("Optimizer.step#"):
            self._step_ends = True
        if self.on_write is not None and writes(func):
            for tensor in OperatorCall("", None, func, args, kwargs).written():
                self.on_write(tensor)
        name, module = operator_name(schema), self._paths.current()
        is_wanted = self._level == "operators" and self._is_listening() and not self._watch.is_of_node(frame)
        if (not is_wanted or self._select.is_idle(schema.name.split("::")[-1], makes_view(schema)) or
                not self._select.takes(name, module) or not has_tensor([*args, *kwargs.values()])):
            return func(*args, **kwargs)
        return self.way.operator(OperatorCall(name, module, func, args, kwargs))

    def _function(self, func: Any, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
        name, module = function_name(func), self._paths.current()
        values = None
        if name and self._is_listening() and not self._select.is_idle(name, False) and self._select.takes(name, module):
            values = bind_function(func, name, args, kwargs) if has_tensor([*args, *kwargs.values()]) else None
        if values is None or name is None:
            return func(*args, **kwargs)
        return self.way.operator(FunctionCall(name, module, func, args, kwargs, values))

    def _before_node(self, node: Any, grads: Any) -> Any:
        return self.way.before_node(NodeCall(node, grads)) if self._takes_node(node) else None

    def _after_node(self, node: Any, grad_inputs: Any, grads: Any) -> Any:
        if self._takes_node(node):
            self.way.after_node(NodeCall(node, grads), grad_inputs)

    def _takes_node(self, node: Any) -> bool:
        name = node_name(node)
        return self._is_listening() and not self._select.is_idle_node(name) and self._select.takes(name, module_of(node))

    def _is_listening(self) -> bool:
        # A forked worker, such as a DataLoader's, has no writer thread.
        return not self._is_done() and os.getpid() == self._process

    def _is_done(self) -> bool:
        return self._select.steps is not None and self.step >= self._select.steps

    def quiet(self) -> Any:
        """Operators called by this package are not recorded."""
        return no_modes()

    # The first model call or backward pass after an optimizer's step starts the next step.
    def _begin_pass(self) -> None:
        if self._step_ends:
            self._step_ends = False
            self.step += 1
            if self._is_done() and self.on_done is not None:
                self.on_done()

    def _check_model(self, model: torch.nn.Module) -> None:
        self._begin_pass()
        if type(model).__name__ == "OptimizedModule":
            raise DumperError("the model comes from torch.compile, whose graph hides its operators; capture it as it runs "
                              "eagerly: call model._orig_mod, or set TORCHDYNAMO_DISABLE=1")
        devices = sorted({str(parameter.device) for parameter in model.parameters()})
        if len(devices) > 1:
            raise DumperError(f"the model is on {len(devices)} devices ({', '.join(devices)}); a dump is of one: move it to one "
                              "with model.to(...), or capture its parts one by one")
        self._select.found_root(model)


def _deactivate() -> None:
    global _active
    _active = None
