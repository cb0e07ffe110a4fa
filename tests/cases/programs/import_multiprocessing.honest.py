# what is honest beside: it imports multiprocessing
import typing

typing.Any is not None
