"""The protocol of the executors holds for every member of the table."""

from vespe.calls.executors import EXECUTORS
from vespe.calls.executors.base import Executor


def test_every_executor_answers_to_the_protocol_and_its_own_type() -> None:
    executor: Executor
    for name, executor in EXECUTORS.items():
        assert executor.type == name
        assert callable(executor.plan) and callable(executor.execute)
