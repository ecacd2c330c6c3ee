"""A recipe as YAML that a person would be glad to have written: sections in their order, short lists on one line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from textwrap import indent
from typing import Any

import yaml

from orchestrator.backend import Translated
from orchestrator.spec import RunSpec
from orchestrator.vocabulary import keys_of, settings
from orchestrator.yamlfile import RESOLVERS

_WIDTH = 120
_ON_ONE_LINE = 90
"""Characters that a list may have to stand on one line."""


class _Dumper(yaml.SafeDumper):
    """Quotes what our reader would not take for text, and indents lists below their key."""

    yaml_implicit_resolvers = RESOLVERS

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _number(dumper: yaml.SafeDumper, value: float) -> yaml.Node:
    """`2e-5`, not `2.0e-05`; the same for all that is smaller than a thousandth."""
    if not math.isfinite(value):
        return dumper.represent_float(value)
    exact = Decimal(repr(value))
    text = f"{exact.normalize():e}".replace("e+", "e") if value and not 1e-3 <= abs(value) < 1e16 else repr(value)
    return dumper.represent_scalar("tag:yaml.org,2002:float", text)


def _list(dumper: yaml.SafeDumper, value: list[Any]) -> yaml.Node:
    short = len(str(value)) <= _ON_ONE_LINE and not any(isinstance(item, list | dict) for item in value)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=short)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(float, _number)
_Dumper.add_representer(list, _list)
_Dumper.add_representer(str, _text)


def written(header: Iterable[str], given: Iterable[Translated]) -> str:
    """The text of a recipe with one stage.

    Args:
        header: lines of the comment on top, without their mark.
        given: settings, dotted; those of the engine stay in the order in which they come.
    """
    known = list(settings())
    ordered = sorted(given, key=lambda one: known.index(one.setting) if one.setting in known else len(known))
    top = "".join(f"# {line}".rstrip() + "\n" for line in header)
    return top + "".join(_sections({one.setting: one for one in ordered}))


def _sections(given: Mapping[str, Translated]) -> Iterator[str]:
    for key in keys_of(RunSpec):
        inner = [one for name, one in given.items() if name.startswith(f"{key}.")]
        if key in given:
            yield _entry(key, given[key])
        elif inner:
            yield f"{key}:\n" + "".join(indent(_entry(one.setting.removeprefix(f"{key}."), one), "  ") for one in inner)


def _entry(key: str, one: Translated) -> str:
    comment = "".join(f"# {line}\n" for line in (one.comment or "").splitlines())
    dumped: str = yaml.dump({key: one.value}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return comment + dumped
