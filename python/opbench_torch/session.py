"""The context that records a running model."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import os
import sys
import threading
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Union

import torch

from . import threads
from .arguments import encode, encode_inputs, encode_outputs, has_tensor, makes_view, operator_name
from .backward import BackwardWatch, encode_list, encode_saved, node_name
from .errors import DumperError
from .layout import Named, Record, copy_tensor
from .modes import CompositeMode, OperatorMode, bind_function, function_name
from .places import ModulePaths, module_of, source_line
from .selection import Selection
from .writer import Writer

# As in the original: one counter for the process, over all names and files.
_sequence = itertools.count(1)
_active: Optional["dumper"] = None


class dumper:
    """Records every operator that runs inside of `with dumper("gpu.h5"):`, forward and backward, as HDF5.

    path: the file; a folder gets one named after the time. It appears when the context ends, under
    the name gpu.incomplete.h5 where an exception ended it, and not at all where nothing ran.
    level: "operators" as backends get them, or "composite" as the model calls them, outermost only.
    include, exclude: regular expressions looked for in operators' names. modules: paths such as
    "layer3", or modules; only what runs in them. steps: only up to that many optimizer steps.
    views: also what only makes views. overwrite: a file of that name may be replaced.
    verbose: a line for each record on standard output, as the original prints it.

    Errors: DumperError with what to do instead."""

    def __init__(self, path: Union[str, "os.PathLike[str]"], mode: str = "dump", *, level: str = "operators",
                 include: Optional[str] = None, exclude: Optional[str] = None,
                 modules: Iterable[Union[str, torch.nn.Module]] = (), steps: Optional[int] = None, views: bool = False,
                 overwrite: bool = False, verbose: bool = False) -> None:
        if mode not in ("dump",):
            raise DumperError(f"mode is {mode!r}; allowed is 'dump'")
        if level not in ("operators", "composite"):
            raise DumperError(f"level is {level!r}; allowed are 'operators' and 'composite'")
        self.path = target_path(path, overwrite)
        self.written: Optional[str] = None  # the file's name once there is one
        self.step = 0  # optimizer steps that are over
        self._step_ends = False
        self._level, self._verbose = level, verbose
        self._select = Selection(include, exclude, modules, steps, views)
        self._paths = ModulePaths(self._check_model)
        self._watch = BackwardWatch(self._begin_pass, self._before_node, self._after_node)
        self._thread = threading.local()
        self._rank = _rank()
        self._writer: Optional[Writer] = None
        self._exits = contextlib.ExitStack()

    # The context.

    def __enter__(self) -> "dumper":
        global _active
        if _active is not None:
            raise DumperError(f"{_active.path} is being captured already; one dumper at a time, so end that one first")
        self._writer = Writer(self.path)
        with contextlib.ExitStack() as exits:
            exits.callback(_deactivate)
            _active = self
            self._paths.install()
            exits.callback(self._paths.remove)
            self._watch.install()
            exits.callback(self._watch.remove)
            exits.enter_context(threads.followed(self))
            exits.enter_context(self.modes())
            self._exits = exits.pop_all()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._exits.close()
        assert self._writer is not None
        reason = None if kind is None or issubclass(kind, SystemExit) else f"{kind.__name__}: {error}"
        try:
            self.written = self._writer.close(reason)
        except DumperError:
            if not isinstance(error, DumperError):
                raise
        if reason is not None and self.written:
            print(f"opbench: {self.written} has what ran before {reason}", file=sys.stderr)

    @contextlib.contextmanager
    def modes(self) -> Iterator[None]:
        """What makes operators of this thread known."""
        with contextlib.ExitStack() as exits:
            exits.enter_context(OperatorMode(self._operator))
            if self._level == "composite":
                exits.enter_context(CompositeMode(self._function))
            yield

    def thread_state(self) -> List[Any]:
        return self._paths.stack

    def enter_thread(self, state: List[Any]) -> None:
        self._paths.enter_thread(state)

    # What runs.

    def _operator(self, func: Any, args: Sequence[Any], kwargs: Dict[str, Any], frame: Any) -> Any:
        schema = func._schema
        # PyTorch says so at the beginning of each optimizer's step, and not at the end.
        if schema.name.startswith("profiler::_record_function_enter") and str(args[0]).startswith("Optimizer.step#"):
            self._step_ends = True
        name = operator_name(schema)
        if self._level != "operators" or not self._is_listening() or self._watch.is_of_node(frame):
            return func(*args, **kwargs)
        idle = self._select.is_idle(schema.name.split("::")[-1], makes_view(schema))
        if idle or not self._select.takes(name, self._paths.current()) or not has_tensor([*args, *kwargs.values()]):
            return func(*args, **kwargs)
        seq = next(_sequence)
        inputs = encode_inputs(schema, args, kwargs, name, self._copy)
        result = func(*args, **kwargs)
        self._put(name, seq, inputs, encode_outputs(schema, args, kwargs, result, name, self._copy), self._paths.current())
        return result

    def _function(self, func: Any, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
        name = function_name(func)
        values = None
        if name and self._is_listening() and not self._select.is_idle(name, False):
            if self._select.takes(name, self._paths.current()) and has_tensor([*args, *kwargs.values()]):
                values = bind_function(func, name, args, kwargs)
        if values is None or name is None:
            return func(*args, **kwargs)
        with self._quiet():
            seq = next(_sequence)
            inputs = [named for key, value in values for named in encode(key, value, ("", False), name, copy=self._copy)]
        result = func(*args, **kwargs)
        if has_tensor([result]):
            with self._quiet():
                self._put(name, seq, inputs, self._results(name, values, result), self._paths.current())
        return result

    def _results(self, name: str, values: List[Any], result: Any) -> List[Named]:
        if name.endswith("_") and values and isinstance(values[0][1], torch.Tensor):
            return list(encode("self", values[0][1], ("", False), name, copy=self._copy))
        if isinstance(result, tuple):
            return [named for index, item in enumerate(result) if isinstance(item, torch.Tensor)
                    for named in encode(f"result{index}", item, ("", False), name, copy=self._copy)]
        return list(encode("result", result, ("", False), name, copy=self._copy))

    def _before_node(self, node: Any, grads: Any) -> Any:
        return None

    def _after_node(self, node: Any, grad_inputs: Any, grads: Any) -> Any:
        name = node_name(node)
        if not self._is_listening() or self._select.is_idle_node(name) or not self._select.takes(name, module_of(node)):
            return None
        with self._quiet():
            seq = next(_sequence)
            inputs = encode_list("grads", grads, name, self._copy) + encode_saved(node, name, self._copy)
            self._put(name, seq, inputs, encode_list("grad_inputs", grad_inputs, name, self._copy), module_of(node))
        return None

    # What is written.

    def _put(self, name: str, seq: int, inputs: List[Named], outputs: List[Named], module: Optional[str]) -> None:
        if self._verbose:
            print(f"IR: {name} SeqId: {seq} dump inputs\nIR: {name} SeqId: {seq} dump outputs")
        assert self._writer is not None
        self._writer.put(Record(name, seq, inputs, outputs, self._notes(module)))

    def _notes(self, module: Optional[str]) -> Dict[str, str]:
        notes = {"opbench_module": module, "opbench_source": source_line(), "opbench_rank": self._rank,
                 "opbench_step": str(self.step)}
        return {name: text for name, text in notes.items() if text}

    def _copy(self, tensor: torch.Tensor, where: str) -> Any:
        return copy_tensor(tensor, where)

    def _is_listening(self) -> bool:
        is_done = self._select.steps is not None and self.step >= self._select.steps
        return not is_done and not getattr(self._thread, "quiet", False)

    # What this package computes itself is not recorded.
    @contextlib.contextmanager
    def _quiet(self) -> Iterator[None]:
        before = getattr(self._thread, "quiet", False)
        self._thread.quiet = True
        try:
            with torch.no_grad():
                yield
        finally:
            self._thread.quiet = before

    # What comes after an optimizer's step, a call of the model or a backward pass, belongs to the next.
    def _begin_pass(self) -> None:
        if self._step_ends:
            self._step_ends = False
            self.step += 1

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


def target_path(path: Union[str, "os.PathLike[str]"], overwrite: bool) -> str:
    """Where the dump goes. Errors: DumperError if that cannot be."""
    target = os.fspath(path)
    if os.path.isdir(target):
        target = os.path.join(target, datetime.datetime.now().strftime("%Y%m%d_%H%M%S.%f") + ".h5")
    folder = os.path.dirname(os.path.abspath(target))
    if not target.endswith(".h5"):
        raise DumperError(f"{target} does not end in .h5; name the dump so, as its readers want it")
    if not os.path.isdir(folder):
        raise DumperError(f"the folder {folder} does not exist; make it, or choose another")
    if not os.access(folder, os.W_OK):
        raise DumperError(f"the folder {folder} cannot be written; choose another")
    if os.path.exists(target) and not overwrite:
        raise DumperError(f"{target} exists; choose another name, or say overwrite=True")
    return target


def _rank() -> str:
    distributed = torch.distributed
    return str(distributed.get_rank()) if distributed.is_available() and distributed.is_initialized() else ""


def _deactivate() -> None:
    global _active
    _active = None
