"""One kept session: calls at the same time, calls that are cancelled, a server that ends."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.kept_sessions import Client
from tests.support.mcp_servers import Quick, Stateful
from tests.support.ondisk import PATIENCE_S
from vespe import defaults, errors


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(Quick(tmp_path_factory.mktemp("server"))) as made:
        yield made
    assert made.server.processes() == []


def test_a_second_call_is_answered_by_the_same_process_which_has_kept_its_state(
    client: Client,
) -> None:
    before = int(client.call("count"))
    assert [int(client.call("count")) - before for _ in range(3)] == [1, 2, 3]
    assert client.call("pid") == client.call("pid")


def test_a_server_on_the_official_sdk_keeps_its_state_and_ends_a_cancelled_call_alone(
    tmp_path: Path,
) -> None:
    cancel = threading.Event()
    with Client(Stateful(tmp_path / "server")) as client, ThreadPoolExecutor(1) as pool:
        assert [client.call("count") for _ in range(2)] == ["1", "2"]
        pid, mine = (
            client.call("pid"),
            pool.submit(client.call, "later", cancel=cancel, text="mine", seconds=600),
        )
        client.server.wait_for("mine")
        cancel.set()
        with pytest.raises(errors.Interrupted, match="was cancelled"):
            mine.result(PATIENCE_S)
        assert client.call("pid") == pid and client.call("count") == "3"
    assert client.server.processes() == []


def test_calls_at_the_same_time_do_not_mix(client: Client) -> None:
    pid, texts = client.call("pid"), [f"text{number}" for number in range(16)]
    with ThreadPoolExecutor(16) as pool:
        said = list(
            pool.map(
                lambda text: client.call(
                    "later", text=text, seconds=0.05 * (len(texts) - int(text[4:]))
                ),
                texts,
            )
        )
    assert said == texts and client.call("pid") == pid


def test_each_call_has_the_log_of_its_own_time(client: Client) -> None:
    assert client.ask("says", text="first").logs.endswith("first\n")
    assert client.ask("says", text="second").logs == "second\n"
    assert client.ask("count").logs == ""


def test_a_cancelled_call_ends_alone_where_the_server_obeys(client: Client) -> None:
    pid, cancel = client.call("pid"), threading.Event()
    with ThreadPoolExecutor(2) as pool:
        other = pool.submit(client.call, "later", text="other", seconds=1.5)
        mine = pool.submit(client.call, "later", cancel=cancel, text="mine", seconds=600)
        client.server.wait_for("mine")
        client.server.wait_for("other")
        cancel.set()
        with pytest.raises(errors.Interrupted, match="was cancelled"):
            mine.result(PATIENCE_S)
        assert other.result(PATIENCE_S) == "other"
    assert client.call("pid") == pid


def test_a_call_ends_at_its_deadline_and_the_session_goes_on(client: Client) -> None:
    pid = client.call("pid")
    with pytest.raises(errors.TimedOut, match="within 1 s"):
        client.call("later", timeout_s=1, text="late", seconds=600)
    assert client.call("pid") == pid


def test_a_server_that_does_not_end_a_cancelled_call_is_ended_and_the_others_are_told(
    client: Client,
) -> None:
    pid, cancel = client.call("pid"), threading.Event()
    with ThreadPoolExecutor(2) as pool:
        other = pool.submit(client.call, "later", text="other", seconds=600)
        client.server.wait_for("other")
        deaf = pool.submit(client.call, "deaf", cancel=cancel, text="deaf")
        client.server.wait_for("deaf")
        cancel.set()
        with pytest.raises(errors.Interrupted):
            deaf.result(PATIENCE_S)
        assert client.server.processes() == []
        with pytest.raises(errors.SessionEnded, match="a call of deaf did not end") as caught:
            other.result(PATIENCE_S)
    assert caught.value.retryable
    assert client.call("pid") != pid and client.call("count") == "1"


def test_p44_a_cancelled_call_leaves_none_of_the_processes_that_it_started(client: Client) -> None:
    client.call("pid")
    time.sleep(0.1)
    with pytest.raises(errors.TimedOut):
        client.call("spawns", timeout_s=1, text="spawned")
    assert client.server.processes() == []


def test_a_server_that_ends_in_the_middle_of_a_call_is_told_and_the_call_is_not_sent_again(
    client: Client,
) -> None:
    client.call("count")
    with pytest.raises(
        errors.ToolExecutionError, match=r"exit status 3 .*not known whether the call took effect"
    ) as caught:
        client.call("crash", text="x")
    assert "out of paper" in caught.value.details["stderr"]
    assert client.call("count") == "1"


def test_a_server_that_ends_is_told_even_where_a_process_that_it_leaves_holds_its_pipes_open(
    client: Client,
) -> None:
    with pytest.raises(
        errors.ToolExecutionError, match=r"exit status 3 .*not known whether the call took effect"
    ):
        client.call("crash", timeout_s=PATIENCE_S, text="leaves")
    assert client.call("count") == "1"


def test_a_server_that_ends_between_two_calls_is_started_again(client: Client) -> None:
    client.call("count")
    assert client.call("crash_later") == "soon"
    assert client.server.gone()
    assert client.call("count") == "1"


def test_a_session_that_is_gone_when_the_call_comes_is_opened_again_before_the_call_is_sent(
    client: Client,
) -> None:
    client.call("count")
    client.kill_server()
    assert client.call("count") == "1"


def test_p07_a_definition_that_changed_is_refused_in_a_session_that_is_open(client: Client) -> None:
    pid, before = client.call("pid"), int(client.call("count"))
    client.server.says(description="Does it, and sends it on.")
    with pytest.raises(errors.Refused, match="differs from the one that you approved"):
        client.call("count")
    client.server.says()
    assert int(client.call("count")) == before + 1 and client.call("pid") == pid


def test_a_result_that_is_too_large_is_an_error_of_its_call_alone(client: Client) -> None:
    pid = client.call("pid")
    with pytest.raises(errors.OutputTooLarge, match="as its result") as caught:
        client.call("large", letter="ü", size=1_500_000)
    assert len(caught.value.kept) == defaults.LARGER_CAP_BYTES
    assert client.call("large", letter="ü", size=300_000) == "ü" * 300_000
    assert client.call("pid") == pid


def test_a_line_that_is_too_long_ends_the_session_and_the_next_call_opens_another(
    client: Client,
) -> None:
    pid = client.call("pid")
    with pytest.raises(errors.ToolExecutionError, match="a line of more than"):
        client.call("large", letter="x", size=9_000_000)
    assert client.call("pid") != pid
