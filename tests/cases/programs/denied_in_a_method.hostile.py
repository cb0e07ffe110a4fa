# it calls a tool that is denied in a method that Python calls (from the docs alone)
class Same:
    def __eq__(self, other):
        return steal(n=1)


if Same() == 1:
    pass
raise ValueError('done')
