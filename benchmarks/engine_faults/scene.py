"""The scene of every fault: a tiny chain that was trained once, put back as it was before each command."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.clock import program

QUICKSTART = Path(__file__).resolve().parents[2] / "recipes" / "quickstart"
_BARE = Path(__file__).parent / "bare"
_LIMIT = 300
_NUMBERS = {"batch_size": 8, "gradient_accumulation": 1, "max_length": 64, "precision": "fp32", "seed": 0}
_RL = {"num_generations": 4, "max_completion_length": 6, "beta": 0.0, "reward": ["./reward.py:score"]}
_REWARD = "def score(completions, **columns):\n    return [float(n % 3) for n, _ in enumerate(completions)]\n"


@dataclass(frozen=True)
class Done:
    """How a command ended: exit code, and everything it printed."""

    code: int
    text: str


@dataclass(frozen=True)
class Scene:
    """A folder with a model, data and the runs `sft`, `merged` and `rl`.

    Attributes:
        folder: where commands run; always the same path, since manifests hold paths.
        stock: the folder's first state.
        python: of the engine.
    """

    folder: Path
    stock: Path
    python: Path

    @classmethod
    def build(cls, root: Path) -> Scene:
        """Train the chain; takes a minute.

        Raises:
            SystemExit: the chain can't be trained here.
        """
        asked = [program("post-train"), "backends", "path", "trl"]
        found = subprocess.run(asked, capture_output=True, text=True, check=False)
        if found.returncode != 0:
            sys.exit(found.stderr)
        scene = cls(root / "scene", root / "stock", Path(found.stdout.strip()))
        scene.folder.mkdir(parents=True)
        scene._furnish()
        for words in (("sft",), ("merge", "sft", "--name", "merged"), ("rl",)):
            given = (*words, "--recipe", f"{words[0]}.yaml", "--name", words[0]) if len(words) == 1 else words
            if (done := scene.post_train(*given)).code != 0:
                sys.exit(f"the clean chain fails: {' '.join(given)}\n{done.text}")
        scene._stop()
        shutil.copytree(scene.folder, scene.stock, symlinks=True)
        return scene

    def _stop(self) -> None:
        """A run `stopped` in the middle, with two checkpoints."""
        argv = [program("post-train"), "sft", "--recipe", "long.yaml", "--name", "stopped"]
        with subprocess.Popen(
            argv, cwd=self.folder, env=_variables(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as run:
            while run.poll() is None and not list(self.folder.glob("runs/stopped-*/checkpoints/checkpoint-20")):
                time.sleep(0.05)
            run.send_signal(signal.SIGINT)

    def _furnish(self) -> None:
        shutil.copytree(QUICKSTART / "model", self.folder / "model")
        for name, source, first, rows in (
            ("sft", "sft", 0, 48),
            ("more", "sft", 100, 16),
            ("pairs", "preferences", 0, 32),
            ("prompts", "prompts", 0, 32),
            ("items", "held_out", 200, 16),
        ):
            lines = (QUICKSTART / "data" / f"{source}.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
            self.write(f"{name}.jsonl", "".join(lines[first : first + rows]))
        self.write("reward.py", _REWARD)
        lora = {"method": "lora", "lora": {"r": 8, "alpha": 16, "dropout": 0.0, "target_modules": "all-linear"}}
        common = {"backend": "trl", **lora, "hardware": {"threads": 1}}
        training = {**_NUMBERS, "learning_rate": 1e-3, "max_steps": 6}
        sft = {"stage": "sft", "model": "./model", "data": "./sft.jsonl", **common}
        self.recipe("sft", **sft, training=training)
        self.recipe("dpo", stage="dpo", **{"from": "merged"}, data="./pairs.jsonl", training=training, **common)
        self.recipe("long", **sft, training={**training, "max_steps": 200, "save_steps": 10})
        whole = {key: value for key, value in sft.items() if key != "lora"} | {"method": "full"}
        self.recipe("full", **whole, training=training)
        short = {**training, "max_steps": 2}
        rl = {"from": "merged", "data": "./prompts.jsonl", "rl": _RL}
        self.recipe("rl", stage="grpo", training=short, **rl, **common)

    def reset(self) -> None:
        """Back to the first state."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.stock, self.folder, symlinks=True)

    def post_train(self, *words: str) -> Done:
        """The command as a user types it."""
        return self._run([program("post-train"), *words])

    def bare(self, *words: str) -> Done:
        """A script of `bare/`, run by the engine's own Python: what people do without us."""
        patched = self.folder / "engine" / "bin" / "python"
        return self._run([str(patched if patched.exists() else self.python), str(_BARE / words[0]), *words[1:]])

    def _run(self, argv: list[str]) -> Done:
        try:
            done = subprocess.run(
                argv, cwd=self.folder, env=_variables(), capture_output=True, text=True, timeout=_LIMIT, check=False
            )
        except subprocess.TimeoutExpired:
            return Done(124, f"no answer within {_LIMIT} s")
        return Done(done.returncode, done.stdout + done.stderr)

    def run(self, name: str) -> Path:
        """The folder of the newest run whose id begins with `name`."""
        return max(self.folder.glob(f"runs/{name}-*"), key=lambda p: p.stat().st_mtime)

    def write(self, name: str, content: str) -> Path:
        """A file of the scene."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return path

    def rows(self, name: str, rows: list[dict[str, Any]]) -> Path:
        """A JSONL file of the scene."""
        return self.write(name, "".join(json.dumps(row) + "\n" for row in rows))

    def read(self, name: str) -> list[dict[str, Any]]:
        """The rows of a JSONL file of the scene."""
        return [json.loads(line) for line in (self.folder / name).read_text(encoding="utf-8").splitlines()]

    def recipe(self, file: str, **settings: Any) -> None:
        """A recipe of the scene."""
        self.write(f"{file}.yaml", yaml.safe_dump(settings, sort_keys=False))

    def settings(self, file: str) -> dict[str, Any]:
        """What a recipe of the scene says."""
        found: dict[str, Any] = yaml.safe_load((self.folder / f"{file}.yaml").read_text(encoding="utf-8"))
        return found

    @contextmanager
    def json(self, path: Path) -> Iterator[dict[str, Any]]:
        """A JSON file's content, written back when the block ends."""
        content = json.loads(path.read_text(encoding="utf-8"))
        yield content
        path.write_text(json.dumps(content, indent=2), encoding="utf-8")

    def engine(self, patch: str) -> None:
        """An environment `engine` with everything of the true one, in which `patch` runs before any program does."""
        place = self.folder / "engine"
        if not place.exists():
            subprocess.run([str(self.python), "-m", "venv", "--without-pip", str(place)], check=True)
        (packages,) = place.glob("lib/*/site-packages")
        (true,) = self.python.parents[1].glob("lib/*/site-packages")
        (packages / "true.pth").write_text(f"{true}\n", encoding="utf-8")
        (packages / "sitecustomize.py").write_text(patch, encoding="utf-8")


def _variables() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "COLUMNS": "400"}


def edit(path: str, change: Callable[[str], str]) -> Callable[[Scene], None]:
    """Damage: the text of a file below the scene's folder, changed; fails when nothing changed."""

    def damage(scene: Scene) -> None:
        (found,) = scene.folder.glob(path)
        before = found.read_text(encoding="utf-8")
        if (after := change(before)) == before:
            raise ValueError(f"{path}: nothing to change")
        found.write_text(after, encoding="utf-8")

    return damage


def remove(path: str) -> Callable[[Scene], None]:
    """Damage: files below the scene's folder, gone."""

    def damage(scene: Scene) -> None:
        found = list(scene.folder.glob(path))
        if not found:
            raise ValueError(f"{path}: nothing to remove")
        for one in found:
            one.unlink()

    return damage


def recipe(file: str, **changes: Any) -> Callable[[Scene], None]:
    """Damage: settings of a recipe, `__` for the dot."""

    def damage(scene: Scene) -> None:
        content = scene.settings(file)
        for dotted, value in changes.items():
            *parents, last = dotted.split("__")
            place = content
            for parent in parents:
                place = place.setdefault(parent, {})
            place[last] = value
        scene.recipe(file, **content)

    return damage


def swap(path: str, other: str) -> Callable[[Scene], None]:
    """Damage: another file in the place of one."""

    def damage(scene: Scene) -> None:
        (found,) = scene.folder.glob(path)
        shutil.copyfile(scene.folder / other, found)

    return damage
