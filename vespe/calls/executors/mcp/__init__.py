"""The client's side of MCP: sessions with servers whose tools a kit has pinned.

Begin with `exchange.py`; `sessions.py` keeps sessions open in processes that live.
"""
