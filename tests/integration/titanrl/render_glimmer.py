"""Muse Glimmer's renderer as a TitanRL worker builds it, beside transformers; prints what it found as JSON.

python render_glimmer.py MODEL
"""

from __future__ import annotations

import json
import sys
from itertools import product
from typing import Any

from backends.titanrl.worker_renderer import MuseGlimmerRendererConfig
from backends.trainer.chat import chat_of
from tests.unit.data_prep.rendering.conversations import CONVERSATIONS, TOOLS

DATE = "2026-03-01"
TALK = CONVERSATIONS["reasoning, call, result, answer"]


def main(model: str) -> dict[str, Any]:
    """Facts for the test."""
    renderer = MuseGlimmerRendererConfig(current_date=DATE).build(tokenizer_path=model)
    decode = renderer._tokenizer.decode
    rendered = renderer.render(TALK, tools=TOOLS["one"])
    prompt = renderer.render_ids(TALK[:1], add_generation_prompt=True)
    completion = renderer.render_ids(TALK[:2])[len(prompt) :]
    named = {**TALK[2], "name": "weather.now"}
    bridged = renderer.bridge_to_next_turn(prompt, completion, [named])
    cut = renderer.bridge_to_next_turn(prompt, completion[:5], [{"role": "user", "content": "?"}])
    reply = renderer.parse_response(completion)
    return {
        "different": differences(renderer),
        "lengths": [len(rendered.token_ids), len(rendered.sampled_mask), len(rendered.is_content)],
        "sampled": decode(chosen(rendered.token_ids, rendered.sampled_mask)),
        "content": decode(chosen(rendered.token_ids, rendered.is_content)),
        "roles": rendered.message_roles,
        "bridged": bridged.token_ids == renderer.render_ids(TALK[:3], add_generation_prompt=True),
        "bridge_samples": sum(bridged.sampled_mask),
        "bridge_owners": bridged.message_indices[: len(prompt) + len(completion)],
        "cut": decode(cut.token_ids[len(prompt) + 5 :]),
        "unnamed": renderer.bridge_to_next_turn(prompt, completion, [TALK[2]]),
        "reasoning": reply.reasoning_content,
        "calls": [[call.name, call.arguments, call.status] for call in reply.tool_calls],
        "played": played(renderer),
        "stops": decode(renderer.get_stop_token_ids()),
    }


def played(renderer: Any) -> dict[str, Any]:
    """What GRPO and eval make of the same turns, from the tokenizer alone."""
    chat = chat_of(renderer._tokenizer, renderer.get_stop_token_ids(), {"current_date": DATE})
    opening = chat.opening(TALK[:1], TOOLS["one"])
    whole = renderer.render_ids(TALK[:2], tools=TOOLS["one"])
    completion = whole[len(opening) :]
    said = chat.message(opening, completion, TOOLS["one"])
    tail = chat.tail(said, completion[-1], [{**TALK[2], "name": "weather.now"}], TOOLS["one"])
    return {
        "opening": opening == renderer.render_ids(TALK[:1], tools=TOOLS["one"], add_generation_prompt=True),
        "next": [*whole, *tail] == renderer.render_ids(TALK[:3], tools=TOOLS["one"], add_generation_prompt=True),
        "said": said,
    }


def differences(renderer: Any) -> list[str]:
    """Conversations whose token ids are not those of transformers' template."""
    found = []
    for (said, messages), (name, tools) in product(CONVERSATIONS.items(), TOOLS.items()):
        if not messages:  # transformers renders none
            continue
        ours = renderer.render_ids(messages, tools=tools, add_generation_prompt=True)
        theirs = renderer._tokenizer.apply_chat_template(
            messages, tools=tools or None, add_generation_prompt=True, return_dict=True, current_date=DATE
        )
        if ours != theirs["input_ids"]:
            found.append(f"{said}, {name}")
    return found


def chosen(ids: list[int], mask: list[bool]) -> list[int]:
    return [one for one, bit in zip(ids, mask, strict=True) if bit]


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(main(sys.argv[1])) + "\n")
