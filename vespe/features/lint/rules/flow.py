"""Lint rules: what tools that a model sees together make possible, though none of them is at fault
alone.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from vespe.documents.near import join_words
from vespe.features.lint.base import Bounds, Found, Outline, set_rule
from vespe.tools import bm25

LEGS: Final = ("reads_private", "reads_untrusted", "sends_out")
"""What a stranger's words need to carry private data away: something private, a way in, and a way
out.
"""
_WORDS: Final = {
    "reads_private": "read private data with",
    "reads_untrusted": "be misled by untrusted content from",
    "sends_out": "and send the data out with",
}
_COST: Final = {"reads_private": 3, "reads_untrusted": 3, "sends_out": 1}
"""Asking before a tool that reads interrupts more often than asking before one that sends."""
_NAMED: Final = 5
_LATER: Final = '"approvals": {"flow": "ask"}'
_CORRECTED: Final = (
    "if an assumed effect is wrong, state `effects` in the config.json of the tool "
    "(`vespe tool show NAME` lists them)"
)
_PLAIN: Final = {
    "reads_private": bm25.words(
        "secret password credential iban account transaction user email inbox message file "
        "document calendar"
    ),
    "reads_untrusted": bm25.words(
        "webpage web page url inbox email mail message review comment issue file "
        "document search transaction"
    ),
    "sends_out": bm25.words("email mail send post publish upload share"),
}
"""Words of names that make a plain example of a leg, the plainest first."""


class Flow(NamedTuple):
    """Three tools by their legs, with the reason for each, and the cheapest cut: what to ask for,
    and the leg that these make up. It is `stated` where the tools' authors say all three legs.
    """

    tools: tuple[Outline, Outline, Outline]
    cut: tuple[Outline, ...]
    leg: str
    stated: bool = True


def flow_of(outlines: Sequence[Outline], bounds: Bounds) -> Flow | None:
    """Return how the tools that a model sees together could carry data away, or None where one of
    the three legs is missing.

    A tool that is denied or asked about has none, since a person stands between; `approvals.flow`
    stands between all of them.
    """
    if bounds.flow_guarded:
        return None
    free = [
        one
        for one in outlines
        if one.available
        and one.api == "vespe"
        and not bounds.is_guarded(one.name, one.own_name, one.scope)
    ]
    ranked = {
        leg: sorted((one for one in free if leg in one.effects), key=partial(_weight, leg=leg))
        for leg in LEGS
    }
    private = _beside_another(ranked["reads_private"], ranked["sends_out"])
    outward = _beside_another(ranked["sends_out"], ranked["reads_private"])
    if not private or not ranked["reads_untrusted"]:
        return None
    first = private[0]
    way_out = next(one for one in outward if one is not first)
    way_in = _way_in(ranked["reads_untrusted"], first, way_out)
    legs = {
        "reads_private": private,
        "reads_untrusted": ranked["reads_untrusted"],
        "sends_out": outward,
    }
    leg = min(LEGS, key=lambda leg: (len(legs[leg]) * _COST[leg], -LEGS.index(leg)))
    three = (first, way_in, way_out)
    stated = not any(leg in one.assumed for leg, one in zip(LEGS, three, strict=True))
    return Flow(three, tuple(legs[leg]), leg, stated)


def _way_in(ranked: Sequence[Outline], first: Outline, way_out: Outline) -> Outline:
    """Return what reads strangers' words: a third tool where one is as well known to do so as the
    best.
    """
    best = ranked[0]
    sure = [one for one in ranked if _is_assumed(one) == _is_assumed(best)]
    return next((one for one in sure if one is not first and one is not way_out), best)


def _is_assumed(one: Outline) -> bool:
    return "reads_untrusted" in one.assumed


def _beside_another(outlines: Sequence[Outline], others: Sequence[Outline]) -> list[Outline]:
    """Return those that have another tool beside them for the other leg: one that does both is not
    enough.
    """
    only = others[0] if len(others) == 1 else None
    return [one for one in outlines if others and one is not only]


def _weight(one: Outline, *, leg: str) -> tuple[bool, bool, int, int, str]:
    """What puts the plainest example first: stated by its author, then by the words that say the
    most, then with no leg but this.
    """
    words = bm25.words(one.name)
    plain = next((rank for rank, word in enumerate(_PLAIN[leg]) if word in words), len(_PLAIN[leg]))
    return (
        leg in one.assumed,
        "by its name" in one.effects[leg],
        plain,
        sum(other in one.effects for other in LEGS),
        one.name,
    )


def drawn(flow: Flow) -> str:
    """Return the three tools and the path between them as lines of text."""
    names = [one.name for one in flow.tools]
    width = max(len(name) for name in names[:2])
    reasons = [
        f"  {one.name}: {one.effects[leg]}" for one, leg in zip(flow.tools, LEGS, strict=True)
    ]
    lines = [
        f"{names[0]:<{width}}  reads private data ─────────┐",
        f"{'':<{width}}                              ├──▶ the model ──▶ {names[2]}  sends data out",
        f"{names[1]:<{width}}  reads untrusted content ────┘",
        "",
        *reasons,
        "",
        f"Cheapest cut: {_cut(flow)}",
    ]
    return "\n".join(lines)


def _cut(flow: Flow) -> str:
    listed = ", ".join(f'"{one.own_name or one.name}"' for one in flow.cut)
    return f'"approvals": {{"ask": [{listed}]}}'


@set_rule("flow-exfiltration", "error")
def _exfiltration(outlines: Sequence[Outline], bounds: Bounds) -> Iterator[tuple[int, Found]]:
    """Tools that together can leak private data.

    One tool reads private data, one reads untrusted content, and one sends data out. Untrusted
    content can make a model send private data to a stranger. It is an error if the authors of the
    tools state all three effects, and a warning if one is only assumed from a name, a type or a
    missing annotation. For a kit without a project it is always a warning, because a kit has no
    approval rules. `vespe tool show` shows the effects of a tool, and `effects` in its config.json
    corrects them. Hosts in your own `approvals.own_hosts` do not count as untrusted.

    Bad: read_inbox, get_webpage and send_email, with no rule on calls
    Good: the same with "approvals": {"ask": ["send_email"]}
    """
    flow = flow_of(outlines, bounds)
    if flow is None:
        return
    told = ", ".join(
        f"{_WORDS[leg]} {one.name} ({one.effects[leg]})"
        for one, leg in zip(flow.tools, LEGS, strict=True)
    )
    yield (
        -1,
        Found(
            severity=None if bounds.has_project and flow.stated else "warning",
            message=f"possible data leak without approval: a model could {told}",
            fix=f"ask before {_these(flow)}, in .vespe/config.json: {_cut(flow)}; "
            f"or {_LATER} asks after untrusted content was read"
            + ("" if flow.stated else f"; or, {_CORRECTED}"),
        ),
    )


def _these(flow: Flow) -> str:
    return join_words([one.name for one in flow.cut], most=_NAMED)
