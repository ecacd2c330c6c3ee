"""Real files of every layout, good and messy, where they lie beside the repository: prepared, or refused in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from data_prep.columns import Columns, parse
from data_prep.faults import DataFault
from data_prep.inputs import inputs
from data_prep.options import Options
from data_prep.prepare import prepare
from data_prep.splits import Shares

SPAM = Columns(parse("prompt=v2,completion=v1"))
TOY = Columns(parse("system=toy_system,prompt=toy_input,completion=toy_output"))
DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the real files are not here")

L, X, M, B = "llamafactory_demo", "xtuner_resource", "messy/issue_shapes", "bfcl"
GOOD: dict[str, tuple[str, str, int, dict[str, int], dict[str, int]]] = {
    "axolotl_fixtures/alpaca/alpaca.json": ("alpaca", "sft", 2, {}, {}),
    "axolotl_fixtures/conversation.json": ("sharegpt", "sft", 1, {}, {}),
    f"{B}/BFCL_v4_multiple.json": ("bfcl", "grpo", 200, {}, {"tool_types": 200}),
    f"{B}/BFCL_v4_simple_python.json": ("bfcl", "grpo", 400, {}, {"tool_types": 400}),
    "gsm8k/test.jsonl": ("gsm8k", "grpo", 1319, {}, {"thousands": 14}),
    "gsm8k/train.jsonl": ("gsm8k", "grpo", 7473, {}, {"thousands": 79}),
    f"{L}/alpaca_en_demo.json": ("alpaca", "sft", 985, {"duplicate": 14}, {"no_input": 3}),
    f"{L}/alpaca_zh_demo.json": ("alpaca", "sft", 992, {"duplicate": 8}, {}),
    f"{L}/c4_demo.jsonl": ("text", "sft", 300, {}, {}),
    f"{L}/dpo_en_demo.json": ("preference", "dpo", 295, {"duplicate": 5}, {}),
    f"{L}/dpo_zh_demo.json": ("preference", "dpo", 289, {"duplicate": 11}, {}),
    f"{L}/glaive_toolcall_en_demo.json": ("sharegpt", "sft", 265, {"duplicate": 35}, {}),
    f"{L}/glaive_toolcall_zh_demo.json": ("sharegpt", "sft", 255, {"duplicate": 43, "role_order": 2}, {}),
    f"{L}/identity.json": ("alpaca", "sft", 91, {}, {}),
    f"{L}/kto_en_demo.json": ("kto", "kto", 300, {}, {}),
    f"{L}/mllm_demo.json": ("messages", "sft", 6, {}, {}),
    f"{L}/reason_tool_use_demo_50.jsonl": ("messages", "sft", 50, {}, {"tool_types": 29}),
    f"{L}/v1_dpo_demo.jsonl": ("preference", "dpo", 10, {}, {}),
    f"{L}/v1_multimodal_demo.jsonl": ("messages", "sft", 6, {"duplicate": 18}, {}),
    f"{L}/v1_sft_demo.jsonl": ("messages", "sft", 499, {"duplicate": 1}, {}),
    f"{M}/concatenated_objects_no_newline.jsonl": ("prompt_completion", "sft", 2, {}, {"joined": 2}),
    f"{M}/utf8_bom_crlf.jsonl": ("prompt_completion", "sft", 2, {}, {}),
    "qwen_vl_demo/single_images.json": ("sharegpt", "sft", 3, {}, {}),
    f"{X}/demo_data/multi_turn_2/data.json": ("messages", "sft", 2, {}, {}),
    f"{X}/gsm8k_train_example_data.jsonl": ("verl", "grpo", 200, {}, {}),
    f"{X}/gsm8k_val_example_data.jsonl": ("verl", "grpo", 100, {}, {}),
    f"{X}/mllm_sft_multi_image_example_data.jsonl": ("messages", "sft", 11, {}, {}),
    f"{X}/mllm_sft_multi_image_example_data2.jsonl": ("messages", "sft", 10, {}, {}),
    f"{X}/mllm_sft_multi_image_example_data_new.jsonl": ("messages", "sft", 11, {}, {}),
    f"{X}/mllm_sft_single_image_example_data.jsonl": ("messages", "sft", 22, {}, {}),
    f"{X}/mllm_sft_single_image_example_data_new.jsonl": ("messages", "sft", 22, {}, {}),
    f"{X}/mllm_sft_text_example_data.jsonl": ("messages", "sft", 200, {}, {}),
    f"{X}/openai_sft.jsonl": ("messages", "sft", 128, {}, {}),
    f"{X}/pretrain_example_data.jsonl": ("pretrain", "sft", 3, {}, {}),
}  # fmt: skip
"""File -> format, use, rows kept, rows dropped and changes by reason."""
VIDEO = "which no engine here trains on"
PLAIN = "plain text: nothing tells where one row ends"
BAD = {
    "axolotl_fixtures/conversation.missingturns.json": "`conversations[1]` (assistant) is empty",
    "axolotl_fixtures/conversation.tokenized.json": "rows of token ids, and not of text",
    "axolotl_fixtures/conversation.tokenized_llama2chat.json": "rows of token ids, and not of text",
    f"{B}/possible_answer/BFCL_v4_multiple.json": "answers without their questions",
    f"{B}/possible_answer/BFCL_v4_simple_python.json": "answers without their questions",
    f"{L}/dataset_info.json": "an object that holds only objects: a description of sets",
    f"{L}/mllm_audio_demo.json": f"the row has audios, {VIDEO}",
    f"{L}/mllm_video_audio_demo.json": f"the row has videos, {VIDEO}",
    f"{L}/mllm_video_demo.json": f"the row has videos, {VIDEO}",
    f"{L}/v1_dpo_demo.yaml": PLAIN,
    f"{L}/v1_multimodal_demo.yaml": PLAIN,
    f"{L}/v1_sft_demo.yaml": PLAIN,
    f"{L}/wiki_demo.txt": PLAIN,
    f"{M}/mixed_type_values.json": "`conversations[0]` is null, not text",
    f"{M}/sharegpt_messages_under_conversations.json": "different system prompts",
    f"{M}/truncated_last_line.jsonl": "not JSON: Unterminated string at column 52",
    "messy/latin1_csv/spam.csv": "not UTF-8: byte 0xe5",
    "messy/lfs_pointers/data/phase1_test.jsonl": "Git-LFS pointer",
    "messy/lfs_pointers/math_splits/test.jsonl": "Git-LFS pointer",
    "messy/lfs_pointers/test.jsonl.gz": "Git-LFS pointer",
    "qwen_vl_demo/video.json": f"the row has video, {VIDEO}",
    f"{X}/demo_data/multi_turn_1/data.json": "`messages[0]` has no role",
    f"{X}/demo_data/pretrain/data.json": "no known format has these columns: `toy_text`",
    f"{X}/demo_data/single_turn/data.json": "no known format has these columns: `toy_system`",
    f"{X}/mllm_pretrain_image_example_data.jsonl": "is for pretraining and holds more than one piece of text",
    f"{X}/mllm_pretrain_image_example_data_new.jsonl": "is for pretraining and holds more than one piece of text",
    f"{X}/mllm_pretrain_video_example_data.jsonl": "is for pretraining and holds more than one piece of text",
    f"{X}/mllm_pretrain_video_example_data_new.jsonl": "is for pretraining and holds more than one piece of text",
    f"{X}/mllm_sft_video_example_data.jsonl": VIDEO,
    f"{X}/mllm_sft_video_example_data_new.jsonl": VIDEO,
    f"{X}/mllm_sft_video_hf_example_data.jsonl": VIDEO,
    f"{X}/mllm_sft_video_hf_example_data_new.jsonl": VIDEO,
    f"{X}/mllm_video_frame_test_data.jsonl": VIDEO,
    f"{X}/mllm_video_frame_test_data_new.jsonl": VIDEO,
    f"{X}/qwen35_tokenize_data.jsonl": "lies elsewhere; nothing is downloaded; 5 of 17 rows can't be used",
}
"""File -> what is said when it is refused."""
MEDIA = {".jpg", ".png", ".mp3", ".mp4", ".wav"}
ROOTS = (("resource", DATA / X), ("data", DATA / L), ("demo", DATA / "qwen_vl_demo"))


def test_no_file_is_forgotten() -> None:
    here = {str(path.relative_to(DATA)) for path in DATA.rglob("*") if path.is_file() and path.suffix not in MEDIA}
    assert here - {"SOURCES.md"} == GOOD.keys() | BAD.keys()


def test_media_are_no_data(tmp_path: Path) -> None:
    media = [path for path in DATA.rglob("*") if path.suffix in MEDIA]
    assert len(media) == 13
    for path in media:
        with pytest.raises(DataFault, match=r"this is a picture|this is sound or video"):
            prepare(inputs([path]), Options(), tmp_path / "out")


@pytest.mark.parametrize("name", GOOD)
def test_a_good_file(tmp_path: Path, name: str) -> None:
    form, use, kept, dropped, changes = GOOD[name]
    roots = ROOTS if "image" in name or "multimodal" in name or "mllm_demo" in name else ()
    here = tuple(root for root in roots if root[0] != "data" or "v1" in name)
    made = prepare(inputs([DATA / name]), Options(images=here, shares=Shares(0.1, 0.1)), tmp_path / "out")
    assert (made.format, made.use, made.counts.kept) == (form, use, kept)
    assert (made.counts.dropped, made.counts.changes) == (dropped, changes)
    assert bool(made.images) == bool(roots)


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataFault) as caught:
        prepare(inputs([DATA / name]), Options(images=ROOTS[:1]), tmp_path / "out")
    assert BAD[name] in caught.value.what
    assert caught.value.fix
    assert caught.value.where.startswith(str(DATA / name))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "options", "kept", "dropped"),
    [
        ("messy/latin1_csv/spam.csv", {"encoding": "cp1252", "columns": SPAM}, 5169, {"duplicate": 403}),
        (f"{M}/mixed_type_values.json", {"max_dropped": 0.4}, 2, {"not_text": 1}),
        (f"{M}/truncated_last_line.jsonl", {"max_dropped": 0.5}, 1, {"not_json": 1}),
        (f"{X}/qwen35_tokenize_data.jsonl", {"max_dropped": 0.3}, 12, {"media": 4, "picture_url": 1}),
        (f"{X}/demo_data/single_turn/data.json", {"columns": TOY}, 2, {}),
        (f"{X}/demo_data/pretrain/data.json", {"columns": Columns(parse("text=toy_text"))}, 2, {}),
        ("gsm8k", {"use": "sft"}, 8788, {"leak_words": 4}),
    ],
)  # fmt: skip
def test_a_file_that_is_good_once_something_is_said(
    tmp_path: Path, name: str, options: dict[str, Any], kept: int, dropped: dict[str, int]
) -> None:
    made = prepare(inputs([DATA / name]), Options(**options), tmp_path / "out")
    assert (made.counts.kept, made.counts.dropped) == (kept, dropped)
