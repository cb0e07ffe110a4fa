"""macOS's profile as a text: it has not run on a Mac, and no test here says that it holds."""

from vespe.processes.sandbox import seatbelt


def test_what_is_hidden_comes_before_what_is_given_and_paths_are_quoted() -> None:
    text = seatbelt.profile(hidden=['/h/"x'], readable=["/h/p"], writable=["/h/p"], network=False)
    lines = text.splitlines()
    assert lines.index('(deny file-read-data (subpath "/h/\\"x"))') < lines.index(
        '(allow file-read* (subpath "/h/p"))'
    )
    assert lines.index("(deny file-write*)") < lines.index('(allow file-write* (subpath "/h/p"))')
    assert "(deny network*)" in lines and "(deny network*)" not in seatbelt.profile(
        hidden=[], readable=[], writable=[], network=True
    )
