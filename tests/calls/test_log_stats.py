"""What is counted of calls, and kept of those that a log loses."""

import json
import os
import stat
from pathlib import Path

import pytest

from vespe.calls import log_stats
from vespe.calls.log_stats import MAX_BYTES, OTHERS, SUFFIX, CallTotals
from vespe.files.log_file import OLD


def line(tool: str = "a", day: str = "2026-01-01", **more: object) -> bytes:
    said = {"time": f"{day}T10:00:00.000Z", "tool": tool, "outcome": "ok", "duration_ms": 10}
    return json.dumps({**said, **more}).encode() + b"\n"


@pytest.fixture
def log(tmp_path: Path) -> str:
    return str(tmp_path / "log.jsonl")


def write(path: str, *lines: bytes) -> None:
    Path(path).write_bytes(b"".join(lines))


def test_calls_failures_and_times_are_counted_by_tool(log: str) -> None:
    write(
        log,
        *(line(duration_ms=ms, outcome="ok" if ms > 3 else "timed_out") for ms in range(1, 101)),
        line("b", "2025-12-31"),
        line("b", purpose="test"),
        b"torn\n[1]\n{}\n",
    )
    totals, problem = log_stats.totals_of(log, None)
    assert problem is None and totals.since == "2025-12-31T10:00:00.000Z"
    assert totals.rows() == [
        {"tool": "a", "calls": 100, "failed": 3, "p50_ms": 50.0, "p95_ms": 95.0},
        {"tool": "b", "calls": 1, "failed": 0, "p50_ms": 10.0, "p95_ms": 10.0},
    ]
    assert totals.rows("b") == totals.rows()[1:]


def test_what_a_log_loses_is_kept_once(log: str) -> None:
    write(log + OLD, line(), line(), line("b", "2026-01-02", duration_ms=1000))
    write(log, line("b", "2026-01-03", duration_ms=1000))
    before = log_stats.totals_of(log, None)[0].rows()
    log_stats.keep_counts(log)
    # It was killed before the old part was removed: both are there.
    assert [(row["tool"], row["calls"]) for row in log_stats.totals_of(log, None)[0].rows()] == [
        (row["tool"], row["calls"]) for row in before
    ]
    log_stats.keep_counts(log)
    os.replace(log, log + OLD)
    rows = log_stats.totals_of(log, None)[0].rows()
    assert [(row["tool"], row["calls"]) for row in rows] == [("a", 2), ("b", 2)]
    assert rows[0]["p50_ms"] == pytest.approx(10, rel=0.05)
    assert rows[1]["p95_ms"] == 1000 or rows[1]["p95_ms"] == pytest.approx(1000, rel=0.05)
    assert stat.S_IMODE(os.stat(log + SUFFIX).st_mode) == 0o600
    kept = json.loads(Path(log + SUFFIX).read_bytes())
    assert kept["days"] == {"2026-01-01": {"a": [2, 0]}, "2026-01-02": {"b": [1, 0]}}


def test_a_line_that_came_to_the_old_part_late_is_counted_too(log: str) -> None:
    write(log + OLD, line())
    log_stats.keep_counts(log)
    with open(log + OLD, "ab") as file:
        file.write(line())
    assert log_stats.totals_of(log, None)[0].rows()[0]["calls"] == 2


def test_a_file_of_counts_stays_small_and_loses_no_call(log: str) -> None:
    for number in range(3):
        tools = (
            line(f"tool_{index}_{'x' * 40}", f"2026-01-0{number + 1}") for index in range(2000)
        )
        write(log + OLD, *tools, *[line("often")] * 5, line("odd", "x" * 100, place="y" * 1000))
        log_stats.keep_counts(log)
        os.unlink(log + OLD)
        assert os.path.getsize(log + SUFFIX) <= MAX_BYTES
    totals, problem = log_stats.totals_of(log, None)
    rows = {row["tool"]: row["calls"] for row in totals.rows()}
    assert problem is None and sum(rows.values()) == 3 * 2006
    assert rows["often"] == 15 and rows[OTHERS] > 1000


def test_days_are_put_together_before_tools_are(log: str) -> None:
    totals = CallTotals()
    for day in range(3000):
        totals.count(json.loads(line("a", f"{2000 + day // 300}-01-{day % 300:03}")))
    assert len(totals.fit()) <= MAX_BYTES
    assert totals.rows()[0]["calls"] == 3000 and 1 < len(totals.days) < 3000


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b"[]", "object"),
        (b"{}", "damaged"),
        (b'{"version": 2}', "later version"),
        (b'{"version":1,"since":"","places":[],"days":{"d":{"a":[1]}},"times":{}}', "damaged"),
        (b'{"version":1,"since":"","places":[],"days":{"d":{"a":[1,-1]}},"times":{}}', "damaged"),
        (
            b'{"version":1,"since":"","places":[],"days":{},"times":{"a":{"999999":1}},'
            b'"counted":{"first":"","bytes":0}}',
            "damaged",
        ),
        (b"\xff" * 10, "UTF-8"),
        (b" " * (MAX_BYTES + 1), "larger"),
    ],
)
def test_a_damaged_or_foreign_file_of_counts_is_a_sentence(
    log: str, data: bytes, said: str
) -> None:
    Path(log + SUFFIX).write_bytes(data)
    write(log, line())
    totals, problem = log_stats.totals_of(log, None)
    assert problem and said in problem.message and SUFFIX in problem.message
    assert totals.rows()[0]["calls"] == 1
    write(log + OLD, line())
    log_stats.keep_counts(log)
    if problem.is_newer:
        assert Path(log + SUFFIX).read_bytes() == data
    else:
        assert log_stats.read_counts(log)[1] is None


def test_a_link_and_a_fifo_in_its_place_are_sentences(log: str) -> None:
    os.mkfifo(log + SUFFIX)
    assert "regular file" in str(getattr(log_stats.read_counts(log)[1], "message", ""))
    os.unlink(log + SUFFIX)
    os.symlink("/etc/passwd", log + SUFFIX)
    assert "symbolic link" in str(getattr(log_stats.read_counts(log)[1], "message", ""))


def test_calls_of_another_project_at_the_same_place_are_not_taken_for_ones_own(log: str) -> None:
    write(log + OLD, line(place="one"), line(place="two"))
    write(log, line(place="one"))
    log_stats.keep_counts(log)
    os.unlink(log + OLD)
    assert log_stats.totals_of(log, "one")[0].rows()[0]["calls"] == 1
    assert log_stats.totals_of(log, None)[0].rows()[0]["calls"] == 3


def test_lines_that_are_read_together_count_as_each_line_alone(tmp_path: Path) -> None:
    lines: list[bytes] = []
    for number in range(3000):
        purpose = ',"purpose":"test"' if number % 7 == 0 else ""
        more = ',"sandbox":"full"' if number % 5 == 0 else ""
        tool, code = ("a", "ok") if number % 3 else ('b,\\"outcome\\":\\"', "timed_out")
        day, place = number // 1000 + 1, number % 2
        lines.append(
            f'{{"time":"2026-01-0{day}T10:{(number * 7) % 60:02d}:00.000Z","project":"/p",'
            f'"place":"{place}","tool":"{tool}","uid":"tool-a","scope":"project_tools"{purpose},'
            f'"outcome":"{code}","duration_ms":{number % 11}.{number % 4:03d},"truncated":false,'
            f'"arguments_digest":"{number:064x}"{more}}}'.encode()
        )
    torn = [lines[1][:-2], lines[2][:150], lines[3][150:], lines[4] + b" ", b"", b"}", b"z" * 200]
    twice = lines[5].replace(b',"truncated"', b',"outcome":"ok","truncated"')
    odd = [*torn, twice, lines[1].replace(b"2026-01-01T", b"\xff026-01-01T")]
    whole, alone = CallTotals(), CallTotals()
    whole.count_all(b"\n".join([*lines[::-1], *odd, *lines[:10]]))
    for one in [*lines, *odd, *lines[:10]]:
        alone.count_all(one)
    assert whole.rows() == alone.rows() and whole.rows()[0]["calls"] > 1000
    assert (whole.days, whole.times, whole.places) == (alone.days, alone.times, alone.places)
    assert whole.since == alone.since == "2026-01-01T10:00:00.000Z"
    plain, by_json = CallTotals(), CallTotals()
    plain.count_all(b"\n".join(lines))
    for one in lines:
        by_json.count(json.loads(one))
    assert (plain.rows(), plain.since) == (by_json.rows(), by_json.since)
