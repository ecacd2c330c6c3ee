"""What was counted over the rows that are kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from data_prep.index import Index
from data_prep.ledger import Ledger
from data_prep.manifest import Counts
from data_prep.splits import SPLITS, Split
from data_prep.work import ROLES


@dataclass
class Tally:
    """`rows` counts those that came, all else those that are kept."""

    rows: int = 0
    kept: Counter[Split] = field(default_factory=Counter)
    changed: int = 0
    turns: list[int] = field(default_factory=lambda: [0] * len(ROLES))
    notes: Counter[str] = field(default_factory=Counter)
    tokens: dict[Split, Counter[int]] = field(default_factory=lambda: {split: Counter() for split in SPLITS})

    def count(self, index: Index, gone: set[int]) -> None:
        """All rows of the index but those that are gone."""
        turns = [0] * len(ROLES)
        for number, (split, tokens, changed, (system, developer, user, assistant, tool)) in enumerate(index.counted()):
            if number in gone:
                continue
            name = SPLITS[split]
            self.kept[name] += 1
            self.changed += changed
            self.tokens[name][tokens] += 1
            turns[2] += user
            turns[3] += assistant
            if system or developer or tool:
                turns[0] += system
                turns[1] += developer
                turns[4] += tool
        self.turns = turns

    def roles(self) -> dict[str, int]:
        """Turns by role."""
        return {role: count for role, count in zip(ROLES, self.turns, strict=True) if count}

    def counts(self, ledger: Ledger) -> Counts:
        """As the manifest has it."""
        return Counts(
            rows=self.rows,
            kept=self.kept.total(),
            changed=self.changed,
            dropped=dict(sorted(ledger.dropped.items())),
            changes=dict(sorted(ledger.changed.items())),
            notes=dict(sorted(self.notes.items())),
        )
