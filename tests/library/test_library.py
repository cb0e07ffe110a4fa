"""The package of the library has the names that it had as a module."""

from vespe import library
from vespe.library import project, verbs


def test_the_names_are_those_of_its_modules() -> None:
    assert library.Project is project.Project
    assert all(
        getattr(library, name) is getattr(verbs, name)
        for name in library.__all__
        if name != "Project"
    )
