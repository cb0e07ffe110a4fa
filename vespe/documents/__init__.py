"""JSON, YAML, JSONC and TOML between text and data, with pointers, positions, typed fields and
redaction.

Uses `files` and what lies below it.
Begin with `strict_json.py`: everything that Vespe reads of its own is strict JSON.
"""
