"""Chunks of a batch: their sizes, and what becomes of a task that must not begin twice."""

from pathlib import Path

from tests.support.batches import calls_in, counting_tool
from vespe.features.batch import cluster, parcel
from vespe.features.batch.cluster import Chunk, run_chunk, with_claim
from vespe.features.batch.items import Item, numbered
from vespe.features.batch.local import Plan
from vespe.models import Failure
from vespe.projects.workspace import open_workspace


def test_chunks_grow_with_what_is_learned_and_shrink_again() -> None:
    chunks = cluster._Chunks(numbered({} for _ in range(1000)), Plan())
    found: list[Chunk] = []
    for seconds in (0.01, 160.0, 1.0):
        found += filter(None, [chunks.take()])
        chunks.learn(found[-1], seconds)
    assert [len(chunk.items) for chunk in found] == [8, 16, 1] and chunks.taken == 3


def test_inputs_that_are_not_called_teach_nothing_of_those_that_are() -> None:
    chunks = cluster._Chunks(
        (Item(n, {}, Failure(code="unknown_outcome", message="")) for n in range(1000)), Plan()
    )
    for chunk in filter(None, [chunks.take() for _ in range(5)]):
        chunks.learn(chunk, 0.001)
    following = chunks.take()
    assert following is not None and len(following.items) == 8


def test_each_item_of_a_chunk_is_told_as_begun_when_the_chunk_is_taken() -> None:
    begun: list[object] = []
    chunks = cluster._Chunks(
        numbered({} for _ in range(3)), Plan(begin=lambda item: begun.append(item.id))
    )
    chunks.take()
    assert begun == [1, 2, 3]


def test_a_chunk_that_may_not_begin_calls_nothing(project: Path) -> None:
    notes = counting_tool(project, "count", read_only=False)
    parcels = parcel.pack(open_workspace(project).tool("count"))
    chunk = Chunk((Item(1, {"n": 5}),), retries=0, timeout_s=None)
    assert run_chunk(parcels, with_claim(chunk, lambda: False)) is None and calls_in(notes) == []
    outcomes = run_chunk(parcels, with_claim(chunk, lambda: True))
    assert outcomes is not None and outcomes[0].outcome.result == 10 and calls_in(notes) == [5]
