# it gathers calls of a tool that is denied
import asyncio

await asyncio.gather(steal(n=1), steal(n=2))
