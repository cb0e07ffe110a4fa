# what is honest beside: it awaits one gathering of denied calls twice
import asyncio

await asyncio.gather(echo(value=1)) == [1]
