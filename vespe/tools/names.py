"""What a tool can be called, and what its uid looks like."""

from typing import Final

from vespe.lazy import pattern

NAME_PATTERN: Final = pattern(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
UID_PATTERN: Final = pattern(r"tool-[a-z0-9][a-z0-9_-]{0,58}")
