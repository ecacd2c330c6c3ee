"""Sorting names over several turns: each brings new ones, the whole list is written again. Graded by order."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from orchestrator.tasks import (
    Environment,
    Episode,
    Generated,
    Limits,
    Message,
    Opening,
    Policy,
    Reply,
    Reward,
    Sample,
    Task,
)
from orchestrator.tasks.message import assistant, text, user
from orchestrator.tasks.policies import speaking

_NAMES = """
Ada Alan Amina Anton Astrid Bao Beatriz Benno Bodil Camille Carlos Chen Chiara Dagmar Darius Dimitri Edith Ekene
Elif Emil Farah Felix Fiona Frida Gabriel Greta Gustav Hana Harald Helga Hugo Ibrahim Ines Ingrid Ivan Jakob Jin
Johanna Jonas Kaito Karin Katarina Kofi Lars Leila Lena Luca Magnus Mai Marek Marta Mateo Mina Nadia Nils Nora Odin
Olga Oscar Otto Paula Pavel Petra Quentin Rafael Rania Renata Rosa Samir Selma Sofia Stefan Tamar Tara Theo Tomas
Ulla Umar Valentin Vera Viktor Wanda Wei Willem Xenia Yara Yusuf Zahra Zeno Zoe
"""
NAMES = tuple(_NAMES.split())
_LIST = re.compile(r"<sorted>(.*?)</sorted>", re.DOTALL)
_FORM = "Write the list between <sorted> and </sorted>, one name a line, and nothing else."


class AlphabetSort(Environment):
    """One turn a batch of names. A turn earns the likeness of its list to the right one, to a power."""

    def __init__(self, sample: Sample, power: int) -> None:
        self._batches: list[list[str]] = sample.data["batches"]
        self._power, self._turn = power, 1

    async def init(self) -> Opening:
        return Opening([user(f"Sort these names alphabetically: {', '.join(self._batches[0])}\n{_FORM}")])

    async def step(self, message: Message) -> Reply:
        earned = {"order": likeness(text(message), ordered(self._batches, self._turn)) ** self._power}
        if self._turn == len(self._batches):
            return Reply(done=True, rewards=earned)
        batch = self._batches[self._turn]
        self._turn += 1
        ask = f"Now add these names and sort the whole list again: {', '.join(batch)}\n{_FORM}"
        return Reply([user(ask)], rewards=earned)


def ordered(batches: Sequence[Sequence[str]], turn: int) -> list[str]:
    """The right list after a number of turns."""
    return sorted(name for batch in batches[:turn] for name in batch)


def likeness(said: str, right: list[str]) -> float:
    """From 0 to 1, how much of the right order is in the last list of a message; 0 without one."""
    lists = _LIST.findall(said)
    names = [line.strip() for line in lists[-1].splitlines() if line.strip()] if lists else []
    return SequenceMatcher(None, names, right, autojunk=False).ratio()


async def order(episode: Episode) -> float:
    """Mean over the turns that should have been; turns that were never reached earn nothing."""
    return episode.total("order") / len(episode.sample.data["batches"])


def solved(sample: Sample) -> Policy:
    """Writes the right list in each turn."""
    batches = sample.data["batches"]
    lists = ("\n".join(ordered(batches, turn)) for turn in range(1, len(batches) + 1))
    return speaking(*(assistant(f"<sorted>\n{names}\n</sorted>") for names in lists))


def task(*, turns: int = 3, names: int = 4, power: int = 4, train: int = 10_000, validation: int = 64) -> Task:
    """Options: turns and names a turn; `power` makes small mistakes cost more; numbers of samples."""

    def sample(number: int) -> Sample:
        chosen = random.Random(f"alphabet/{number}").sample(NAMES, turns * names)  # noqa: S311  (names, no secrets)
        return Sample(f"names-{number}", {"batches": [chosen[n * names : (n + 1) * names] for n in range(turns)]})

    return Task(
        name="alphabet_sort",
        train=Generated(sample, range(train)),
        validation=Generated(sample, range(train, train + validation)),
        environment=lambda one: AlphabetSort(one, power),
        rewards=[Reward("order", order)],
        limits=Limits(max_turns=turns, max_tokens=128 + 16 * turns * names, context=2048),
        reference=solved,
    )
