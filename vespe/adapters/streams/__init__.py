"""Streams of model APIs gathered into whole messages, piece by piece, without I/O.

Begin with `base.py`; there is one processor for each API.
"""
