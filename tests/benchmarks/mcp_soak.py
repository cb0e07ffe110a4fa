"""A long life over stdio: python -m tests.benchmarks.mcp_soak [--calls 100000]; a hostile line
every 100 calls.

Says how memory and descriptors drifted from the first tenth to the end, and the latency of calls.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

from tests.benchmarks.mcp import VESPE, Client, project

HOSTILE = json.loads(
    (Path(__file__).parent.parent / "cases/mcp/hostile_lines.json").read_text(encoding="utf-8")
)
EVERY = 100


def hostile(number: int) -> tuple[bytes, int]:
    """A hostile line, and how many answers it gets."""
    case = HOSTILE[number % len(HOSTILE)]
    text = (
        case.get("before", "") + case.get("line", "") * case.get("times", 1) + case.get("after", "")
    )
    return bytes.fromhex(case["hex"]) if "hex" in case else text.encode(), len(case["answers"])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--calls", type=int, default=100_000)
    calls = options.parse_args().calls
    with project() as root:
        client = Client([sys.executable, "-c", VESPE], root)
        client.begin()
        took, early = [], (0.0, 0)
        for number in range(calls):
            began = time.perf_counter()
            client.calls(1, 1)
            took.append(time.perf_counter() - began)
            if number % EVERY == EVERY - 1:
                line, answers = hostile(number // EVERY)
                assert client.process.stdin is not None
                client.process.stdin.write(line + b"\n")
                client.process.stdin.flush()
                assert all("error" in client.read() for _ in range(answers))
            if number == calls // 10:
                early = client.resident_mib(), descriptors(client)
        late = client.resident_mib(), descriptors(client)
        client.end()
    took.sort()
    p50, p99, worst = took[len(took) // 2], took[len(took) * 99 // 100], took[-1]
    print(
        f"{calls} calls, {calls // EVERY} hostile lines: p50 {p50 * 1e3:.2f} ms, "
        f"p99 {p99 * 1e3:.2f} ms, worst {worst * 1e3:.1f} ms"
    )
    print(
        f"memory {early[0]:.1f} -> {late[0]:.1f} MiB, drift {late[0] - early[0]:.2f} MiB; "
        f"descriptors {early[1]} -> {late[1]}"
    )


def descriptors(client: Client) -> int:
    return len(os.listdir(f"/proc/{client.process.pid}/fd"))


if __name__ == "__main__":
    main()
