"""Episodes of shipped tasks with scripted tokens in the model's place, in the engine's environment; prints what the
loss would see: speaker_cases.py MODEL."""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from typing import Any

from transformers import AutoTokenizer

from backends.trainer.chat import Chat
from backends.trainer.playing import played as play_together
from backends.trainer.speaker import Ids, Said
from orchestrator.errors import EnvironmentMissing
from orchestrator.harness import WorkError
from orchestrator.tasks import load
from orchestrator.tasks.shipped.alphabet_sort import ordered

CALL = '<tool_call>\n{"name": "search", "arguments": {"query": "largest town of Piri"}}\n</tool_call>'
HEAD = "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' }}"
REWRITES = (
    HEAD + "{% if loop.last %}{{ message['content'] }}{% else %}{{ message['content'] | upper }}{% endif %}"
    "{{ '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


class Scripted:
    """A model that says what is written down: one list of texts an episode, a text a turn."""

    def __init__(self, tokenizer: Any, *scripts: list[str]) -> None:
        self._tokenizer = tokenizer
        self._scripts, self.sizes = [list(script) for script in scripts], list[int]()

    def generate(self, prompts: list[Ids], episodes: list[int]) -> list[Said]:
        """The next text of each episode, with log-probabilities."""
        self.sizes.append(len(prompts))
        said = [self._tokenizer(self._scripts[episode].pop(0))["input_ids"] for episode in episodes]
        return [(ids, [-0.5] * len(ids)) for ids in said]


def played(tokenizer: Any, name: str, scripts: list[list[str]], context: int = 4096) -> dict[str, Any]:
    """One episode a script, all of the first sample; told is the first."""
    task, trainer = load(name), Scripted(tokenizer, *scripts)
    chat, samples = Chat(tokenizer, [tokenizer.eos_token_id]), [task.train[0]] * len(scripts)
    try:
        first = play_together(task, samples, chat, trainer.generate, context)[0]
    except WorkError as error:
        return {"code": error.code}
    episode, track = first.episode, first.track
    own = [token for token, mine in zip(track.completion, track.mask, strict=True) if mine]
    return {
        "text": tokenizer.decode(track.prompt + track.completion),
        "own": tokenizer.decode(own),
        "even": len(track.mask) == len(track.completion) == len(track.logprobs or []),
        "silent": sorted({p for p, mine in zip(track.logprobs or [], track.mask, strict=True) if not mine}),
        "end": episode.end,
        "given": [dict(given) for given in episode.rewards],
        "roles": [message["role"] for message in episode.messages],
        "rendered": _rendered(tokenizer, list(episode.messages)),
        "sizes": trainer.sizes,
    }


def _rendered(tokenizer: Any, messages: list[dict[str, Any]]) -> str:
    """The whole conversation by the template at once; tools are left to the test."""
    return str(tokenizer.apply_chat_template(messages, tokenize=False)) if "tool" not in str(messages) else ""


def main(model: str) -> None:
    """Every case."""
    tokenizer = AutoTokenizer.from_pretrained(model)
    batches = load("alphabet_sort").train[0].data["batches"]
    right = [f"<sorted>\n{chr(10).join(ordered(batches, n))}\n</sorted><|im_end|>" for n in (1, 2, 3)]
    found = {"turns": played(tokenizer, "alphabet_sort", [right])}
    found["together"] = played(tokenizer, "alphabet_sort", [right, ["x<|im_end|>"] * 3])
    found["cut"] = played(tokenizer, "alphabet_sort", [["<sorted>"]])
    found["full"] = played(tokenizer, "alphabet_sort", [right], context=300)
    found["no_tools"] = played(tokenizer, "search_r1", [["x"]])
    tokenizer.chat_template = REWRITES
    found["rewrites"] = played(tokenizer, "alphabet_sort", [right])
    tokenizer.chat_template = (files("trl") / "chat_templates" / "qwen3.jinja").read_text(encoding="utf-8")
    found["tools"] = played(tokenizer, "search_r1", [[f"{CALL}<|im_end|>", "<answer>Hask</answer><|im_end|>"]])
    write = '{"name": "bash", "arguments": {"command": "wc -l *; echo text > answer.json"}}'
    calls = [f"<tool_call>\n{write}\n</tool_call><|im_end|>", "Done.<|im_end|>"]
    try:
        found["sandbox"] = played(tokenizer, "data_analyst", [calls])
    except EnvironmentMissing as error:
        found["sandbox"] = {"missing": str(error)}
    found["bad_call"] = played(tokenizer, "search_r1", [["<tool_call>{</tool_call><|im_end|>"]])
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
