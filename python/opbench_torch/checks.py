"""Results of assert_close for those who collect them. Imports neither torch nor h5py."""

from __future__ import annotations

from typing import Any, Callable, Dict, List

#: A call of assert_close: operator, dtype, inputs, outputs, verdict, reason.
Check = Dict[str, Any]

#: Functions that get each call, whatever its verdict.
listeners: List[Callable[[Check], None]] = []


def hides_frames(caught: Any) -> bool:
    """Value of __tracebackhide__: pytest prints the message and the line of the test, and no frame of this package."""
    return caught is None or caught.errisinstance((AssertionError, ValueError, RuntimeError))


def announce(check: Check) -> None:
    for listener in listeners:
        listener(check)
