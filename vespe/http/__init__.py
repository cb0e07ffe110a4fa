"""One bounded, address-checked HTTP exchange: sockets, deadlines, bodies, server-sent events.

Uses `errors`, `defaults` and `lazy`. No other package opens a connection.
Begin with `client.py`; `addresses.py` says which hosts may be dialled.
"""
