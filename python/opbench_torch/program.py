"""The program opbench: where it is, and how it runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import List, Optional

from .errors import DumperError

#: Paths of the program from this folder: in a build, in an installation, in a checkout.
_PLACES = ("../../opbench", "../../../../bin/opbench", "../../build/release/opbench")
#: Launchers of ranks set these. A program that inherits them waits for other ranks.
_LAUNCHERS = ("OMPI_", "PMIX_", "PMI_")

_EXPORT = "export OPBENCH_PROGRAM=/path/to/opbench"


def find_program() -> Optional[str]:
    """$OPBENCH_PROGRAM, `opbench` in the path, or the program next to the package; None without any."""
    named = os.environ.get("OPBENCH_PROGRAM")
    if named:
        return named
    here = os.path.dirname(os.path.abspath(__file__))
    found = (os.path.normpath(os.path.join(here, path)) for path in _PLACES)
    return shutil.which("opbench") or next(filter(shutil.which, found), None)


def program_path() -> str:
    """Errors: DumperError if there is no program."""
    program = find_program()
    if program is None:
        raise DumperError(f"the program opbench is not found; put it into PATH, or name it: {_EXPORT}")
    if shutil.which(program) is None:
        raise DumperError(f"OPBENCH_PROGRAM is {program}, which is not a program; name opbench: {_EXPORT}")
    return program


def run_program(arguments: List[str]) -> "subprocess.CompletedProcess[str]":
    """Errors: DumperError if there is no program, or it cannot run."""
    program = program_path()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_LAUNCHERS)}
    try:
        return subprocess.run([program, *arguments], capture_output=True, text=True, check=False, env=environment)
    except OSError as error:
        raise DumperError(f"{program} cannot run: {error}; OPBENCH_PROGRAM and PATH name the program opbench") from error
