# what is honest beside: it starts a process by asyncio
import asyncio

await asyncio.sleep(0)
True
