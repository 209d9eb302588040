"""python -m opbench_torch COMMAND: captures an unchanged training script, or computes kernels for opbench."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import runpy
import sys
from typing import Any, List, Optional

from .errors import DumperError, missing


def _module(name: str) -> Any:
    """A module of this package. Errors: DumperError if it needs one that is not installed."""
    try:
        return importlib.import_module(f".{name}", __package__)
    except ModuleNotFoundError as error:
        raise missing(error) from error


class Finished(BaseException):
    """All requested steps are recorded. Must not be caught by the script."""


def _capture_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("script", help="the script to run")
    add("--out", "-o", default="dump.h5", metavar="FILE.h5", help="path of the dump [dump.h5]")
    add("--mode", choices=["dump", "load", "overflow"], default="dump", help="action for each operator [dump]")
    add("--load", metavar="FILE.h5", help="the dump whose inputs are used (--mode load)")
    add("--level", choices=["operators", "composite"], default="operators", help="as backends get them, or as models call them")
    add("--steps", type=int, metavar="N", help="number of optimizer steps after which the script ends")
    add("--go-on", action="store_true", help="after these steps the script continues, unrecorded")
    add("--include", metavar="REGEX", help="only operators whose name matches")
    add("--exclude", metavar="REGEX", help="no operators whose name matches")
    add("--module", action="append", default=[], metavar="PATH", help="only operators that run in this module; may be repeated")
    add("--sample", type=int, metavar="N", help="store at most N elements of a tensor")
    add("--statistics", action="store_true", help="store minimum, maximum, mean, norm and a hash instead of data")
    add("--views", action="store_true", help="also record operators that compute nothing")
    add("--overwrite", action="store_true", help="replace an existing file")
    add("--verbose", action="store_true", help="print a line for each record")


def _cases_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("script", help="the script to run")
    add("--out", "-o", default="model.yaml", metavar="FILE.yaml", help="path of the case file [model.yaml]")
    add("--steps", type=int, default=1, metavar="N", help="number of optimizer steps after which the script ends [1]")
    add("--context", metavar="PATH", help="write the graph of the module at this path, as a context")
    add("--overwrite", action="store_true", help="replace an existing file")


def _serve_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--device", default="cpu", help="cpu, cuda:N or npu:N [cpu]")
    add("--kernels", metavar="FILE.py", help="a file with functions that opbench_torch.kernel decorates")
    add("--impl-mode", metavar="MODE", help="high_precision or high_performance, for devices that have both")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m opbench_torch",
                                     description="Captures operators of an unchanged PyTorch script.")
    commands = parser.add_subparsers(dest="command", required=True)
    _capture_options(commands.add_parser("capture", help="a dump of the operators that a script runs",
                                         usage="python -m opbench_torch capture train.py [options] [-- ARGS]"))
    _cases_options(commands.add_parser("cases", help="the operators of a script as a case file",
                                       usage="python -m opbench_torch cases train.py [options] [-- ARGS]"))
    _serve_options(commands.add_parser("serve", help="computes kernels and operators; opbench starts it"))
    return parser


def run_script(script: str, arguments: List[str]) -> None:
    """Runs `python script arguments`. Errors: DumperError if the script does not exist."""
    if not os.path.isfile(script):
        raise DumperError(f"{script} is not a file; name the script to run")
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    runpy.run_path(script, run_name="__main__")


def _finish() -> None:
    raise Finished


def _capture(options: Any, arguments: List[str]) -> int:
    dumper = _module("session").dumper
    session = dumper(options.out, options.mode, load_path=options.load, level=options.level, include=options.include,
                     exclude=options.exclude, modules=options.module, steps=options.steps, views=options.views,
                     sample=options.sample, statistics=options.statistics, overwrite=options.overwrite, verbose=options.verbose)
    if not options.go_on:
        session.on_done = _finish
    try:
        with session:
            run_script(options.script, arguments)
    except Finished:
        pass
    if session.written is None:
        print(f"opbench: no operator was recorded; {session.path} is not written", file=sys.stderr)
        return 4
    print(f"opbench: {session.written}: {session.count} operators", file=sys.stderr)
    return 0


def _cases(options: Any, arguments: List[str]) -> int:
    if os.path.exists(options.out) and not options.overwrite:
        raise DumperError(f"{options.out} exists; choose another name, or pass --overwrite")
    if options.context:
        contexts = _module("context")
        module, inputs = contexts.first_call(options.context, lambda: run_script(options.script, arguments))
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(contexts.context(module, inputs, re.sub(r"\W", "_", options.context)))
        return 0
    cases = _module("cases")
    found = cases.Cases(os.path.basename(options.script))
    try:
        with cases.watching(found, options.steps) as observer:
            observer.on_done = _finish
            run_script(options.script, arguments)
    except Finished:
        pass
    if not found.rows:
        print("opbench: the script ran no operator that opbench has", file=sys.stderr)
        return 4
    found.write(options.out)
    print(f"opbench: {options.out}: {len(found.rows)} cases, {sum(found.unknown.values())} calls of "
          f"{len(found.unknown)} operators are not known", file=sys.stderr)
    return 0


def _serve(options: Any, arguments: List[str]) -> int:
    return int(_module("guest").serve(options.device, options.kernels, options.impl_mode))


def main(argv: Optional[List[str]] = None) -> int:
    """Exit codes: 0, 1 for an exception of the script (with its traceback), 2 for bad use, 4 if nothing was
    recorded."""
    given = list(sys.argv[1:] if argv is None else argv)
    split = given.index("--") if "--" in given else len(given)
    options = _parser().parse_args(given[:split])
    try:
        return {"capture": _capture, "cases": _cases, "serve": _serve}[options.command](options, given[split + 1:])
    except DumperError as error:
        print(f"opbench: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
