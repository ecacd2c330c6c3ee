"""How numbers, times and durations are written."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime


def number(value: object) -> str:
    """A number short enough for a table; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e6):
        return f"{value:.0f}"
    return f"{value:.4g}"


def score(value: float) -> str:
    """A score or the end of an interval."""
    return f"{value:.3f}"


def change(value: float) -> str:
    """A difference, with its sign."""
    return f"{value:+.3f}".replace("-", "−")


def span(interval: tuple[float, float], write: Callable[[float], str] = score) -> str:
    """An interval."""
    return f"{write(interval[0])} to {write(interval[1])}"


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def moment(seconds: float) -> str:
    """Seconds since the epoch as date and time."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
