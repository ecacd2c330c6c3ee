"""The JSON Schema of recipes: a RunSpec with everything optional, alone or as a pipeline."""

from __future__ import annotations

from typing import Any

from orchestrator.spec import RunSpec

_SHORT = {
    "model": "A folder or hub name; short for `path`.",
    "data": "A JSONL file; short for `train`.",
    "task": "A name or file; short for `name`.",
}


def recipe_schema() -> dict[str, Any]:
    """The schema, draft 2020-12."""
    schema = RunSpec.model_json_schema(by_alias=True)
    definitions = {name: _optional(part) for name, part in schema.pop("$defs").items()}
    stage = _optional(schema)
    for key, text in _SHORT.items():
        section = {k: v for k, v in stage["properties"][key].items() if k != "default"}
        stage["properties"][key] = {"anyOf": [section, {"type": "string", "description": text}]}
    stage["properties"]["from"] = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    definitions["Stage"] = {**stage, "required": ["stage"]}
    settings = {k: v for k, v in stage.items() if k != "title"}
    single = {
        **settings,
        "properties": {**stage["properties"], "description": {"type": "string"}},
        "required": ["stage"],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A post-train recipe",
        "anyOf": [single, _pipeline()],
        "$defs": {**definitions, "Defaults": settings},
    }


def _pipeline() -> dict[str, Any]:
    properties = {
        "name": {"type": "string", "description": "Name of every run of the pipeline."},
        "description": {"type": "string", "description": "One line for lists."},
        "defaults": {
            "$ref": "#/$defs/Defaults",
            "description": "Settings of every stage in which they mean something.",
        },
        "stages": {
            "type": "array",
            "minItems": 1,
            "items": {"$ref": "#/$defs/Stage"},
            "description": "Stages, in order.",
        },
    }
    return {"type": "object", "properties": properties, "required": ["stages"], "additionalProperties": False}


def _optional(part: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in part.items() if k != "required"}
