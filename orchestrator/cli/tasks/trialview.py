"""How a played episode is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.tasks.message import Message, text
from orchestrator.tasks.trial import Trial


def data(trial: Trial) -> dict[str, Any]:
    """For a script."""
    episode = trial.episode
    return {
        "sample": {"id": episode.sample.id, "data": dict(episode.sample.data)},
        "policy": trial.policy,
        "messages": list(episode.messages),
        "environment": [dict(given) for given in episode.rewards],
        "end": episode.end,
        "turns": episode.turns,
        "rewards": trial.scores.parts,
        "total": trial.scores.total,
        "seconds": round(trial.seconds, 4),
    }


def lines(trial: Trial) -> Iterator[str]:
    """For a person."""
    episode = trial.episode
    yield f"sample {episode.sample.id}, played by {trial.policy}"
    for message in episode.messages:
        yield from _message(message)
    ended = {"done": "done", "turns": "cut off: no turns left", "tokens": "cut off: no tokens left"}[episode.end]
    yield f"  {ended} after {episode.turns} {'turn' if episode.turns == 1 else 'turns'}, {trial.seconds:.2f} s"
    parts = ", ".join(f"{name} {value:.3g}" for name, value in trial.scores.parts.items())
    yield f"  reward {trial.scores.total:.3g} ({parts})"


def _message(message: Message) -> Iterator[str]:
    said = text(message)
    for call in message.get("tool_calls") or ():
        function = call.get("function", call)
        said += f"\n-> {function.get('name')} {function.get('arguments')}"
    first, *rest = said.strip("\n").split("\n")
    yield f"  {message.get('role', '?'):<10}{first}"
    for line in rest:
        yield f"  {'':<10}{line}"
