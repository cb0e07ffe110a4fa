"""Chunks of a batch: their sizes, and what becomes of a task that must not begin twice."""

from pathlib import Path

from tests.support.batches import calls_in, counting_tool
from vespe.calls.batch import cluster, parcel
from vespe.calls.batch.cluster import Chunk, run_chunk, with_claim
from vespe.calls.batch.items import Item, numbered
from vespe.calls.batch.local import Plan
from vespe.projects.workspace import open_workspace


def test_chunks_grow_with_what_is_learned_and_shrink_again() -> None:
    chunks = cluster._Chunks(numbered({} for _ in range(1000)), Plan())
    first = chunks.take()
    chunks.learn(8, 0.01)
    second = chunks.take()
    chunks.learn(16, 160.0)
    third = chunks.take()
    assert first and second and third
    assert [len(chunk.items) for chunk in (first, second, third)] == [8, 16, 1] and chunks.taken == 3


def test_each_item_of_a_chunk_is_told_as_begun_when_the_chunk_is_taken() -> None:
    begun: list[object] = []
    chunks = cluster._Chunks(numbered({} for _ in range(3)), Plan(begin=lambda item: begun.append(item.id)))
    chunks.take()
    assert begun == [1, 2, 3]


def test_a_chunk_that_may_not_begin_calls_nothing(project: Path) -> None:
    notes = counting_tool(project, "count", read_only=False)
    parcels = parcel.pack(open_workspace(project).tool("count"))
    chunk = Chunk((Item(1, {"n": 5}),), retries=0, timeout_s=None)
    assert run_chunk(parcels, with_claim(chunk, lambda: False)) is None and calls_in(notes) == []
    outcomes = run_chunk(parcels, with_claim(chunk, lambda: True))
    assert outcomes is not None and outcomes[0].outcome.result == 10 and calls_in(notes) == [5]
