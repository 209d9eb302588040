"""Recording in the threads of DataParallel's replicas, which do not inherit modes of the thread that starts them."""

from __future__ import annotations

import contextlib
import importlib
import threading
import types
from typing import Any, Iterator


@contextlib.contextmanager
def followed(session: Any) -> Iterator[None]:
    """Threads that parallel_apply starts inside of the `with` are recorded like the calling thread."""
    # In torch.nn.parallel this name is the function, not the module.
    module = importlib.import_module("torch.nn.parallel.parallel_apply")
    original = module.threading

    class Thread(threading.Thread):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._state = session.thread_state()

        def run(self) -> None:
            session.enter_thread(self._state)
            with session.modes():
                super().run()

    stand_in = types.ModuleType("threading")
    stand_in.__dict__.update({**threading.__dict__, "Thread": Thread})
    module.threading = stand_in  # type: ignore[attr-defined]
    try:
        yield
    finally:
        module.threading = original  # type: ignore[attr-defined]
