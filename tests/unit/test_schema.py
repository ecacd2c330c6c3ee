"""The JSON Schema and the reader agree, and every shipped recipe passes both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from orchestrator import library, recipe, yamlfile
from orchestrator.errors import RecipeError
from orchestrator.resolve import resolve
from orchestrator.schema import recipe_schema

if TYPE_CHECKING:
    from tests.conftest import Write

RECIPES = sorted(library.ROOT.rglob("*.yaml"))
VALIDATOR = jsonschema.Draft202012Validator(recipe_schema())


def test_recipes_are_shipped() -> None:
    assert RECIPES
    assert set(library.names().values()) == set(RECIPES)


@pytest.mark.parametrize("path", RECIPES, ids=lambda p: str(p.relative_to(library.ROOT)))
def test_a_shipped_recipe_is_valid_and_loads(path: Path) -> None:
    raw, _ = yamlfile.read(path)
    assert list(VALIDATOR.iter_errors(raw)) == []
    found = recipe.read(path)
    assert found.description
    for index in range(len(found.stages)):
        assert resolve(found, index, {}).spec.stage == found.stages[index]["stage"].value


def test_the_shipped_schema_is_the_one_that_is_printed() -> None:
    assert json.loads((library.ROOT / "recipe.schema.json").read_text(encoding="utf-8")) == recipe_schema()
    VALIDATOR.check_schema(recipe_schema())


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"stage": "nope"},
        {"stage": "sft", "metod": "lora"},
        {"stage": "sft", "training": {"epoch": 1}},
        {"stage": "sft", "lora": 5},
        {"stages": []},
        {"stages": [{"stage": "sft"}], "model": "m"},
        {"stages": [{"method": "lora"}]},
    ],
)
def test_schema_and_reader_refuse_the_same(raw: dict[str, Any], write: Write) -> None:
    assert not VALIDATOR.is_valid(raw)
    with pytest.raises(RecipeError):
        recipe.read(write("r.yaml", raw))


@pytest.mark.parametrize(
    "raw",
    [
        {"stage": "sft", "model": "m", "data": "d.jsonl", "from": "x"},
        {"stage": "sft", "model": {"path": "m"}, "data": {"train": "d", "max_rows": 3}, "from": ["x"]},
        {"name": "n", "defaults": {"method": "full"}, "stages": [{"stage": "sft", "native": {"sft": {"a": 1}}}]},
    ],
)
def test_schema_and_reader_take_the_same(raw: dict[str, Any], write: Write) -> None:
    assert VALIDATOR.is_valid(raw)
    assert recipe.read(write("r.yaml", raw)).stages


def test_a_recipe_is_found_by_name_and_by_path(write: Write) -> None:
    name, path = next(iter(library.names().items()))
    assert library.find(name).path == path
    assert library.find(str(write("mine.yaml", {"stage": "sft"}))).name == "mine"
    with pytest.raises(RecipeError, match="did you mean"):
        library.find(name + "x")
