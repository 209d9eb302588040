"""A thread that writes records from a bounded queue."""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import Deque, Optional

from .errors import DumperError
from .hdf5_file import Hdf5File
from .layout import Record

#: Limit of the bytes in the queue. One more record may be in the writer.
QUEUE_BYTES = 96 << 20
#: Amount of records that wakes the thread. It holds Python's lock most of the time, so it does not start for few small
#: records.
_WORTH_BYTES, _WORTH_RECORDS = 8 << 20, 10000


class Writer:
    """Takes records from any thread. `close` gives the file its final name, if there was any record.

    Errors: DumperError from `put` and `close` after a failed write; the file is then removed."""

    def __init__(self, path: str, queue_bytes: int = QUEUE_BYTES) -> None:
        self.path = path
        self._limit = queue_bytes
        self._changed = threading.Condition()
        self._waiting: Deque[Record] = deque()
        self._waiting_bytes = 0
        self._closing = False
        self._blocked = 0  # number of threads that wait to put a record
        self._file: Optional[Hdf5File] = None
        self._error: Optional[BaseException] = None
        self._thread = threading.Thread(target=self._run, name="opbench dump writer", daemon=True)
        self._thread.start()

    def put(self, record: Record) -> None:
        """Waits while the queue is full."""
        size = record.bytes
        with self._changed:
            self._wait_for_room(size)
            self._raise_error()
            self._waiting.append(record)
            self._waiting_bytes += size
            self._changed.notify_all()

    def _wait_for_room(self, size: int) -> None:
        def is_room() -> bool:
            return bool(self._error) or not self._waiting or self._waiting_bytes + size <= self._limit

        if not is_room():
            self._blocked += 1
            self._changed.notify_all()
            self._changed.wait_for(is_room)
            self._blocked -= 1

    def close(self, incomplete: Optional[str] = None) -> Optional[str]:
        """Writes the queue and renames the file to `path`, or to a name that marks it as incomplete.

        incomplete: the reason, if data is missing. Returns the name; None if there was nothing to write."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        self._raise_error()
        if self._file is None:
            return None
        name = self.path if incomplete is None else incomplete_name(self.path)
        try:
            if incomplete is not None:
                self._file.mark_incomplete(incomplete)
            self._file.commit(name)
        except Exception as error:  # h5py raises any exception
            self._error = error
            self._discard()
        self._raise_error()
        return name

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    self._changed.wait_for(self._is_worth_it)
                if not self._waiting:
                    return
                record = self._waiting[0]
            try:
                self._write(record)
            except BaseException as error:  # any exception must reach the model's thread
                with self._changed:
                    self._error = error
                    self._waiting.clear()
                    self._waiting_bytes = 0
                    self._changed.notify_all()
                self._discard()
                return
            with self._changed:
                self._waiting.popleft()
                self._waiting_bytes -= record.bytes
                self._changed.notify_all()
            del record

    def _is_worth_it(self) -> bool:
        return self._closing or self._waiting_bytes >= _WORTH_BYTES or len(self._waiting) >= _WORTH_RECORDS or (
            self._blocked > 0 and bool(self._waiting))

    def _write(self, record: Record) -> None:
        if self._file is None:
            self._file = Hdf5File(self.path)
        self._file.add(record)

    def _discard(self) -> None:
        if self._file is None:
            return
        try:
            self._file.discard()
        except Exception:  # the file is lost, and the first error is reported
            pass
        self._file = None

    def _raise_error(self) -> None:
        if self._error is not None:
            raise DumperError(
                f"cannot write {self.path}: {self._error}; nothing was kept. Free space there or choose another path, or write "
                "less: include=, modules=, sample= or statistics=True") from self._error


def incomplete_name(path: str) -> str:
    """Returns gpu.incomplete.h5 for gpu.h5."""
    stem, suffix = os.path.splitext(path)
    return f"{stem}.incomplete{suffix}"
