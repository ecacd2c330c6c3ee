"""HTML in which everything is escaped unless it was made here: a model's answer can't become markup."""

from __future__ import annotations

import html
import re


class Html(str):
    """Markup. Any other text is escaped when it becomes part of an element."""

    __slots__ = ()


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_BIDI = re.compile(r"[\u202a-\u202e\u2066-\u2069]")


def text(value: object) -> Html:
    """Any value as escaped text; Html stays as it is. Characters that a page can't hold or show are made visible."""
    if isinstance(value, Html):
        return value
    whole = str(value).replace("\r\n", "\n").encode("utf-8", "replace").decode("utf-8")
    seen = _CONTROL.sub(lambda m: "␡" if m[0] == "\x7f" else chr(0x2400 + ord(m[0])), whole)
    return Html(html.escape(_BIDI.sub(lambda m: f"⟨U+{ord(m[0]):04X}⟩", seen)))


def join(*parts: object) -> Html:
    """Parts one after another; None is left out."""
    return Html("".join(text(part) for part in parts if part is not None))


def element(tag: str, *children: object, **attributes: object) -> Html:
    """An element. Of an attribute's name a last underscore is dropped, others become dashes; None leaves it out."""
    given = ((key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items() if value is not None)
    written = "".join(f' {key}="{text(value)}"' for key, value in given)
    return Html(f"<{tag}{written}>{join(*children)}</{tag}>")


def table(head: list[str], rows: list[list[object]], *, class_: str | None = None) -> Html:
    """A table that scrolls by itself when the page is narrower."""
    top = element("tr", *(element("th", name, scope="col") for name in head)) if head else None
    body = (element("tr", *(cell if _is_cell(cell) else element("td", cell) for cell in row)) for row in rows)
    whole = element("table", element("thead", top) if top else None, element("tbody", *body), class_=class_)
    return element("div", whole, class_="scroll")


def _is_cell(value: object) -> bool:
    return isinstance(value, Html) and value.startswith(("<td", "<th"))
