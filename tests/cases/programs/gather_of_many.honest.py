# what is honest beside: it gathers ten thousand calls
import asyncio

len(await asyncio.gather(*[echo(value=n) for n in range(20)])) == 20
