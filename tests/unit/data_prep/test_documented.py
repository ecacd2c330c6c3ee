"""The rows that the documentation shows are of the formats that it says, and every format is shown."""

from __future__ import annotations

import json
import re

from data_prep import formats
from data_prep.uses import SHAPES
from tests.conftest import ROOT

_ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \| `(\{.*\})` \|$", re.MULTILINE)


def test_every_format_is_shown_by_a_row_of_it() -> None:
    shown = _ROW.findall((ROOT / "docs/data.md").read_text(encoding="utf-8"))
    assert [name for name, _, _ in shown if name not in formats.BY_NAME] == []
    assert {name for name, _, _ in shown} == formats.BY_NAME.keys()
    for name, serves, row in shown:
        found = formats.recognise(json.loads(row))
        assert found is formats.BY_NAME[name], name
        if serves != "say `--use`":
            assert serves.split(", ") == list(SHAPES[found.form]), name
