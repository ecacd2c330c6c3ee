"""Computing a number from a CSV or log file with bash, written to answer.json. Commands run in a sandbox."""

from __future__ import annotations

from orchestrator.sandbox import Bounds, Box, NotPlain, Outcome
from orchestrator.sandbox import enclosure as sandbox_named
from orchestrator.sandbox.enclosure import Enclosure
from orchestrator.tasks import (
    Environment,
    Episode,
    Generated,
    Limits,
    Message,
    Opening,
    Policy,
    Reply,
    Reward,
    Sample,
    Task,
)
from orchestrator.tasks.analyst.cases import TEMPLATES, case
from orchestrator.tasks.analyst.grade import FILE, Attempt, Credits, grade
from orchestrator.tasks.message import Call, answer, assistant, call, calls, system, tool, user
from orchestrator.tasks.policies import speaking

BASH = tool("bash", "Run a shell command in the task's folder. Gives what it prints.", command="The command.")
_SYSTEM = (
    "You are a data analyst. Use the tool `bash` to look at the file in the current folder and to compute the answer. "
    'Write it to answer.json as {"answer": NUMBER}. When the file is written, say that you are done.'
)
CHARACTERS = 2000
"""Of one command's output that the model is shown."""
CALLS = 4
"""Commands of one message that are run."""
_WHY = {
    "time": "[stopped: it took too long]",
    "memory": "[stopped: it took too much memory]",
    "disk": "[stopped: it wrote too much]",
    "output": "[stopped: it printed too much]",
    "refused": "[not run]",
}


class DataAnalyst(Environment):
    """A private folder with one file, and bash."""

    def __init__(self, sample: Sample, way: Enclosure, credits: Credits) -> None:
        self._case = case(sample.data["template"], sample.data["seed"])
        self._way, self._credits = way, credits
        self._failed: set[str] = set()
        self._worked, self._repeats = 0, 0
        self._box: Box | None = None

    async def init(self) -> Opening:
        self._box = Box(self._way, {self._case.file: self._case.content.encode()}, Bounds())
        return Opening([system(_SYSTEM), user(f"The file is {self._case.file}. {self._case.question}")], [BASH])

    async def step(self, message: Message) -> Reply:
        """Answer every call, then grade the file: the grade is that of the episode so far, not of the turn."""
        asked = calls(message)
        replies = [answer(one, await self._answered(one, n)) for n, one in enumerate(asked)]
        earned = grade(Attempt(self._worked, self._repeats, self._file()), self._case.answer, self._credits)
        return Reply(replies, done=not asked or earned == 1.0, rewards={"grade": earned})

    async def close(self) -> None:
        if self._box is not None:
            await self._box.close()

    async def _answered(self, one: Call, number: int) -> str:
        command = one.arguments.get("command")
        if one.fault or one.name != "bash":
            return f"error: {one.fault or f'there is no tool {one.name!r}, only bash'}"
        if not isinstance(command, str) or not command.strip():
            return "error: `command` must be a text that isn't empty"
        if number >= CALLS:
            return f"error: not run, a message may hold {CALLS} calls"
        return _shown(await self._ran(command))

    async def _ran(self, command: str) -> Outcome:
        assert self._box is not None
        self._repeats += command.strip() in self._failed
        done = await self._box.run(command)
        self._worked += done.ok
        if not done.ok:
            self._failed.add(command.strip())
        return done

    def _file(self) -> bytes | NotPlain | None:
        assert self._box is not None
        try:
            return self._box.read(FILE)
        except FileNotFoundError:
            return None
        except NotPlain as refused:
            return refused


def _shown(done: Outcome) -> str:
    """What the model sees: the beginning and the end of long output, and how it ended."""
    text, half = done.output, CHARACTERS // 2
    if len(text) > CHARACTERS:
        text = f"{text[:half]}\n[{len(text) - CHARACTERS} characters left out]\n{text[-half:]}"
    how = _WHY.get(done.ending) or (f"[exit code {done.code}]" if done.code else "")
    return "\n".join(part for part in (text.rstrip("\n"), how) if part) or "[no output]"


async def graded(episode: Episode) -> float:
    """The grade after the last turn."""
    return episode.latest("grade")


def solved(sample: Sample) -> Policy:
    """Looks at the file, and knows the answer."""
    right = case(sample.data["template"], sample.data["seed"]).answer
    write = f"head -n 2 *.*; echo '{{\"answer\": {right}}}' > {FILE}"
    return speaking(assistant("", call("bash", "1", command=write)), assistant("Done."))


def task(
    *,
    sandbox: str = "bubblewrap",
    max_turns: int = 6,
    train: int = 10_000,
    validation: int = 64,
    ran_ok_credit: float = 0.05,
    file_exists_credit: float = 0.15,
    file_parses_credit: float = 0.25,
) -> Task:
    """Options: `sandbox`, bubblewrap or (where nothing can be lost) unconfined; numbers of samples; partial rewards."""
    way = sandbox_named(sandbox)
    credits = Credits(ran_ok_credit, file_exists_credit, file_parses_credit)

    def sample(number: int) -> Sample:
        template = list(TEMPLATES)[number % len(TEMPLATES)]
        return Sample(f"{template}-{number}", {"template": template, "seed": number})

    return Task(
        name="data_analyst",
        train=Generated(sample, range(train)),
        validation=Generated(sample, range(train, train + validation)),
        environment=lambda one: DataAnalyst(one, way, credits),
        rewards=[Reward("grade", graded)],
        limits=Limits(max_turns=max_turns, max_tokens=384, context=4096),
        reference=solved,
    )
