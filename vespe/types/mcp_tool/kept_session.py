"""A session with an MCP server that is kept: calls come as lines, run at the same time, and are
answered by their numbers.
"""

import asyncio
import json
import math
import os
import sys
from contextvars import ContextVar
from typing import Any, Final

import anyio

from vespe import defaults
from vespe.models import JsonObject
from vespe.types.mcp_tool import session

_CHUNK: Final = 64 * 1024
_LAST_WORDS_S: Final = 0.5
_REASON_S: Final = 0.1
_MAX_STEP: Final = 64 * 1024
_OF_CALL: Final[ContextVar[int]] = ContextVar("call", default=0)
"""The call whose answer asks a person before it is whole; 0 for what the server asks unasked."""


def main() -> None:
    """Serve calls until stdin ends, or the server does.

    The first line says how to reach the server, as for `mcp_session.main`. Each further line is a
    call, `id`, `tool`, `arguments` and `digest`, or `{"cancel": id}`, or `{"answer": 1, "to": n}`
    with what a person said. Each line that is written to
    the descriptor that the last argument names begins with a call's number, or with 0 for the
    session: `0 open`, `0 {"error"}`; `N sent` just before a call goes to the server, then
    `N {"result"}`, `N {"error"}` or `N {"large", "kept"}`, or `N ended`: the server has read that
    the call is cancelled, or had answered it before. Before its answer a call that has `steps` may
    be told `N step [done, total, message]` and `N note [level, data]`, and asked `N ask {"to": n}`
    with what the server asks a person.
    """
    os.dup2(2, 1)
    requests = _Requests()
    while not (first := requests.take()):
        if first is None:
            sys.exit()
    reach, *calls = first
    session.run(
        reach, lambda: _served(reach, calls, requests), failed=lambda answer: _tell(0, answer)
    )


class _Requests:
    """What comes on stdin, line by line."""

    def __init__(self) -> None:
        self._buffer = b""

    def take(self) -> list[JsonObject] | None:
        """Return what has come whole, or None at the end."""
        data = os.read(0, _CHUNK)
        *lines, self._buffer = (
            (self._buffer + data).split(b"\n") if b"\n" in data else [self._buffer + data]
        )
        return [json.loads(line) for line in lines] if data else None


async def _served(reach: JsonObject, calls: list[JsonObject], requests: _Requests) -> None:
    over = anyio.Event()
    come, taken_in = anyio.create_memory_object_stream[JsonObject](math.inf)

    for call in calls:
        come.send_nowait(call)

    def take() -> None:
        taken = requests.take()
        for request in taken or ():
            come.send_nowait(request)
        if taken is None:
            asyncio.get_running_loop().remove_reader(0)
            come.close()

    scopes: dict[int, anyio.CancelScope] = {}
    questions = _Questions(scopes)
    asked = session.eliciting(questions.put) if reach.get("asks") else None

    async def note(params: Any) -> None:
        # A message names no call: where several are on their way, nobody knows whose it is.
        if len(scopes) == 1:
            _say_step(next(iter(scopes)), "note", [params.level, params.data])

    async with (
        session.connected(reach, gone=over.set, noted=note, asked=asked) as client,
        anyio.create_task_group() as tasks,
    ):
        under_way = _Calls(client, over, scopes, questions)
        _say(0, "open")
        asyncio.get_running_loop().add_reader(0, take)
        tasks.start_soon(under_way.serve, taken_in)
        await over.wait()
        with anyio.move_on_after(_LAST_WORDS_S) as patience:
            await under_way.settled()
        if patience.cancelled_caught and session.ENDINGS:
            _tell(0, {"error": {"kind": "lost", "message": session.ENDINGS[0]}})
        tasks.cancel_scope.cancel()


class _Questions:
    """What the server asks a person, on behalf of the calls that are on their way."""

    def __init__(self, scopes: dict[int, anyio.CancelScope]) -> None:
        self._scopes = scopes
        self._waiting: dict[int, asyncio.Future[JsonObject]] = {}
        self._last = 0

    async def put(self, asked: JsonObject) -> JsonObject:
        """Ask, and return the answer. A request of the server's own names no call: where several
        are on their way nobody knows whose person is meant, and nobody is asked.
        """
        number = _OF_CALL.get() or (next(iter(self._scopes)) if len(self._scopes) == 1 else 0)
        if not number:
            return {"action": "cancel", "content": {}}
        self._last += 1
        to = self._last
        self._waiting[to] = asyncio.get_running_loop().create_future()
        try:
            _say(number, f"ask {json.dumps(asked | {'to': to})}")
            return await self._waiting[to]
        finally:
            del self._waiting[to]

    def answer(self, said: JsonObject) -> None:
        """Take an answer; one that nobody waits for any more is dropped."""
        waiting = self._waiting.get(said["to"])
        if waiting is not None and not waiting.done():
            waiting.set_result(said)


class _Calls:
    """The calls on their way, with their `scopes` by number; `over` is set where there can be no
    more.
    """

    def __init__(
        self,
        client: Any,
        over: anyio.Event,
        scopes: dict[int, anyio.CancelScope],
        questions: _Questions,
    ) -> None:
        self._client, self._over, self._scopes = client, over, scopes
        self._questions = questions

    async def serve(self, requests: Any) -> None:
        """Begin and cancel calls as they come; at their end every call is cancelled."""
        async with anyio.create_task_group() as tasks:
            async for request in requests:
                if "answer" in request:
                    self._questions.answer(request)
                elif (cancelled := request.get("cancel")) is None:
                    self._scopes[request["id"]] = anyio.CancelScope()
                    tasks.start_soon(self._call, request)
                elif (scope := self._scopes.get(cancelled)) is not None:
                    scope.cancel()
                else:
                    _say(cancelled, "ended")
            tasks.cancel_scope.cancel()
        self._over.set()

    async def settled(self) -> None:
        """Wait until no call is on its way."""
        while self._scopes:
            await anyio.sleep(0.01)

    async def _call(self, request: JsonObject) -> None:
        number = request["id"]
        _OF_CALL.set(number)
        try:
            with self._scopes[number] as scope:
                answer = await self._answer(number, request)
                _tell(number, answer)
                if answer.get("error", {}).get("kind") == "refused":
                    self._over.set()
            if scope.cancelled_caught:
                # Messages are read in their order: whoever answers this has read that the call is
                # cancelled.
                await self._client.list_tools()
                _say(number, "ended")
        except session.FAILURES:
            return
        finally:
            del self._scopes[number]

    async def _answer(self, number: int, request: JsonObject) -> JsonObject:
        async def step(progress: float, total: float | None, message: str | None) -> None:
            _say_step(number, "step", [progress, total, message or ""])

        sent: list[bool] = []

        def sending() -> None:
            sent.append(True)
            _say(number, "sent")

        try:
            return await session.called(
                self._client,
                request,
                sending=sending,
                stepped=step if request.get("steps") else None,
            )
        except session.FAILURES as error:
            told = session.told(error) | {"called": bool(sent)}
            if told["kind"] == "lost":
                # Where the session ends for a reason of its own, that is said instead: this wait is
                # cancelled then.
                await anyio.sleep(_REASON_S)
            return {"error": told}


def _tell(number: int, answer: JsonObject) -> None:
    text = json.dumps(answer)
    if len(text) > defaults.LARGER_CAP_BYTES:
        text = json.dumps({"large": len(text), "kept": text[: defaults.LARGER_CAP_BYTES]})
    _say(number, text)


def _say_step(number: int, kind: str, said: list[Any]) -> None:
    """Tell of a step; one that is no JSON, or too long to be read at a glance, is not told."""
    try:
        text = json.dumps(said, allow_nan=False)
    except (TypeError, ValueError):
        return
    if len(text) <= _MAX_STEP:
        _say(number, f"{kind} {text}")


def _say(number: int, text: str) -> None:
    session.write(b"%d %s\n" % (number, text.encode("ascii")))
