"""Recipe -> RunPlans: resolve each stage, find what it starts from, ask the backend, collect every finding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from orchestrator import addressing, chain, engines, envs, fingerprint, hardware, inputs, registry, sizing, smoke
from orchestrator.artifacts import intact
from orchestrator.backend import Backend, Job, ModelRef
from orchestrator.chain import Chosen, Link
from orchestrator.errors import UsageError
from orchestrator.findings import Finding, accept, errors
from orchestrator.hardware import Machine
from orchestrator.index import Row
from orchestrator.plan import RunPlan, load_plan
from orchestrator.preflight import (
    adapter,
    combinations,
    data,
    environment,
    folder,
    hyperparameters,
    leak,
    lengths,
    proofs,
    room,
    task,
    tracking,
    weights,
)
from orchestrator.recipe import Recipe, Settings, Value
from orchestrator.resolve import Resolved, resolve
from orchestrator.spec import JUDGING_STAGES, RunSpec
from orchestrator.store import Run, Store

_NOTHING = ModelRef(label="base", path="")


@dataclass
class Planner:
    """Plans stages one after the other; later ones may start from earlier ones that have not run yet.

    Attributes:
        env: `--env`, passed to every backend environment.
        output: `--output`, the folder of the stage that was asked for; conversions before it lie in the store.
        reuse: take finished stages with the same fingerprint instead of running them again.
        smoke: plan the smoke run of every stage.
        engine: the backend to do every training stage that it has, whatever the recipe names.
        say: told about anything that takes longer than a moment.
    """

    store: Store
    env: str | None = None
    output: Path | None = None
    reuse: bool = False
    smoke: bool = False
    engine: str | None = None
    say: Callable[[str], None] = lambda _: None
    machine: Machine = field(default_factory=hardware.detect)
    plans: list[RunPlan] = field(default_factory=list)
    _links: dict[str, Link] = field(default_factory=dict)

    def recipe(self, recipe: Recipe, flags: Settings) -> list[RunPlan]:
        """Plan every stage of a recipe, with the conversions that the chain needs in between."""
        addressing.refuse_stray(recipe, flags)
        if self.output and len(recipe.stages) > 1:
            raise UsageError("--output names one folder, but this is a pipeline of several runs", fix="use --runs")
        pipeline = self.store.new_id(recipe.name or "pipeline", "chain") if recipe.is_pipeline else None
        named: dict[str, str] = {}
        twice: set[str] = set()
        for index in range(len(recipe.stages)):
            given = addressing.flags_of(recipe, index, flags)
            asked = resolve(self._follow(recipe, index), index, engines.flags_for(recipe, index, given, self.engine))
            resolved = smoke.bounded(asked, given) if self.smoke else asked
            parents = [self._link(_earlier(reference, named, twice)) for reference in resolved.spec.parents]
            plan = self._stage(resolved, parents, pipeline)
            called = asked.spec.name  # what later stages call it: a smoke run's name is longer
            twice |= {called, plan.spec.stage} & named.keys()
            named |= {called: plan.run_id, plan.spec.stage: plan.run_id, "previous": plan.run_id}
            if plan.spec.stage not in JUDGING_STAGES:
                named["previous model"] = plan.run_id
        return self.plans

    def again(self, run: Run) -> RunPlan:
        """The plan of a finished run anew, with everything as its manifest has it."""
        record = run.manifest
        spec = record.spec.model_copy(update={"name": f"{record.spec.name[:90]}-again"})
        return self._stage(Resolved(spec, record.origins), [self._link(str(p.path)) for p in record.parents], None)

    def _follow(self, recipe: Recipe, index: int) -> Recipe:
        """In a pipeline a stage that names nothing to start from starts from the model of the stage before."""
        given, before = recipe.stages[index], {s["stage"].value for s in recipe.stages[:index]}
        if not before - {*JUDGING_STAGES} or "from" in given or "model.path" in given:
            return recipe
        followed = given | {"from": Value(["previous model"], "the stage before")}
        return replace(recipe, stages=(*recipe.stages[:index], followed, *recipe.stages[index + 1 :]))

    def _link(self, reference: str) -> Link:
        if reference not in self._links:
            run = self.store.find(reference)
            self._links[reference] = self._links[run.id] = chain.link(run)
        return self._links[reference]

    def _stage(self, resolved: Resolved, parents: list[Link], pipeline: str | None) -> RunPlan:
        spec = resolved.spec
        if spec.stage != "eval" and len(parents) > 1:
            raise UsageError(f"{spec.stage} starts from one run, not from {len(parents)}", fix="name one with --from")
        if spec.trains and parents and parents[0].kind == "adapter":
            parents = [self._converted(parents[0], pipeline)]
        if spec.stage == "merge" and parents and parents[0].kind == "model":
            raise UsageError(
                f"{parents[0].run} is a full model already; there is nothing to merge",
                fix=f"post-train runs path {parents[0].run}",
            )
        return self._keep(self._plan(resolved, parents, pipeline, self.output))

    def _converted(self, parent: Link, pipeline: str | None) -> Link:
        """The merge of an adapter run: training starts from a full model, so KL is measured against that policy."""
        conversion: Settings = {
            "name": Value(parent.name, "conversion"),
            "stage": Value("merge", "conversion"),
            "from": Value([parent.run], "conversion"),
        }
        resolved = resolve(Recipe(None, "", None, (conversion,)), 0, {})
        plan = self._plan(resolved, [parent], pipeline)
        return self._link(self._keep(self._reused(plan) or plan).run_id)

    def _keep(self, plan: RunPlan) -> RunPlan:
        kept = (self._reused(plan) or self._resumed(plan) or plan) if self.reuse and not plan.reuses else plan
        self.plans.append(kept)
        self._links.setdefault(kept.run_id, _planned(kept))
        return kept

    def _reused(self, plan: RunPlan) -> RunPlan | None:
        """The same plan standing for a finished run, if nothing that it took or made was touched since."""
        row = self._twin(plan, "SUCCEEDED")
        if row is None or not self._untouched([row.id, *row.parents]):
            return None
        self._link(row.id)
        return plan.model_copy(update={"run_id": row.id, "run_dir": Path(row.folder).resolve(), "reuses": row.id})

    def _resumed(self, plan: RunPlan) -> RunPlan | None:
        """The plan of a stopped run, to go on with; what it leaves lies in its own folder."""
        row = self._twin(plan, "INTERRUPTED")
        return load_plan(Path(row.folder)).model_copy(update={"resumes": row.id}) if row else None

    def _twin(self, plan: RunPlan, state: str) -> Row | None:
        """The newest run in this state with the same fingerprint and parents."""
        parents = [p.run for p in plan.parents]
        same = (r for r in self.store.rows() if r.fingerprint == plan.fingerprint and r.parents == parents)
        return next((row for row in same if row.state == state), None)

    def _untouched(self, runs: list[str]) -> bool:
        found = [self.store.find(name) for name in runs]
        return all(intact(run.path, artifact) for run in found for artifact in run.manifest.artifacts)

    def _plan(
        self, resolved: Resolved, parents: list[Link], pipeline: str | None, output: Path | None = None
    ) -> RunPlan:
        spec, backend = resolved.spec, registry.load(resolved.spec.backend)
        run_id = self.store.new_id(spec.name, spec.stage)
        run_dir = output.expanduser().absolute() if output else self.store.root / run_id
        look = data.look(spec, lambda rows: self.say(f"checking data: {rows:,} rows"))
        model, compared = self._start(spec, parents)
        parents = [*parents, *compared.runs]
        inputs.require_files(spec, Path(model.path))
        env = envs.locate(spec.backend, backend.lock(), self.machine, self.env)
        own = {rows: run_id} if (rows := chain.rows_of(spec)) else {}
        learned = chain.learned(parents, self._link) if spec.stage == "eval" else []
        leaks = leak.look(spec, lambda: chain.datasets(parents, self._link) | own, self.say)
        train = look.facts.get("data.train")
        job = Job(
            run_dir=run_dir,
            model=model,
            compare=compared.models,
            against=compared.against,
            leaks=leaks.found,
            learned=tuple(one for one in learned if spec.task.name or spec.eval.benchmarks or one.task),
            machine=self.machine,
            packages=env.packages,
            python=env.python if env.ready else None,
            rows=train.rows if train else None,
            form=train.form if train else None,
            traits=look.traits,
        )
        estimate = sizing.estimate(spec, Path(model.path), bool(self.machine.gpus))
        found = accept(
            [
                *resolved.findings,
                *combinations.check(spec, backend, learned),
                *look.findings,
                *task.check(spec, backend),
                *leaks.findings,
                *hyperparameters.check(spec, job.rows),
                *lengths.check(spec),
                *proofs.check(spec, compared.models or (model,)),
                *(folder.check(model) if spec.trains and model.path else ()),
                *weights.check(Path(model.path)),
                *adapter.check(spec, Path(model.path)),
                *room.check(estimate, run_dir, self.machine),
                *environment.check(env),
                *tracking.check(spec),
                *_asked(spec, backend, job),
            ],
            spec.accept,
        )
        gone_in = inputs.identify(spec, [p.fingerprint for p in parents], look, self.say)
        payload = fingerprint.identity(spec, gone_in, {"backend": spec.backend, "lock": env.key})
        return RunPlan(
            run_id=run_id,
            run_dir=run_dir,
            spec=spec,
            origins=resolved.origins,
            pipeline=pipeline,
            parents=tuple(p.as_parent for p in parents),
            model=model,
            compare=compared.models,
            env=env,
            machine=self.machine,
            native=None if errors(found) else backend.materialize(spec, job),
            estimate=estimate,
            findings=tuple(found),
            identity=payload,
            fingerprint=fingerprint.fingerprint(payload),
            smoke=self.smoke,
        )

    def _start(self, spec: RunSpec, parents: list[Link]) -> tuple[ModelRef, Chosen]:
        """The model to start from, and what an eval compares. A parent whose own plan has errors gives none."""
        if any(p.output is None and p.stage not in JUDGING_STAGES for p in self._links.values()):
            return _NOTHING, Chosen(())
        model = parents[0].model if parents else _given(spec)
        if spec.stage != "eval":
            return model, Chosen(())
        found = chain.chosen(parents, spec.eval.against, self._link)
        return model, found if parents else replace(found, models=(*found.models, model))


def _earlier(reference: str, named: dict[str, str], twice: set[str]) -> str:
    """The run behind a `from`: an earlier stage of the pipeline, or a run that exists.

    Raises:
        UsageError: several earlier stages are called so.
    """
    if reference in twice:
        raise UsageError(f"several earlier stages are called {reference!r}", where="from", fix="give each a `name`")
    return named.get(reference, reference)


def _asked(spec: RunSpec, backend: Backend, job: Job) -> list[Finding]:
    """The backend's own findings; not asked about a stage it does not have, or without a model."""
    known = spec.stage in backend.capabilities().methods and job.model.path
    return backend.check(spec, job) if known else []


def _given(spec: RunSpec) -> ModelRef:
    if not spec.model.path:
        return _NOTHING
    m = spec.model
    return ModelRef(label="base", path=spec.model.path, revision=m.revision, trust_remote_code=m.trust_remote_code)


def _planned(plan: RunPlan) -> Link:
    expected = plan.native.expected[0] if plan.native else None
    kind = expected.kind if expected and expected.kind != "report" else None
    return Link(
        run=plan.run_id,
        name=plan.spec.name,
        path=plan.run_dir,
        stage=plan.spec.stage,
        fingerprint=plan.fingerprint,
        start=plan.model,
        kind=kind,
        output=plan.run_dir / expected.path if expected and kind else None,
        digest=None,
        parents=tuple(p.run for p in plan.parents),
        rows=chain.rows_of(plan.spec),
        task=chain.task_of(plan.spec),
    )
