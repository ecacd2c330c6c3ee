"""Asks a retrieval server, or an index in this process: query -> texts of the best passages."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlparse

from orchestrator.errors import EnvironmentMissing, UsageError
from orchestrator.tasks.retrieval.index import Index

Search = Callable[[str], Awaitable[list[str]]]
SECONDS = 30.0
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Workers inherit proxy settings, and a proxy refuses what is meant for loopback."""


def inside(index: Index, most: int) -> Search:
    """Search an index in this process."""

    async def search(query: str) -> list[str]:
        return [hit.passage.contents for hit in index.search(query, most)]

    return search


def at(url: str, most: int) -> Search:
    """Search by the server at `url`.

    Raises:
        UsageError: no HTTP address.
    """
    if urlparse(url).scheme not in ("http", "https"):
        raise UsageError(f"{url!r} is no address of a retrieval server", fix="url=http://127.0.0.1:8000/retrieve")

    async def search(query: str) -> list[str]:
        return await asyncio.to_thread(_asked, url, query, most)

    return search


def _asked(url: str, query: str, most: int) -> list[str]:
    """One request.

    Raises:
        EnvironmentMissing: no server, or one that answers otherwise.
    """
    body = json.dumps({"queries": [query], "topk": most, "return_scores": True}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})  # noqa: S310  (checked in `at`)
    try:
        with _DIRECT.open(request, timeout=SECONDS) as answer:
            return [_contents(one) for one in json.load(answer)["result"][0]]
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise EnvironmentMissing(
            f"the retrieval server doesn't answer as it should: {error}",
            where=url,
            why="without it every search would come back empty, and the model would learn not to search",
            fix="post-train tasks serve",
        ) from error


def _contents(one: dict[str, Any]) -> str:
    return str(one.get("document", one)["contents"])
