"""Shipped recipes, by name; and any recipe, by path."""

from __future__ import annotations

from pathlib import Path

from orchestrator import recipe
from orchestrator.errors import RecipeError
from orchestrator.nearest import nearest
from orchestrator.recipe import Recipe

ROOT = Path(__file__).resolve().parent.parent / "recipes"


def names() -> dict[str, Path]:
    """Name -> file of every shipped recipe. `quickstart/quickstart.yaml` is called `quickstart`."""
    files = sorted(path for path in ROOT.rglob("*.yaml") if path.is_file())
    return {_name(path.relative_to(ROOT)): path for path in files}


def find(reference: str) -> Recipe:
    """A recipe by path or shipped name.

    Raises:
        RecipeError: neither exists, or it can't be read.
    """
    path = Path(reference).expanduser()
    if path.suffix in (".yaml", ".yml") or path.is_file():
        return recipe.read(path)
    shipped = names()
    if reference not in shipped:
        raise RecipeError(f"no recipe is called {reference!r}{nearest(reference, shipped)}", fix="post-train recipes")
    return recipe.read(shipped[reference])


def _name(relative: Path) -> str:
    parts = relative.with_suffix("").parts
    return "/".join(parts[:-1] if len(parts) > 1 and parts[-1] == parts[-2] else parts)
