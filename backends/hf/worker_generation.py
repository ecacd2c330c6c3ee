"""A model that answers: one way to ask it, whichever engine generates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from backends.hf.worker_contestants import Contestant, loaded
from backends.trainer.generate import Answer, answers
from backends.trainer.prompts import Ids
from backends.trainer.sampling import Sampling
from orchestrator.events import EventWriter

Progress = Callable[[int], None]


class Generator(Protocol):
    """Prompts -> answers, in the order of the prompts."""

    def __call__(
        self, prompts: list[Ids], *, new: int, streams: Sequence[int] | None = None, progress: Progress = ...
    ) -> list[Answer]:
        """Answers of up to `new` tokens.

        Args:
            streams: number of each prompt's stream of random numbers; unset: its place in `prompts`.
            progress: called with the number of prompts answered so far.
        """


@contextmanager
def taken_up(one: Contestant, settings: dict[str, Any], events: EventWriter, room: int) -> Iterator[Generator]:
    """The model, held to what it answered where it was made; let go of at the end.

    Args:
        room: tokens that a prompt and its answer have at most.
    """
    if settings["generation"] == "vllm":
        from backends.hf.worker_vllm import opened

        with opened(one, settings, events, room) as engine:
            yield engine
    else:
        yield _Transformers(one, settings, events)


class _Transformers:
    def __init__(self, one: Contestant, settings: dict[str, Any], events: EventWriter) -> None:
        self._model, self._reader, self._settings = loaded(one, settings, events), one.reader, settings

    def __call__(
        self, prompts: list[Ids], *, new: int, streams: Sequence[int] | None = None, progress: Progress = lambda _: None
    ) -> list[Answer]:
        settings = self._settings
        return answers(
            self._model,
            prompts,
            ends=self._reader.ends,
            pad=self._reader.pad,
            batch_size=settings["batch_size"],
            max_new_tokens=new,
            sampling=Sampling(settings["temperature"], settings["top_p"], settings["seed"]),
            streams=streams,
            progress=progress,
        )
