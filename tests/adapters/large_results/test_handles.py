"""What a model is told of results, and the handles of those that were too large."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.large_results.generated import KINDS, read_whole, result_of
from vespe.adapters.large_results.handles import LargeResults
from vespe.adapters.result_texts import text_of
from vespe.calls.log import keep_output
from vespe.files.locations import user_state_dir
from vespe.models import Failure, Outcome, Tool

pytestmark = pytest.mark.usefixtures("home")

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"


def tool(tokens: Any = None) -> Tool:
    schema = {"type": "object"}
    return Tool(uid="", name="f", description="", input_schema=schema, model_tokens=tokens)


def outcome(result: Any, **more: Any) -> Outcome:
    return Outcome(tool="f", uid=None, result=result, **more)


@pytest.mark.parametrize("result", [None, 7, "x" * 40_000, {"a": [1, 2]}, ["y" * 9] * 3_000])
def test_what_fits_is_told_as_it_is(result: Any) -> None:
    results, given = LargeResults(), outcome(result)
    assert results.shown(tool(), given) is given
    assert results.known == {} and not Path(user_state_dir(), "results").exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("characters", [10_000, 90_000, 400_000])
def test_a_part_is_within_the_bound_and_all_of_it_is_read_by_its_handle(
    kind: str, characters: int
) -> None:
    results, result = LargeResults(), result_of(kind, characters, 1)
    whole = text_of(result)
    for tokens in (100, None, 2_000):
        told = text_of(results.shown(tool(tokens), outcome(result)).result)
        most = (tokens or 10_000) * 4
        assert len(told) <= most or told == whole
        assert told == whole if len(whole) <= most else list(results.known)[-1] in told
    assert all(read_whole(results, handle) == whole for handle in results.known)


def test_a_tool_that_says_whole_is_told_whole() -> None:
    given = outcome("x" * 1_000_000)
    assert LargeResults().shown(tool("whole"), given) is given


def test_the_message_of_an_error_is_bounded_too() -> None:
    results = LargeResults()
    given = outcome(None, error=Failure(code="tool_error", message="m" * 50_000))
    told = results.shown(tool(), given)
    assert told.error is not None and len(told.error.message) <= 40_000
    assert told.error.code == "tool_error" and read_whole(results, "r1") == "m" * 50_000


def test_images_are_not_counted_and_stay() -> None:
    image = {"type": "image", "mimeType": "image/png", "data": PNG * 2_000}
    small: Any = {"content": [{"type": "text", "text": "a dot"}, image]}
    given = outcome(small)
    assert LargeResults().shown(tool(), given) is given
    large: Any = {"content": [{"type": "text", "text": "t" * 50_000}, image]}
    results = LargeResults()
    told: Any = results.shown(tool(), outcome(large)).result
    assert told["content"][1] == image and len(told["content"][0]["text"]) <= 40_000
    assert json.loads(read_whole(results, "r1")) == large


def test_a_result_that_was_cut_at_the_tools_cap_is_read_whole() -> None:
    kept = keep_output(b"k" * 1_500_000)
    results = LargeResults()
    cut = outcome("k [cut] k", truncated=True, output_file=kept)
    assert "1,500,000 characters" in results.shown(tool(), cut).result
    assert read_whole(results, "r1") == "k" * 1_500_000
    Path(kept).unlink()
    assert LargeResults().shown(tool(), cut).result == "k [cut] k"


def test_handles_are_counted_by_the_places_of_calls_whatever_ends_first() -> None:
    results = LargeResults()
    for turn, places in enumerate(([2, 0], [1])):
        results.begin_turn()
        for place in places:
            results.shown(tool(), outcome(f"{turn}{place}" * 50_000), place=place)
    assert list(results.known) == ["r3", "r1", "r5"]


def test_a_handle_is_never_given_twice() -> None:
    results = LargeResults()
    threads = [
        threading.Thread(target=results.shown, args=(tool(), outcome(f"{number}" * 50_000)))
        for number in range(1, 9)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results.known) == [f"r{number}" for number in range(1, 9)]
    assert len({one["sha256"] for one in results.known.values()}) == 8


def test_what_cannot_be_kept_is_told_in_part_all_the_same() -> None:
    Path(user_state_dir()).mkdir(parents=True, exist_ok=True)
    Path(user_state_dir(), "results").write_text("in the way", encoding="utf-8")
    results = LargeResults()
    told: Any = results.shown(tool(), outcome("x" * 99_999)).result
    assert "could not be stored" in told and len(told) <= 40_000 and results.known == {}


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda results, path: None, "no longer stored"),
        (lambda results, path: path.unlink(), "no longer stored"),
        (lambda results, path: path.write_bytes(b"forged"), "the stored result was changed"),
        (lambda results, path: results.known.clear(), "no result was too large so far"),
        (lambda results, path: results.known["r1"].update(sha256="../x"), "no such handle"),
        (lambda results, path: results.known.update(r1=7), "no such handle"),
    ],
)
def test_a_handle_that_cannot_be_used_says_why(spoil: Any, said: str) -> None:
    results = LargeResults()
    results.shown(tool(), outcome("x" * 50_000))
    path = Path(user_state_dir(), "results", results.known["r1"]["sha256"])
    if said == "no longer stored":
        path.unlink()
    else:
        spoil(results, path)
    read = results.read({"handle": "r1"})
    assert read.error is not None and read.error.code == "unknown_result"
    assert said in read.error.message and read.error.retryable


def test_another_conversations_handle_is_none_here() -> None:
    one, other = LargeResults(), LargeResults()
    one.shown(tool(), outcome("x" * 50_000))
    error = other.read({"handle": "r1"}).error
    assert error is not None and "no such handle" in error.message


def test_what_was_known_is_known_when_a_conversation_goes_on() -> None:
    results = LargeResults()
    results.shown(tool(), outcome("x" * 50_000), place=4)
    again = LargeResults(dict(results.known))
    again.shown(tool(), outcome("y" * 50_000))
    assert list(again.known) == ["r5", "r6"] and read_whole(again, "r5") == "x" * 50_000
