"""Where a run came from, without secrets."""

from __future__ import annotations

import os
import sys

import pytest

from orchestrator import provenance
from orchestrator.hardware import Machine

REVISION = "4687250f3c1d2e4b5a69788796a5b4c3d2e1f001"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("hf_abcdefghijkl", "hf_abcdefghijkl"),
        ("key sk-proj-12345678", "12345678"),
        ("ghp_0123456789abcdef", "0123456789"),
        ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7"),
        ("native.hub_token=abc123", "abc123"),
        ("WANDB_API_KEY=abc123", "abc123"),
        ("--password hunter2", "hunter2"),
        ("my-secret: hunter2", "hunter2"),
        ("https://user:hunter2@example.org/x", "hunter2"),
    ],
)
def test_secrets_are_cut_out(text: str, secret: str) -> None:
    cut = provenance.redact(text)
    assert secret not in cut
    assert "[redacted]" in cut


@pytest.mark.parametrize(
    "text",
    [
        REVISION,
        f"model.revision={REVISION}",
        "native.tokenizer=org/name",
        "eval.max_new_tokens=256",
        "training.seed=1",
        "/data/hf_home/models/org/name",
        "https://example.org/x?y=1",
        "task-force",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert provenance.redact(text) == text


def test_a_record_holds_the_command_without_its_secrets_and_no_host(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["/usr/bin/post-train", "sft", "--set", "native.token=abc123", "--token", "def456", "--name", "x"]
    monkeypatch.setattr(sys, "argv", words)
    found = provenance.collect(Machine(cores=1, memory=1), {"backend": "fake"})
    assert found["argv"][:3] == ["post-train", "sft", "--set"]
    assert found["argv"][-2:] == ["--name", "x"]
    assert "abc123" not in str(found)
    assert "def456" not in str(found)
    assert os.uname().nodename not in str(found)
    assert {"post_train", "git", "python", "hardware", "environment"} <= set(found)
