"""Four seeded templates: a file, a question about it, and the one number that answers it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

Row = tuple[str, ...]
_REGIONS = ("north", "south", "east", "west", "central")
_PRODUCTS = ("anvil", "bolt", "crate", "drill", "easel", "flask")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_SERVICES = ("auth", "billing", "cache", "queue", "search")
_PATHS = ("/", "/login", "/cart", "/search", "/api/items", "/api/orders", "/health")
_STATUSES = (200, 301, 304, 400, 403, 404, 500, 503)


@dataclass(frozen=True)
class Case:
    """One question.

    Attributes:
        file: name of the file, data.csv or access.log.
        content: what is in it.
        question: in words; the answer is one number.
        answer: that number, rounded as the question says.
    """

    file: str
    content: str
    question: str
    answer: float


def case(template: str, seed: int) -> Case:
    """The case of a template and a seed; always the same for the same two."""
    return TEMPLATES[template](random.Random(f"{template}/{seed}"))  # noqa: S311  (test data, no secrets)


def _filtered_sum(rng: random.Random) -> Case:
    rows = _sales(rng)
    region, least = rng.choice(_REGIONS), rng.randrange(2, 6)
    total = sum(float(amount) for _, where, _, units, amount in rows if where == region and int(units) >= least)
    question = (
        f"What is the sum of `amount` over all rows whose `region` is {region} and whose `units` is at least {least}? "
        "Round to 2 decimals."
    )
    return Case("data.csv", _csv(rows), question, round(total, 2))


def _best_average(rng: random.Random) -> Case:
    rows = _sales(rng)
    groups: dict[str, list[float]] = {}
    for _, _, product, _, amount in rows:
        groups.setdefault(product, []).append(float(amount))
    best = max(sum(group) / len(group) for group in groups.values())
    question = "Group the rows by `product`. What is the highest average `amount` of any group? Round to 2 decimals."
    return Case("data.csv", _csv(rows), question, round(best, 2))


def _level_count(rng: random.Random) -> Case:
    level, service = rng.choice(_LEVELS), rng.choice(_SERVICES)
    rows = [(_time(rng), rng.choice(_LEVELS), rng.choice(_SERVICES), rng.choice(_PATHS)) for _ in range(_size(rng))]
    lines = [f"{when} {lev} [{serv}] request for {path} took {rng.randrange(900)} ms" for when, lev, serv, path in rows]
    count = sum(1 for _, lev, serv, _ in rows if (lev, serv) == (level, service))
    question = f"How many lines have the level {level} and come from the service {service}?"
    return Case("access.log", "\n".join(lines) + "\n", question, float(count))


def _common_status(rng: random.Random) -> Case:
    weights = [rng.randrange(1, 9) for _ in _STATUSES]
    statuses = rng.choices(_STATUSES, weights, k=_size(rng))
    lines = [
        f'10.0.{rng.randrange(256)}.{rng.randrange(256)} - - [{_time(rng)}] "GET {rng.choice(_PATHS)} HTTP/1.1" '
        f"{status} {rng.randrange(200, 9000)}"
        for status in statuses
    ]
    question = "How often does the most common HTTP status occur? The status is the number after the quoted request."
    return Case("access.log", "\n".join(lines) + "\n", question, float(Counter(statuses).most_common(1)[0][1]))


TEMPLATES: dict[str, Callable[[random.Random], Case]] = {
    "filtered_sum": _filtered_sum,
    "best_average": _best_average,
    "level_count": _level_count,
    "common_status": _common_status,
}


def _size(rng: random.Random) -> int:
    return rng.randrange(40, 160)


def _sales(rng: random.Random) -> list[Row]:
    """day, region, product, units, amount."""
    return [
        (
            f"2026-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}",
            rng.choice(_REGIONS),
            rng.choice(_PRODUCTS),
            str(rng.randrange(1, 10)),
            f"{rng.randrange(100, 99999) / 100:.2f}",
        )
        for _ in range(_size(rng))
    ]


def _csv(rows: list[Row]) -> str:
    return "\n".join(",".join(row) for row in [("day", "region", "product", "units", "amount"), *rows]) + "\n"


def _time(rng: random.Random) -> str:
    return f"2026-05-{rng.randrange(1, 29):02}T{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"
