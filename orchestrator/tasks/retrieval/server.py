"""Serves an index on loopback: POST /retrieve, as Search-R1's retrieval server does.

{"queries": ["..."], "topk": 3, "return_scores": true}
-> {"result": [[{"document": {"id": "...", "contents": "..."}, "score": 1.0}, ...]]}
"""

from __future__ import annotations

import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from orchestrator.tasks.retrieval.index import Hit, Index

LARGEST = 2**20
"""Bytes of a request."""


class Server(ThreadingHTTPServer):
    """An index behind HTTP. Port 0 takes a free one; `server_port` tells which."""

    daemon_threads = True

    def __init__(self, index: Index, port: int) -> None:
        self.index = index
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        """Where to post."""
        return f"http://127.0.0.1:{self.server_port}/retrieve"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        try:
            asked = json.loads(self.rfile.read(min(int(self.headers.get("Content-Length", 0)), LARGEST)))
            queries, most = [str(query) for query in asked["queries"]], int(asked.get("topk") or 3)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            return self._say(HTTPStatus.UNPROCESSABLE_ENTITY, {"error": f"{type(error).__name__}: {error}"})
        if self.path != "/retrieve":
            return self._say(HTTPStatus.NOT_FOUND, {"error": "POST /retrieve"})
        found = [self.server.index.search(query, most) for query in queries]
        scores = bool(asked.get("return_scores", True))
        return self._say(HTTPStatus.OK, {"result": [[_told(hit, scores) for hit in hits] for hits in found]})

    def _say(self, status: HTTPStatus, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a training run asks thousands of times."""


def _told(hit: Hit, scores: bool) -> dict[str, Any]:
    document = {"id": hit.passage.id, "contents": hit.passage.contents}
    return {"document": document, "score": hit.score} if scores else document
