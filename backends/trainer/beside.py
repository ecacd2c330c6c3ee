"""What a hand-off compares beside the answers: tokenizer, template, configuration, weights, adapter and its effect.

Probes of earlier versions hold less; what they don't hold isn't compared.
"""

from __future__ import annotations

from typing import Any

from backends.trainer import behaviour, deltas, effect, lexicon, sketch
from orchestrator.harness import WorkError

Measured = dict[str, Any]

WHY = (
    "the model that was made and the model that is taken up are not the same; nothing that follows would mean anything"
)
_CARRY = "carry tokenizer files and chat template over from where the model was made"
_FILES = "look at what changed in the model's files since: post-train runs show, and its parents' digests"


def refused(code: str, message: str, fix: str) -> WorkError:
    """A hand-off that fails."""
    return WorkError(f"handoff.{code}", message, why=WHY, fix=fix)


def require_same(expected: Measured, found: Measured, place: str) -> None:
    """Compare everything that is the same to the bit, or nearly, on both sides.

    Raises:
        WorkError: something is not.
    """
    _require_text(expected, found, place)
    if _held(expected, found, "config") and (other := behaviour.difference(expected["config"], found["config"])):
        raise refused("config", f"{place}: {other}", "carry config.json over from where the model was made")
    if (expected.get("adapter") is None) != (found.get("adapter") is None):
        return  # merged since: what its weights are, the merge measured
    if _held(expected, found, "adapter") and (other := deltas.difference(expected["adapter"], found["adapter"])):
        raise refused("adapter", f"{place}: {other}", _FILES)
    if _held(expected, found, "weights") and (other := sketch.difference(expected["weights"], found["weights"])):
        raise refused("weights", f"{place}: {other}", _FILES)


def require_effect(expected: Measured, found: Measured, arithmetic: str, place: str) -> None:
    """What the adapter does to the answers must be there, once.

    Raises:
        WorkError: much more or less of it is.
    """
    told = effect.arrived(expected, found, arithmetic)
    if told is None:
        return
    share, allowed = told
    if not abs(share - 1) <= allowed:
        text = (
            f"{place}: {share:.0%} of the adapter's effect is there, allowed are {1 - allowed:.0%} to {1 + allowed:.0%}"
        )
        raise refused("effect", f"{text}; {_looks_like(share)}", _FILES)


def _looks_like(share: float) -> str:
    if share < 0.5:
        return "the adapter is not applied, or only in part"
    return "the adapter is applied twice, or its scale is another one" if share > 1.5 else "part of it changed"


def _require_text(expected: Measured, found: Measured, place: str) -> None:
    if _held(expected, found, "tokenizer") and (other := lexicon.difference(expected["tokenizer"], found["tokenizer"])):
        raise refused("tokenizer", f"{place}: {other}", _CARRY)
    if _held(expected, found, "prompt") and expected["prompt"] != found["prompt"]:
        text = f"{place}: the chat template begins an answer otherwise ({expected['prompt'][-3:]} were its last tokens)"
        raise refused("tokens", text, _CARRY)
    if _held(expected, found, "prompt") and expected["template"] != found["template"]:
        text = f"{place}: the chat template is another one, though it renders the probe's conversations the same"
        raise refused("template", text, _CARRY)
    lost = set(expected.get("stops") or ()) - set(found.get("stops") or ())
    if _held(expected, found, "stops") and lost:
        text = f"{place}: generation ended at tokens {expected['stops']} when it was made, now at {found['stops']}"
        raise refused("stops", text, "carry generation_config.json over from where the model was made")


def _held(expected: Measured, found: Measured, key: str) -> bool:
    return expected.get(key) is not None and found.get(key) is not None
