# it sleeps for ever
import asyncio

while True:
    await asyncio.sleep(0)
