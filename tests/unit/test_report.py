"""The page of a run: whole, self-contained, and unimpressed by what a model writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from orchestrator import manifest
from orchestrator.backend import Artifact, ModelRef
from orchestrator.cli import runview
from orchestrator.manifest import Attempt, Failure, Manifest, Parent
from orchestrator.report import page
from orchestrator.report.curves import thinned, ticks
from orchestrator.report.evaluation import Answer, Item
from orchestrator.report.markup import Html, element, text
from orchestrator.report.samples import picked
from orchestrator.report.steps import Steps, looks
from orchestrator.report.steps import read as read_steps
from orchestrator.store import Store
from tests.conftest import MakeSpec

HOSTILE = "</pre></td><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x00\x1b[31m\u202e$body"
_VOID = {"meta"}


class Page(HTMLParser):
    """A page taken apart; fails on a tag that is not closed where it should be."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    @property
    def words(self) -> str:
        return "\n".join(self.texts)

    def count(self, tag: str, class_: str | None = None) -> int:
        return sum(t == tag and class_ in (None, a.get("class")) for t, a in self.tags)


class Workshop:
    """Makes finished runs by hand."""

    def __init__(self, root: Path, make_spec: MakeSpec) -> None:
        self.store, self._spec = Store(root), make_spec

    def run(self, id_: str, stage: str = "sft", *, parents: tuple[str, ...] = (), **fields: Any) -> Path:
        folder = self.store.root / id_
        folder.mkdir(parents=True)
        given: dict[str, Any] = {
            "state": "SUCCEEDED",
            "spec": self._spec(stage),
            "start": ModelRef(label="base", path="some/base"),
            "parents": tuple(Parent(run=p, path=self.store.root / p) for p in parents),
            "attempts": (Attempt(number=1, started=100.0, ended=175.0, state="SUCCEEDED"),),
        }
        manifest.write(folder, Manifest(id=id_, created=1e9, updated=1e9, fingerprint="f" * 64, **given | fields))
        return folder

    def evaluation(self, id_: str, report: Any, items: list[Any], **fields: Any) -> Path:
        kept = Artifact(kind="report", path="artifacts/report", format="json", digest="d" * 64, files=())
        folder = self.run(id_, "eval", artifacts=(kept,), **fields)
        (folder / "artifacts" / "report").mkdir(parents=True)
        (folder / "artifacts" / "report" / "report.json").write_text(json.dumps(report))
        lines = (item if isinstance(item, str) else json.dumps(item) for item in items)
        (folder / "artifacts" / "report" / "items.jsonl").write_text("".join(f"{line}\n" for line in lines))
        return folder

    def page(self, id_: str) -> Page:
        written = page.write(self.store.find(id_), self.store)
        assert written == self.store.root / id_ / "report.html"
        return Page(written.read_text(encoding="utf-8"))


@pytest.fixture
def shop(tmp_path: Path, make_spec: MakeSpec) -> Workshop:
    return Workshop(tmp_path / "runs", make_spec)


def model(label: str, score: float, before: str | None = None, *, beyond: bool = True) -> dict[str, Any]:
    moved = {
        "to": before,
        "score": 0.25,
        "interval": [0.1, 0.4],
        "better_items": 7,
        "worse_items": 2,
        "beyond_noise": beyond,
        "test": "mcnemar",
        "p": 0.0321,
        "smallest": 0.2,
        "sentence": f"{label} is better than {before}" if beyond else f"{label} and {before} can't be told apart",
    }
    return {
        "label": label,
        "score": score,
        "interval": [score - 0.1, score + 0.1],
        "interval_kind": "wilson",
        "mean_generated_tokens": 12.34,
        "share_cut_at_limit": 0.125,
        "differences": [moved] if before else [],
    }


def report(*models: dict[str, Any], same: bool = True) -> dict[str, Any]:
    return {"metric": "exact", "items": 20, "data_sha256": "0", "same_prompts": same, "models": list(models)}


def item(number: int, **scores: float) -> dict[str, Any]:
    models = {label: {"answer": f"{label} says {number}", "score": score} for label, score in scores.items()}
    prompt = [{"role": "user", "content": f"ask {number}"}]
    return {"item": number, "prompt": prompt, "expected": str(number), "models": models}


def log(run: Path, attempt: int, *lines: Any) -> None:
    folder = run / "attempts" / f"{attempt:03d}"
    folder.mkdir(parents=True)
    written = (line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    (folder / "events.jsonl").write_bytes(b"".join(line + b"\n" for line in written))


def step(number: int, **metrics: Any) -> dict[str, Any]:
    return {"type": "step", "time": 1.0, "step": number, "total": 9, "metrics": metrics}


def test_an_eval_page_has_scores_chain_curves_answers_and_settings(shop: Workshop) -> None:
    log(shop.run("a-sft-1"), 1, step(1, loss=2.0), step(2, loss=1.0, eval_loss=1.5))
    shop.run("a-merge-1", "merge", parents=("a-sft-1",), metrics={"max_abs_logit_difference": 3.1e-05})
    log(shop.run("a-grpo-1", "grpo", parents=("a-merge-1",)), 1, step(1, reward=0.25))
    found = report(model("base", 0.25), model("sft", 0.5, "base"), model("grpo", 0.75, "sft", beyond=False))
    shop.evaluation("a-eval-1", found, [item(n, base=0, sft=1, grpo=n % 2) for n in range(20)], parents=("a-grpo-1",))
    seen = shop.page("a-eval-1")
    for expected in (
        "0.500",
        "0.400 to 0.600",
        "sft against base",
        "+0.250",
        "7 / 2",
        "0.032",
        "12.3",
        "12.5 %",
        "grpo and sft can't be told apart",
        "(noise)",
    ):
        assert expected in seen.words
    assert [seen.count("rect", "bar"), seen.count("line", "whisker")] == [3, 9]
    places = [seen.words.index(name) for name in ("some/base", "a-sft-1", "a-merge-1", "a-grpo-1", "3.1e-05")]
    assert places[:4] == sorted(places[:4])
    assert [seen.count("figure", "curve"), seen.count("polyline")] == [2, 3]
    assert "training.learning_rate" in seen.words
    assert seen.words.index("grpo says 18") < seen.words.index("grpo says 1\n")


def test_the_rewards_of_a_task_stand_beside_the_score(shop: Workshop) -> None:
    parts = {"exact": {"score": 0.125, "interval": [0.1, 0.2]}, "form": {"score": 0.875, "interval": [0.8, 0.9]}}
    found = report(*(model(label, 0.25) | {"rewards": parts} for label in ("base", "sft")))
    shop.evaluation("a-eval-1", found, [item(0, base=0, sft=1)])
    words = shop.page("a-eval-1").words
    assert words.count("0.125 (0.100 to 0.200)") == words.count("0.875 (0.800 to 0.900)") == 2
    assert words.index("exact") < words.index("form")


def test_nothing_is_fetched_and_nothing_runs(shop: Workshop) -> None:
    shop.evaluation("a-eval-1", report(model("base", 0.5)), [item(1, base=1)])
    seen = shop.page("a-eval-1")
    assert not {tag for tag, _ in seen.tags} & {"script", "link", "img", "iframe", "a", "object", "base", "form"}
    assert not [a for _, a in seen.tags for name in a if name.startswith("on") or name in ("src", "href", "style")]
    style = (Path(page.__file__).parent / "style.css").read_text()
    assert "url(" not in style
    assert "@import" not in style
    assert "prefers-color-scheme: dark" in style


def test_hostile_text_stays_text_wherever_it_comes_from(shop: Workshop) -> None:
    said = {"prompt": HOSTILE, "expected": HOSTILE, "item": 1, "models": {HOSTILE: {"answer": HOSTILE, "score": 0.0}}}
    messages = [{"role": HOSTILE, "content": HOSTILE}, {"role": "user", "content": [{"type": HOSTILE}]}]
    failure = Failure(code=HOSTILE, message=HOSTILE, why=HOSTILE)
    origin = {"argv": [HOSTILE], "environment": {"key": HOSTILE, "packages": {HOSTILE: HOSTILE}}}
    fields = {"warnings": (HOSTILE,), "failure": failure, "provenance": origin}
    shop.evaluation("a-eval-1", report(model(HOSTILE, 0.5)), [said, {**said, "prompt": messages}], **fields)
    seen = shop.page("a-eval-1")
    assert not {tag for tag, _ in seen.tags} & {"script", "img"}
    assert seen.words.count("<script>alert(1)</script>") >= 10
    assert "\x00" not in seen.words
    assert "\u202e" not in seen.words
    assert "␀␛[31m⟨U+202E⟩$body" in seen.words


def test_escaping() -> None:
    assert text("<&\"'>\x07\ud800") == "&lt;&amp;&quot;&#x27;&gt;␇?"
    assert element("p", Html("<b></b>"), "<b>", class_='"', aria_label="x", title=None) == (
        '<p class="&quot;" aria-label="x"><b></b>&lt;b&gt;</p>'
    )


def test_long_answers_are_cut_and_say_so(shop: Workshop) -> None:
    long = item(1, base=0)
    long["models"]["base"]["answer"] = "x" * 5000
    shop.evaluation("a-eval-1", report(model("base", 0.5)), [long])
    words = shop.page("a-eval-1").words
    assert "x" * 4000 in words
    assert "x" * 4001 not in words
    assert "and 1000 more characters" in words


def test_different_prompts_are_told(shop: Workshop) -> None:
    shop.evaluation("a-eval-1", report(model("base", 0.5), same=False), [])
    assert "did not see the same prompt tokens" in shop.page("a-eval-1").words


def test_scores_below_zero_have_bars_too(shop: Workshop) -> None:
    low = {**model("base", -2.0), "interval_kind": "bootstrap"}
    shop.evaluation("a-eval-1", report(low, {**model("sft", -1.0), "interval_kind": "bootstrap"}), [])
    bars = [a for tag, a in shop.page("a-eval-1").tags if tag == "rect" and a.get("class") == "bar"]
    widths = [float(str(bar["width"]).rstrip("%")) for bar in bars]
    assert widths[0] == pytest.approx(2 * widths[1], abs=0.1)
    assert all(0 <= float(str(bar["x"]).rstrip("%")) <= 100 for bar in bars)


@pytest.mark.parametrize("broken", [{"models": {"base": {"score": 0.5}}}, [], {"models": [{"label": "base"}]}])
def test_a_report_of_another_form_is_told_and_hides_nothing_else(shop: Workshop, broken: Any) -> None:
    shop.evaluation("a-eval-1", broken, [])
    seen = shop.page("a-eval-1")
    assert "this is no eval report" in seen.words
    assert "Settings and provenance" in seen.words


def test_a_damaged_items_line_is_told_with_its_place(shop: Workshop) -> None:
    shop.evaluation("a-eval-1", report(model("base", 0.5)), [item(1, base=1), '{"item": 2'])
    seen = shop.page("a-eval-1")
    assert "items.jsonl:2" in seen.words
    assert seen.count("rect", "bar") == 1


def test_a_training_run_without_events_has_a_page(shop: Workshop) -> None:
    shop.run("a-sft-1", state="INTERRUPTED", attempts=(Attempt(number=1, started=1.0),))
    seen = shop.page("a-sft-1")
    assert "No steps were logged." in seen.words
    assert "interrupted" in seen.words
    assert seen.count("svg") == 0


def test_a_failure_comes_first(shop: Workshop) -> None:
    failure = Failure(code="training.nan", message="loss is nan", fix="lower it")
    shop.run("a-sft-1", state="FAILED", failure=failure, warnings=("mask.cut: 3 rows", "login with token=abcdef1234"))
    words = shop.page("a-sft-1").words
    assert "[training.nan] loss is nan. lower it" in words
    assert words.index("loss is nan") < words.index("How it came about")
    assert "mask.cut: 3 rows" in words
    assert "abcdef1234" not in words


def test_lost_parents_are_shown_as_missing_and_a_ring_ends(shop: Workshop) -> None:
    shop.run("a-sft-1", parents=("gone-sft-9", "a-sft-2"))
    shop.run("a-sft-2", parents=("a-sft-1",))
    words = shop.page("a-sft-1").words
    assert "gone-sft-9" in words
    assert "no run is called" in words
    assert "a-sft-2" in words


def test_a_moved_runs_folder_keeps_its_chains(shop: Workshop) -> None:
    shop.run("a-sft-1")
    shop.run("a-merge-1", "merge", parents=("a-sft-1",))
    moved = shop.store.root.rename(shop.store.root.with_name("moved"))
    store = Store(moved)
    assert "no run is called" not in page.write(store.find("a-merge-1"), store).read_text(encoding="utf-8")


def test_a_resumed_attempt_replaces_what_it_repeats(tmp_path: Path) -> None:
    log(tmp_path, 1, step(10, loss=5.0), step(20, loss=4.0), step(30, loss=9.0), step(30, eval_loss=8.0))
    log(tmp_path, 2, {"type": "state", "state": "loading"})
    log(tmp_path, 3, step(20, loss=3.0), step(20, eval_loss=3.5), step(40, loss=2.0))
    found = read_steps(tmp_path)
    assert found.series == {"loss": {10: 5.0, 20: 3.0, 40: 2.0}, "eval_loss": {20: 3.5}}
    assert found.resumed == [20]


def test_damaged_lines_and_values_are_counted_not_drawn(tmp_path: Path) -> None:
    odd = {"type": "step", "step": "two", "metrics": {}}
    log(
        tmp_path,
        1,
        step(1, loss=1.0),
        b'{"type": "step", "st',
        b"\xff\xfe",
        odd,
        step(2, loss="nan"),
        step(3, loss=True),
    )
    with (tmp_path / "attempts" / "001" / "events.jsonl").open("ab") as file:
        file.write(b'{"type": "step", "step": 4, "metrics": {"loss": 7')
    found = read_steps(tmp_path)
    assert found == Steps(series={"loss": {1: 1.0}}, damaged=2, lost=2)
    assert len(found.notes) == 2


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1.0), (-3.2, 17.0), (5.0, 5.0), (0.0, 0.0), (1e-9, 3e-9), (-1e12, 1e12), (0.9999, 1.0001)]
)
def test_ticks_enclose_the_range(low: float, high: float) -> None:
    found = ticks(low, high)
    assert found[0] <= low <= high <= found[-1]
    assert 2 <= len(found) <= 7
    assert found == sorted(set(found))


def test_thinning_keeps_spikes_and_ends() -> None:
    points = [(n, 1.0) for n in range(10_000)]
    points[5_001] = (5_001, 99.0)
    found = thinned(points)
    assert len(found) <= 402
    assert {(0, 1.0), (5_001, 99.0), (9_999, 1.0)} <= set(found)
    assert list(found) == sorted(found)


def _items(scores: Iterator[float]) -> list[Item]:
    return [Item(item=n, prompt="", models={"sft": Answer(answer="", score=s)}) for n, s in enumerate(scores)]


@pytest.mark.parametrize(
    ("wrong", "right", "shown"),
    [(100, 100, (15, 5)), (3, 100, (3, 17)), (100, 2, (18, 2)), (2, 1, (2, 1)), (0, 0, (0, 0))],
)
def test_twenty_items_wrong_ones_first(wrong: int, right: int, shown: tuple[int, int]) -> None:
    low, high = picked(_items(iter([0.0] * wrong + [1.0] * right)), "sft")
    assert (len(low), len(high)) == shown
    assert all(one.models["sft"].score == 0 for one in low)
    assert len({one.item for one in (*low, *high)}) == sum(shown)


def test_reward_stands_beside_held_out_quality(shop: Workshop) -> None:
    looked = step(2, **{"held_out/score": 0.75, "held_out/tokens": 3.5})
    run = shop.run("a-grpo-1", "grpo")
    log(run, 1, step(0, **{"held_out/score": 0.5}), step(1, reward=0.1, kl=0.01), step(2, reward=0.3, kl=0.03), looked)
    assert looks(read_steps(run)) == [
        (0, [None, 0.5, None, None, None]),
        (2, [pytest.approx(0.2), 0.75, pytest.approx(0.02), None, 3.5]),
    ]
    assert "held out" in shop.page("a-grpo-1").words
    assert runview.watched(shop.store.find("a-grpo-1"))[-1].split() == ["2", "0.2", "0.75", "0.02", "3.5"]
