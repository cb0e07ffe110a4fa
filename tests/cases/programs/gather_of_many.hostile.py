# it gathers ten thousand calls (from the docs alone)
import asyncio

await asyncio.gather(*[echo(value=n) for n in range(10000)])
