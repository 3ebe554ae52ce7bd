"""The library's context, and its failures as exceptions."""
from __future__ import annotations

import ctypes as c
from typing import Any, Callable, Optional

from . import _library
from ._library import lib

Progress = Optional[Callable[[str, int, int], Any]]
Log = Optional[Callable[[int, str], Any]]


class Error(Exception):
    """What the library reports: a sentence that names file, image or option. `status` is its kind:
    memory, argument, io, format, data, numeric or cancelled."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


class Cancelled(Error):
    """The progress function asked to stop."""


class Context:
    """Owns a psfm_context; use in a `with` statement."""

    def __init__(self, threads: int = 0, seed: int = 0, progress: Progress = None, log: Log = None) -> None:
        self.handle = c.c_void_p(lib.psfm_context_create())
        if not self.handle:
            raise MemoryError
        self.raised: Optional[BaseException] = None
        lib.psfm_context_set_threads(self.handle, threads)
        lib.psfm_context_set_seed(self.handle, seed)
        # the callbacks must live as long as the context
        self._progress = _library.PROGRESS(self._wrap(progress) if progress else 0)
        self._log = _library.LOG((lambda level, text, user: log(level, text.decode())) if log else 0)
        lib.psfm_context_set_progress(self.handle, self._progress, None)
        lib.psfm_context_set_log(self.handle, self._log, None)

    def _wrap(self, progress: Any) -> Any:
        def call(stage: bytes, done: int, total: int, user: Any) -> int:
            try:
                return 1 if self.raised or progress(stage.decode(), done, total) else 0
            except BaseException as error:  # an exception cannot cross C; it is raised at the end
                self.raised = error
                return 1
        return call

    def check(self, status: int) -> None:
        """Raises what a status other than 0 stands for."""
        if status == 0:
            return
        if self.raised is not None:
            raise self.raised
        name = lib.psfm_status_name(status).decode()
        message = lib.psfm_context_message(self.handle).decode(errors="replace")
        raise (Cancelled if name == "cancelled" else Error)(name, message)

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: Any) -> None:
        lib.psfm_context_destroy(c.byref(self.handle))
