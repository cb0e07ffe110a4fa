# it calls a tool for ever and swallows every error
while True:
    try:
        echo(value=1)
    except BaseException:
        pass
