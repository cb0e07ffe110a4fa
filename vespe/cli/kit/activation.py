"""Making kits' tools available in a project, once it is said which names they take from others."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

import click

from vespe import defaults, errors
from vespe.cli import options, report
from vespe.documents.near import join_words
from vespe.kits import mcp_lock, mcp_snapshots, review, roots
from vespe.kits.mcp_snapshots import ServerSnapshot
from vespe.lazy import shlex
from vespe.models import Kit, ProjectConfig
from vespe.projects import project, scopes, substitutions

_SHOWN: int = 12
"""Digits of a digest that a person types."""


def activate(root: str, kit_ids: Iterable[str]) -> ProjectConfig:
    """Activate kits; `KIT@DIGEST` names one of several MCP servers of that name.

    Raises KitNotFound, InvalidDocument for a kit that cannot be used, Refused for one that goes
    beyond itself, and where several servers have the name and nobody can say which is meant.
    """
    wanted: dict[str, str] = {}
    for word in kit_ids:
        kit_id, _, digest = word.partition("@")
        kit = _found(root, kit_id, digest)
        if kit.problem is not None:
            raise errors.InvalidDocument(kit.problem, path=kit.path)
        review.refuse_excess(kit.path, kit_id)
        wanted[kit_id] = kit.path
    mcp_lock.keep(root, wanted.values())
    active = project.read_config(root).active_kits
    tell_substitutions(root, [kit_id for kit_id in wanted if kit_id not in active])
    return project.set_active(root, wanted, active=True)


def _found(root: str, kit_id: str, digest: str) -> Kit:
    """Return the kit that is meant; of several MCP servers the one that a person chooses."""
    choices = mcp_snapshots.choices(kit_id) if roots.KIT_ID.fullmatch(kit_id) else ()
    if digest and not choices:  # a kit that is not an MCP server: `activate` takes no version
        roots.find_kit(kit_id, project=root)
        raise errors.NotFound(
            f"a kit is activated without a version: {kit_id}@{digest}",
            hint=f"`vespe kit activate {shlex.quote(kit_id)}`",
        )
    if digest:
        fitting = [one for one in choices if one.digest.startswith(digest)]
        if len(fitting) != 1:
            known = join_words([_words(one) for one in choices]) or "none"
            raise errors.NotFound(
                f"{len(fitting) or 'no'} MCP servers called {kit_id!r} begin with {digest!r}",
                hint=f"those of this name: {known}",
            )
        return _at(fitting[0])
    try:
        kit = roots.find_kit(kit_id, project=root)
    except errors.KitNotFound as error:
        if os.path.isfile(os.path.join(kit_id, defaults.KIT_CONFIG_FILE)):
            error.hint = (
                f"{kit_id} is a kit here that no project finds yet: "
                f"`vespe kit link {shlex.quote(kit_id)}` first, then "
                f"`vespe kit activate {os.path.basename(os.path.realpath(kit_id))}`"
            )
        raise
    if len(choices) > 1 and kit.path in {one.path for one in choices} and not _locks(root, kit_id):
        return _at(_chosen(kit_id, choices))
    return kit


def _locks(root: str, kit_id: str) -> bool:
    return kit_id in mcp_lock.of_project(root)


def _at(chosen: ServerSnapshot) -> Kit:
    return Kit(kit_id=chosen.kit_id, path=chosen.path, root="", root_kind="user")


def _words(one: ServerSnapshot) -> str:
    return f"{one.kit_id}@{one.digest[:_SHOWN]}"


def _chosen(kit_id: str, choices: Sequence[ServerSnapshot]) -> ServerSnapshot:
    """Ask which of several servers is meant; raises Refused where nobody can be asked."""
    users = mcp_lock.users(kit_id) or {}
    report.say(f"{len(choices)} MCP servers on this machine are called {kit_id}:")
    for number, one in enumerate(choices, 1):
        reach = one.server.get("url") or one.server.get("command")
        used = f", used in {report.one_line(users[one.path])}" if one.path in users else ""
        report.say(f"  {number}  {_words(one)}  {report.json_line(reach)}{used}")
    if not options.interactive():
        raise errors.Refused(
            f"which server {kit_id} is here: an answer is needed, and there is no terminal to "
            "ask on",
            hint=f"`vespe kit activate {_words(choices[0])}`, or another of those above",
        )
    number = click.prompt(
        "Which one should this project use?", type=click.IntRange(1, len(choices)), err=True
    )
    return choices[number - 1]


def tell_substitutions(root: str, fresh: Sequence[str]) -> None:
    """Say which tools mean something else with kits that become active, or did just now, behind the
    others.
    """
    now = project.read_config(root)
    others = (kit_id for kit_id in now.active_kits if kit_id not in fresh)
    found = roots.find_kits(count_tools=False, project=root)
    then = scopes.scopes_of(replace(now, active_kits=(*others, *fresh)), found)
    every = substitutions.substitutions(then.every, about=fresh)
    for taken in every:
        (report.note if taken.verdict == "compatible" else report.warn)(str(taken))
    kits = {(taken.winner.kit_id, taken.shadowed.kit_id) for taken in every if taken.winner.kit_id}
    for first, other in sorted((str(first), str(other)) for first, other in kits):
        report.note(
            f"{first} is active before {other}, so its tools are used where both have the name; "
            f"after `vespe kit deactivate {first}`, those of {other} are"
        )
