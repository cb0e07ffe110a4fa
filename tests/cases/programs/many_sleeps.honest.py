# what is honest beside: it sleeps for ever
import asyncio

await asyncio.sleep(0)
True
