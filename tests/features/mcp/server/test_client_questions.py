"""Questions that wait for a client's answer."""

import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.ondisk import PATIENCE_S
from vespe.errors import Interrupted, NeedsInput
from vespe.features.mcp.server import client_questions
from vespe.features.mcp.server.client_questions import ClientQuestions


class Asked:
    """A question in a thread of its own: `sent` are the messages to the client."""

    def __init__(self, questions: ClientQuestions, text: str = "?") -> None:
        self.sent: queue.Queue[Any] = queue.Queue()
        self.cancel, self.over = threading.Event(), threading.Event()
        self.found: Any = None
        self._questions, self._text = questions, text
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        self.message = self.sent.get(timeout=PATIENCE_S)

    def _run(self) -> None:
        try:
            self.found = self._questions.ask(
                {"message": self._text},
                self.sent.put,
                withdraw=self.sent.put,
                cancel=self.cancel,
                over=self.over,
            )
        except Exception as error:
            self.found = error

    def end(self) -> Any:
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        return self.found


def answer(asked: Asked, result: Any) -> Any:
    return {"jsonrpc": "2.0", "id": asked.message["id"], "result": result}


def test_two_questions_at_once_each_have_their_own_answer() -> None:
    questions = ClientQuestions()
    one, other = Asked(questions, "one"), Asked(questions, "other")
    assert (
        one.message["method"] == "elicitation/create" and one.message["id"] != other.message["id"]
    )
    questions.take(answer(other, "of the other"))
    questions.take(answer(one, "of the one"))
    assert (one.end(), other.end()) == ("of the one", "of the other")


def test_an_answer_that_comes_twice_or_to_nothing_is_for_nobody() -> None:
    questions = ClientQuestions()
    questions.take({"jsonrpc": "2.0", "id": "vespe-question-1", "result": "too early"})
    asked = Asked(questions)
    for identifier in (None, 1, "vespe-question-99", ["x"]):
        questions.take({"jsonrpc": "2.0", "id": identifier, "result": "wrong"})
    questions.take(answer(asked, "first"))
    questions.take(answer(asked, "second"))
    assert asked.end() == "first"


@pytest.mark.parametrize(
    ("end", "kind", "reason"),
    [
        (lambda asked: asked.cancel.set(), Interrupted, "the call was cancelled"),
        (lambda asked: asked.over.set(), NeedsInput, "the time is up"),
    ],
)
def test_a_question_that_nobody_waits_for_any_more_is_taken_back(
    end: Callable[[Asked], None], kind: type, reason: str
) -> None:
    asked = Asked(ClientQuestions())
    end(asked)
    assert isinstance(asked.end(), kind)
    told = asked.sent.get(timeout=PATIENCE_S)
    assert told["method"] == "notifications/cancelled"
    assert told["params"] == {"requestId": asked.message["id"], "reason": reason}


def test_a_client_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_questions, "ASK_TIMEOUT_S", 0.01)
    assert "nobody answered" in str(Asked(ClientQuestions()).end())


def test_a_client_that_cannot_ask_is_told_of() -> None:
    questions = ClientQuestions()
    asked = Asked(questions)
    error = {"code": -1, "message": "no window"}
    questions.take({"jsonrpc": "2.0", "id": asked.message["id"], "error": error})
    assert "could not ask its user: 'no window'" in str(asked.end())


def test_no_more_questions_are_open_than_a_person_could_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_questions, "MAX_OPEN", 1)
    questions = ClientQuestions()
    asked = Asked(questions)
    with pytest.raises(NeedsInput, match="1 questions are already waiting"):
        put = asked.sent.put
        questions.ask({}, put, withdraw=put, cancel=asked.cancel, over=asked.over)
    questions.take(answer(asked, "done"))
    assert asked.end() == "done"
