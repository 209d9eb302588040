"""Clocks of devices, by the commands of their drivers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional

_LONGEST_SECONDS = 10.0
#: A command takes about 50 ms. More often than this the last answer is used.
_PAUSE_SECONDS = 0.2
#: Bits of clocks_event_reasons.active (nvml.h) that mean a reduced clock. 0x1 is an idle GPU, 0x2 and 0x100 are settings.
_REASONS = {0x4: "power cap", 0x8: "hardware slowdown", 0x10: "sync boost", 0x20: "thermal slowdown",
            0x40: "hardware thermal slowdown", 0x80: "hardware power brake"}


class Clock(NamedTuple):
    mhz: Optional[float] = None
    throttled_by: str = ""


def nvidia_clock(text: str) -> Clock:
    """Parses "1410, 0x0000000000000004", a line of nvidia-smi. Fields without a value have a text in brackets."""
    fields = [field.strip() for field in text.strip().split("\n")[0].split(",")]
    mhz = float(fields[0]) if re.fullmatch(r"\d+(\.\d+)?", fields[0]) else None
    mask = int(fields[1], 16) if len(fields) > 1 and re.fullmatch(r"0x[0-9a-fA-F]+", fields[1]) else 0
    return Clock(mhz, ", ".join(name for bit, name in _REASONS.items() if mask & bit))


def npu_clock(text: str) -> Clock:
    """Parses the answer of `npu-smi info -t common`. An idle NPU lowers its clock, so that a low clock is not throttling."""
    found = re.search(r"^\s*Aicore curFreq\(MHZ\)\s*:\s*(\d+(?:\.\d+)?)\s*$", text, re.MULTILINE | re.IGNORECASE)
    return Clock(float(found.group(1)) if found else None)


def nvidia_commands(device: str) -> List[List[str]]:
    """The command with the present name of the reasons, and with that of drivers before 535."""
    return [["nvidia-smi", "-i", device, f"--query-gpu=clocks.sm,{reasons}.active", "--format=csv,noheader,nounits"]
            for reasons in ("clocks_event_reasons", "clocks_throttle_reasons")]


def npu_commands(device: str) -> List[List[str]]:
    return [["npu-smi", "info", "-t", "common", "-i", device]]


def driver_index(index: int, variable: str) -> str:
    """Number or name of a visible device for the driver's command: that in a variable such as CUDA_VISIBLE_DEVICES."""
    visible = [name.strip() for name in os.environ.get(variable, "").split(",") if name.strip()]
    return visible[index] if index < len(visible) else str(index)


def _output(command: List[str]) -> Optional[str]:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=_LONGEST_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


class ClockReader:
    """Asks the first command that answers."""

    def __init__(self, commands: List[List[str]], parse: Callable[[str], Clock],
                 now: Callable[[], float] = time.monotonic) -> None:
        self._commands = [command for command in commands if shutil.which(command[0])]
        self._parse, self._now = parse, now
        self._last, self._asked = Clock(), -_PAUSE_SECONDS

    def is_there(self) -> bool:
        return bool(self._commands)

    def read(self) -> Clock:
        if not self._commands or self._now() - self._asked < _PAUSE_SECONDS:
            return self._last
        for command in list(self._commands):
            text = _output(command)
            if text is not None:
                self._commands, self._last = [command], self._parse(text)
                break
        else:
            self._commands, self._last = [], Clock()
        self._asked = self._now()
        return self._last


def as_answer(clock: Clock) -> Dict[str, Any]:
    answer: Dict[str, Any] = {} if clock.mhz is None else {"mhz": clock.mhz}
    if clock.throttled_by:
        answer["throttled_by"] = clock.throttled_by
    return answer
