"""Chat formats written out by hand: messages to text with exact spans, and a model's tokens back to messages.

Standard library only: workers import it inside engine environments. A tokenizer comes in as plain functions.
"""

from __future__ import annotations
