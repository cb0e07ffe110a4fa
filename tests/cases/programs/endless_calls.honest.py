# what is honest beside: it calls a tool for ever and swallows every error
sum(echo(value=i) for i in range(5)) == 10
