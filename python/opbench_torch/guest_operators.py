"""Operators of the framework that a call runs, where PyTorch has a mode for it (1.13 and later)."""

from __future__ import annotations

import contextlib
from typing import Any, Dict, Iterator, List, Optional, Sequence

from .guest_memory import TORCH_VERSION

#: Operators that compute nothing.
_IDLE = {"alias", "is_same_size", "as_strided", "detach", "empty", "empty_like", "empty_strided", "expand", "new_empty",
         "new_empty_strided", "permute", "t", "transpose", "unsqueeze", "squeeze", "view", "_unsafe_view", "_reshape_alias",
         "slice", "select"}


@contextlib.contextmanager
def recorded(names: List[str]) -> Iterator[None]:
    """Appends the name of each operator that computes, once."""
    if TORCH_VERSION < (1, 13):
        yield
        return
    from torch.utils._python_dispatch import TorchDispatchMode

    class Recorder(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Sequence[Any] = (),
                               kwargs: Optional[Dict[str, Any]] = None) -> Any:
            name = func._schema.name
            if name not in names and name.split("::")[-1] not in _IDLE:
                names.append(name)
            return func(*args, **(kwargs or {}))

    with Recorder():
        yield


def listed(names: Sequence[str]) -> str:
    """Example: "aten::exp, aten::log1p and 3 more"."""
    shown = ", ".join(names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown
