"""post-train recipes import: a recipe on stdout or in a file, and everything that became of the original."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from orchestrator import library

if TYPE_CHECKING:
    from tests.conftest import Cli, Write

GIVEN = """\
# My first LoRA.
# export HF_TOKEN=abc
base_model: org/model

adapter: lora
lora_r: 8
lora_alpha: 16
lora_target_linear: true
datasets:
  - path: org/rows
    type: alpaca
learning_rate: 2e-4
output_dir: ./out
adam_eps: 1e-8
wandb_project:
"""


def test_the_recipe_goes_to_stdout_and_the_rest_to_stderr(cli: Cli, write: Write) -> None:
    path = write("given.yml", GIVEN)
    said = cli("recipes", "import", str(path))
    assert said.out.startswith(
        "# Imported from given.yml, a configuration of axolotl.\n#\n# My first LoRA.\nname: given\n"
    )
    assert "HF_TOKEN" not in said.out
    assert f"left out: {path}:13: output_dir: the run folder decides it" in said.err
    assert f"left out: {path}:14: adam_eps: " in said.err
    assert "did you mean 'adam_epsilon'?" in said.err
    assert "1 key without a value" in said.err


def test_a_written_recipe_is_a_recipe(cli: Cli, write: Write, work: Path) -> None:
    said = cli("recipes", "import", str(write("given.yml", GIVEN)), "--output", "r/one.yaml", "--name", "mine")
    assert said.out == ""
    assert "next: post-train plan r/one.yaml" in said.err
    assert "mine" in cli("recipes", "show", "r/one.yaml", "--resolved").out
    assert library.find(str(work / "r/one.yaml")).stages[0]["native.datasets"].value[0]["path"] == "org/rows"


def test_nothing_is_overwritten(cli: Cli, write: Write) -> None:
    write("r.yaml", "precious")
    said = cli("recipes", "import", str(write("given.yml", GIVEN)), "--output", "r.yaml", code=6)
    assert "r.yaml" in said.err
    assert Path("r.yaml").read_text(encoding="utf-8") == "precious"


def test_json_is_all_that_is_printed(cli: Cli, write: Write) -> None:
    told = cli("recipes", "import", str(write("given.yml", GIVEN)), "--json").json
    assert [one["key"] for one in told["left_out"]] == ["output_dir", "adam_eps"]
    assert told["nulls"] == 1
    assert "backend: axolotl" in told["recipe"]


def test_processes_can_be_named(cli: Cli, write: Write) -> None:
    assert "processes: 2" in cli("recipes", "import", str(write("given.yml", GIVEN)), "--processes", "2").out


def test_refusals_name_every_line(cli: Cli, write: Write) -> None:
    path = write("given.yml", GIVEN + "rl: dpo\ndeepspeed: zero3.json\n")
    said = cli("recipes", "import", str(path), code=2)
    assert f"{path}:16: rl: dpo is no supervised fine-tuning" in said.err
    assert f"{path}:17: DeepSpeed" in said.err
    assert said.out == ""


def test_values_that_no_recipe_may_have_are_told_at_their_line(cli: Cli, write: Write) -> None:
    path = write("given.yml", GIVEN.replace("lora_r: 8", "lora_r: 0"))
    assert f"{path}:6: `lora.r`" in cli("recipes", "import", str(path), code=2).err


@pytest.mark.parametrize("key", ["swanlab_api_key: abcdef", "comet_api_key: abcdef", "hf_x: {secret: abcdef}"])
def test_credentials_are_never_written(cli: Cli, write: Write, key: str) -> None:
    plugins = "plugins: [axolotl.integrations.swanlab.SwanLabPlugin, mine.P]\n"
    said = cli("recipes", "import", str(write("given.yml", f"{GIVEN}{plugins}{key}\n")))
    assert "abcdef" not in said.out + said.err
    assert f":17: {key.partition(':')[0]}" in said.err


@pytest.mark.parametrize(
    ("was", "now", "line"),
    [
        ("path: org/rows", "path: https://me:abcdef@host/rows.jsonl", 10),
        ("base_model: org/model", "base_model: https://me:abcdef@host/model", 3),
    ],
)
def test_data_or_a_model_are_not_left_out_for_a_credential(
    cli: Cli, write: Write, was: str, now: str, line: int
) -> None:
    said = cli("recipes", "import", str(write("given.yml", GIVEN.replace(was, now))), code=2)
    assert "abcdef" not in said.out + said.err
    assert f"given.yml:{line}: " in said.err
    assert "take it out of the file" in said.err
    assert said.out == ""


def test_a_section_without_content_is_left_out(cli: Cli, write: Write) -> None:
    said = cli("recipes", "import", str(write("given.yml", GIVEN + "fsdp: []\nfsdp_config: {}\n")))
    assert "fsdp" not in said.out
    assert ":17: fsdp_config: it is empty" in said.err


def test_what_is_no_file_is_not_waited_for(cli: Cli, work: Path) -> None:
    os.mkfifo(work / "pipe.yml")
    for path, words in ((work / "pipe.yml", "a pipe is no"), (Path("/dev/zero"), "a device is no"), (work, "a folder")):
        assert words in cli("recipes", "import", str(path), code=2).err
    assert "a pipe is no recipe" in cli("plan", str(work / "pipe.yml"), code=2).err


def test_a_file_that_would_take_minutes_is_refused_at_once(cli: Cli, write: Write) -> None:
    path = write("given.yml", GIVEN + "".join(f"key{number}: 1\n" for number in range(300_000)))
    assert "the largest allowed is 256 KiB" in cli("recipes", "import", str(path), code=2).err


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("", 1, "a configuration is a mapping"),
        ("- a\n", 1, "a configuration is a mapping"),
        ("just text\n", 1, "a configuration is a mapping"),
        (GIVEN + "lora_r: 16\n", 16, "'lora_r' stands twice"),
        ("a: 1\n\tb: 2\n", 2, "not valid YAML"),
        ("a: [1\n", 2, "not valid YAML"),
        ("a: 1\n---\nb: 2\n", 2, "not valid YAML"),
        ("a: *gone\n", 1, "not valid YAML"),
    ],
)
def test_what_is_no_configuration_says_where(cli: Cli, write: Write, content: str, line: int, words: str) -> None:
    path = write("given.yml", content)
    said = cli("recipes", "import", str(path), code=2)
    assert f"{path}:{line}" in said.err
    assert words in said.err


def test_a_missing_file(cli: Cli) -> None:
    assert "no such configuration file" in cli("recipes", "import", "gone.yml", code=2).err


def test_a_byte_order_mark_and_foreign_line_ends_are_fine(cli: Cli, write: Write) -> None:
    content = b"\xef\xbb\xbf" + GIVEN.replace("\n", "\r\n").encode()
    assert "org/model" in cli("recipes", "import", str(write("given.yml", content))).out


def test_anchors_and_merge_keys_are_spelt_out(cli: Cli, write: Write) -> None:
    text = GIVEN.replace(
        "  - path: org/rows\n    type: alpaca\n",
        "  - &first {path: org/rows, type: alpaca}\n  - {<<: *first, path: org/more}\n",
    )
    out = cli("recipes", "import", str(write("given.yml", text))).out
    datasets = yaml.safe_load(out)["native"]["datasets"]
    assert datasets == [{"path": "org/rows", "type": "alpaca"}, {"path": "org/more", "type": "alpaca"}]
    assert "&" not in out
    assert "<<" not in out


def test_local_rows_are_found_from_the_recipe_wherever_it_lies(cli: Cli, write: Write, work: Path) -> None:
    rows = write("rows.json", "[]")
    given = write("given.yml", GIVEN.replace("org/rows", "rows.json"))
    cli("recipes", "import", str(given), "--output", "deep/er/one.yaml")
    assert "path: ../../rows.json" in Path("deep/er/one.yaml").read_text(encoding="utf-8")
    stage = library.find(str(work / "deep/er/one.yaml")).stages[0]
    assert stage["native.datasets"].value[0]["path"] == str(rows)


def test_words_that_axolotl_reads_as_truth_are_truth(cli: Cli, write: Write) -> None:
    out = cli("recipes", "import", str(write("given.yml", f"{GIVEN}sample_packing: yes\ntf32: off\n"))).out
    assert "packing: true" in out
    assert "tf32: false" in out


def test_names_become_names_of_runs(cli: Cli, write: Write) -> None:
    assert "name: my-run-1" in cli("recipes", "import", str(write("my run #1.yml", GIVEN))).out
