"""Errors that nobody foresaw: they go to the logger `vespe`, which writes to stderr where nothing
else is set up, and the client is answered. A client without an answer would wait forever.
"""

from typing import Final

from vespe.errors import VespeError
from vespe.features.mcp.server import messages
from vespe.features.mcp.server.messages import RequestId
from vespe.lazy import logging
from vespe.models import JsonObject

_MAX_METHOD: Final = 80


def failed(identifier: RequestId, method: str, error: Exception) -> JsonObject:
    """Return the answer to a request that an error ended: the sentence of one of ours; of any other
    its kind alone, since its text is for whoever reads the log.
    """
    if isinstance(error, VespeError):
        said = f"{error} ({error.hint})" if error.hint else str(error)
        return messages.failed(identifier, messages.INTERNAL_ERROR, said, data={"code": error.code})
    what = f"the request {method[:_MAX_METHOD]!r}"
    log(what, error)
    return messages.failed(
        identifier,
        messages.INTERNAL_ERROR,
        f"a bug in Vespe ended {what} ({type(error).__name__}); "
        "the log of the server has the details",
    )


def log(what: str, error: Exception) -> None:
    """Write an error that nobody foresaw to the log, with where it was raised."""
    logging.getLogger("vespe").error(
        "a bug in Vespe ended %s; please report it with the lines below", what, exc_info=error
    )
