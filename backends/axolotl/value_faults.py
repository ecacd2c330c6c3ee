"""What is wrong with the value of a key, in words, held against a JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from orchestrator.nearest import nearest

if TYPE_CHECKING:
    from jsonschema import ValidationError

Schema = dict[str, Any]
_FEW = 8
"""Choices that are told one by one."""
_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "keys with values",
    "string": "text",
}


def faults(key: str, value: Any, schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Dotted key and words of each fault, in the order of the schema."""
    from jsonschema import Draft202012Validator

    for error in Draft202012Validator(schema).iter_errors(value):
        for inner in _inner(error):
            yield from _told(key, inner, schema["$defs"])


def _inner(error: ValidationError) -> Iterator[ValidationError]:
    """The faults within the alternative that a list or an object looks most like; a plain value has none."""
    fitting = [group for group in _alternatives(error) if not any(_is_of_other_type(error, one) for one in group)]
    if error.validator != "anyOf" or not fitting or not isinstance(error.instance, dict | list):
        yield error
        return
    for one in min(fitting, key=lambda group: sum(_weight(one) for one in group)):
        yield from _inner(one)


def _alternatives(error: ValidationError) -> list[list[ValidationError]]:
    found: dict[Any, list[ValidationError]] = {}
    for one in error.context or ():
        found.setdefault(one.schema_path[0], []).append(one)
    return list(found.values())


def _is_of_other_type(error: ValidationError, one: ValidationError) -> bool:
    if one.absolute_path != error.absolute_path:
        return False
    groups = _alternatives(one)
    return one.validator == "type" or (
        bool(groups) and all(any(_is_of_other_type(one, inner) for inner in group) for group in groups)
    )


def _weight(error: ValidationError) -> int:
    return len(_unknown(error)) if error.validator == "additionalProperties" else 1


def _unknown(error: ValidationError) -> list[str]:
    return [name for name in cast("Schema", error.instance) if name not in _properties(error)]


def _properties(error: ValidationError) -> Schema:
    return cast("Schema", error.schema)["properties"]  # type: ignore[no-any-return]


def _told(key: str, error: ValidationError, definitions: Schema) -> Iterator[tuple[str, str]]:
    dotted = ".".join([key, *(str(part) for part in error.absolute_path)])
    if error.validator == "additionalProperties":
        for name in _unknown(error):
            near = nearest(str(name), _properties(error))
            yield (
                f"{dotted}.{name}",
                f"{dotted}: Axolotl would ignore `{name}` without a word: it has no such key{near}",
            )
        return
    value, branches = error.instance, list(_branches(cast("Schema", error.schema), definitions))
    names = [name for one in branches for name in one.get("enum", [one["const"]] if "const" in one else [])]
    taken = dict.fromkeys([*(_type(one) for one in branches if not _names(one)), *(repr(name) for name in names)])
    if len(names) > _FEW:
        message = f"Axolotl knows no {value!r} there{nearest(str(value), [n for n in names if isinstance(n, str)])}"
    elif error.validator in ("anyOf", "enum", "const", "type") and taken:
        message = f"takes {' or '.join(taken)}, not {value!r}"
    else:
        message = error.message
    yield dotted, f"{dotted}: {_words(message, value)}"


def _branches(schema: Schema, definitions: Schema) -> Iterator[Schema]:
    """What a value may be, references followed; null, which is the same as leaving the key out, is not told."""
    if "$ref" in schema:
        yield from _branches(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    elif "anyOf" in schema:
        yield from (inner for branch in schema["anyOf"] for inner in _branches(branch, definitions))
    elif schema.get("type") != "null":
        yield schema


def _names(branch: Schema) -> bool:
    return "enum" in branch or "const" in branch


def _type(branch: Schema) -> str:
    if "pattern" in branch:
        return f"text that fits {branch['pattern']}"
    return _TYPES.get(branch.get("type", ""), "a value")


def _words(message: str, value: Any) -> str:
    """YAML reads `2e-5` as text: it wants a point in the mantissa."""
    try:
        number = float(value) if isinstance(value, str) else None
    except ValueError:
        number = None
    return message if number is None else f"{message}; write {number!r} without quotes"
