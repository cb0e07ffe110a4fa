"""The stories of programs beside the terminal's: Python that uses the library, servers on this
machine, a person who chats.
"""

import contextlib
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.support import chat_model, loopback
from tests.support.terminal import vespe_on_a_terminal

if TYPE_CHECKING:
    from tests.acceptance.stories import Stage

FUNCTIONS = '''
import dataclasses
from collections.abc import Iterable
from typing import Annotated, Literal, TypedDict


@dataclasses.dataclass
class Place:
    city: str


class Order(TypedDict):
    n: int


def plain(text: str) -> str:
    """Say it."""
    return text


async def later(text: str) -> str:
    """Say it later."""
    return text


def chosen(unit: Literal["c", "f"] = "c") -> str:
    """Say the unit."""
    return unit


def named(*, text: str) -> str:
    """Say it by name."""
    return text


def maybe(n: int | None = None) -> int:
    """Say it, or 7."""
    return 7 if n is None else n


def many(items: list[int]) -> int:
    """Add."""
    return sum(items)


def place(where: Place) -> str:
    """Say the city."""
    return where.city


def order(wanted: Order) -> int:
    """Say how many."""
    return wanted["n"]


def told(days: Annotated[int, "How many days ahead."] = 1) -> int:
    """Say the days."""
    return days


class K:
    def method(self, text: str) -> str:
        """Say it."""
        return text
'''
ARGUMENTS = {
    "plain": {"text": "hi"},
    "later": {"text": "hi"},
    "chosen": {"unit": "f"},
    "named": {"text": "hi"},
    "maybe": {},
    "many": {"items": [1, 2]},
    "place": {"where": {"city": "Rome"}},
    "order": {"wanted": {"n": 3}},
    "told": {"days": 2},
}
ANSWERS = {
    "plain": "hi",
    "later": "hi",
    "chosen": "f",
    "named": "hi",
    "maybe": 7,
    "many": 3,
    "place": "Rome",
    "order": 3,
    "told": 2,
}

IN_A_PROGRAM = """
from vespe import Project, VespeError
project = Project.init('.')
project.create_tool('count', type='python_script')
assert project.call('count', text='one two').result['words'] == 2
assert not project.call('count', text=1).ok
try:
    project.call('cuont')
except VespeError as error:
    assert error.hint == 'did you mean count?'
else:
    raise AssertionError
"""
IN_ASYNCIO = """
import asyncio
from vespe import Toolset, tool
@tool
async def nap(seconds: float) -> str:
    'Sleep.'
    await asyncio.sleep(seconds)
    return 'slept'
async def main():
    tools = Toolset(nap)
    both = await asyncio.gather(tools.acall('nap', seconds=0.01), tools.acall('nap', seconds=0.01))
    assert [one.unwrap() for one in both] == ['slept', 'slept']
    task = asyncio.create_task(tools.acall('nap', seconds=600))
    await asyncio.sleep(0.1)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print('cancelled')
asyncio.run(main())
"""
IN_A_WINDOW = """
import queue, threading
from vespe import Agent, AgentOptions, EventSystem, Project, SimulatedProvider
project = Project.init('.')
project.create_tool('count', type='python_script')
loop, events = queue.Queue(), EventSystem()
events.subscribe('execute_tool_request', loop.put)
provider = SimulatedProvider({'turns': [{'tool_calls': [{'name': 'count', 'arguments': {'text': 'a b'}}]}, {'text': 'ok'}]})
agent = Agent(provider, options=AgentOptions(approve='all'), events=events)
answers = []
worker = threading.Thread(target=lambda: answers.append(agent.run('go')))
worker.start()
request = loop.get(timeout=60)
result = {'characters': 3, 'words': 2, 'lines': 1}
events.publish('tool_execution_response', {'request_id': request['request_id'], 'result': result})
worker.join(60)
assert answers[0].calls[0].outcome.result == result and answers[0].text == 'ok'
"""
HANDLERS = """
from vespe import ClaudeHandler, GptHandler, OllamaHandler
given = [{'name': 'get_weather', 'description': 'Tell.', 'input_schema': {'type': 'object', 'properties': {}}}]
made = [kind().prepare_payload({'messages': []}, given, 'sys') for kind in (ClaudeHandler, GptHandler, OllamaHandler)]
claude, gpt, ollama = (payload['tools'][0] for payload in made)
assert claude['input_schema']['type'] == 'object'
assert gpt['type'] == ollama['type'] == 'function' and gpt['function']['name'] == 'get_weather'
"""
SEVEN_ADAPTERS = """
from vespe.adapters import ADAPTERS
from vespe.models import Tool
schema = {'type': 'object', 'properties': {'n': {'type': 'integer'}}}
tool = Tool(uid='tool-d', name='double', description='Double it.', input_schema=schema)
assert len(ADAPTERS) >= 7
for name, make in ADAPTERS.items():
    assert 'double' in str(make(tool).generate_tool_description()), name
answer = {'content': [{'type': 'tool_use', 'id': 'c', 'name': 'double', 'input': {'n': 2}}]}
(call,) = ADAPTERS['anthropic'](tool).parse_llm_response(answer)
assert call.arguments == {'n': 2}
"""


def python(stage: "Stage", code: str, **variables: str) -> str:
    """Run a program with the library in the stage's directory; return what it printed."""
    stage.write("program.py", code)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=stage.here,
        env=stage.environment | variables,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def nine_functions(stage: "Stage") -> None:
    """2 Make tools of nine kinds of functions; a method is refused with a sentence."""
    stage.run("init")
    stage.write("f.py", FUNCTIONS)
    for name, arguments in ARGUMENTS.items():
        stage.run("tool", "create", f"a_{name}", "--from", f"f.py:{name}")
        assert stage.result(f"a_{name}", "--args", json.dumps(arguments)) == ANSWERS[name], name
    assert "K.method" in stage.run("tool", "create", "m", "--from", "f.py:K.method", code=2)


def posting(stage: "Stage") -> None:
    """6 Make an HTTP tool that posts typed JSON, and takes a part of the answer."""
    stage.run("init")
    with loopback.Loopback(loopback.echo) as server:
        url = f"http://127.0.0.1:{server.port}/items"
        schema = {
            "type": "object",
            "properties": {"name": {"type": "string"}, "count": {"type": "integer"}},
            "required": ["name"],
        }
        args = {"body": {"json": {"name": "{name}", "count": "{count}"}}, "response": "/body"}
        told = (
            "--url",
            url,
            "--method",
            "POST",
            "--schema",
            json.dumps(schema),
            "--args",
            json.dumps(args),
        )
        stage.run("tool", "create", "item", *told)
        stage.run("tool", "run", "item", "name=pen", "count=2", code=6)
        stage.run("config", "set", "allow_hosts", json.dumps([f"127.0.0.1:{server.port}"]))
        assert json.loads(stage.result("item", "name=pen", "count=2")) == {
            "name": "pen",
            "count": 2,
        }


def chatting(stage: "Stage") -> None:
    """16 Chat: ask, list the tools, leave."""
    stage.run("init")
    stage.run("kit", "activate", "file_io_without_git")
    stage.script({"text": "Good day."})
    options = ("agent", "chat", "--provider", "simulated", "--script", "script.json")
    shown = vespe_on_a_terminal(
        *options,
        cwd=stage.here,
        typed="hello\n/tools\n/quit\n",
        **stage.environment,  # type: ignore[arg-type]  # all are variables
    )
    assert "Good day." in shown and "read_file" in shown and "exit code" not in shown


@contextlib.contextmanager
def over_http(stage: "Stage") -> Iterator[tuple[str, str]]:
    """Serve the project over HTTP; yield the address and the token."""
    argv = [sys.executable, "-I", "-m", "vespe", "mcp", "serve", "--http", "127.0.0.1:0"]
    with subprocess.Popen(
        argv, cwd=stage.here, env=stage.environment, stderr=subprocess.PIPE, encoding="utf-8"
    ) as server:
        assert server.stderr
        said = ""
        while not (found := re.search(r"(http://\S+/mcp)", said)) or not (
            token := re.search(r"Bearer (\S+)", said)
        ):
            line = server.stderr.readline()
            assert line, said
            said += line
        try:
            yield found[1], token[1]
        finally:
            server.terminate()
            server.communicate()


def posted(url: str, request: dict[str, object], **headers: str) -> tuple[int, str, bytes]:
    """Post a request as an MCP client does; return the status, the session and the answer."""
    given = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
    }
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    asked = urllib.request.Request(
        url, json.dumps({"jsonrpc": "2.0", **request}).encode(), given | named
    )
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return answer.status, answer.headers.get("Mcp-Session-Id", ""), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, "", error.read()


def http_serving(stage: "Stage") -> None:
    """20 Serve the project over HTTP: with the token a tool answers, without it nobody is heard."""
    stage.run("init")
    stage.run("kit", "activate", "file_io_without_git")
    stage.write("notes.txt", "hi")
    client = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    call = {
        "id": 2,
        "method": "tools/call",
        "params": {"name": "list_directory", "arguments": {"path": "."}},
    }
    with over_http(stage) as (url, token):
        assert posted(url, call, Authorization="Bearer x")[0] == 401
        said = {"Authorization": f"Bearer {token}"}
        status, session, answer = posted(
            url, {"id": 1, "method": "initialize", "params": client}, **said
        )
        assert status == 200, answer
        posted(url, {"method": "notifications/initialized"}, Mcp_Session_Id=session, **said)
        status, _, answer = posted(url, call, Mcp_Session_Id=session, **said)
        assert status == 200 and b"notes.txt" in answer, answer


def in_a_program(stage: "Stage") -> None:
    """24 Use the library: a project, a tool, an answer, an error with its hint."""
    python(stage, IN_A_PROGRAM)


def in_asyncio(stage: "Stage") -> None:
    """25 Use it in asyncio: two calls at once in the caller's loop, and one that is cancelled."""
    python(stage, IN_ASYNCIO)


def in_a_window(stage: "Stage") -> None:
    """26 Let a main loop run the calls: the agent in a thread asks, the loop answers, by events
    both ways.
    """
    python(stage, IN_A_WINDOW)


def handlers(stage: "Stage") -> None:
    """27 Give the handlers definitions in another vendor's shape: each sends its own."""
    python(stage, HANDLERS)


def seven_adapters(stage: "Stage") -> None:
    """28 Show one tool to every API, and read a call of each."""
    python(stage, SEVEN_ADAPTERS)


def endpoint(stage: "Stage") -> None:
    """30 Ask a model at an endpoint on this machine, which calls a tool."""
    stage.run("init")
    stage.run("tool", "create", "count", "--type", "python_script")
    with chat_model.calling("count", {"text": "one two"}) as (url, seen):
        stage.run("config", "set", "providers.openai.base_url", url)
        stage.environment["OPENAI_API_KEY"] = "sk-story"
        said = stage.document(
            "agent",
            "run",
            "Go",
            "--provider",
            "openai",
            "--model",
            "m",
            "--approve",
            "all",
            "--no-stream",
        )
    assert '"words"' in said["text"] and len(seen) == 2


def with_dependencies(stage: "Stage") -> None:
    """31 A script names a dependency: it is installed once, from a wheel on this machine, and
    imported.
    """
    stage.run("init")
    wheel = stage.here / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("tiny.py", "WORD = 'tiny'\n")
        made.writestr(
            "tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"
        )
        made.writestr(
            "tiny-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: story\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        made.writestr("tiny-1.0.dist-info/RECORD", "")
    block = f'# /// script\n# dependencies = ["tiny @ file://{wheel}"]\n# ///\n'
    stage.write(
        "word.py",
        f'{block}def word() -> str:\n    """Say a word."""\n    import '
        "tiny\n    return tiny.WORD\n",
    )
    stage.run("tool", "create", "word", "--from", "word.py:word")
    stage.environment["PIP_NO_INDEX"] = "1"
    assert stage.result("word") == "tiny" == stage.result("word")


PLAYS = (
    nine_functions,
    posting,
    chatting,
    http_serving,
    in_a_program,
    in_asyncio,
    in_a_window,
    handlers,
    seven_adapters,
    endpoint,
    with_dependencies,
)
