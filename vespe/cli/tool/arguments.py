"""A tool's arguments from the command line: KEY=VALUE typed by the schema, KEY:=JSON, KEY=@FILE,
--args.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from vespe import defaults, errors
from vespe.calls.path import parsed_arguments
from vespe.cli.signature import followed, inputs
from vespe.documents import strict_json
from vespe.documents.near import suggest
from vespe.files import atomic
from vespe.lazy import shlex
from vespe.models import JsonObject, JsonValue, Tool

if TYPE_CHECKING:
    import click

_LITERALS: dict[str, JsonValue] = {"true": True, "false": False, "null": None}


def gather(tool: Tool, pairs: Sequence[str], args: str | None) -> JsonObject | bytes:
    """Return the arguments of a call: the `--args` object with every KEY=VALUE laid over it.

    Without pairs the text of `--args` is given as it came, so that the call itself says what is
    wrong with it. Raises UsageError for a word that is not a pair or a file that cannot be read,
    ParsingError for text that is not JSON.
    """
    pairs = as_pairs(tool, pairs)
    given = _text_of(args) if args is not None else b"{}"
    if not pairs:
        return given
    whole = parsed_arguments(given)
    from_pairs: JsonObject = {}
    _require_names(tool, pairs)
    for key, value in (_pair(tool, word) for word in pairs):
        from_pairs[key] = _joined(tool, key, from_pairs, value)
    return whole | from_pairs


def as_pairs(tool: Tool, words: Sequence[str]) -> list[str]:
    """Return the words with each option of the tool, `--key value`, `--key=value`, `--flag` or
    `--no-flag`, as KEY=VALUE.

    Raises UsageError for an option that is not one of the tool's inputs, or lacks its value.
    """
    found, rest, flag = [], iter(words), ""
    for word in rest:
        if not word.startswith("--"):
            if flag and "=" not in word:
                option = flag.replace("_", "-")
                raise errors.UsageError(
                    f"{word!r} is not KEY=VALUE",
                    hint=f"`--{option}` takes no value: write `--{option}`, `--no-{option}` or "
                    f"`{flag}=false`",
                )
            found.append(word)
            flag = ""
            continue
        option, equals, value = word[2:].partition("=")
        key, off = _input_of(tool, option)
        flag = key if off or (not equals and is_flag(tool, key)) else ""
        if flag:
            value = "false" if off else "true"
        elif not equals:
            value = next(rest, "")
            if not value:
                raise errors.UsageError(
                    f"--{option} needs a value", hint=f"--{option} VALUE, or {key}=VALUE"
                )
        found.append(f"{key}={value}")
    return found


def options_like_inputs(context: "click.Context", tool: Tool) -> dict[str, str]:
    """Return the options of the command that are named like inputs of a tool, each with its input.
    Such an option is the command's, wherever it stands.
    """
    names = {name for one in context.command.params for name in one.opts if name.startswith("--")}
    found = {form: key for key, _, _ in inputs(tool.input_schema) for form in _forms(key)}
    return {f"--{form}": key for form, key in found.items() if f"--{form}" in names}


def _forms(key: str) -> tuple[str, str]:
    return key.replace("_", "-"), key


def is_flag(tool: Tool, key: str) -> bool:
    """Say whether an input can be a boolean, so that its option takes no value."""
    return "boolean" in _types(_property(tool, key), tool.input_schema)


def _input_of(tool: Tool, option: str) -> tuple[str, bool]:
    """Return the input that an option names, and whether it is the `--no-` form of a boolean."""
    names = [key for key, _, _ in inputs(tool.input_schema)]
    known = {form: key for key in names for form in _forms(key)}
    if option in known:
        return known[option], False
    plain = option.removeprefix("no-")
    if plain != option and plain in known and is_flag(tool, known[plain]):
        return known[plain], True
    hint = suggest(option, names) or f"`vespe tool run {tool.name} --help` shows its inputs"
    raise errors.UsageError(
        f"{tool.name} has no input {option!r}, and `vespe tool run` has no such option", hint=hint
    )


def _text_of(args: str) -> bytes:
    if args == "-":
        return sys.stdin.buffer.read(defaults.MAX_ARGUMENT_BYTES + 1)
    if args.startswith("@"):
        return _file(args[1:])
    return args.encode("utf-8", "surrogateescape")


def how(tool: Tool, key: str) -> str:
    """Say how the value of an input is typed."""
    facts = _property(tool, key)
    types = _types(facts, tool.input_schema)
    if "array" in types:
        sample = _sample(_items(facts, tool.input_schema), tool.input_schema)
        return (
            f"write {key} as JSON in quotes, such as {key}='[{sample}]', "
            f"or give {key}= once for each item"
        )
    if "object" in types:
        return f"""write {key} as JSON in quotes, such as {key}='{{"name": "value"}}'"""
    return "" if types and "string" not in types else f"write {key}=TEXT for plain text"


def is_read_as_text(tool: Tool, key: str) -> bool:
    """Say whether every KEY=VALUE of an input is a string though it can also be something else."""
    facts = _property(tool, key)
    types = set(_types(facts, tool.input_schema)) - {"null"}
    is_open = not types or ("string" in types and types != {"string"})
    return is_open and _listed(facts, tool.input_schema) is None


def misread(tool: Tool, given: JsonObject, keys: Iterable[str]) -> str:
    """Return `how` the first of the inputs `keys` is typed that came as text and is none, or a
    member of an object that was written as `object.member`; "" where none did.
    """
    names = {name for name, _, _ in inputs(tool.input_schema)}
    for key, value in given.items():
        head, dot, rest = key.partition(".")
        types = _types(_property(tool, head), tool.input_schema) if head in names else []
        if dot and key not in names and "object" in types:
            return f"write {head}:={shlex.quote(strict_json.compact_json(_nested(rest, value)))}"
    for key in keys:
        values = given.get(key)
        texts = [
            one
            for one in (values if isinstance(values, list) else [values])
            if isinstance(one, str)
        ]
        types = _types(_property(tool, key), tool.input_schema)
        if texts and {"array", "object"} & set(types):
            return (_broken(key, texts[0]) or how(tool, key)) if key in given else ""
    return ""


def _broken(key: str, text: str) -> str:
    """Say what is wrong with the JSON of an input; "" for a text that does not begin as JSON."""
    if text.lstrip()[:1] not in ("[", "{"):
        return ""
    try:
        strict_json.parse_json(text, limit=defaults.MAX_ARGUMENT_BYTES)
    except errors.InvalidDocument as error:
        return f"the JSON after {key}= {error.reason}"
    return ""


def _nested(path: str, value: JsonValue) -> JsonObject:
    """Return the object that a path with dots was meant to fill."""
    *outer, last = path.split(".")
    if isinstance(value, str):
        number = _number(value)
        value = _LITERALS.get(value, value if number is None else number)
    made: JsonObject = {last: value}
    for key in reversed(outer):
        made = {key: made}
    return made


def _sample(schema: JsonValue, root: JsonObject) -> str:
    known = {
        "integer": "1, 2",
        "number": "1, 2",
        "boolean": "true, false",
        "object": '{"name": "value"}',
        "array": "[]",
    }
    return next((known[kind] for kind in _types(schema, root) if kind in known), '"a", "b"')


def _require_names(tool: Tool, words: Sequence[str]) -> None:
    """Raise UsageError, with the words as they are meant, if one of them has no name."""
    bare = [word for word in words if not _is_pair(word)]
    if not bare:
        return
    names = [key for key, _, _ in inputs(tool.input_schema)]
    given = {word.partition("=")[0].rstrip(":") for word in words if _is_pair(word)}
    left = [key for key in names if key not in given]
    if any(word in ("=", ":=") for word in words):  # `a = 6`
        joined = _closed_up(words)
        if all(_is_pair(word) and not word.endswith("=") for word in joined):
            raise errors.UsageError(
                f"{bare[0]!r} is not KEY=VALUE",
                hint=f"write {shlex.join(joined)}, without spaces around the equals sign",
            )
    before = words[words.index(bare[0]) - 1] if words[0] != bare[0] else ""
    listed = before.partition("=")[0].rstrip(":")
    if listed in names and "array" in _types(_property(tool, listed), tool.input_schema):
        meant = [f"{listed}={word}" for word in bare]  # `--tags a b`
    elif bare[0] in names and is_flag(tool, bare[0]) and not bare[1:]:  # `deep`
        meant = [f"{bare[0]}=true"]
    elif bare[0] in names:  # `a 6`
        meant = [f"{bare[0]}={(bare[1:] or [bare[0].upper()])[0]}"]
    elif len(bare) <= len(left) and all(word[:1] not in ("-", "=", ":") for word in bare):
        meant = [f"{key}={word}" for key, word in zip(left, bare, strict=False)]
    else:
        meant = []
    if bare[0] == "help" and "help" not in names:
        raise errors.UsageError(
            "'help' is not KEY=VALUE",
            hint=f"`vespe tool run {tool.name} --help` shows its arguments",
        )
    words_meant = shlex.join(meant) or "KEY=VALUE, KEY:=JSON, KEY=@FILE, or --args JSON"
    raise errors.UsageError(
        f"{bare[0]!r} is not KEY=VALUE",
        hint=f"write {words_meant}; `vespe tool run {tool.name} --help` shows its arguments",
    )


def _closed_up(words: Sequence[str]) -> list[str]:
    """Return words with those before and after a lone equals sign joined to it."""
    found: list[str] = []
    for word in words:
        if found and (word in ("=", ":=") or found[-1].endswith("=")):
            found[-1] += word
        else:
            found.append(word)
    return found


def _is_pair(word: str) -> bool:
    key, equals, _ = word.partition("=")
    return bool(equals) and bool(key.rstrip(":")) and key.isprintable()


def _pair(tool: Tool, word: str) -> tuple[str, JsonValue]:
    key, _, text = word.partition("=")
    if key.endswith(":"):
        try:
            return key[:-1], strict_json.parse_json(text, limit=defaults.MAX_ARGUMENT_BYTES)
        except errors.InvalidDocument as error:
            raise errors.ParsingError(
                f"the JSON after {key}= {error.reason}", hint=how(tool, key[:-1])
            ) from None
    if text.startswith("@"):
        text = _file(
            text[1:], hint=f"""to pass a string that begins with @, write {key}:='"{text}"'"""
        ).decode("utf-8", "surrogateescape")
    return key, parse_typed(text, _property(tool, key), tool.input_schema)


def _file(path: str, *, hint: str = "") -> bytes:
    try:
        return atomic.read_bytes(path, limit=defaults.MAX_ARGUMENT_BYTES)
    except (errors.StorageError, errors.InvalidDocument) as error:
        raise errors.UsageError(str(error), hint=hint) from None


def _joined(tool: Tool, key: str, before: JsonObject, value: JsonValue) -> JsonValue:
    """A key given twice gathers a list where the schema says array, and is a mistake anywhere
    else.
    """
    if key not in before:
        return value
    if "array" not in _types(_property(tool, key), tool.input_schema):
        raise errors.UsageError(f"{key} is given twice", hint=_no_list(tool, key))
    earlier = before[key]
    return [
        *(earlier if isinstance(earlier, list) else [earlier]),
        *(value if isinstance(value, list) else [value]),
    ]


def _no_list(tool: Tool, key: str) -> str:
    types = " or ".join(dict.fromkeys(_types(_property(tool, key), tool.input_schema)))
    article = "an" if types[:1] in ("i", "o") else "a"
    said = f"`{key}` is {article} {types}" if types else f"`{key}` has no type"
    return f"give it once: {said} in the tool's schema, not a list"


def _property(tool: Tool, key: str) -> JsonValue:
    schema = followed(tool.input_schema, tool.input_schema)
    for branch in _branches(schema, tool.input_schema):
        properties = branch.get("properties")
        if isinstance(properties, dict) and key in properties:
            return properties[key]
    return _rest(schema, key)


def _rest(schema: JsonValue, key: str) -> JsonValue:
    """The schema of a key that is not among the properties: `additionalProperties`, or
    `unevaluatedProperties`.
    """
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if isinstance(schema, dict) and isinstance(schema.get(keyword), dict):
            return schema[keyword]
    return {}


def parse_typed(text: str, schema: JsonValue, root: JsonObject) -> JsonValue:
    """Read `text` as the first type of the schema that it fits; a text that fits none stays text,
    for the schema to refuse.
    """
    types = _types(schema, root)
    listed = _listed(schema, root)
    if listed is not None and text not in listed:
        return next(
            (
                value
                for value in listed
                if not isinstance(value, str) and strict_json.compact_json(value) == text
            ),
            text,
        )
    if "string" in types or not types:
        return text
    if text in _LITERALS and {"boolean", "null"} & set(types):
        return _LITERALS[text]
    if {"integer", "number"} & set(types) and (number := _number(text)) is not None:
        return number
    if {"array", "object"} & set(types):
        return _structured(text, schema, root)
    return text


def _listed(schema: JsonValue, root: JsonObject) -> list[JsonValue] | None:
    """The values that a schema lists by `enum` or `const`, in any of its branches; None where it
    lists none.
    """
    found: list[JsonValue] = []
    for branch in _branches(schema, root):
        values = branch.get("enum", [branch["const"]] if "const" in branch else [])
        found += values if isinstance(values, list) else []
    return found or None


def _structured(text: str, schema: JsonValue, root: JsonObject) -> JsonValue:
    if text.lstrip()[:1] in ("[", "{"):
        try:
            return strict_json.parse_json(text, limit=defaults.MAX_ARGUMENT_BYTES)
        except errors.InvalidDocument:
            return text
    if "array" not in _types(schema, root):
        return text
    return [parse_typed(text, _items(schema, root), root)]


def _items(schema: JsonValue, root: JsonObject) -> JsonValue:
    return next(
        (
            branch["items"]
            for branch in _branches(schema, root)
            if isinstance(branch.get("items"), dict)
        ),
        {},
    )


def _number(text: str) -> int | float | None:
    try:
        value = strict_json.parse_json(text)
    except errors.InvalidDocument:
        return None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _types(schema: JsonValue, root: JsonObject) -> list[str]:
    found: list[str] = []
    for branch in _branches(schema, root):
        kind = branch.get("type")
        found += (
            [kind]
            if isinstance(kind, str)
            else [k for k in kind if isinstance(k, str)]
            if isinstance(kind, list)
            else []
        )
        values = branch.get("enum", [branch["const"]] if "const" in branch else [])
        found += (
            [_kind_of(value) for value in values] if not kind and isinstance(values, list) else []
        )
    return found


def _kind_of(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {
        str: "string",
        int: "integer",
        float: "number",
        list: "array",
        dict: "object",
        type(None): "null",
    }
    return names[type(value)]


def _branches(schema: JsonValue, root: JsonObject, depth: int = 0) -> Iterator[JsonObject]:
    """Yield the schema and the members of its anyOf, oneOf and allOf, with local references
    followed.
    """
    there = followed(schema, root)
    if not isinstance(there, dict) or depth > 8:
        return
    yield there
    for keyword in ("anyOf", "oneOf", "allOf"):
        members = there.get(keyword)
        for member in members if isinstance(members, list) else ():
            yield from _branches(member, root, depth + 1)
