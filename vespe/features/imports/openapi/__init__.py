"""OpenAPI documents, 2.0 to 3.2, as tools: one http_request for each operation.

Begin with `importing.py`. What is read was written by others: it is taken leniently, as plain
dictionaries, within bounds.
"""
