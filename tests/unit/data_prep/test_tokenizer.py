"""Rows as a model sees them: the template run in a sandbox, what gets loss, and what is wrong with a tokenizer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from data_prep.faults import DataFault
from data_prep.tokenizer import ModelTokenizer
from tests.conftest import ROOT

if TYPE_CHECKING:
    from tests.conftest import Cli, Write

    from .conftest import Prepare

TINY = ROOT / "recipes/quickstart/model"
PLAIN = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
ASK, SAY = {"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}


@pytest.fixture
def model(work: Path) -> Path:
    """A model folder with the quickstart's tokenizer and a template to be written."""
    folder = work / "model"
    folder.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        (folder / name).write_bytes((TINY / name).read_bytes())
    return folder


def template(model: Path, text: str) -> ModelTokenizer:
    (model / "chat_template.jinja").write_text(text)
    return ModelTokenizer(model)


def learned(tokenizer: ModelTokenizer, row: dict[str, Any]) -> list[list[str]]:
    return [[each.text[a:b] for a, b in each.spans or []] for each in tokenizer.rendered(row)]


def test_the_answer_gets_loss_with_its_end(model: Path) -> None:
    marked = ModelTokenizer(model)
    (spans,) = learned(marked, {"messages": [ASK, SAY, ASK, SAY]})
    assert len(spans) == 2
    assert all(span.startswith("2") and len(span) > 1 for span in spans)
    (seen,) = marked.rendered({"messages": [ASK, SAY]})
    assert 0 < (seen.learned() or 0) < len(seen.ids)


def test_turns_are_found_without_marks(model: Path) -> None:
    assert learned(template(model, PLAIN), {"messages": [ASK, SAY, ASK, SAY]}) == [["2<|im_end|>\n", "2<|im_end|>\n"]]


def test_only_the_new_answer_of_a_pair_gets_loss(model: Path) -> None:
    row = {"prompt": [ASK, SAY, ASK], "chosen": [SAY], "rejected": [{**SAY, "content": "3"}]}
    assert learned(template(model, PLAIN), row) == [["2<|im_end|>\n"], ["3<|im_end|>\n"]]


def test_a_template_that_rewrites_earlier_turns_tells_nothing(model: Path) -> None:
    rewriting = PLAIN.replace("messages %}{{", "messages %}{% if loop.last %}!{% endif %}{{", 1)
    (seen,) = template(model, rewriting).rendered({"messages": [ASK, SAY]})
    assert seen.learned() is None


def test_rows_that_the_template_refuses_or_leaves_out_are_told(model: Path, write: Write, make: Prepare) -> None:
    refusing = "{% if messages[0]['content'] == 'no' %}{{ raise_exception('never') }}{% endif %}" + PLAIN
    rows = [{"prompt": "no", "completion": "b"}, {"prompt": "a", "completion": "b"}]
    made = make(write("d.jsonl", rows), tokenizer=template(model, refusing))
    assert made.ledger() == [("d.jsonl:1", "dropped", "template")]
    forgetful = "{% for message in messages %}{{ message['content'] if message['role'] == 'user' }}{% endfor %}"
    marked = forgetful + "{% generation %}{% endgeneration %}"
    with pytest.raises(DataFault, match="no token of it gets loss"):
        make(write("d.jsonl", rows), "none", tokenizer=template(model, marked))


def test_a_question_that_would_be_learned_is_told(model: Path, write: Write, make: Prepare) -> None:
    everything = "{% generation %}" + PLAIN + "{% endgeneration %}"
    with pytest.raises(DataFault, match="every token of it gets loss"):
        make(write("d.jsonl", [{"prompt": "a", "completion": "b"}]), tokenizer=template(model, everything))


def test_rows_of_which_nothing_tells_the_loss_are_counted(model: Path, write: Write, make: Prepare) -> None:
    rewriting = PLAIN.replace("messages %}{{", "messages %}{% if loop.last %}!{% endif %}{{", 1)
    made = make(write("d.jsonl", [{"prompt": "a", "completion": "b"}]), tokenizer=template(model, rewriting))
    assert made.manifest.counts.notes == {"mask_unknown": 1}


def test_what_a_cut_would_leave_is_told(model: Path, write: Write, make: Prepare) -> None:
    rows = [{"prompt": "1", "completion": "2"}, {"prompt": "1 " * 200, "completion": "2"}]
    made = make(write("d.jsonl", rows), tokenizer=template(model, PLAIN), max_tokens=100)
    assert "cut there, 0 of the " in (made.folder / "ledger.jsonl").read_text()


def test_a_model_without_a_template_is_told_once(model: Path, write: Write, make: Prepare) -> None:
    (model / "chat_template.jinja").unlink()
    with pytest.raises(DataFault, match="the model has no chat template") as caught:
        make(write("d.jsonl", [{"prompt": "a", "completion": "b"}]), tokenizer=ModelTokenizer(model))
    assert caught.value.where == str(model)
    assert make(write("t.jsonl", [{"text": "a"}]), tokenizer=ModelTokenizer(model)).manifest.tokens["train"].total > 0


def test_long_rows_are_left_out_and_lengths_are_told(model: Path, write: Write, make: Prepare) -> None:
    rows = [{"prompt": "1 " * n, "completion": "2"} for n in (1, 2, 3, 400)]
    tokenizer = template(model, PLAIN)
    made = make(write("d.jsonl", rows), tokenizer=tokenizer, max_tokens=100)
    assert made.manifest.counts.dropped == {"max_tokens": 1}
    lengths = made.manifest.tokens["train"]
    counted = [len(tokenizer.rendered(row)[0].ids) for row in made.rows()]
    assert (lengths.shortest, lengths.median, lengths.longest) == tuple(sorted(counted))
    assert (lengths.total, sum(lengths.histogram.values())) == (sum(counted), 3)


@pytest.mark.parametrize(
    "hostile",
    [
        "{{ messages.__class__.__mro__[1].__subclasses__() }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{% for message in messages %}{{ messages.append(message) }}{% endfor %}",
        "{{ undefined_name.attribute }}",
    ],
)
def test_a_template_can_do_nothing_but_render(model: Path, hostile: str, write: Write, make: Prepare) -> None:
    with pytest.raises(DataFault, match="the chat template can't render it"):
        make(write("d.jsonl", [{"prompt": "a", "completion": "b"}]), tokenizer=template(model, hostile))


def test_what_is_wrong_with_a_tokenizer_is_told(model: Path) -> None:
    config = json.loads((model / "tokenizer_config.json").read_text())
    config |= {"pad_token": config["eos_token"], "bos_token": "<|never heard of|>"}
    (model / "tokenizer_config.json").write_text(json.dumps(config))
    (model / "config.json").write_text('{"text_config": {"vocab_size": 9}}')
    found = template(model, "{{ strftime_now('%Y') }}" + PLAIN + "<|never seen|> <|neverseen|>").findings()
    words = ("'<|never heard of|>' splits", "'<|neverseen|>' splits", "pad token is the end token", "today's date")
    assert all(any(word in each for each in found) for word in words)
    assert "and the model 9 embeddings" in found[-1]
    assert len(found) == 5


def test_a_folder_without_a_tokenizer_is_refused(work: Path, model: Path) -> None:
    with pytest.raises(DataFault, match=r"no tokenizer\.json there"):
        ModelTokenizer(work).load()
    (model / "tokenizer.json").write_text("{}")
    with pytest.raises(DataFault, match="a tokenizer that does not load"):
        ModelTokenizer(model).load()


def test_rows_are_shown_as_they_are_seen(cli: Cli, model: Path, write: Write) -> None:
    template(model, PLAIN)
    rows = [{"prompt": "a", "completion": "b"}, {"prompt": "", "completion": "b"}, {"prompt": "c", "completion": "d"}]
    write("d.jsonl", rows)
    shown = cli("data", "show", "d.jsonl", "--model", "model").out
    assert "<|im_start|>assistant\n⟦b<|im_end|>\n⟧" in shown
    assert "d.jsonl:2  dropped: `prompt` is empty" in shown
    assert "with loss" in shown
    plain = cli("data", "show", "d.jsonl", "--rows", "1").out
    assert plain == "d.jsonl:1\nmessages.user: a\nmessages.assistant: b\n\n"
    lines = cli("data", "show", "d.jsonl", "--skip", "2", "--json").out.splitlines()
    assert [json.loads(line)["where"] for line in lines] == ["d.jsonl:3"]


def test_prepared_data_is_divided_anew(cli: Cli, write: Write, work: Path) -> None:
    rows = [{"prompt": f"{n}?", "completion": f"{n}", "label": bool(n % 2), "level": n} for n in range(60)]
    write("d.jsonl", rows)
    cli("data", "prepare", "d.jsonl", "-o", "one", "--validation", "0", "--keep", "level")
    cli("data", "split", "one", "-o", "two", "--validation", "0.4", "--test", "0.2")
    counts = {name: (work / f"two/{name}.jsonl").read_text() for name in ("train", "validation", "test")}
    assert sorted("".join(counts.values()).splitlines()) == sorted((work / "one/train.jsonl").read_text().splitlines())
    assert all(counts.values())
    assert "the folder is there already" in cli("data", "split", "one", "-o", "two", code=6).err
