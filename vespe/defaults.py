"""File names, limits and environment variable names: the numbers and words that more than one
module needs.
"""

from typing import Final

VERSION: Final = "0.3.0"

PROJECT_DIR: Final = ".vespe"
CONFIG_FILE: Final = "config.json"
DESCRIPTION_FILE: Final = "description.md"
KIT_CONFIG_FILE: Final = "kit_config.json"
MCP_KITS_DIR: Final = "mcp_kits"
"""Of the user data directory: the kits of MCP servers."""
LOCK_FILE: Final = "kits.lock.json"
TOOLS_DIR: Final = "tools"
SCHEMAS_DIR: Final = "schemas"
PROJECT_TOOLS: Final = "project_tools"
ACTIVE_KITS: Final = "active_kits"
PROGRAM: Final = "program"
"""The scope of functions that the program itself registered."""
DEFAULT_ORDER: Final = (PROJECT_TOOLS, ACTIVE_KITS)

ENV_PROJECT: Final = "VESPE_PROJECT"
ENV_KITS_PATH: Final = "VESPE_KITS_PATH"
ENV_TRUSTED_PATHS: Final = "VESPE_TRUSTED_PATHS"
CHILD_ENVIRONMENT: Final = ("PATH", "HOME", "LANG", "TERM", "USER", "TMPDIR", "TZ")
"""Variables that a tool's process inherits, with every LC_*; declared secrets are added, nothing
else.
"""

MAX_FILE_BYTES: Final = 1024 * 1024
MAX_JSON_DEPTH: Final = 64
MAX_ARGUMENT_BYTES: Final = 1024 * 1024

TIMEOUT_S: Final = 30.0
MAX_TIMEOUT_S: Final = 86_400
GRACE_S: Final = 2.0
"""Between TERM and KILL; shorter (ORPHAN_GRACE_S) when Vespe itself has died."""
ORPHAN_GRACE_S: Final = 0.3
MAX_OUTPUT_BYTES: Final = 1024 * 1024
"""What a call may give back, unless the tool says otherwise (`limits.max_output_bytes`)."""
MODEL_TOKENS: Final = 10_000
"""What a model is told of a result, by the estimate of `tool list --size`, unless the tool says
otherwise (`limits.model_tokens`).
"""
WHOLE: Final = "whole"
"""`limits.model_tokens` of a tool whose results a model is always told whole."""
LARGER_CAP_BYTES: Final = 8 * 1024 * 1024
"""The larger cap: an output is kept whole, in a private file, up to here; past it the tool is
ended.
"""
LOG_TAIL_BYTES: Final = 64 * 1024
"""How much of what a tool prints beside its result is kept as its log."""

MAX_EVENT_BYTES: Final = 8 * 1024 * 1024
"""One event, or one line, of a streamed answer."""
MAX_STREAM_BYTES: Final = 64 * 1024 * 1024
"""All of a streamed answer."""

MAX_SCHEMA_BYTES: Final = 256 * 1024
MAX_SCHEMA_DEPTH: Final = 32
MAX_SUBSCHEMAS: Final = 1000
MAX_PATTERN_LENGTH: Final = 512
MAX_ENUM: Final = 10_000

REDIRECT_HOSTS: Final = ("127.0.0.1", "localhost")
"""Under which names of this machine a login can be redirected to it; the first is the default."""

LOCK_TIMEOUT_S: Final = 10.0
