"""Finding, registering and removing runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.errors import RunBusy, RunNotFound, StorageError
from orchestrator.lock import owned
from orchestrator.store import Store

if TYPE_CHECKING:
    from tests.conftest import MakeRun


@pytest.fixture
def store(runs: Path) -> Store:
    return Store(runs)


def test_a_run_is_found_by_id_prefix_path_and_latest(
    store: Store, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run("abc-sft-222222")
    make_run("abd-sft-222222")
    store.register(folder)
    assert {store.find(name).id for name in ("abc-sft-222222", "abc", str(folder), "latest")} == {"abc-sft-222222"}
    monkeypatch.chdir(folder.parent)
    assert store.find("./abc-sft-222222").path == folder


def test_an_exact_name_is_never_ambiguous(store: Store, make_run: MakeRun) -> None:
    make_run("a-sft-2")
    make_run("a-sft-22")
    assert store.find("a-sft-2").id == "a-sft-2"


def test_an_ambiguous_prefix_names_the_runs(store: Store, make_run: MakeRun) -> None:
    for n in range(10):
        make_run(f"a-sft-{n}")
    with pytest.raises(RunNotFound, match=r"'a' means 10 runs: a-sft-0, .* and 2 more"):
        store.find("a")


@pytest.mark.parametrize("name", ["nothing", "", "latest", "../x", "a/b", "x" * 300])
def test_what_is_not_there_is_not_found(store: Store, name: str) -> None:
    with pytest.raises((RunNotFound, OSError)):
        store.find(name)


def test_an_empty_name_never_means_the_only_run(
    store: Store, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(make_run("a-sft-2"))
    with pytest.raises(RunNotFound):
        store.find("")


def test_a_run_may_be_called_latest_something(store: Store, make_run: MakeRun) -> None:
    make_run("latest-model-sft-222222")
    assert store.find("latest-model").id == "latest-model-sft-222222"


def test_ids_are_new_and_well_formed(store: Store) -> None:
    made = {store.new_id("x", "sft") for _ in range(50)}
    assert len(made) == 50
    assert all(name.startswith("x-sft-") and len(name) == 12 for name in made)


def test_latest_follows_and_survives_removal(store: Store, make_run: MakeRun) -> None:
    for n in range(3):
        store.register(make_run(f"a-sft-{n}", created=float(n)))
        assert store.find("latest").id == f"a-sft-{n}"
    store.remove(["a-sft-2"])
    assert store.find("latest").id == "a-sft-1"


def test_a_run_elsewhere_is_linked_and_removed_with_its_link(store: Store, make_run: MakeRun, work: Path) -> None:
    folder = make_run("a-sft-2").rename(work / "out")
    store.register(folder)
    assert store.find("a-sft-2").path == folder
    assert [row.id for row in store.rows()] == ["a-sft-2"]
    assert store.remove(["a-sft"]) == ["a-sft-2"]
    assert not folder.exists()
    assert not list(store.root.glob("a*"))


def test_a_parent_is_not_removed_before_its_child(store: Store, make_run: MakeRun) -> None:
    make_run("a-sft-2")
    make_run("b-merge-2", parents=("a-sft-2",))
    with pytest.raises(RunBusy, match="a-sft-2 is the parent of b-merge-2") as caught:
        store.remove(["a-sft-2"])
    assert caught.value.fix == "post-train runs rm a-sft-2 b-merge-2"
    store.remove(["b-merge-2"])
    store.remove(["a-sft-2"])
    assert store.rows() == []


def test_a_chain_goes_in_one_call_whatever_the_order_or_not_at_all(store: Store, make_run: MakeRun) -> None:
    make_run("a-sft-2")
    make_run("b-merge-2", parents=("a-sft-2",))
    make_run("c-grpo-2", parents=("b-merge-2",))
    with pytest.raises(RunBusy, match="b-merge-2 is the parent of c-grpo-2"):
        store.remove(["a-sft-2", "b-merge-2"])
    assert len(store.rows()) == 3
    assert store.remove(["a-sft-2", "b-merge-2", "c-grpo-2"]) == ["a-sft-2", "b-merge-2", "c-grpo-2"]
    assert store.rows() == []


def test_a_running_run_is_not_removed(store: Store, make_run: MakeRun) -> None:
    folder = make_run("a-sft-2", state="RUNNING")
    with owned(folder), pytest.raises(RunBusy, match="is running"):
        store.remove(["a"])
    assert (folder / "manifest.json").exists()


def test_a_run_whose_owner_is_gone_is_interrupted(store: Store, make_run: MakeRun) -> None:
    folder = make_run("a-sft-2", state="RUNNING")
    assert store.find("a").manifest.state == "INTERRUPTED"
    with owned(folder):
        assert store.find("a").manifest.state == "RUNNING"


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"schema_version": 99}', '{"schema_version": "x"}', "\udcff"]
)
def test_a_damaged_run_says_so_and_can_be_removed(store: Store, make_run: MakeRun, content: str) -> None:
    folder = make_run("a-sft-2")
    (folder / "manifest.json").write_text(content, errors="surrogateescape")
    with pytest.raises(StorageError, match=r"damaged|newer") as caught:
        store.find("a-sft-2")
    assert caught.value.where == str(folder / "manifest.json")
    assert store.remove(["a-sft-2"]) == ["a-sft-2"]
    assert not folder.exists()
