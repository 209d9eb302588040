"""The context that records a running model."""

from __future__ import annotations

import contextlib
import datetime
import os
import sys
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Union

import torch

from . import threads
from .arguments import has_tensor, makes_view, operator_name
from .backward import BackwardWatch, node_name
from .calls import FunctionCall, NodeCall, OperatorCall
from .errors import DumperError
from .layout import Named, Record
from .modes import CompositeMode, OperatorMode, bind_function, function_name, no_modes
from .places import ModulePaths, module_of, source_line
from .recorded import Recorded
from .reduction import reducer
from .selection import Selection
from .ways import Dump, Load, Overflow
from .writer import Writer

_active: Optional["dumper"] = None


class dumper:
    """Records every operator that runs inside of `with dumper("gpu.h5"):`, forward and backward, as HDF5.

    mode: "dump"; "load", in which each operator gets the inputs that load_path has for it, and only
    outputs are written, under the numbers there; "overflow", in which only operators that overflow are
    written and named.
    path: the file; a folder gets one named after the time. It appears when the context ends, under
    the name gpu.incomplete.h5 where an exception ended it, and not at all where nothing ran.
    level: "operators" as backends get them, or "composite" as the model calls them, outermost only.
    include, exclude: regular expressions looked for in operators' names. modules: paths such as
    "layer3", or modules; only what runs in them. steps: only up to that many optimizer steps.
    sample: of larger tensors only so many elements, evenly spaced. statistics: minimum, maximum, mean,
    norm and a hash instead of data. views: also what only makes views. overwrite: a file of that name may be replaced.
    verbose: a line for each record on standard output, as the original prints it.

    Errors: DumperError with what to do instead."""

    def __init__(self, path: Union[str, "os.PathLike[str]"], mode: str = "dump", *,
                 load_path: Union[str, "os.PathLike[str]", None] = None, level: str = "operators",
                 include: Optional[str] = None, exclude: Optional[str] = None,
                 modules: Iterable[Union[str, torch.nn.Module]] = (), steps: Optional[int] = None, views: bool = False,
                 sample: Optional[int] = None, statistics: bool = False, overwrite: bool = False, verbose: bool = False) -> None:
        if mode not in ("dump", "load", "overflow"):
            raise DumperError(f"mode is {mode!r}; allowed are 'dump', 'load' and 'overflow'")
        if (mode == "load") != (load_path is not None):
            raise DumperError("load_path= belongs to mode='load', and that mode needs it: the dump whose inputs are used")
        if level not in ("operators", "composite"):
            raise DumperError(f"level is {level!r}; allowed are 'operators' and 'composite'")
        self.path = target_path(path, overwrite)
        self.written: Optional[str] = None  # the file's name once there is one
        self.step = 0  # optimizer steps that are over
        self.count = 0  # records so far
        self.on_done: Optional[Callable[[], None]] = None  # called where a step begins that is not wanted any more
        self._step_ends = False
        if sample is not None and sample < 1:
            raise DumperError(f"sample is {sample}; of a tensor 1 element or more is kept")
        if mode == "overflow" and (sample or statistics):
            raise DumperError("mode='overflow' looks at whole tensors: leave out sample= and statistics=")
        self._level, self._verbose = level, verbose
        self.copy = reducer(sample, statistics)
        self._way = self._make_way(mode, load_path)
        self._process = os.getpid()
        self._select = Selection(include, exclude, modules, steps, views)
        self._paths = ModulePaths(self._check_model)
        self._watch = BackwardWatch(self._begin_pass, self._before_node, self._after_node)
        self._rank = _rank()
        self._writer: Optional[Writer] = None
        self._exits = contextlib.ExitStack()

    def _make_way(self, mode: str, load_path: Any) -> Any:
        if mode == "load":
            recorded = Recorded(os.fspath(load_path))
            if self._level == "composite":
                raise DumperError("mode='load' feeds operators, so it has level='operators' only")
            return Load(self, recorded)
        return Overflow(self) if mode == "overflow" else Dump(self)

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
        self._way.finish()
        assert self._writer is not None
        # What is no Exception, such as SystemExit, is a way to stop; a key that was pressed is not.
        is_failure = kind is not None and issubclass(kind, (Exception, KeyboardInterrupt))
        reason = f"{kind.__name__}: {error}" if is_failure else None
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
        name, module = operator_name(schema), self._paths.current()
        is_wanted = self._level == "operators" and self._is_listening() and not self._watch.is_of_node(frame)
        if (not is_wanted or self._select.is_idle(schema.name.split("::")[-1], makes_view(schema)) or
                not self._select.takes(name, module) or not has_tensor([*args, *kwargs.values()])):
            return func(*args, **kwargs)
        return self._way.operator(OperatorCall(name, module, func, args, kwargs))

    def _function(self, func: Any, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
        name, module = function_name(func), self._paths.current()
        values = None
        if name and self._is_listening() and not self._select.is_idle(name, False) and self._select.takes(name, module):
            values = bind_function(func, name, args, kwargs) if has_tensor([*args, *kwargs.values()]) else None
        if values is None or name is None:
            return func(*args, **kwargs)
        return self._way.operator(FunctionCall(name, module, func, args, kwargs, values))

    def _before_node(self, node: Any, grads: Any) -> Any:
        return self._way.before_node(NodeCall(node, grads)) if self._takes_node(node) else None

    def _after_node(self, node: Any, grad_inputs: Any, grads: Any) -> Any:
        if self._takes_node(node):
            self._way.after_node(NodeCall(node, grads), grad_inputs)

    def _takes_node(self, node: Any) -> bool:
        name = node_name(node)
        return self._is_listening() and not self._select.is_idle_node(name) and self._select.takes(name, module_of(node))

    # What is written.

    def put(self, call: Any, seq: int, inputs: Optional[List[Named]], outputs: List[Named]) -> None:
        """Hands a record to the writer."""
        assert self._writer is not None
        self.count += 1
        self._writer.put(Record(call.name, seq, inputs, outputs, self._notes(call.module)))

    def say(self, call: Any, seq: int, what: str) -> None:
        """A line as the original prints it."""
        if self._verbose:
            print(f"IR: {call.name} SeqId: {seq} {what}")

    def _notes(self, module: Optional[str]) -> Dict[str, str]:
        notes = {"opbench_module": module, "opbench_source": source_line(), "opbench_rank": self._rank,
                 "opbench_step": str(self.step)}
        return {name: text for name, text in notes.items() if text}

    def _is_listening(self) -> bool:
        # A forked worker, such as a DataLoader has, has no thread that writes.
        return not self._is_done() and os.getpid() == self._process

    def _is_done(self) -> bool:
        return self._select.steps is not None and self.step >= self._select.steps

    def quiet(self) -> Any:
        """What this package computes itself is not recorded."""
        return no_modes()

    # What comes after an optimizer's step, a call of the model or a backward pass, belongs to the next.
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
