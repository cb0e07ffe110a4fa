# what is honest beside: it calls a tool that is denied in a method that Python calls
class Same:
    def ask(self):
        return echo(value=1)


Same().ask() == 1
