# what is honest beside: it gathers calls of a tool that is denied
import asyncio

await asyncio.gather(echo(value=1), echo(value=2)) == [1, 2]
