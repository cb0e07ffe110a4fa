# it awaits one gathering of denied calls twice (from the docs alone)
import asyncio

c = asyncio.gather(steal(n=1), steal(n=2))
await c
await c
