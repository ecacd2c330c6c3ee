"""Held-out items, which the reward never sees, answered at every checkpoint: a reward that is gamed shows here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from backends.trainer import items as item_files
from backends.trainer import judging, prompts
from backends.trainer.generate import answers
from backends.trainer.items import Item
from backends.trainer.written import Written
from backends.trl.parting import FOLDER, Look, parted
from backends.trl.worker_file import Arguments, Section
from orchestrator.harness import Harness, WorkError

_KEPT = 20
"""Answers of each checkpoint that are kept to be read."""


class HeldOut(TrainerCallback):  # type: ignore[misc]
    """Looks at the start and at each checkpoint, keeps answers, and warns when reward and quality part."""

    def __init__(self, harness: Harness, settings: Section, items: list[Item], reader: prompts.Reader) -> None:
        self._harness, self._settings, self._items, self._reader = harness, settings, items, reader
        self._prompts = prompts.render(reader, items, {})
        self._judge = judging.load(settings["metric"])
        self._rewards: list[float] = []
        self._looks: list[Look] = []

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        self._look(state, model)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if logs and isinstance(logs.get("reward"), int | float):
            self._rewards.append(float(logs["reward"]))

    def on_save(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        self._look(state, model)

    def _look(self, state: Any, model: Any) -> None:
        if not state.is_world_process_zero:
            return
        written, tokens = self._answer(getattr(model, "module", model))
        scores = self._judge(self._items, written)
        reward = sum(self._rewards) / len(self._rewards) if self._rewards else None
        self._rewards = []
        look = Look(state.global_step, scores, reward)
        metrics = {"held_out/score": look.score, "held_out/tokens": tokens / len(scores)}
        self._harness.events.emit("step", step=look.step, total=state.max_steps, metrics=metrics)
        self._keep(look, written)
        self._looks.append(look)
        warning = parted(self._looks)
        if warning:
            self._harness.events.emit("warning", code="reward.gamed", message=warning)

    def _answer(self, model: Any) -> tuple[list[Written], int]:
        training = model.training
        model.eval()
        try:
            found = answers(
                model,
                self._prompts,
                ends=self._reader.ends,
                pad=self._reader.pad,
                batch_size=self._settings["batch_size"],
                max_new_tokens=self._settings["max_new_tokens"],
                progress=lambda _: None,
            )
        finally:
            model.train(training)
        read = self._reader
        written = [Written(read.text(list(a.ids)), read.text(read.proper(list(a.ids))), list(a.ids)) for a in found]
        return written, sum(a.generated for a in found)

    def _keep(self, look: Look, written: list[Written]) -> None:
        if self._harness.run is None:
            return
        folder = self._harness.run / FOLDER
        folder.mkdir(exist_ok=True)
        head = f"# Step {look.step}: held-out score {look.score:.3f} of {len(look.scores)} items\n"
        kept = zip(self._items[:_KEPT], written, look.scores, strict=False)
        (folder / f"step-{look.step:06d}.md").write_text(
            head + "".join(_sample(*one) for one in kept), encoding="utf-8"
        )


def watch(harness: Harness, arguments: Arguments, tokenizer: Any) -> HeldOut:
    """The callback.

    Raises:
        WorkError: the items can't be used.
    """
    settings = arguments.held_out or {}
    needed = not settings["metric"].startswith(judging.REWARD)
    try:
        items = item_files.read(Path(settings["data"]), needs_answer=needed, limit=settings["max_items"])
    except item_files.ItemsError as error:
        raise WorkError("trl.held_out", error.message, fix=error.fix) from error
    return HeldOut(harness, settings, items, prompts.of_tokenizer(tokenizer, Path(arguments.model["path"])))


def _sample(item: Item, written: Written, score: float) -> str:
    asked = (
        item.prompt if isinstance(item.prompt, str) else "\n".join(f"{m['role']}: {m['content']}" for m in item.prompt)
    )
    parts = {"asked": asked, "expected": item.expected or "(judged by a function)", "answered": written.answer}
    return f"\n## score {score:g}\n" + "".join(f"\n**{name}**\n\n{_quoted(text)}\n" for name, text in parts.items())


def _quoted(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines() or ["(nothing)"])
