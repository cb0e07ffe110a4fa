"""Errors of endpoints as sentences: the message, code and request id that a vendor's body and
headers hold, and no key.
"""

from collections.abc import Collection, Mapping
from typing import Final

from vespe.documents import redaction, strict_json
from vespe.errors import InvalidDocument, ProviderError
from vespe.features.agents.providers import retries
from vespe.http import bodies
from vespe.models import JsonObject, JsonValue

MAX_BODY_BYTES: Final = 1024 * 1024
"""The most that is read of an error's body."""
_EXCERPT: Final = 600
_REQUEST_IDS: Final = (
    "request-id",
    "x-request-id",
    "x-amzn-requestid",
    "apim-request-id",
    "cf-ray",
)


def of_status(
    status: int, headers: Mapping[str, str], body: bytes, *, who: str, secrets: Collection[str] = ()
) -> ProviderError:
    """Return the error of an answer whose status is no success; `secrets` are taken out of all that
    it says.
    """
    text, _ = bodies.decode(body, headers.get("content-type", ""))
    message, code = _told(text)
    reading = redaction.redact([message, code, request_id(headers)], secrets)
    shown, code, identifier = (_cut(" ".join(str(part).split())) for part in reading)
    error = ProviderError(
        f"{who} answered with status {status}"
        + (f": {shown}" if shown else "")
        + (f" (request {identifier})" if identifier else ""),
        status=status,
        vendor_code=code,
        request_id=identifier,
        transient=retries.is_transient(status, headers),
        hint=_hint(status, headers, who),
    )
    error.retry_after_s = retries.retry_after(headers)
    return error


def broken(who: str, why: str, *, at_once: bool = False, hint: str = "") -> ProviderError:
    """Return the error of a connection that was not made, or ended before the first byte; `at_once`
    asks for a retry without a wait.
    """
    error = ProviderError(f"{who} gave no answer: {why}", transient=True, hint=hint)
    error.retry_after_s = 0.0 if at_once else None
    return error


def request_id(headers: Mapping[str, str]) -> str:
    """Return the vendor's name for a request, by its headers, or ""."""
    return next((headers[name] for name in _REQUEST_IDS if headers.get(name)), "")


def _told(text: str) -> tuple[str, str]:
    """Return (message, code) of an error's body: OpenAI's, Anthropic's and Ollama's shapes,
    FastAPI's `detail`, or the text.
    """
    try:
        document = strict_json.parse_json(text, limit=MAX_BODY_BYTES * 4)
    except InvalidDocument:
        return text, ""
    while isinstance(document, list) and document:
        document = document[0]
    if not isinstance(document, dict):
        return text, ""
    error = document.get("error", document)
    if not isinstance(error, dict):
        return str(error), _code(document)
    told = error.get("message", error.get("detail", error.get("error")))
    return (
        told if isinstance(told, str) else strict_json.compact_json(told if told else document)
    ), _code(error)


def _code(error: JsonObject) -> str:
    found: JsonValue = error.get("code") or error.get("type")
    return str(found) if isinstance(found, (str, int)) else ""


def _hint(status: int, headers: Mapping[str, str], who: str) -> str:
    wait = retries.retry_after(headers)
    if status in (401, 403):
        return f"check that this is a key for {who}"
    if status == 404:
        return "check the model's name and `base_url`"
    if 300 <= status < 400:
        return (
            "Vespe does not follow redirects with a key; use the URL that it leads to as `base_url`"
        )
    return f"it asks to wait {wait:g} s" if wait else ""


def _cut(text: str) -> str:
    return (
        text
        if len(text) <= _EXCERPT
        else f"{text[:_EXCERPT]}… (cut by vespe: {len(text)} characters)"
    )
