"""What a turn of an agent costs as a conversation grows:
`python -m tests.benchmarks.agent_loop [TURNS …]`.

A turn is a model's answer with one call, the call of an in-process tool, and its result; the model
is a script. Each size runs in a process of its own, plain and with the conversation kept in a file.
Prints seconds on the clock and of the processor, turns a second, milliseconds of the processor a
turn, its time as a multiple of that of the first size, and the peak of memory.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = (100, 1000, 10_000)
TOOL: dict[str, object] = {
    "uid": "tool-0123456789abcdef0123456789abcdef",
    "name": "add",
    "description": "Add two numbers.",
    "schema": {
        "input": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        }
    },
}


def main() -> None:
    """Run every size and print a row for each."""
    sizes = [int(size) for size in sys.argv[1:]] or list(SIZES)
    print(
        f"{'kept':>5} {'turns':>7} {'clock s':>8} {'cpu s':>8} {'turns/s':>8} {'cpu ms':>7} "
        f"{'x first':>8} {'MiB':>6}"
    )
    for kept in ("no", "yes"):
        first = 0.0
        for size in sizes:
            clock, busy, mebibytes = measured(size, kept)
            first = first or busy
            figures = (
                f"{clock:>8.2f} {busy:>8.2f} {size / clock:>8.0f} {busy / size * 1000:>7.2f} "
                f"{busy / first:>8.1f} {mebibytes:>6.0f}"
            )
            print(f"{kept:>5} {size:>7} {figures}", flush=True)


def measured(turns: int, kept: str) -> tuple[float, ...]:
    """Return the seconds on the clock and of the processor, and the peak of memory in MiB, of a run
    in a process of its own.
    """
    command = [sys.executable, "-m", "tests.benchmarks.agent_loop", "--one", str(turns), kept]
    done = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
    return tuple(map(float, done.stdout.split()))


def run_one(turns: int, kept: str) -> None:
    """Run one conversation in a project of its own, and print what it took."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        agent = agent_for(root, turns)
        if kept == "yes":
            from vespe.features.agents.transcripts import ConversationFile

            agent.transcript.keep = ConversationFile(root / "kept.json").keep
        began, busy = time.perf_counter(), time.process_time()
        result = agent.run("Add, again and again.")
        clock, busy = time.perf_counter() - began, time.process_time() - busy
        assert (result.stop_reason, len(result.calls)) == ("done", turns), result.stop_reason
        print(clock, busy, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def agent_for(root: Path, turns: int):  # type: ignore[no-untyped-def]  # Vespe is imported once the home is another one
    """Return an agent whose model calls `add` so many times, in a new project at `root`."""
    import os

    os.environ |= {
        name: str(root / "home")
        for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
    }
    from vespe import Agent, AgentOptions, Limits, Project, SimulatedProvider, ToolRegistry

    registry = ToolRegistry()
    registry.register(lambda a, b: a + b, name="add")
    project = Project.init(root, registry=registry)
    tool = root / ".vespe" / "tools" / "tool-add"
    tool.mkdir(parents=True)
    (tool / "config.json").write_text(json.dumps(TOOL), encoding="utf-8")
    script = [
        {"tool_calls": [{"name": "add", "arguments": {"a": n, "b": 1}}]} for n in range(turns)
    ]
    limits = Limits(max_iterations=turns + 1, max_calls=None)
    return Agent(
        SimulatedProvider({"turns": [*script, {"text": "Done."}]}),
        project,
        options=AgentOptions(approve="all", limits=limits),
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        run_one(int(sys.argv[2]), sys.argv[3])
    else:
        main()
