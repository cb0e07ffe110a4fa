"""JSON text of many values, by an encoder that is made once."""

import json
from collections.abc import Callable
from typing import Any


def text_encoder(encoder: json.JSONEncoder) -> Callable[[Any], str]:
    """Give `encoder.encode` as a function whose C part is made once, not for each value: that is half of a small value's cost.

    Raises what the encoder raises: TypeError, ValueError (a value that holds itself too), RecursionError.
    """
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return encoder.encode
    strings = json.encoder.encode_basestring_ascii if encoder.ensure_ascii else json.encoder.encode_basestring
    key, item = encoder.key_separator, encoder.item_separator
    chunks = make(None, encoder.default, strings, None, key, item, encoder.sort_keys, encoder.skipkeys, encoder.allow_nan)

    def encode(value: Any) -> str:
        try:
            return "".join(chunks(value, 0))
        except RecursionError:
            return encoder.encode(value)

    return encode
