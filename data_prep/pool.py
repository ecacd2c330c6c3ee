"""Batches -> results on all cores: in order, with few batches on the way at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from data_prep.batch import Batch
from data_prep.faults import DataFault
from data_prep.pictures import Pictures
from data_prep.work import Recipe, Result, Worker

_AHEAD = 2
"""Batches on the way for each process: enough that none waits, few enough that memory stays flat."""
_LOOK = 0.5
"""Seconds between looks at whether the owner still lives."""
_worker: Worker


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def results(batches: Iterator[Batch], recipe: Recipe, pictures: Pictures, processes: int) -> Iterator[Result]:
    """The result of every batch, in order.

    Raises:
        DataFault: a process died.
    """
    if processes == 1:
        worker = Worker(recipe, pictures)
        yield from map(worker.result, batches)
        return
    # fork, where there is one: it needs no import of the program's main module, and starts before any thread does
    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
    context: Any = multiprocessing.get_context(method)
    with ProcessPoolExecutor(processes, context, _begin, (recipe, pictures, os.getpid())) as pool:
        try:
            yield from _in_order(pool, batches, processes * _AHEAD)
        except BrokenProcessPool:
            why = "most often the system ended it because memory ran out"
            raise DataFault("a process that read the rows died", where="data", why=why, fix="--processes 1") from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _in_order(pool: ProcessPoolExecutor, batches: Iterator[Batch], ahead: int) -> Iterator[Result]:
    waiting: deque[Future[Result]] = deque()
    for batch in batches:
        waiting.append(pool.submit(_result, batch))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _begin(recipe: Recipe, pictures: Pictures, owner: int) -> None:
    global _worker  # noqa: PLW0603  (a process has one, and pays for it once)
    threading.Thread(target=_end_with, args=(owner,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the first one tells the others
    _worker = Worker(recipe, pictures)


def _end_with(owner: int) -> None:
    """End when the owner is gone: killed, it tells nobody, and each would wait for work for ever."""
    while os.getppid() == owner:
        time.sleep(_LOOK)
    os._exit(1)


def _result(batch: Batch) -> Result:
    return _worker.result(batch)
