"""Threads that are kept for a moment."""

import contextvars
import os
import threading
import weakref
from functools import partial

from vespe.calls import threads


def _set(done: threading.Event, _: object) -> None:
    done.set()


def ran_in() -> int:
    """Run something in a thread, and give its identifier once that thread is idle."""
    found: list[int] = []
    done = threading.Event()

    def work() -> None:
        found.append(threading.get_ident())
        done.set()

    threads.start(work)
    assert done.wait(10)
    while not threads._idle:
        pass
    return found[0]


def test_work_after_work_has_the_same_thread() -> None:
    first = ran_in()
    assert first != threading.get_ident() and ran_in() == first


def test_work_that_does_not_end_keeps_no_other_waiting() -> None:
    end, ended = threading.Event(), threading.Barrier(21)

    def work() -> None:
        end.wait(10)
        ended.wait(10)

    for _ in range(20):
        threads.start(work)
    ran_in()
    end.set()
    ended.wait(10)


def test_what_the_work_held_is_let_go() -> None:
    class Held:
        pass

    held = Held()
    gone, done = weakref.ref(held), threading.Event()
    threads.start(partial(_set, done, held))
    del held
    assert done.wait(10)
    ran_in()
    assert gone() is None


def test_a_forked_process_starts_threads_of_its_own() -> None:
    ran_in()
    child = os.fork()
    if child == 0:
        os._exit(0 if ran_in() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_several_threads_see_what_was_set_where_a_function_was_made() -> None:
    named: contextvars.ContextVar[str] = contextvars.ContextVar("named", default="nothing")
    token = named.set("something")
    look = threads.in_this_context(lambda: seen.append(named.get()))
    named.reset(token)
    seen: list[str] = []
    others = [threading.Thread(target=look) for _ in range(3)]
    for thread in others:
        thread.start()
    for thread in others:
        thread.join()
    assert seen == ["something"] * 3 and named.get() == "nothing"
