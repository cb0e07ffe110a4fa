"""The stories of people with Vespe, played from a terminal with the installed command:
`python -m tests.acceptance.stories [--only N]`.

Each story begins in a fresh directory with a home of its own, and uses the Vespe that this Python
has: that of a fresh clone, where its `./dev` made the environment. A model is simulated, or answers
on this machine; nothing is fetched from elsewhere.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.acceptance import stories_of_programs

Play = Callable[["Stage"], None]
CALC = '''def calc(a: float, b: float = 2) -> float:
    """Add two numbers."""
    return a + b
'''


@dataclass(frozen=True)
class Stage:
    """A fresh directory `here`, and an environment with a home of its own and no one's settings."""

    here: Path
    environment: dict[str, str]

    def run(self, *arguments: str, code: int = 0, stdin: str = "", cwd: Path | None = None) -> str:
        """Run vespe and return what it printed, stderr behind stdout; any other exit code than
        `code` is a failure.
        """
        done = subprocess.run(
            [sys.executable, "-m", "vespe", *arguments],
            cwd=cwd or self.here,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode == code, (
            f"vespe {' '.join(arguments)} ended with {done.returncode}, not {code}: "
            f"{done.stderr}{done.stdout}"
        )
        return done.stdout + done.stderr

    def document(self, *arguments: str, code: int = 0, cwd: Path | None = None) -> Any:
        """Run vespe with --json and return its document."""
        return json.JSONDecoder().raw_decode(self.run(*arguments, "--json", code=code, cwd=cwd))[0]

    def result(self, *arguments: str) -> Any:
        """Run a tool and return its result."""
        return self.document("tool", "run", *arguments)["result"]

    def write(self, name: str, text: str) -> Path:
        """Write a file beneath the directory."""
        path = self.here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run git and return what it printed."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.here,
            env=self.environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=True,
        )
        return done.stdout.strip()

    def script(self, *turns: dict[str, Any]) -> None:
        """Write what the simulated provider says to `script.json`."""
        self.write("script.json", json.dumps({"turns": list(turns)}))

    def agent(self, *arguments: str, code: int = 0) -> Any:
        """Run an agent by `script.json` and return its document."""
        simulated = (
            ()
            if "--replay" in arguments
            else ("--provider", "simulated", "--script", "script.json")
        )
        return self.document("agent", "run", "Go", *simulated, *arguments, code=code)

    def published_kit(self, *kits: str) -> Path:
        """Make a repository with kits under `kits/`, tagged v1.0.0."""
        source = self.here / "source"
        for kit in kits:
            self.run("kit", "create", kit, "--in", str(source / "kits"))
        self.git("init", "--quiet", str(source))
        self.commit(source, "v1.0.0")
        return source

    def commit(self, repository: Path, *tags: str) -> None:
        """Commit all that is in a repository and tag it."""
        self.git("add", "--all", cwd=repository)
        self.git("commit", "--quiet", "-m", "next", cwd=repository)
        for tag in tags:
            self.git("tag", tag, cwd=repository)


def calls(name: str, **arguments: Any) -> dict[str, Any]:
    """A turn of the model that calls one tool."""
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


def templates(stage: Stage) -> None:
    """1 Begin a project, make a tool of each template, run those that need no network."""
    stage.run("init")
    for kind in ("python_script", "shell_command", "http_request"):
        stage.run("tool", "create", f"my_{kind}", "--type", kind)
    assert stage.result("my_python_script", "text=one two")["words"] == 2
    assert "hello" in json.dumps(stage.result("my_shell_command"))


def git_log(stage: Stage) -> None:
    """3 Make git log a tool whose argument cannot become an option."""
    stage.run("init")
    stage.git("init", "--quiet")
    stage.commit(stage.here)
    argv = json.dumps({"argv": ["log", "--oneline", "--", ["{path}"]]})
    stage.run(
        "tool",
        "create",
        "history",
        "--type",
        "shell_command",
        "--entrypoint",
        "git",
        "--args",
        argv,
    )
    assert "next" in json.dumps(stage.result("history"))
    assert "next" not in json.dumps(stage.result("history", "path=--all"))


def own_script(stage: Stage) -> None:
    """4 Make a tool of one's own script; a hostile value stays a value."""
    stage.run("init")
    stage.write("echo.sh", '#!/bin/sh\nprintf %s "$1"\n').chmod(0o755)
    argv = json.dumps({"argv": ["{text}"]})
    stage.run(
        "tool", "create", "say", "--type", "shell_command", "--path", "echo.sh", "--args", argv
    )
    assert "; rm -rf /" in json.dumps(stage.result("say", "text=; rm -rf /"))


def http_key(stage: Stage) -> None:
    """5 Make an HTTP tool with a key in one command; the key is declared and never in the file."""
    stage.run("init")
    headers = json.dumps({"headers": {"Authorization": "Bearer ${env:SHOP_KEY}"}})
    stage.run(
        "tool", "create", "item", "--url", "https://shop.invalid/items/{id}", "--args", headers
    )
    assert stage.document("tool", "show", "item")["secrets"] == ["SHOP_KEY"]
    assert "SHOP_KEY" in stage.run("tool", "run", "item", "id=1", code=6)


def shadowing(stage: Stage) -> None:
    """7 Shadow a kit's tool with one's own, and ask why."""
    stage.run("init")
    stage.run("kit", "activate", "file_io_without_git")
    stage.run("tool", "create", "read_file", "--type", "python_script")
    said = stage.run("tool", "resolve", "read_file")
    assert "project_tools" in said and "file_io_without_git" in said
    assert stage.result("read_file", "text=mine")["words"] == 1


def two_kits(stage: Stage) -> None:
    """8 Choose between two kits with the same tools by their order."""
    stage.run("init")
    for kit in ("file_io_with_git", "file_io_without_git"):
        stage.run("kit", "activate", kit)
    first = stage.document("tool", "resolve", "read_file")["scope"]
    stage.run("kit", "deactivate", first)
    assert stage.document("tool", "resolve", "read_file")["scope"] != first


def kit_by_tag(stage: Stage) -> None:
    """9 Install a kit from git at a tag, see what an update changes, and refuse it without a
    yes.
    """
    source = stage.published_kit("weather")
    stage.run("init")
    origin = (f"{source}@v1.0.0", "--subdir", "kits")
    stage.run("kit", "install", *origin, code=6)
    stage.run("kit", "install", *origin, "--activate", "--yes")
    config = next((source / "kits/weather").glob("tool-*/config.json"))
    config.write_text(
        config.read_text(encoding="utf-8").replace(
            '"description": "', '"description": "Changed. ', 1
        ),
        encoding="utf-8",
    )
    stage.commit(source, "v1.1.0")
    assert "v1.1.0" in stage.run("kit", "list", "--outdated")
    assert "Changed." in stage.run("kit", "update", "weather", "--to", "v1.1.0", code=6)
    stage.run("kit", "update", "weather", "--to", "v1.1.0", "--yes")


def colleague(stage: Stage) -> None:
    """10 A colleague clones the project, gets the locked kit, and notices a changed byte."""
    source = stage.published_kit("weather")
    shop = stage.here / "shop"
    shop.mkdir()
    stage.run("init", cwd=shop)
    stage.run(
        "kit", "install", f"{source}@v1.0.0", "--subdir", "kits", "--activate", "--yes", cwd=shop
    )
    clone = stage.here / "clone"
    shutil.copytree(shop, clone)
    stage.run("kit", "sync", "--locked", "--yes", cwd=clone)
    assert "every byte" in stage.run("kit", "verify", cwd=clone)


def linting(stage: Stage) -> None:
    """11 Lint in CI in four formats; an error fails."""
    stage.run("init")
    stage.run("tool", "create", "count", "--type", "python_script")
    for shape in ("text", "json", "sarif", "github"):
        stage.run("lint", "--format", shape)
    config = next((stage.here / ".vespe/tools").glob("*/config.json"))
    config.write_text(
        config.read_text(encoding="utf-8").replace('"type": "string"', '"type": "text"', 1),
        encoding="utf-8",
    )
    assert "schema-unknown-type" in stage.run("lint", code=1)


def breaking(stage: Stage) -> None:
    """12 Compare a tool with git's last version: a new required argument breaks callers."""
    stage.run("init")
    stage.git("init", "--quiet")
    stage.write("calc.py", CALC)
    stage.run("tool", "create", "calc", "--from", "calc.py:calc")
    stage.commit(stage.here)
    config = next((stage.here / ".vespe/tools").glob("*/config.json"))
    document = json.loads(config.read_text(encoding="utf-8"))
    document["schema"]["input"]["required"] = ["a", "b"]
    config.write_text(json.dumps(document), encoding="utf-8")
    assert "breaking" in stage.run("tool", "diff", "HEAD:calc", "calc", code=1)


def testing(stage: Stage) -> None:
    """13 Keep a call as an example, run examples as tests, and fuzz."""
    stage.run("init")
    stage.run("tool", "create", "count", "--type", "python_script")
    stage.run("tool", "run", "count", "text=one two", "--save-example")
    stage.run("tool", "test", "count", "--junit", "report.xml")
    assert "<testsuite" in (stage.here / "report.xml").read_text(encoding="utf-8")
    assert "0 findings" in stage.run("tool", "fuzz", "count", "--seconds", "2")


def recording(stage: Stage) -> None:
    """14 Run an agent, record it, replay it."""
    stage.run("init")
    stage.run("kit", "activate", "file_io_without_git")
    stage.script(calls("write_file", path="a.txt", content="hi"), {"text": "Written."})
    assert stage.agent("--approve", "all", "--record", "talk.json")["text"] == "Written."
    assert stage.agent("--approve", "all", "--replay", "talk.json")["text"] == "Written."


def approvals(stage: Stage) -> None:
    """15 A rule denies what --approve all would allow, and config list shows it."""
    stage.run("init")
    stage.run("kit", "activate", "file_io_without_git")
    stage.run("config", "set", "approvals.deny", '["write_file"]')
    stage.script(calls("write_file", path="a.txt", content="hi"), {"text": "I may not."})
    stage.agent("--approve", "all")
    assert not (stage.here / "a.txt").exists()
    assert "approvals.deny" in stage.run("config", "list")


def resuming(stage: Stage) -> None:
    """17 A limit of calls ends a run; it is resumed, and the waiting call runs."""
    stage.run("init")
    stage.run("kit", "activate", "file_io_without_git")
    stage.script(
        calls("write_file", path="a.txt", content="1"),
        calls("write_file", path="b.txt", content="2"),
        {"text": "Both."},
    )
    stage.agent("--approve", "all", "--max-calls", "1", "--save", "talk.json", code=1)
    assert (stage.here / "a.txt").exists() and not (stage.here / "b.txt").exists()
    stage.script({"text": "Both."})
    again = (
        "agent",
        "run",
        "--provider",
        "simulated",
        "--script",
        "script.json",
        "--resume",
        "talk.json",
        "--approve",
        "all",
    )
    assert stage.document(*again)["text"] == "Both." and (stage.here / "b.txt").exists()


def served(stage: Stage) -> None:
    """18 Serve the project over MCP: a denied tool is not there, a read-only one answers."""
    stage.run("init")
    stage.run("kit", "activate", "file_io_without_git")
    stage.run("config", "set", "approvals.deny", '["write_file"]')
    client = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    requests: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {
            "id": 3,
            "method": "tools/call",
            "params": {"name": "list_directory", "arguments": {"path": "."}},
        },
    ]
    said = stage.run(
        "mcp",
        "serve",
        stdin="".join(json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in requests),
    )
    answers = {
        line["id"]: line
        for line in map(json.loads, filter(lambda line: line.startswith("{"), said.splitlines()))
        if "id" in line
    }
    names = [tool["name"] for tool in answers[2]["result"]["tools"]]
    assert "read_file" in names and "write_file" not in names
    assert not answers[3]["result"].get("isError")


def client_entries(stage: Stage) -> None:
    """19 Write a client's entry that a team can commit."""
    stage.run("init")
    assert str(stage.here) not in json.dumps(stage.document("mcp", "config", "cursor")["entry"])


def server_as_kit(stage: Stage) -> None:
    """21 Take an MCP server as a kit, here Vespe's own of another project, and call its tool."""
    there = stage.here / "there"
    there.mkdir()
    stage.run("init", cwd=there)
    stage.run("tool", "create", "count", "--type", "python_script", cwd=there)
    stage.run("init")
    server = (sys.executable, "-m", "vespe", "mcp", "serve", "--project", str(there))
    trusted = f"VESPE_TRUSTED_PATHS={there}"  # the sandbox hides the approvals from a server
    stage.run(
        *("kit", "add-mcp", "other", "--activate", "--yes", "--"),
        *("env", trusted, *server),
    )
    assert "count" in [tool["name"] for tool in stage.document("tool", "list")["tools"]]
    stage.run("tool", "run", "count", "text=one two")


def importing(stage: Stage) -> None:
    """22 Import definitions of three APIs."""
    stage.run("init")
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    shapes: dict[str, Any] = {
        "openai": {
            "type": "function",
            "function": {"name": "a", "description": "A.", "parameters": schema},
        },
        "anthropic": {"name": "b", "description": "B.", "input_schema": schema},
        "mcp": {"name": "c", "description": "C.", "inputSchema": schema},
    }
    for name, definition in shapes.items():
        stage.write(f"{name}.json", json.dumps([definition]))
        stage.run("tool", "import", f"{name}.json")
    assert {"a", "b", "c"} <= {
        tool["name"] for tool in stage.document("tool", "list", "--all")["tools"]
    }


def exporting(stage: Stage) -> None:
    """23 Export for six APIs."""
    stage.run("init")
    stage.run("tool", "create", "count", "--type", "python_script")
    for shape in ("openai", "openai-responses", "anthropic", "ollama", "mcp", "gemini"):
        assert "count" in stage.run("export", "--as", shape)


def cloned(stage: Stage) -> None:
    """29 A clone runs nothing before a yes; a changed byte takes it back; the difference is shown;
    the old bytes are trusted still.
    """
    shop, clone = stage.here / "shop", stage.here / "clone"
    shop.mkdir()
    stage.run("init", cwd=shop)
    stage.run("tool", "create", "count", "--type", "python_script", cwd=shop)
    shutil.copytree(shop, clone)
    stage.run("tool", "run", "count", cwd=clone, code=6)
    stage.run("trust", "--yes", cwd=clone)
    stage.run("tool", "run", "count", cwd=clone)
    script = next((clone / ".vespe/tools").glob("*/count.py"))
    before = script.read_text(encoding="utf-8")
    script.write_text(before + "EVIL = 1\n", encoding="utf-8")
    stage.run("tool", "run", "count", cwd=clone, code=6)
    assert "+EVIL = 1" in stage.run("trust", cwd=clone, code=6)
    script.write_text(before, encoding="utf-8")
    stage.run("tool", "run", "count", cwd=clone)


def own_kit(stage: Stage) -> None:
    """32 Make a kit, link it, pack it, remove it."""
    stage.run("init")
    stage.run("kit", "create", "mine", "--in", "kits")
    stage.run("kit", "link", "kits/mine")
    stage.run("kit", "activate", "mine")
    stage.run("kit", "pack", "kits/mine", "-o", "mine.kit")
    assert (stage.here / "mine.kit").is_file() and stage.document("tool", "list")["tools"]


def hostile(stage: Stage) -> None:
    """33 A tool that exits, raises, prints, or sleeps is an answer, and the next call works."""
    stage.run("init")
    for name, body in {
        "leaves": "raise SystemExit(3)",
        "raises": "1 / 0",
        "sleeps": "import time; time.sleep(60)",
    }.items():
        stage.write(f"{name}.py", f'def {name}() -> int:\n    """Misbehave."""\n    {body}\n')
        stage.run("tool", "create", name, "--from", f"{name}.py:{name}")
    for name, code in (("leaves", 1), ("raises", 1)):
        assert stage.document("tool", "run", name, code=code)["ok"] is False
    assert (
        stage.document("tool", "run", "sleeps", "--timeout", "1", code=124)["error"]["code"]
        == "timed_out"
    )


def mistakes(stage: Stage) -> None:
    """34 Mistakes at the command line are sentences with the near word, and no traceback."""
    stage.run("tool", "list", code=3)
    stage.run("init")
    for arguments, code in (
        (("tool", "lst"), 2),
        (("tool", "run", "nothing"), 3),
        (("kit", "activate", "file_io"), 3),
    ):
        said = stage.run(*arguments, code=code)
        assert "Traceback" not in said and "vespe: error:" in said


def monorepo(stage: Stage) -> None:
    """35 Install from a repository of kits: the refusal names them, and its hint works."""
    source = stage.published_kit("alpha", "beta")
    stage.run("init")
    assert "--subdir kits (alpha, beta)" in stage.run(
        "kit", "install", f"{source}@v1.0.0", "--yes", code=3
    )
    stage.run("kit", "install", f"{source}@v1.0.0", "--subdir", "kits", "--kit", "alpha", "--yes")


def ordered(stage: Stage) -> None:
    """36 A model writes twice and reads in one turn: it reads what it wrote last."""
    stage.run("init")
    stage.run("kit", "activate", "file_io_without_git")
    wanted = [("write_file", {"path": "r.txt", "content": text}) for text in ("one", "two")] + [
        ("read_file", {"path": "r.txt"})
    ]
    stage.script(
        {"tool_calls": [{"name": name, "arguments": arguments} for name, arguments in wanted]},
        {"text": "Done."},
    )
    done = stage.agent("--approve", "all")
    assert (stage.here / "r.txt").read_text(encoding="utf-8") == "two" and "two" in json.dumps(
        done["calls"][2]
    )


PLAYS: tuple[Play, ...] = (
    templates,
    git_log,
    own_script,
    http_key,
    shadowing,
    two_kits,
    kit_by_tag,
    colleague,
    linting,
    breaking,
    testing,
    recording,
    approvals,
    resuming,
    served,
    client_entries,
    server_as_kit,
    importing,
    exporting,
    cloned,
    own_kit,
    hostile,
    mistakes,
    monorepo,
    ordered,
    *stories_of_programs.PLAYS,
)
STORIES: dict[int, Play] = {int((play.__doc__ or "").split()[0]): play for play in PLAYS}


def play(number: int) -> None:
    """Play one story in a directory of its own; raises AssertionError where it ends otherwise than
    it should.
    """
    with tempfile.TemporaryDirectory(prefix="vespe-story-") as place:
        home, here = Path(place, "home"), Path(place, "here")
        home.mkdir()
        here.mkdir()
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("VESPE_", "XDG_", "GIT_"))
        }
        who = {
            f"GIT_{role}_{key}": "story@localhost"
            for role in ("AUTHOR", "COMMITTER")
            for key in ("NAME", "EMAIL")
        }
        STORIES[number](Stage(here, {**kept, **who, "HOME": str(home), "NO_COLOR": "1"}))


def main() -> int:
    """Play all stories or one, a line each; return 1 where one failed."""
    parser = argparse.ArgumentParser(description="Play the stories of people with Vespe.")
    parser.add_argument("--only", type=int, choices=sorted(STORIES), metavar="N")
    only = parser.parse_args().only
    failed = 0
    for number in [only] if only else sorted(STORIES):
        try:
            play(number)
            outcome = "ok    "
        except (AssertionError, KeyError, StopIteration, subprocess.SubprocessError) as error:
            outcome, failed = f"FAILED {error!r:.600}\n       ", failed + 1
        sys.stdout.write(f"{outcome} {STORIES[number].__doc__}\n")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
