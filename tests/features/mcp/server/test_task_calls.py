"""Calls that are answered with a task, over stdio and over HTTP."""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.support.http_serving import serving
from tests.support.ondisk import PATIENCE_S, python_tool, vespe
from tests.support.stdio_client import MODERN, LineClient, served
from vespe.features.tasks.store import TaskStore

TASKS = "io.modelcontextprotocol/tasks"
KNOWS = MODERN | {"io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}}}
GIVEN = {"type": "object", "properties": {"s": {"type": "number"}, "mark": {"type": "string"}}}
BODY = "import time, pathlib\nwith open(inputs['mark'], 'a') as f: f.write('x')\ntime.sleep(inputs['s'])\nreturn 'done'"


def stocked(project: Path) -> Path:
    tools = project / ".vespe/tools"
    python_tool(tools / "tool-job", "job", BODY, schema=GIVEN, task="always")
    python_tool(tools / "tool-late", "late", BODY, schema=GIVEN, task={"after_s": 0.3})
    python_tool(tools / "tool-bad", "bad", "raise ValueError('no such city')", task="always")
    return project


def ask(client: LineClient, method: str, _meta: Mapping[str, Any] = KNOWS, **params: Any) -> Any:
    answer = client.answer(method, {**params, "_meta": _meta})
    return answer.get("result", answer.get("error"))


def call(client: LineClient, name: str, _meta: Mapping[str, Any] = KNOWS, **arguments: Any) -> Any:
    return ask(client, "tools/call", _meta, name=name, arguments=arguments)


def until(look: Callable[[], Any], holds: Callable[[Any], bool]) -> Any:
    deadline = time.monotonic() + PATIENCE_S
    while not holds(found := look()):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found


def ended(client: LineClient, task: str) -> Any:
    return until(
        lambda: ask(client, "tasks/get", taskId=task),
        lambda found: found["status"] not in ("working", "input_required"),
    )


def test_a_task_is_there_at_once_and_has_the_result_of_its_call(project: Path) -> None:
    mark = project / "mark"
    with served(stocked(project)) as client:
        assert TASKS in ask(client, "server/discover")["capabilities"]["extensions"]
        made = call(client, "job", s=0.2, mark=str(mark))
        assert made["resultType"] == "task" and made["status"] == "working"
        assert ended(client, made["taskId"])["result"]["content"][0]["text"] == "done"
        failed = ended(client, call(client, "bad")["taskId"])
        assert failed["status"] == "completed" and failed["result"]["isError"] is True
        assert "no such city" in failed["result"]["content"][0]["text"]
        quick = call(client, "late", s=0, mark=str(mark))
        late = call(client, "late", s=2, mark=str(mark))
        assert "content" in quick or quick["resultType"] == "task"
        assert late["resultType"] == "task" and ended(client, late["taskId"])["result"]
        assert mark.read_text(encoding="utf-8") == "xxx"
        listed = json.loads(vespe("task", "list", "--json", cwd=project).stdout)["tasks"]
        assert {task["status"] for task in listed} == {"completed"}


def test_a_client_without_tasks_waits_or_is_told_what_it_lacks(project: Path) -> None:
    with served(stocked(project)) as client:
        refused = call(client, "job", MODERN, s=0, mark=str(project / "m"))
        needed = refused["data"]["requiredCapabilities"]["extensions"]
        assert refused["code"] == -32021 and TASKS in needed
        assert not (project / "m").exists()
        waited = call(client, "late", MODERN, s=0.6, mark=str(project / "m"))
        assert waited["content"][0]["text"] == "done"
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            assert ask(client, method, MODERN, taskId="0" * 32)["code"] == -32021
        client.hello()
        assert client.answer("tasks/get", {"taskId": "0" * 32})["error"]["code"] == -32602


def test_no_two_questions_of_a_task_have_the_same_key(project: Path) -> None:
    body = (
        "import vespe_ask\n"
        "schema = {'type': 'object', 'properties': {'n': {'type': 'integer'}}, 'required': ['n']}\n"
        "for _ in range(2):\n"
        "    try:\n"
        "        return vespe_ask.ask('How many?', schema, name='count')['n']\n"
        "    except vespe_ask.NeedsInput:\n"
        "        pass\n"
    )
    python_tool(project / ".vespe/tools/tool-asks", "asks", body, task="always")
    seen: list[str] = []
    with served(project) as client:
        task = call(client, "asks")["taskId"]
        for given in ("x", "y", "z", 7):  # after three that do not fit, the tool asks anew
            found = until(
                lambda: ask(client, "tasks/get", taskId=task),
                lambda found: found.get("inputRequests") or found["status"] == "completed",
            )
            [key] = found["inputRequests"]
            seen.append(key)
            reply = {"action": "accept", "content": {"n": given}}
            ask(client, "tasks/update", taskId=task, inputResponses={key: reply})
        assert ended(client, task)["result"]["content"][0]["text"] == "7"
    assert seen[0] == "count" and len({*seen}) == len(seen)


def test_cancelling_ends_the_call_and_a_subscription_hears_of_it(project: Path) -> None:
    mark = project / "mark"
    with served(stocked(project)) as client:
        task = call(client, "job", s=600, mark=str(mark))["taskId"]
        until(mark.exists, bool)
        wanted = {"taskIds": [task, "0" * 32, 7]}
        client.send("subscriptions/listen", {"notifications": wanted, "_meta": KNOWS}, id="sub")
        assert client.read()["params"]["notifications"]["taskIds"] == [task]
        client.send("tasks/cancel", {"taskId": task, "_meta": KNOWS}, id="c")
        heard: list[Any] = []
        while not any(one["params"]["status"] == "cancelled" for one in heard):
            message = client.read()
            if message.get("method") == "notifications/tasks":
                heard.append(message)
        assert heard[-1]["params"]["taskId"] == task
        assert ask(client, "tasks/cancel", taskId=task)["resultType"] == "complete"
        other = call(client, "job", s=600, mark=str(mark))["taskId"]
        assert vespe("task", "cancel", other, cwd=project).returncode == 0
        assert ask(client, "tasks/get", taskId=other)["status"] == "cancelled"


def test_p82_a_task_of_another_token_or_of_nobody_is_not_there(project: Path) -> None:
    stocked(project)
    with served(project) as client:
        task = call(client, "job", s=0, mark=str(project / "m"))["taskId"]
        said = [
            ask(client, method, taskId=identifier)
            for method in ("tasks/get", "tasks/update", "tasks/cancel")
            for identifier in ("0" * 32, "../x", "")
        ]
        ended(client, task)
    with serving(project) as http:
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get"}
        body["params"] = {"taskId": task, "_meta": KNOWS}
        status, answer = http.post(
            json.dumps(body),
            **{"Mcp-Name": task, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tasks/get"},
        )
        said.append(json.loads(answer.partition(b"\r\n\r\n")[2])["error"])
        assert status == 400
    assert {(one["code"], one["message"]) for one in said} <= {
        (-32602, "there is no such task"),
        (-32602, "inputResponses must be an object of objects"),
    }
    assert said[-1]["message"] == "there is no such task"


def test_a_task_whose_server_was_killed_is_interrupted_and_not_run_again(project: Path) -> None:
    mark = project / "mark"
    with served(stocked(project)) as client:
        task = call(client, "job", s=600, mark=str(mark))["taskId"]
        until(mark.exists, bool)
        client.process.kill()
        client.process.wait(PATIENCE_S)
        with served(project) as other:
            found = ask(other, "tasks/get", taskId=task)
    assert found["status"] == "failed" and found["error"]["message"].startswith("interrupted: ")
    assert mark.read_text(encoding="utf-8") == "x"


def test_a_server_that_ends_leaves_no_task_that_says_it_runs(project: Path) -> None:
    mark = project / "mark"
    with served(stocked(project)) as client:
        task = call(client, "job", s=600, mark=str(mark))["taskId"]
        until(mark.exists, bool)
        assert client.close() == 0
        assert TaskStore().read(task).status == "failed"
