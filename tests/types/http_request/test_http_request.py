"""What `http_request` is as a type of tools."""

from vespe.models import Implementation
from vespe.tool_types import type_of
from vespe.types.http_request import execution


def test_it_is_run_by_its_own_executor() -> None:
    assert type_of("http_request").executor() is execution.EXECUTOR


def test_a_get_reads_what_others_answer_and_another_method_only_sends() -> None:
    kind = type_of("http_request")
    got = Implementation(type="http_request", path="https://a.example")
    assert [effect for effect, _ in kind.effects(got)] == ["sends_out", "reads_untrusted"]
    posted = Implementation(type="http_request", path="https://a.example", entrypoint="post")
    assert [effect for effect, _ in kind.effects(posted)] == ["sends_out"]


def test_its_address_is_its_path() -> None:
    kind = type_of("http_request")
    assert kind.address({"path": "https://a.example"}) == ("/path", "https://a.example")
    assert kind.address({"path": 3}) is None
