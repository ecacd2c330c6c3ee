"""W&B online without a login."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.preflight import tracking

if TYPE_CHECKING:
    from tests.conftest import MakeSpec

ONLINE = {"model__path": "m", "data__train": "d", "tracking__wandb": "online"}


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WANDB_API_KEY", "WANDB_IDENTITY_TOKEN_FILE", "WANDB_BASE_URL", "NETRC"):
        monkeypatch.delenv(name, raising=False)


def test_nobody_is_logged_in(make_spec: MakeSpec) -> None:
    (finding,) = tracking.check(make_spec(**ONLINE))
    assert (finding.code, finding.level) == ("tracking.wandb", "error")
    assert "wandb login" in (finding.fix or "")


@pytest.mark.parametrize("mode", ["off", "offline"])
def test_other_modes_need_no_login(make_spec: MakeSpec, mode: str) -> None:
    assert not list(tracking.check(make_spec(**ONLINE | {"tracking__wandb": mode})))


def test_a_key_in_the_environment(make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "x")
    assert not list(tracking.check(make_spec(**ONLINE)))


def test_a_login_is_for_one_server(make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine api.wandb.ai login user password x\n", encoding="utf-8")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    assert not list(tracking.check(make_spec(**ONLINE)))
    monkeypatch.setenv("WANDB_BASE_URL", "http://wandb.example.org:8080")
    assert [f.code for f in tracking.check(make_spec(**ONLINE))] == ["tracking.wandb"]
