"""Results that were shown in part, as resources."""

import os
from pathlib import Path

import pytest

from vespe.adapters.large_results.handles import LargeResults
from vespe.features.mcp.server import content_blocks, kept_results
from vespe.features.mcp.server.messages import INVALID_PARAMS, ProtocolError
from vespe.models import Outcome, Tool

TOOL = Tool(uid="t", name="t", description="", input_schema={}, model_tokens=100)
TEXT = "".join(f"line {number} ü\n" for number in range(1000))


@pytest.fixture
def results(home: Path) -> LargeResults:
    made = LargeResults()
    made.shown(TOOL, Outcome(tool="t", uid="t", result=TEXT), place=None)
    made.shown(TOOL, Outcome(tool="t", uid="t", result=[{"a": 1}] * 500), place=None)
    return made


def read(uri: str, results: LargeResults) -> tuple[str, str]:
    (found,) = kept_results.contents(uri, results)["contents"]
    assert found["uri"] == uri
    return found["mimeType"], found["text"]


def test_a_link_is_a_block_that_clients_take_and_leads_to_the_whole(results: LargeResults) -> None:
    links = [kept_results.link_to(handle, results) for handle in ("r1", "r2")]
    assert all(map(content_blocks.is_block, links))
    assert [link["mimeType"] for link in links] == ["text/plain", "application/json"]
    assert read(links[0]["uri"], results) == ("text/plain", TEXT)
    assert read(links[1]["uri"], results)[1].startswith('[{"a":1},')


def test_pages_joined_are_the_whole(results: LargeResults) -> None:
    pages = [
        read(f"vespe://results/r1?offset={offset}&limit=700", results)[1]
        for offset in range(0, len(TEXT), 700)
    ]
    assert "".join(pages) == TEXT and len(pages) == 16
    assert read("vespe://results/r1?offset=5", results)[1] == TEXT[5:]


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("vespe://results/r9", "it has r1, r2"),
        ("vespe://results/r1?offset=99999999", "there is no character 99,999,999"),
        ("vespe://results/r1?limit=5", "there is no resource"),
        ("vespe://results/r1/../r2", "there is no resource"),
        ("vespe://results/../../key", "there is no resource"),
        ("vespe://results/", "there is no resource"),
    ],
)
def test_p82_what_is_not_the_clients_is_not_there(
    uri: str, why: str, results: LargeResults
) -> None:
    with pytest.raises(ProtocolError) as caught:
        kept_results.contents(uri, results)
    assert caught.value.code == INVALID_PARAMS and why in caught.value.message
    assert kept_results.is_address(uri)


def test_a_file_that_somebody_changed_is_refused(results: LargeResults, home: Path) -> None:
    digest = results.known["r1"]["sha256"]
    (file,) = [Path(place) / digest for place, _, names in os.walk(home) if digest in names]
    file.write_text("other", encoding="utf-8")
    with pytest.raises(ProtocolError, match="the stored result was changed"):
        kept_results.contents("vespe://results/r1", results)
