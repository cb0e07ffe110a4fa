"""Lint rules: what is wrong among several tools that a model sees together."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from vespe.adapters.cost import CHARACTERS_PER_TOKEN, tokens_of
from vespe.adapters.limits import limits_on
from vespe.adapters.modes import most_tools
from vespe.calls.bridge import OWN
from vespe.documents.strict_json import compact_json
from vespe.features.lint.base import Bounds, Found, Outline, set_rule
from vespe.schemas.explain import short
from vespe.tools import bm25

_SYNONYMS: Final = (
    ("get", "fetch", "retrieve", "read", "show", "obtain", "return", "load"),
    ("find", "search", "lookup", "query", "seek"),
    ("list", "enumerate"),
    ("create", "add", "make", "insert", "new"),
    ("delete", "remove", "erase", "drop"),
    ("update", "edit", "modify", "change", "set"),
    ("run", "execute", "invoke", "launch"),
    ("send", "post", "submit"),
    ("doc", "documentation", "document"),
)
_SAME: Final = {word: words[0] for words in _SYNONYMS for word in words}
"""Words that names of tools use for the same."""
Outlines = Sequence[Outline]
Said = Iterator[tuple[int, Found]]
ALIKE: Final = 0.75
"""From where on two tools count as confusable: among the 436 tools of real servers it is nine pairs
that a person has to read twice.
"""
NAME_WEIGHT: Final = 2
MOST_PAIRS: Final = 100
_LARGEST: Final = 3
_BRIDGE: Final = sum(
    len(
        compact_json(
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": tool.input_schema,
            }
        )
    )
    for tool in OWN.values()
)
"""The characters of the tools of a bridge."""


def groups(outlines: Outlines) -> list[list[int]]:
    """Return the indexes of the definitions that a model sees together: Vespe's available tools,
    and those of each foreign file.
    """
    found: dict[str, list[int]] = defaultdict(list)
    for index, outline in enumerate(outlines):
        if outline.available:
            found["" if outline.api == "vespe" else f"/{outline.scope}"].append(index)
    return list(found.values())


@set_rule("sets-duplicate-name", "warning")
def _duplicate_names(outlines: Outlines, _: Bounds) -> Said:
    """Two tools in the same place have the same name.

    A call by that name is ambiguous. Vespe refuses it, and APIs differ in what they do.

    Bad: [{"name": "search"}, {"name": "search"}]
    Good: [{"name": "search_files"}, {"name": "search_web"}]
    """
    first: dict[tuple[str, str], int] = {}
    for index, outline in enumerate(outlines):
        if not outline.name:
            continue
        before = first.setdefault((outline.scope, outline.name), index)
        if before != index and outline.linted:
            where = f", in {outlines[before].directory}" if outlines[before].directory else ""
            fix = "rename one of them: a call by this name is ambiguous"
            yield (
                index,
                Found(
                    message="another tool in the same place has the name "
                    f"{short(outline.name)}{where}",
                    part="name",
                    fix=fix,
                ),
            )


@set_rule("sets-identical-description", "warning")
def _identical_descriptions(outlines: Outlines, _: Bounds) -> Said:
    """Two tools have the same description.

    A model can choose between them only by their names.

    Bad: [{"name": "find"}, {"name": "search"}], both "Search."
    Good: descriptions that tell the two apart
    """
    for group in groups(outlines):
        first: dict[str, int] = {}
        for index in group:
            text = " ".join(outlines[index].description.split()).casefold()
            before = first.setdefault(text, index) if text else index
            if outlines[before].name != outlines[index].name and outlines[index].linted:
                fix = "describe in each how it differs from the other"
                message = f"{short(outlines[before].name)} has the same description"
                yield index, Found(message=message, part="description", fix=fix)


def alike(outlines: Outlines, *, least: float = ALIKE) -> Iterator[bm25.Pair]:
    """Return the pairs of tools that a model could mix up, the most alike first, as indexes into
    the outlines.

    Two tools whose names each have a word that the other nowhere says (`add_item`, `remove_item`)
    are told apart by it.
    """
    for group in groups(outlines):
        index = bm25.Index([_words(outlines[one]) for one in group])
        for pair in index.pairs(least):
            first, second = group[pair.first], group[pair.second]
            if not (
                _own(outlines[first], index.bags[pair.second])
                and _own(outlines[second], index.bags[pair.first])
            ):
                yield bm25.Pair(first, second, pair.alike)


def _words(outline: Outline) -> list[str]:
    named = _plain(outline.name) * NAME_WEIGHT
    more = (*outline.parameters, *outline.queries)
    return [*named, *_plain(outline.description), *(word for text in more for word in _plain(text))]


def _plain(text: str) -> list[str]:
    return [_SAME.get(word, word) for word in bm25.words(text)]


def _own(outline: Outline, other: Collection[str]) -> bool:
    return any(word not in other for word in _plain(outline.name))


@set_rule("sets-confusable", "warning")
def _confusable(outlines: Outlines, _: Bounds) -> Said:
    """A model could confuse two tools.

    If two tools have similar descriptions and arguments, a model chooses between them at random.

    Bad: "Search the files for a text." and "Search files for text."
    Good: "Search the text of files." and "List files by name."
    """
    said = 0
    for pair in alike(outlines):
        first, second = outlines[pair.first], outlines[pair.second]
        if first.name == second.name or not (first.linted or second.linted) or said == MOST_PAIRS:
            continue
        said += 1
        index, other = (pair.second, first) if second.linted else (pair.first, second)
        yield (
            index,
            Found(
                message=f"a model could confuse it with {short(other.name)}: their similarity "
                f"is {pair.alike:.2f} of 1 (BM25 over names, descriptions and "
                "arguments)",
                part="description",
                fix="say in each description when to use which tool, or merge the two",
            ),
        )


@set_rule("sets-budget", "error")
def _budget(outlines: Outlines, bounds: Bounds) -> Said:
    """The tools exceed the project's token budget.

    All declared definitions are sent with every request. If all tools of a project together exceed
    `tool_budget`, models see only the bridge and the tools that are always exposed, and the rule
    counts these. `--tools-mode all` counts every tool.

    Bad: {"tool_budget": 2000}, and always exposed tools of 3,000 tokens
    Good: {"tool_budget": 4000}
    """
    shown = [outline for outline in outlines if outline.available and outline.api == "vespe"]
    sent = sent_of(shown, bounds)
    total = tokens_of(sum(outline.size for outline in sent.tools) + sent.besides)
    if bounds.tool_budget is None or total <= bounds.tool_budget:
        return
    largest = sorted(sent.tools, key=lambda outline: -outline.size)[:_LARGEST]
    most = ", ".join(f"{outline.name} {tokens_of(outline.size):,}" for outline in largest)
    whole = len(sent.tools) == len(shown)
    fix = "expose fewer tools with `always`, or raise `tool_budget`"
    if whole:
        which = f"the {len(shown)} available tools cost"
        fix = "deactivate a kit, or shorten descriptions"
    elif not sent.tools:
        which, fix = f"the bridge to the {len(shown)} tools alone costs", "raise `tool_budget`"
    else:
        which = _always_exposed(sent, len(shown))
    yield (
        -1,
        Found(
            message=f"{which} a model about {total:,} tokens "
            f"(characters / {CHARACTERS_PER_TOKEN}), and "
            f"`tool_budget` is {bounds.tool_budget:,}" + (f"; the largest: {most}" if most else ""),
            fix=fix,
        ),
    )


def _always_exposed(sent: "Sent", shown: int) -> str:
    count, rest = len(sent.tools), shown - len(sent.tools)
    which = f"the {count} tools that are" if count > 1 else "the tool that is"
    bridged = f", with the bridge to the other {rest}," * (sent.besides > 0)
    return f"{which} always exposed cost{'s' * (count == 1)}{bridged}"


class Sent(NamedTuple):
    """What a model is sent of a project's tools: their definitions, and the characters of what is
    sent besides, and how many definitions are sent.
    """

    tools: Outlines
    besides: int = 0
    declared: int = 0


def sent_of(shown: Outlines, bounds: Bounds) -> Sent:
    """Return what a model is sent of the tools that are shown to it, in the project's mode."""
    every = Sent(shown, 0, len(shown))
    if bounds.tools_mode == "all":
        return every
    budget, most = bounds.tool_budget, most_tools("openai")
    fits = budget is None or tokens_of(sum(one.size for one in shown)) <= budget
    if bounds.tools_mode == "auto" and fits and (most is None or len(shown) <= most.value):
        return every
    always = [one for one in shown if one.always]
    if bounds.tools_mode == "native":
        return Sent(always, 0, len(shown))
    declared = len(OWN) if bounds.tools_mode == "code" else len(always) + len(OWN)
    return Sent(always, _BRIDGE, declared)


@set_rule("sets-too-many", "warning")
def _too_many(outlines: Outlines, bounds: Bounds) -> Said:
    """More tools than an API accepts.

    OpenAI refuses a request with more than 128 tools, and models choose worse long before that. The
    rule counts the tools that are declared to models. In the mode `auto`, a bridge is used if there
    are more than an API accepts.

    Bad: 129 tools that are always exposed
    Good: 20 available tools
    """
    for group in groups(outlines):
        ours = outlines[group[0]].api == "vespe"
        shown = [outlines[index] for index in group]
        count = sent_of(shown, bounds).declared if ours else len(group)
        for limit in limits_on("tools-count"):
            if (
                count > limit.value
                and outlines[group[0]].api != "bare"
                and (ours or any(one.linted for one in shown))
            ):
                message = f"a model would see {count} tools, and OpenAI takes {limit.words}"
                yield (
                    -1,
                    Found(
                        message=message,
                        target=limit.api,
                        severity=limit.severity,
                        fix="show fewer tools, or let models search for them (tools mode `bridge`)",
                    ),
                )
