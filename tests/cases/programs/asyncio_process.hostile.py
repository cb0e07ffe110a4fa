# it starts a process by asyncio (from the docs alone)
import asyncio

await asyncio.create_subprocess_shell('touch CANARY_FILE')
