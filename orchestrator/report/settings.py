"""What was asked for and where it came from, and the circumstances of a run."""

from __future__ import annotations

import json
from typing import Any

from orchestrator.manifest import Manifest
from orchestrator.provenance import redact
from orchestrator.report.figures import moment
from orchestrator.report.markup import Html, element, join, table

_GIB = 2**30


def settings(m: Manifest) -> Html:
    """Settings that somebody chose, open; defaults folded away. What does not concern the stage has no origin."""
    every = flat(m.spec.model_dump(mode="json", by_alias=True))
    values = {key: value for key, value in every.items() if key in m.origins or not m.origins}
    rows: dict[bool, list[list[object]]] = {True: [], False: []}
    for key, value in values.items():
        origin = m.origins.get(key, "")
        name, shown = element("th", key, scope="row"), element("code", redact(written(value)))
        rows[_chosen(origin)].append([name, element("td", shown), origin])
    return join(_settings_table(rows[True]), _folded(f"{len(rows[False])} defaults", _settings_table(rows[False])))


def _chosen(origin: str) -> bool:
    return bool(origin) and not origin.startswith("default")


def _settings_table(rows: list[list[object]]) -> Html:
    return table(["setting", "value", "from"], rows) if rows else Html("")


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as dotted keys."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{prefix}{key}"
        found |= flat(value, f"{name}.") if isinstance(value, dict) else {name: value}
    return found


def written(value: object) -> str:
    """A value as a recipe would have it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def circumstances(m: Manifest) -> Html:
    """Provenance: what ran, on what, when."""
    rows: list[list[object]] = [
        [element("th", key, scope="row"), redact(value)] for key, value in _facts(m).items() if value
    ]
    packages = _packages(m)
    more = _folded(f"{len(packages)} packages", table(["package", "version"], packages)) if packages else None
    return join(table([], rows), more)


def _facts(m: Manifest) -> dict[str, str]:
    from_ = m.provenance
    environment, hardware = _mapping(from_.get("environment")), _mapping(from_.get("hardware"))
    return {
        "command": " ".join(map(str, from_.get("argv") or [])),
        "created": moment(m.created),
        "post-train": f"{from_.get('post_train', '?')}, revision {from_.get('git') or 'unknown'}",
        "Python": f"{from_.get('python', '?')} (post-train's own)",
        "environment": " ".join(str(environment.get(key, "")) for key in ("backend", "variant", "key")),
        "hardware": _hardware(hardware),
        "fingerprint": m.fingerprint,
        "starts from": m.start.path + (f" with adapter {m.start.adapter}" if m.start.adapter else ""),
    }


def _hardware(found: dict[str, Any]) -> str:
    if not found:
        return ""
    memory = found.get("memory")
    gpus = ", ".join(map(str, found.get("gpus") or [])) or "no GPU"
    size = f"{memory / _GIB:.0f} GiB memory" if isinstance(memory, int) else "memory unknown"
    return f"{found.get('cores', '?')} cores ({found.get('arch', '?')}), {size}, {gpus}"


def _packages(m: Manifest) -> list[list[object]]:
    found = _mapping(_mapping(m.provenance.get("environment")).get("packages"))
    return [[element("th", name, scope="row"), version] for name, version in sorted(found.items())]


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _folded(title: str, inside: Html) -> Html:
    return element("details", element("summary", title), inside)
