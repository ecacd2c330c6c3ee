"""Answers by vLLM, inside this process and open to no other machine, proved by the probe as any taker of a model is."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from backends.hf import worker_model
from backends.hf.worker_contestants import Contestant
from backends.hf.worker_generation import Progress
from backends.hf.worker_stored import catalogue, main_dtype
from backends.trainer import behaviour, handoff, probe
from backends.trainer.generate import Answer, answer
from backends.trainer.prompts import Ids
from backends.trainer.sampling import stream_seed
from orchestrator.events import EventWriter
from orchestrator.harness import WorkError

_VARIABLES = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_HOST_IP": "127.0.0.1",
    "GLOO_SOCKET_IFNAME": "lo",
    "NCCL_SOCKET_IFNAME": "lo",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_CPU_KVCACHE_SPACE": "1",
}
"""The last two: threads as OMP_NUM_THREADS says, and one GiB for keys and values where there is no GPU."""
_CHUNK = 8
"""Batches between two reports of progress."""


@contextmanager
def opened(one: Contestant, settings: dict[str, Any], events: EventWriter, room: int) -> Iterator[Vllm]:
    """The engine with the model in it, compared with where that was made; its memory is free again afterwards.

    Raises:
        WorkError: vLLM can't load the model, or it is another one than was made.
    """
    os.environ |= _VARIABLES
    _alone()
    engine = Vllm(one, settings, room)
    try:
        if one.probe:
            handoff.held_to(engine.measure, events, one.label, one.probe)
        yield engine
    finally:
        engine.close()


def _alone() -> None:
    """A process group of one without a TCP store: vLLM's own would listen on every address of the machine."""
    from vllm.platforms import current_platform

    backend = current_platform.dist_backend
    torch.distributed.init_process_group(backend, store=torch.distributed.HashStore(), rank=0, world_size=1)


class Vllm:
    """One model in vLLM."""

    def __init__(self, one: Contestant, settings: dict[str, Any], room: int) -> None:
        self._one, self._settings = one, settings
        self._config = worker_model.config_of(one.folder, one.trust)
        text = self._config.get_text_config()
        worker_model.check_vocabulary(one.reader.tokenizer, text.vocab_size, one.reader.folder)
        longest = max(room, *(len(ids) + 1 for ids in probe.rendered(one.reader.tokenizer)))
        self._room = min(longest, getattr(text, "max_position_embeddings", None) or longest)
        self._dtype = _dtype(one, self._config, settings["dtype"])
        self._engine = self._start()

    def __call__(
        self, prompts: list[Ids], *, new: int, streams: Sequence[int] | None = None, progress: Progress = lambda _: None
    ) -> list[Answer]:
        numbers = range(len(prompts)) if streams is None else streams
        asked = [self._how(len(ids), new, number) for ids, number in zip(prompts, numbers, strict=True)]
        found, size = list[Answer](), _CHUNK * self._settings["batch_size"]
        for start in range(0, len(prompts), size):
            done = self._ask(prompts[start : start + size], asked[start : start + size])
            found += [answer(list(one.outputs[0].token_ids), self._one.reader.ends) for one in done]
            progress(len(found))
        return found

    def measure(self) -> probe.Measured:
        """The probe as vLLM answers it; its weights lie in an order of its own and are in no sketch."""
        from vllm import SamplingParams

        tokenizer, text = self._one.reader.tokenizer, self._config.get_text_config()
        rows = probe.rendered(tokenizer)
        how = SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=1, detokenize=False)
        told = [one.prompt_logprobs for one in self._ask(rows, [how] * len(rows))]
        return {
            **probe.spoken(tokenizer),
            "rows": [_row(ids, places[1:]) for ids, places in zip(rows, told, strict=True)],
            "vocabulary": [int(text.vocab_size), len(tokenizer)],
            "tied": bool(text.tie_word_embeddings),
            "dtype": str(self._dtype).removeprefix("torch."),
            "quantized": getattr(self._config, "quantization_config", None) is not None,
            "bits": probe.bits(getattr(self._config, "quantization_config", None)),
            "config": behaviour.of(self._config),
        }

    def close(self) -> None:
        """Free what it holds, so that the next model has room."""
        from vllm.distributed import cleanup_dist_env_and_memory

        self._engine.llm_engine.engine_core.shutdown()
        del self._engine
        cleanup_dist_env_and_memory()
        gc.collect()

    def _start(self) -> Any:
        from vllm import LLM

        with _refused(self._one):
            return LLM(
                model=str(self._one.folder),
                skip_tokenizer_init=True,
                trust_remote_code=self._one.trust,
                dtype=self._dtype,
                max_model_len=self._room,
                max_num_seqs=self._settings["batch_size"],
                seed=self._settings["seed"],
                generation_config="vllm",
                enforce_eager=not torch.cuda.is_available(),
                disable_log_stats=True,
                use_tqdm_on_load=False,
            )

    def _how(self, length: int, new: int, stream: int) -> Any:
        """Our end tokens alone, whatever the model ships; each prompt draws from a stream of its own."""
        from vllm import SamplingParams

        settings = self._settings
        return SamplingParams(
            temperature=settings["temperature"],
            top_p=settings["top_p"],
            seed=stream_seed(settings["seed"], stream),
            max_tokens=min(new, self._room - length),
            stop_token_ids=sorted(self._one.reader.ends),
            ignore_eos=True,
            detokenize=False,
        )

    def _ask(self, prompts: list[Ids], how: list[Any]) -> list[Any]:
        with _refused(self._one):
            return list(self._engine.generate([{"prompt_token_ids": ids} for ids in prompts], how, use_tqdm=False))


@contextmanager
def _refused(one: Contestant) -> Iterator[None]:
    """What vLLM can't do with a model shows at its start or at the first prompt, as an error of any kind."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except (OSError, RuntimeError, ValueError, ImportError, KeyError, AttributeError, AssertionError) as error:
        first = " ".join(str(error).split())[:400]
        fix = "set eval.generation: transformers"
        raise WorkError("generation.vllm", f"vLLM can't run {one.folder}: {first}", fix=fix) from error


def _dtype(one: Contestant, config: Any, name: str) -> torch.dtype:
    """By itself vLLM would load float32 weights in 16 bits."""
    wanted = worker_model.dtype_of(name, worker_model.device())
    found = (config.dtype or main_dtype(catalogue(one.folder))) if wanted == "auto" else wanted
    return found if isinstance(found, torch.dtype) else getattr(torch, found)


def _row(ids: Ids, places: list[dict[int, Any]]) -> dict[str, list[Any]]:
    return {
        "ids": ids,
        "logprobs": [round(place[token].logprob, 6) for token, place in zip(ids[1:], places, strict=True)],
        "argmax": [next(token for token, found in place.items() if found.rank == 1) for place in places],
    }
