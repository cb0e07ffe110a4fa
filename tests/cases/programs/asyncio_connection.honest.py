# what is honest beside: it opens a connection by asyncio
int('CANARY_PORT') > 0
