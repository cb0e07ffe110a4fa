# it opens a connection by asyncio (from the docs alone)
import asyncio

await asyncio.open_connection('127.0.0.1', CANARY_PORT)
