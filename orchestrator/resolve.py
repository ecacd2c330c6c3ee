"""Recipe stage + flags + defaults -> RunSpec, with where each value came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from orchestrator import defaults, prepared
from orchestrator.errors import RecipeError
from orchestrator.findings import Finding
from orchestrator.nearest import nearest
from orchestrator.recipe import Recipe, Settings, Value
from orchestrator.spec import Method, RunSpec, Stage
from orchestrator.vocabulary import OPEN, meaningful, settings


@dataclass(frozen=True)
class Resolved:
    """A complete spec, for each dotted setting the place its value came from, and what was noticed on the way."""

    spec: RunSpec
    origins: dict[str, str]
    findings: tuple[Finding, ...] = ()


def resolve(recipe: Recipe, index: int, flags: Settings) -> Resolved:
    """Fill in one stage of a recipe. Flags win over the stage, the stage over the recipe's defaults, those over ours.

    Raises:
        RecipeError: with every bad value at once, each with file:line or its flag.
    """
    stage, method = kind(recipe, index, flags)
    chosen = prepared.expand(_layers(recipe, index, flags, stage, method), stage)
    problems = [*_misplaced(recipe.stages[index] | flags, stage, method), *_overruled(chosen, stage)]
    spec = _validate(chosen, problems)
    if problems or spec is None:
        where = str(recipe.path) if recipe.path else None
        noun = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise RecipeError(f"{noun} with the settings of stage {stage!r}", where=where, details=problems)
    origins = {k: chosen[k].origin if k in chosen else "default" for k in settings() if meaningful(k, stage, method)}
    others = {k: v.origin for k, v in chosen.items() if k.startswith(OPEN)}
    return Resolved(spec, origins | others, tuple(_told(recipe, index, flags)))


def engines(recipe: Recipe, index: int, flags: Settings) -> tuple[str, str]:
    """The backend that a recipe means for a stage, and the one that does it with these flags."""
    usual = {"backend": Value(defaults.for_stage(*kind(recipe, index, flags))["backend"], "default")}
    written = usual | recipe.defaults | recipe.stages[index]
    return str(written["backend"].value), str((written | flags)["backend"].value)


def _left_out(recipe: Recipe, index: int, flags: Settings) -> Settings:
    """The recipe's native keys that don't reach the spec: all, when they are another engine's or `native={}` is set."""
    written, engine = engines(recipe, index, flags)
    if written == engine and not _emptied(flags):
        return {}
    given = recipe.defaults | recipe.stages[index]
    return {k: v for k, v in given.items() if k.startswith("native.") and k not in flags}


def _emptied(flags: Settings) -> bool:
    return "native" in flags and flags["native"].value == {}


def _told(recipe: Recipe, index: int, flags: Settings) -> Iterator[Finding]:
    """What is left out. An error unless it is wanted so: nobody but the user knows what a run is without these keys."""
    dropped = _left_out(recipe, index, flags)
    if not dropped:
        return
    keys, where = ", ".join(dropped), next(iter(dropped.values())).origin
    written, engine = engines(recipe, index, flags)
    if _emptied(flags):
        why = f"they are of {written} and mean nothing to {engine}" if written != engine else "as asked"
        message = f"the recipe's native keys {keys} are left out: {why}"
        yield Finding(code="native.dropped", level="note", message=message, where=where)
        return
    message = f"the recipe's native keys {keys} are of {written} and mean nothing to {engine}"
    key = f"{recipe.stages[index]['stage'].value}.native" if recipe.is_pipeline else "native"
    fix = f"leave them out with --set {key}={{}}; set what {engine} needs with --set {key}.KEY=VALUE"
    yield Finding(code="native.foreign", level="error", message=message, where=where, fix=fix)


def kind(recipe: Recipe, index: int, flags: Settings) -> tuple[Stage, Method]:
    """The stage, and the method with these flags.

    Raises:
        RecipeError: one of them is unknown.
    """
    merged = recipe.defaults | recipe.stages[index] | flags
    stage, method = merged["stage"], merged.get("method", Value("lora", "default"))
    if stage.value not in get_args(Stage):
        raise RecipeError(
            f"unknown stage {stage.value!r}{nearest(str(stage.value), get_args(Stage))}", where=stage.origin
        )
    if method.value not in get_args(Method):
        raise RecipeError(
            f"unknown method {method.value!r}{nearest(str(method.value), get_args(Method))}", where=method.origin
        )
    return stage.value, method.value


def _layers(recipe: Recipe, index: int, flags: Settings, stage: Stage, method: Method) -> Settings:
    ours = {k: Value(v, f"default for {stage} {method}") for k, v in defaults.for_stage(stage, method).items()}
    given = recipe.stages[index] | flags
    model = ("model.path", "model.revision") if "from" in given else ()
    shared = {k: v for k, v in recipe.defaults.items() if meaningful(k, stage, method) and k not in model}
    named = {"name": Value(recipe.name, "recipe's name")} if recipe.name else {}
    played = {"eval.metric": Value("task", "default with a task")} if _plays(shared | given, stage) else {}
    dropped = _left_out(recipe, index, flags).keys() | ({"native"} if _emptied(flags) else set())
    return {k: v for k, v in (ours | named | played | shared | given).items() if k not in dropped}


def _plays(given: Settings, stage: Stage) -> bool:
    """Whether it is an eval of a task."""
    return stage == "eval" and "task.name" in given and given["task.name"].value is not None


def _misplaced(given: Settings, stage: Stage, method: Method) -> list[str]:
    known = set(settings())  # others are told of as unknown, once
    wrong = [k for k in given if k in known and not meaningful(k, stage, method)]
    return [f"{given[k].origin}: `{k}` has no effect in stage {stage} with method {method}; remove it" for k in wrong]


def _overruled(chosen: Settings, stage: Stage) -> list[str]:
    key = "eval.max_new_tokens"
    if not _plays(chosen, stage) or key not in chosen:
        return []
    return [f"{chosen[key].origin}: `{key}` has no effect on a task, whose own limits say how long a message is"]


def _validate(chosen: Settings, problems: list[str]) -> RunSpec | None:
    known = set(settings()) | {k for k in chosen if k.startswith(OPEN)}
    problems += [f"{v.origin}: unknown setting `{k}`{nearest(k, known)}" for k, v in chosen.items() if k not in known]
    twofold = [k for k in chosen if any(other.startswith(f"{k}.") for other in chosen) and chosen[k].value != {}]
    if twofold:
        problems += [f"{chosen[k].origin}: `{k}` is set both as a value and as a section" for k in twofold]
        return None
    try:
        return RunSpec.model_validate(_nested({k: _placed(k, v.value) for k, v in chosen.items() if k in known}))
    except ValidationError as error:
        problems += [_explain(dict(e), chosen) for e in error.errors()]
        return None


def _explain(error: dict[str, Any], chosen: Settings) -> str:
    dotted = ".".join(str(part) for part in error["loc"])
    keys = [k for k in chosen if k == dotted or dotted.startswith(f"{k}.")]
    origin = chosen[keys[0]].origin if keys else "recipe"
    given = "" if error["type"] == "missing" else f", not {error['input']!r}"
    return f"{origin}: `{keys[0] if keys else dotted}`: {error['msg'][:1].lower()}{error['msg'][1:]}{given}"


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for dotted, value in flat.items():
        *parents, leaf = dotted.split(".")
        node = tree
        for parent in parents:
            node = node.setdefault(parent, {})
        node[leaf] = value
    return tree


def _placed(dotted: str, value: Any) -> Any:
    """Absolute paths: a worker has a working folder of its own. No text, as of an unset variable, is no path."""
    if dotted == "from" and isinstance(value, str):
        return [value]
    if dotted in ("data.train", "data.eval", "rl.held_out") and value and isinstance(value, str):
        return str(Path(value).expanduser().absolute())
    if dotted == "model.path" and value and isinstance(value, str):
        return local_model(value)
    return _placed_code(dotted, value)


def _placed_code(dotted: str, value: Any) -> Any:
    """Rewards and tasks, and options of a task that name a file."""
    if dotted == "task.name":
        return local_task(value)
    if dotted.startswith("task.options.") and isinstance(value, str) and Path(value).expanduser().is_file():
        return str(Path(value).expanduser().absolute())
    if dotted == "eval.benchmarks" and isinstance(value, list):
        return [local_file(item) for item in value]
    if dotted == "rl.reward":
        return [local_code(item) for item in ([value] if isinstance(value, str) else value or [])]
    if dotted in ("eval.metric", "rl.held_out_metric") and isinstance(value, str) and value.startswith("reward:"):
        return f"reward:{local_code(value.removeprefix('reward:'))}"
    return value


def local_model(path: str) -> str:
    """A folder's absolute path; a name that is no folder here stays as it is, a hub name."""
    expanded = Path(path).expanduser()
    return str(expanded.absolute()) if expanded.exists() or path.startswith(("/", "./", "../", "~")) else path


def local_file(name: Any) -> Any:
    """A task file's absolute path; a name stays."""
    named = isinstance(name, str) and name.endswith((".yaml", ".yml"))
    return str(Path(name).expanduser().absolute()) if named else name


def local_task(reference: Any) -> Any:
    """`file.py[:FUNCTION]` with the file made absolute; a name stays."""
    if not isinstance(reference, str):
        return reference
    file, mark, function = reference.rpartition(".py")
    return f"{Path(f'{file}.py').expanduser().absolute()}{function}" if mark else reference


def local_code(reference: Any) -> Any:
    """`file.py:function` with the file made absolute; `module:function` stays."""
    if not isinstance(reference, str):
        return reference
    file, mark, function = reference.rpartition(":")
    return f"{Path(file).expanduser().absolute()}{mark}{function}" if file.endswith(".py") else reference
