"""BM25 over a few thousand passages, in memory.

Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), with their usual k1, b.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.tasks.retrieval.passages import Passage

_K1, _B = 1.2, 0.75
_WORD = re.compile(r"\w+")
_LITTLE = "a an and are as at by for from in is it of on or that the to was what where which who with"
_COMMON = frozenset(_LITTLE.split())


@dataclass(frozen=True)
class Hit:
    """A passage and how well it fits; scores compare within one query only."""

    passage: Passage
    score: float


class Index:
    """Finds passages by their words."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        counts = [Counter(_words(passage.contents)) for passage in passages]
        lengths = [sum(count.values()) for count in counts]
        mean = sum(lengths) / len(lengths)
        self._passages = list(passages)
        self._weights: dict[str, list[tuple[int, float]]] = defaultdict(list)
        documents = Counter(word for count in counts for word in count)
        for place, (count, length) in enumerate(zip(counts, lengths, strict=True)):
            norm = _K1 * (1 - _B + _B * length / mean)
            for word, times in count.items():
                rarity = math.log(1 + (len(passages) - documents[word] + 0.5) / (documents[word] + 0.5))
                self._weights[word].append((place, rarity * times * (_K1 + 1) / (times + norm)))

    def search(self, query: str, most: int) -> list[Hit]:
        """The best passages, best first; only such that share a word with the query."""
        scores: dict[int, float] = defaultdict(float)
        for word in set(_words(query)):
            for place, weight in self._weights.get(word, ()):
                scores[place] += weight
        best = heapq.nsmallest(most, scores.items(), key=lambda found: (-found[1], found[0]))
        return [Hit(self._passages[place], score) for place, score in best]


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _COMMON]
