"""The context manager that records a running model."""

from __future__ import annotations

import contextlib
import datetime
import os
import sys
from typing import Any, Dict, Iterable, List, Optional, Union

import torch

from .errors import DumperError
from .layout import Named, Record
from .observer import Observer
from .places import source_line
from .recorded import Recorded
from .reduction import Statistics, reducer
from .selection import Selection
from .ways import Dump, Load, Overflow
from .writer import Writer


class dumper(Observer):
    """Records every operator inside of `with dumper("gpu.h5"):`, forward and backward, as HDF5.

    mode: "dump"; "load": each operator gets the inputs from load_path, and only outputs are
    written, with the numbers in load_path; "overflow": only operators that overflow are written and named.
    path: the file; in a folder the name is the time. The file appears when the context ends. It is
    named gpu.incomplete.h5 if an exception ended the context, and not created if nothing ran.
    level: "operators" as backends get them, or "composite" as the model calls them, outermost only.
    include, exclude: regular expressions searched in operators' names. modules: paths such as
    "layer3", or modules, whose operators are recorded. steps: maximum number of optimizer steps.
    sample: maximum number of elements of a tensor, evenly spaced. statistics: minimum, maximum, mean,
    norm and a hash instead of data. views: also record views. overwrite: replace an existing file.
    verbose: a line for each record on standard output, like the original's.

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
        self.path = target_path(path, overwrite)
        super().__init__(self.path, level, Selection(include, exclude, modules, steps, views))
        self.written: Optional[str] = None  # the file's name once it exists
        self.count = 0  # number of records so far
        if sample is not None and sample < 1:
            raise DumperError(f"sample is {sample}; 1 element or more must be kept")
        if mode == "overflow" and (sample or statistics):
            raise DumperError("mode='overflow' needs whole tensors: leave out sample= and statistics=")
        self._verbose = verbose
        self.copy = reducer(sample, statistics)
        if isinstance(self.copy, Statistics):
            self.on_write = self.copy.before_writing
        self.way = self._make_way(mode, load_path)
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

    # The context manager.

    def __enter__(self) -> "dumper":
        with contextlib.ExitStack() as exits:
            exits.enter_context(self.watch())
            self._writer = Writer(self.path)
            self._exits = exits.pop_all()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._exits.close()
        self.way.finish()
        assert self._writer is not None
        # An exception outside of Exception, such as SystemExit, ends the script normally; KeyboardInterrupt does not.
        is_failure = kind is not None and issubclass(kind, (Exception, KeyboardInterrupt))
        reason = f"{kind.__name__}: {error}" if is_failure else None
        try:
            self.written = self._writer.close(reason)
        except DumperError:
            if not isinstance(error, DumperError):
                raise
        if not is_failure:
            self._select.check_modules()
        if reason is not None and self.written:
            print(f"opbench: {self.written} contains the operators before {reason}", file=sys.stderr)

    # Output.

    def put(self, call: Any, seq: int, inputs: Optional[List[Named]], outputs: List[Named]) -> None:
        """Passes a record to the writer."""
        assert self._writer is not None
        self.count += 1
        self._writer.put(Record(call.name, seq, inputs, outputs, self._notes(call.module)))

    def say(self, call: Any, seq: int, what: str) -> None:
        """Prints a line like the original dumper."""
        if self._verbose:
            print(f"IR: {call.name} SeqId: {seq} {what}")

    def _notes(self, module: Optional[str]) -> Dict[str, str]:
        notes = {"opbench_module": module, "opbench_source": source_line(), "opbench_rank": self._rank,
                 "opbench_step": str(self.step)}
        return {name: text for name, text in notes.items() if text}


def target_path(path: Union[str, "os.PathLike[str]"], overwrite: bool) -> str:
    """Path of the dump. Errors: DumperError if it is not possible."""
    target = os.fspath(path)
    if os.path.isdir(target):
        target = os.path.join(target, datetime.datetime.now().strftime("%Y%m%d_%H%M%S.%f") + ".h5")
    folder = os.path.dirname(os.path.abspath(target))
    if not target.endswith(".h5"):
        raise DumperError(f"{target} does not end in .h5, which readers of dumps expect")
    if not os.path.isdir(folder):
        raise DumperError(f"the folder {folder} does not exist; make it, or choose another")
    if not os.access(folder, os.W_OK):
        raise DumperError(f"the folder {folder} cannot be written; choose another")
    if os.path.exists(target) and not overwrite:
        raise DumperError(f"{target} exists; choose another name, or pass overwrite=True")
    return target


def _rank() -> str:
    distributed = torch.distributed
    return str(distributed.get_rank()) if distributed.is_available() and distributed.is_initialized() else ""
