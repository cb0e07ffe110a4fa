"""What lint says of a request, as data."""

from vespe.types.http_request.remarks import destroys, remarks


def test_plain_http_is_told_but_on_the_own_machine() -> None:
    (said,) = remarks({"path": "http://a.example/x"}, [])
    assert (said.code, said.pointer) == ("safety-plain-http", "/implementation_details/path")
    assert [*remarks({"path": "http://localhost:8000/x"}, [])] == []


def test_a_secret_that_no_slot_names_is_told() -> None:
    details = {"path": "https://a.example", "args": {"headers": {"X-Key": "${env:A}"}}}
    (said,) = remarks(details, ["A", "B", 3])
    assert (said.code, said.pointer) == ("safety-unused-secret", "/secrets/1")


def test_a_delete_destroys() -> None:
    assert destroys({"entrypoint": "delete"}) == "delete"
    assert destroys({}) is None
