"""What each model's API takes: one row a limit, with the page that says so and its date; the only
place to bring up to date.
"""

from functools import cache
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from vespe.models import Severity
from vespe.records import dataclass

Standing: TypeAlias = Literal["documented", "observed", "advised", "unverified"]
"""How a limit is known. `documented`: the vendor's page or schema says it. `observed`: the API's
own error message says it. `advised`: the vendor asks for it (SHOULD) and takes more, or leaves away
what is more. `unverified`: it held once, or somewhere.
"""
TARGETS: Final = ("openai", "anthropic", "gemini", "ollama", "mcp")


class Source(NamedTuple):
    """Where a limit stands: an address, the date (YYYY-MM-DD) of the message or version, or of the
    reading where a page bears none.
    """

    page: str
    date: str
    standing: Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One limit of one API. `words` completes a sentence ("takes …"); `value` is a number, a
    regular expression or a set of words.
    """

    api: str
    about: str
    value: Any
    words: str
    source: Source

    @property
    def severity(self) -> Severity:
        """An error only where the API is known to refuse."""
        return "error" if self.source.standing in ("documented", "observed") else "warning"


_OPENAI_API = Source(
    "https://platform.openai.com/docs/api-reference/chat/create", "2026-09-04", "documented"
)
_OPENAI_ROOT = Source(
    "https://github.com/langchain-ai/langchainjs/issues/9804", "2026-01-14", "observed"
)
_OPENAI_ITEMS = Source(
    "https://github.com/digitalocean-labs/mcp-digitalocean/issues/265", "2026-02-14", "observed"
)
_OPENAI_NO_PROPERTIES = Source(
    "https://github.com/github/copilot-cli/issues/2223", "2026-03-23", "unverified"
)
_OPENAI_DESCRIPTION = Source(
    "https://github.com/run-llama/llama_index/pull/18784", "2025-05-19", "unverified"
)
_OPENAI_TOOLS = Source("https://github.com/anomalyco/opencode/issues/4909", "2025-11-29", "advised")
_OPENAI_STRICT = Source(
    "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas",
    "2026-02-01",
    "documented",
)
_OPENAI_STRICT_ONE_OF = Source(
    "https://github.com/openai/openai-node/pull/2602", "2026-09-04", "observed"
)
_OPENAI_STRICT_UNIQUE = Source(
    "https://github.com/1jehuang/jcode/issues/687", "2026-07-31", "observed"
)
_OPENAI_STRICT_OLD = Source(_OPENAI_STRICT.page, "2026-02-01", "unverified")
_CLAUDE_TOOLS = Source(
    "https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools",
    "2026-11-21",
    "documented",
)
_CLAUDE_ROOT = Source(
    "https://github.com/MoonshotAI/kimi-code/issues/2328", "2026-07-28", "observed"
)
_CLAUDE_KEYS = Source(
    "https://github.com/anthropics/claude-code/issues/79418", "2026-07-20", "observed"
)
_CLAUDE_DRAFT = Source(
    "https://github.com/anthropics/claude-code/issues/86665", "2026-08-14", "observed"
)
_CLAUDE_STRICT = Source(
    "https://platform.claude.com/docs/en/build-with-claude/structured-outputs",
    "2026-05-19",
    "documented",
)
_CLAUDE_STRICT_SUM = Source(_CLAUDE_STRICT.page, "2026-05-19", "advised")
_GEMINI_API = Source(
    "https://ai.google.dev/api/caching#FunctionDeclaration", "2025-11-30", "documented"
)
_GEMINI_NAME = Source("https://github.com/kaitranntt/ccs/issues/25", "2025-11-30", "observed")
_VERTEX = "https://docs.cloud.google.com/gemini-enterprise-agent-platform/reference/rest/v1"
_GEMINI_SHORTER = Source(f"{_VERTEX}/FunctionDeclaration", "2026-11-21", "advised")
_GEMINI_SCHEMA = Source("https://ai.google.dev/api/caching#Schema", "2026-05-20", "documented")
_GEMINI_VERTEX = Source(f"{_VERTEX}/Schema", "2026-11-21", "unverified")
_GEMINI_TYPES = Source(
    "https://github.com/langchain-ai/langchainjs/issues/11328", "2026-08-10", "observed"
)
_GEMINI_ENUM = Source(
    "https://github.com/microsoft/azure-devops-mcp/issues/145", "2025-07-01", "observed"
)
_GEMINI_ITEMS = Source("https://github.com/cline/cline/issues/7339", "2025-11-06", "observed")
_GEMINI_FORMAT = Source(
    "https://github.com/google-gemini/gemini-cli/issues/3178", "2025-07-03", "unverified"
)
_OLLAMA_TYPES = Source(
    "https://github.com/ollama/ollama/blob/main/api/types.go", "2025-04-25", "documented"
)
_OLLAMA_DROPS = Source(_OLLAMA_TYPES.page, "2025-04-25", "advised")
_MCP_SCHEMA = Source(
    "https://modelcontextprotocol.io/specification/2026-07-28/schema#tool",
    "2026-07-28",
    "documented",
)
_MCP_NAMES = Source(
    "https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names",
    "2026-07-28",
    "advised",
)
_MCP_HEADER = Source(
    "https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header",
    "2026-07-28",
    "documented",
)
_MCP_OUTPUT = Source(
    "https://modelcontextprotocol.io/specification/2025-11-25/schema#tool", "2025-11-25", "advised"
)

_COMPOSED = frozenset(("oneOf", "anyOf", "allOf"))
_CLAUDE_BOUNDS = frozenset(
    (
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
    )
)
_FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
)
_GEMINI_FIELDS = frozenset(
    (
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "minLength",
        "maxLength",
        "pattern",
        "minimum",
        "maximum",
        "anyOf",
        "propertyOrdering",
        "default",
        "example",
    )
)
_UNLISTED = frozenset(
    (
        "patternProperties",
        "unevaluatedProperties",
        "propertyNames",
        "unevaluatedItems",
        "contains",
        "minContains",
        "maxContains",
        "prefixItems",
    )
)
_ON_VERTEX = frozenset(("additionalProperties", "$ref", "$defs", "ref", "defs"))
_DROPPED = frozenset(("$ref", "oneOf", "allOf", "const"))


def _row(api: str, about: str, value: Any, *, words: str, source: Source) -> Limit:
    return Limit(api=api, about=about, value=value, words=words, source=source)


LIMITS: Final[tuple[Limit, ...]] = (
    _row(
        "openai",
        "name-characters",
        r"[A-Za-z0-9_-]+",
        words="letters, digits, _ and -",
        source=_OPENAI_API,
    ),
    _row("openai", "name-length", 64, words="64 characters", source=_OPENAI_API),
    _row(
        "openai",
        "description-length",
        1024,
        words="1,024 characters on older models and on Azure",
        source=_OPENAI_DESCRIPTION,
    ),
    _row(
        "openai",
        "root-keywords",
        _COMPOSED | {"enum", "not"},
        words="no oneOf, anyOf, allOf, enum or not",
        source=_OPENAI_ROOT,
    ),
    _row(
        "openai",
        "root-properties",
        True,
        words="`properties`, even an empty one",
        source=_OPENAI_NO_PROPERTIES,
    ),
    _row("openai", "array-items", True, words="`items` beside every array", source=_OPENAI_ITEMS),
    _row("openai", "tools-count", 128, words="128 tools in one request", source=_OPENAI_TOOLS),
    _row(
        "openai",
        "strict-closed",
        True,
        words="`additionalProperties: false` on every object",
        source=_OPENAI_STRICT,
    ),
    _row(
        "openai",
        "strict-required",
        True,
        words="every property in `required`",
        source=_OPENAI_STRICT,
    ),
    _row(
        "openai",
        "strict-keywords",
        frozenset(("allOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else")),
        words="neither allOf, not, dependentRequired, dependentSchemas nor if, then, else",
        source=_OPENAI_STRICT,
    ),
    _row(
        "openai",
        "strict-keywords",
        frozenset(("oneOf",)),
        words="no oneOf",
        source=_OPENAI_STRICT_ONE_OF,
    ),
    _row(
        "openai",
        "strict-keywords",
        frozenset(("uniqueItems", "minProperties", "maxProperties")),
        words="no uniqueItems, minProperties or maxProperties",
        source=_OPENAI_STRICT_UNIQUE,
    ),
    _row(
        "openai",
        "strict-keywords",
        _UNLISTED,
        words="no keyword that its guide does not list",
        source=_OPENAI_STRICT_OLD,
    ),
    _row(
        "openai",
        "strict-root",
        frozenset(("anyOf",)),
        words="no anyOf at the root",
        source=_OPENAI_STRICT,
    ),
    _row(
        "openai",
        "strict-formats",
        _FORMATS,
        words=", ".join(sorted(_FORMATS)),
        source=_OPENAI_STRICT_OLD,
    ),
    _row("openai", "strict-depth", 10, words="10 levels of nested objects", source=_OPENAI_STRICT),
    _row(
        "openai", "strict-properties", 5000, words="5,000 properties in all", source=_OPENAI_STRICT
    ),
    _row(
        "openai",
        "strict-characters",
        120_000,
        words="120,000 characters of names, enum and const values in all",
        source=_OPENAI_STRICT,
    ),
    _row("openai", "strict-enum", 1000, words="1,000 enum values in all", source=_OPENAI_STRICT),
    _row(
        "openai",
        "strict-enum-characters",
        15_000,
        words="15,000 characters in one enum of more than 250 strings",
        source=_OPENAI_STRICT,
    ),
    _row(
        "anthropic",
        "name-characters",
        r"[A-Za-z0-9_-]+",
        words="letters, digits, _ and -",
        source=_CLAUDE_TOOLS,
    ),
    _row(
        "anthropic",
        "name-length",
        64,
        words="64 characters by its documentation",
        source=_CLAUDE_TOOLS,
    ),
    _row(
        "anthropic",
        "schema-present",
        True,
        words="a tool with its `input_schema` alone",
        source=_CLAUDE_TOOLS,
    ),
    _row(
        "anthropic",
        "root-keywords",
        _COMPOSED,
        words="no oneOf, anyOf or allOf",
        source=_CLAUDE_ROOT,
    ),
    _row(
        "anthropic",
        "property-name",
        r"[A-Za-z0-9_.-]{1,64}",
        words="argument names of 64 letters, digits, _, . and - at most",
        source=_CLAUDE_KEYS,
    ),
    _row(
        "anthropic",
        "draft",
        "2020-12",
        words="what JSON Schema 2020-12 takes, whatever `$schema` says",
        source=_CLAUDE_DRAFT,
    ),
    _row(
        "anthropic",
        "strict-closed",
        True,
        words="`additionalProperties: false` on every object",
        source=_CLAUDE_STRICT,
    ),
    _row(
        "anthropic",
        "strict-keywords",
        _CLAUDE_BOUNDS | {"maxItems"},
        words="no bounds of numbers, lengths and items (but minItems 0 and 1)",
        source=_CLAUDE_STRICT,
    ),
    _row(
        "anthropic",
        "strict-min-items",
        1,
        words="a minItems of 0 or 1 alone",
        source=_CLAUDE_STRICT,
    ),
    _row(
        "anthropic",
        "strict-recursion",
        False,
        words="no schema that refers to itself",
        source=_CLAUDE_STRICT,
    ),
    _row(
        "anthropic",
        "strict-formats",
        _FORMATS | {"uri"},
        words=", ".join(sorted(_FORMATS | {"uri"})),
        source=_CLAUDE_STRICT_SUM,
    ),
    _row(
        "anthropic",
        "strict-optional",
        24,
        words="24 optional properties in all strict tools together",
        source=_CLAUDE_STRICT_SUM,
    ),
    _row(
        "anthropic",
        "strict-unions",
        16,
        words="16 properties of several types in all strict tools together",
        source=_CLAUDE_STRICT_SUM,
    ),
    _row(
        "gemini",
        "name-characters",
        r"[A-Za-z0-9_.:-]+",
        words="letters, digits, _, ., : and -",
        source=_GEMINI_API,
    ),
    _row(
        "gemini",
        "name-first",
        r"[A-Za-z_]",
        words="a letter or _ as the first character",
        source=_GEMINI_API,
    ),
    _row("gemini", "name-length", 64, words="64 characters", source=_GEMINI_NAME),
    _row(
        "gemini",
        "property-name",
        r"[A-Za-z_][A-Za-z0-9_]{0,63}",
        words="argument names of 64 letters, digits and _ that begin with no digit",
        source=_GEMINI_SHORTER,
    ),
    _row(
        "gemini",
        "keywords",
        _GEMINI_FIELDS,
        words="a subset of OpenAPI 3.0 in `parameters`",
        source=_GEMINI_SCHEMA,
    ),
    _row(
        "gemini",
        "keywords-somewhere",
        _ON_VERTEX,
        words="on Vertex AI alone",
        source=_GEMINI_VERTEX,
    ),
    _row(
        "gemini",
        "one-type",
        True,
        words="one type per schema, plus `nullable`",
        source=_GEMINI_TYPES,
    ),
    _row("gemini", "enum-texts", True, words="strings alone in `enum`", source=_GEMINI_ENUM),
    _row("gemini", "array-items", True, words="`items` beside every array", source=_GEMINI_ITEMS),
    _row(
        "gemini",
        "formats",
        frozenset(("enum", "date-time")),
        words="the formats enum and date-time for strings",
        source=_GEMINI_FORMAT,
    ),
    _row(
        "ollama",
        "root-one-type",
        True,
        words="one string as the type of the root",
        source=_OLLAMA_TYPES,
    ),
    _row(
        "ollama",
        "property-object",
        True,
        words="an object as the schema of each property",
        source=_OLLAMA_TYPES,
    ),
    _row(
        "ollama",
        "keywords-dropped",
        _DROPPED,
        words="it reads type, items, enum, properties and anyOf",
        source=_OLLAMA_DROPS,
    ),
    _row(
        "mcp",
        "name-characters",
        r"[A-Za-z0-9_.-]+",
        words="letters, digits, _, . and -",
        source=_MCP_NAMES,
    ),
    _row("mcp", "name-length", 128, words="128 characters", source=_MCP_NAMES),
    _row(
        "mcp",
        "schema-present",
        True,
        words="a tool with its `inputSchema` alone",
        source=_MCP_SCHEMA,
    ),
    _row(
        "mcp",
        "header-name",
        r"[A-Za-z0-9!#$%&'*+.^_`|~-]+",
        words="names of HTTP headers",
        source=_MCP_HEADER,
    ),
    _row(
        "mcp",
        "output-root",
        "object",
        words="`type: object` at an output schema's root before revision 2026-07-28",
        source=_MCP_OUTPUT,
    ),
)
"""Every limit, API by API."""


@cache
def limits_on(about: str, *, api: str | None = None) -> tuple[Limit, ...]:
    """Return the limits about one thing, of one API or of all, as they stand in the table."""
    return tuple(limit for limit in LIMITS if limit.about == about and api in (None, limit.api))
