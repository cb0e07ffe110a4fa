"""JUnit XML that a parser reads back, whatever the tools said."""

import xml.etree.ElementTree as ElementTree

from vespe.features.examples.verbs.junit import Case, junit_xml


def test_cases_are_read_back_with_their_times_and_failures() -> None:
    text = junit_xml(
        "s",
        [
            Case("scope.a", "/examples/0", 0.5, None),
            Case("scope.a", "/examples/1", 0.25, 'gave <1> & "2"\nhere'),
        ],
    )
    suites = ElementTree.fromstring(text)
    suite = suites[0]
    assert (
        suites.tag == "testsuites"
        and suite.attrib["tests"] == "2"
        and suite.attrib["failures"] == "1"
        and suite.attrib["time"] == "0.750"
    )
    assert [case.attrib["name"] for case in suite] == ["/examples/0", "/examples/1"]
    assert suite[1][0].attrib["message"] == 'gave <1> & "2"\nhere'


def test_characters_that_xml_cannot_say_are_shown() -> None:
    message = ElementTree.fromstring(
        junit_xml("s", [Case("c", "n", 0, "\0\x1b[31m\ufffe\ud800\u202e")])
    )[0][0][0].attrib["message"]
    assert message == r"\x00\x1b[31m\ufffe\ud800\u202e"


def test_what_is_skipped_is_said_of_a_suite_and_not_of_all_suites() -> None:
    suites = ElementTree.fromstring(junit_xml("s", [Case("c", "n", 0.5, None)]))
    assert set(suites.attrib) == {"tests", "failures", "errors", "time"}
    assert suites[0].get("skipped") == "0"
