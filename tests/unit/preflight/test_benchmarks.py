"""Task files of lm-eval on their way into a run: named, placed, and known by content."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator import fingerprint, inputs, recipe
from orchestrator.preflight.combinations import check
from orchestrator.preflight.data import DataLook
from orchestrator.registry import load
from orchestrator.resolve import resolve
from orchestrator.spec import RunSpec


def read(folder: Path, text: str) -> RunSpec:
    (folder / "r.yaml").write_text(f"stage: eval\nmodel: m\n{text}\n")
    return resolve(recipe.read(folder / "r.yaml"), 0, {}).spec


def identity(spec: RunSpec) -> str:
    gone_in = inputs.identify(spec, [], DataLook({}, ()), lambda _: None)
    return fingerprint.fingerprint(fingerprint.identity(spec, gone_in, {"backend": "hf"}))


def test_files_become_absolute_and_names_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (folder := tmp_path / "recipes").mkdir()
    spec = read(folder, "eval: {benchmarks: [hellaswag, ./sums.yaml, other.yml]}")
    assert spec.eval.benchmarks == ["hellaswag", str(folder / "sums.yaml"), str(tmp_path / "other.yml")]


def test_benchmarks_need_no_items(tmp_path: Path) -> None:
    assert check(read(tmp_path, "eval: {benchmarks: [hellaswag]}"), load("hf")) == []
    assert [found.code for found in check(read(tmp_path, "eval: {}"), load("hf"))] == ["data.missing"]


def test_content_makes_the_fingerprint_and_paths_do_not(tmp_path: Path) -> None:
    file, copy = tmp_path / "sums.yaml", tmp_path / "copy.yaml"
    file.write_text("task: sums\n")
    copy.write_text("task: sums\n")
    first = identity(read(tmp_path, "eval: {benchmarks: [./sums.yaml]}"))
    assert identity(read(tmp_path, "eval: {benchmarks: [./copy.yaml]}")) == first
    assert identity(read(tmp_path, "eval: {benchmarks: [hellaswag]}")) != first
    file.write_text("task: sums\nnum_fewshot: 3\n")
    assert identity(read(tmp_path, "eval: {benchmarks: [./sums.yaml]}")) != first
