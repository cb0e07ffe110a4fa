"""Where a batch runs, and its way into a file: what an earlier run did is not done again."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from vespe.calls.path import CallPath
from vespe.documents.near import suggest
from vespe.errors import UsageError
from vespe.features.batch.items import Item, ItemOutcome, is_repeatable, unknown
from vespe.features.batch.local import Plan, run_batch
from vespe.features.batch.outcomes_file import OutcomesFile
from vespe.models import Tool
from vespe.processes.workers import Workers

ENGINES = ("local", "dask", "ray")


def run_on(
    engine: str, items: Iterable[Item], tool: Tool, path: CallPath, plan: Plan
) -> Iterator[ItemOutcome]:
    """Yield the outcome of each item, from the engine `local`, `dask`, `dask://HOST:PORT`, `ray` or
    `ray://HOST:PORT`.

    Raises UsageError for another engine, MissingExtra, and what the call path raises where no call
    can be made.
    """
    name, _, address = engine.partition("://")
    if (
        name not in ENGINES
        or (name == "local" and "://" in engine)
        or ("://" in engine and not address)
    ):
        raise UsageError(
            f"there is no engine {engine!r}",
            hint=suggest(name, ENGINES) or f"one of {', '.join(ENGINES)}, or dask://HOST:PORT",
        )
    if name == "dask":
        from vespe.features.batch.dask_cluster import run_on_dask

        return run_on_dask(items, tool, path, plan, address=address)
    if name == "ray":
        from vespe.features.batch.ray_cluster import run_on_ray

        return run_on_ray(items, tool, path, plan, address=address)
    return run_locally(items, tool, path, plan)


def is_open(engine: str) -> bool:
    """Whether an engine is a cluster elsewhere that does not know its users: whoever reaches it
    reads the inputs, and runs code as the users of its workers.
    """
    name, _, address = engine.partition("://")
    if name == "dask" and address:
        from vespe.features.batch.dask_cluster import is_encrypted

        return not is_encrypted()
    if name == "ray" and address:
        from vespe.features.batch.ray_cluster import has_token

        return not has_token()
    return False


def run_locally(
    items: Iterable[Item], tool: Tool, path: CallPath, plan: Plan
) -> Iterator[ItemOutcome]:
    """Yield the outcome of each item, from threads of this process; a function of this process has
    one unless `jobs` says more.

    Threads of one interpreter take turns: a function that computes is not faster in several, and
    its calls cost twice as much.
    """
    if not plan.jobs and tool.name in path.registry:
        plan = replace(plan, jobs=1)

    with Workers() as workers:
        path = path if path.workers is not None else replace(path, workers=workers)
        yield from run_batch(items, tool, partial(path.run_tool, tool), plan)


@dataclass(frozen=True)
class Batch:
    """Items of one tool, to be run by one engine as one plan says."""

    engine: str
    items: Iterable[Item]
    tool: Tool
    path: CallPath
    plan: Plan

    def run_to(self, file: OutcomesFile) -> Iterator[ItemOutcome]:
        """Run the items that the file has no line for, write each outcome as its line, and yield
        it.

        A call that an earlier run began is not begun again if the tool must not run twice: its line
        says that its end is not known.
        """
        plan = self.plan if is_repeatable(self.tool) else replace(self.plan, begin=file.begin)
        for outcome in run_on(self.engine, self._left(file), self.tool, self.path, plan):
            error = outcome.outcome.error
            if error is not None and error.code == "interrupted":
                continue  # it was ended with the batch, which goes on from here another time
            file.write(outcome)
            yield outcome
        file.finish()

    def _left(self, file: OutcomesFile) -> Iterator[Item]:
        for item in self.items:
            if file.is_done(item.id):
                continue
            begun = (
                item.failure is None and not is_repeatable(self.tool) and file.was_begun(item.id)
            )
            yield replace(item, failure=unknown(item, self.tool).outcome.error) if begun else item
