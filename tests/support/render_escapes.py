"""Write docs/escapes.md from the escape table; `python -m tests.support.render_escapes`."""

from pathlib import Path
from typing import Final

from vespe.features.escapes.blind_ways import BLIND
from vespe.features.escapes.rows import ROWS, TITLES
from vespe.features.escapes.ways import Way

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "escapes.md"
_SAID: Final = {
    "default": "The tool has the [default permissions](sandbox.md): it can read everything except "
    "protected places, write the project, and reach any host.",
    "closed": "The tool can read `docs` and `out`, write `out`, start `cat` and `sh`, and use 256 MiB "
    "of memory. It has no network.",
    "hosts": "The tool can reach `example.org`. All other permissions have their defaults.",
    "sockets": "The tool can connect to one Unix socket in the home directory. It can reach no host.",
    "links": "The tool states paths in the project that are symbolic links. Links to other directories "
    "of the project work; links to keys, to the\nhome directory, out of the project, to `.git` and to "
    "`.vespe` give no access. It also states a directory and a file for writing that do not exist.",
    "late": "The tool states no permissions. While it runs, other programs of the user log in, create "
    "keys and sockets, and replace files by renaming.",
    "late home": "Tried only at the level `namespaces`.",
    "home": "Tried only at the level `namespaces`: at `landlock`, a tool cannot create anything "
    "directly in such a directory.",
}
BESIDE: Final = (
    (
        "write a number or an object differently to bypass a rule on arguments",
        "another number; an object with other members",
        "calls/test_policy_rules.py",
        "test_an_argument_is_compared_by_its_value_however_it_is_written",
    ),
    (
        "end the body of a request early, so that its first part is taken for a call",
        "a body that arrives in pieces",
        "http/test_asgi.py",
        "test_a_body_that_ends_early_is_no_request",
    ),
    (
        "send the proxy a second `Host` header after a bare line feed",
        "a complete URL of a stated host",
        "processes/sandbox/test_proxy.py",
        "test_a_line_that_only_some_servers_end_passes_no_second_host",
    ),
    (
        "send the proxy an invalid port number",
        "the next connection",
        "processes/sandbox/test_proxy.py",
        "test_anything_else_is_refused",
    ),
    (
        "run code through the Dask cluster that a batch started for itself",
        "the calls of that batch",
        "features/batch/test_dask_cluster.py",
        "test_a_cluster_of_ones_own_takes_nothing_from_others_and_shows_no_page",
    ),
    (
        "leave a repository or an `.envrc`, which other programs run, without a note in the Outcome",
        "other new files, which need no note",
        "files/test_repositories.py",
        "test_what_is_new_of_what_others_execute_is_told",
    ),
    (
        "send ambiguous JSON as an MCP server (such as duplicate keys)",
        "the same answer as unambiguous JSON",
        "types/mcp_tool/test_session.py",
        "test_an_answer_that_can_be_read_in_two_ways_is_none",
    ),
    (
        "send ambiguous JSON as an MCP server over HTTP",
        "the same answer as unambiguous JSON",
        "types/mcp_tool/test_strict_http.py",
        "test_an_answer_over_http_that_can_be_read_in_two_ways_is_none",
    ),
    (
        "write Vespe's own directories (configuration, state, data, cache) as another user",
        "directories that only their user can write",
        "files/test_locations.py",
        "test_p41c_a_directory_that_others_can_change_is_not_used",
    ),
    (
        "change a hook, the configuration or the refs of a kit's repository before `kit release`, as "
        "another user",
        "a hook that only its user can write",
        "git/test_author_repository.py",
        "test_p41c_what_others_could_change_in_a_repository_is_refused",
    ),
    (
        "replace the file of a secret by a link to another private file, as another user",
        "a file in `/tmp`, which nobody else can remove",
        "features/secrets/test_sources.py",
        "test_p80_a_file_that_others_can_replace_is_refused",
    ),
    (
        "show a secret in a tool's question",
        "the rest of the question",
        "calls/test_asking_outside.py",
        "test_p80_a_question_shows_none_of_the_tools_secrets",
    ),
    (
        "put a secret into a recording by an answer to a question, or by an answer to another call",
        "the other words of the same answers",
        "features/mcp/recordings/test_recorder.py",
        "test_p80_a_secret_is_known_by_its_name_wherever_a_client_says_it",
    ),
)
"""Attacks on other parts of Vespe, which have the same result at every level: the attack, a similar
action that is allowed, and the test that tries both.
"""
_EVERYWHERE: Final = ("programs", "late", "loopback")
_OLD_KERNELS: Final = {"signals": "6.12", "truncate": "6.2"}


def render() -> str:
    """Return the page: each attack and its result at each level."""
    parts = [
        "# Sandbox escapes",
        "",
        f"The tests try to escape from the [sandbox](sandbox.md) in these {len(ROWS)} ways, at each "
        "level that the machine has, as root and as an ordinary user.",
        "For each attack they also try a similar action that is allowed and must work. `held` in the "
        "tables means that the attack failed.",
        "An attack that succeeds does so through a [gap](sandbox.md#gaps), which the Outcome of such "
        "a call lists.",
        "",
        "`vespe doctor --escapes` tries the same attacks on your machine, as your user, in a few "
        "seconds. It attacks only keys, sockets, servers and processes",
        "that it creates and removes again; it writes none of your files and signals none of your "
        "processes. It prints the result of each attack: `held`, the gap, or",
        "`GOT THROUGH` (exit code 1). It does not try attacks that would change the machine if they "
        "succeeded, and lists them as `not tried`.",
        "",
        f"{len(BLIND)} of the attacks ([`blind_ways.py`](../vespe/features/escapes/blind_ways.py)) were "
        "designed by an author who knew this documentation but not the code of the sandbox.",
    ]
    for kind, title in TITLES.items():
        rows = [row for row in ROWS if row.policy == kind]
        parts += [
            "",
            f"## {title}",
            "",
            _SAID[kind],
            "",
            "| attack | `namespaces` | `landlock` |",
            "|---|---|---|",
        ]
        for row in rows:
            name = f"{row.name} (as root)" if row.root_only else row.name
            parts.append(f"| {name} | {_at(row, 'namespaces')} | {_at(row, 'landlock')} |")
    parts += [
        "",
        "## Attacks on other parts of Vespe",
        "",
        "These attacks do not depend on the sandbox level. Other tests of Vespe try them; `vespe doctor "
        "--escapes` does not.",
        "",
        "| attack | similar action that is allowed | result |",
        "|---|---|---|",
    ]
    parts += [f"| {tried} | {allowed} | held |" for tried, allowed, _, _ in BESIDE]
    return "\n".join(parts) + "\n"


def _at(row: Way, level: str) -> str:
    if "home" in row.policy and level == "landlock":
        return "not tried"
    if row.gap in _OLD_KERNELS:
        return f"held; gap `{row.gap}` before Linux {_OLD_KERNELS[row.gap]}"
    if ", " in row.gap:
        apart, together = row.gap.split(", ")
        return f"gap `{together if level == 'landlock' else apart}`"
    open_here = row.gap in _EVERYWHERE or (row.gap and level == "landlock")
    return f"gap `{row.gap}`" if open_here else "held"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
