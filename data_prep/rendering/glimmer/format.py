"""Messages to text and tokens to messages, in one place."""

from __future__ import annotations

from collections.abc import Sequence

from data_prep.rendering.glimmer import blocks, system
from data_prep.rendering.glimmer.options import Options
from data_prep.rendering.piece import Piece


class MuseGlimmer:
    """The format with its options told.

    Args:
        options: what the chat template would be given.
    """

    def __init__(self, options: Options) -> None:
        self.options = options

    def pieces(
        self, messages: Sequence[blocks.Message], tools: Sequence[system.Tool] = (), *, prompt: bool = False
    ) -> list[Piece]:
        """A conversation.

        Args:
            prompt: with the beginning of the assistant's next turn.

        Raises:
            Unrenderable: the template refuses it too.
        """
        found = list(blocks.conversation(messages, tools, self.options))
        return [*found, blocks.PROMPT] if prompt else found

    def bridge(self, messages: Sequence[blocks.Message], tools: Sequence[system.Tool] = ()) -> list[Piece] | None:
        """What stands between the end of a sampled turn and the next one.

        Returns:
            None where only rendering all of it tells: nothing follows; an assistant's turn, whose end depends on what
            follows it; a tool's result without a name, which an earlier call tells; reasoning that is to be dropped.
        """
        unnamed = any(message["role"] == "tool" and not message.get("name") for message in messages)
        said = any(message["role"] == "assistant" for message in messages)
        if not messages or said or unnamed or not self.options.retain_reasoning_in_history:
            return None
        return [*blocks.following(messages, tools, self.options), blocks.PROMPT]
