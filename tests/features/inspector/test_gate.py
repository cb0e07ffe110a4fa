"""Whom the inspector answers: a table of attacks on a server of this machine, each with what goes
on working beside it.
"""

import contextlib
import socket
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.features.inspector.conftest import XSS, stock
from tests.support.http_serving import gone, noted
from tests.support.inspecting import Inspecting, inspecting
from tests.support.ondisk import PATIENCE_S, vespe
from vespe.features.inspector.gate import MAX_BODY_BYTES

EVERY_PAGE = [
    "",
    "tool/project_tools/tool-say",
    "tool/project_tools/tool-bad",
    "resolution",
    "kits",
    "trust",
    "lint",
    "sizes",
    "log",
    "conversations",
    "conversations?of=talk.json",
    "replay?of=talk.json",
]
RUN = "tool/project_tools/tool-read"
EVIL = "http://evil.example"
SAID = b"This page answers only the browser that opened its link"


def test_the_browser_that_opened_the_link_is_answered(inspected: Inspecting) -> None:
    status, answer = inspected.get()
    assert status == 200
    assert b"<h1>Tools</h1>" in answer
    assert inspected.post(RUN, {})[0] == 303


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost:{port}",
        "127.0.0.1",
        "127.0.0.1:{port}.evil.example",
        "[::1]:{port}",
        None,
    ],
)
def test_attack_01_a_name_that_was_bound_anew_to_this_machine_is_not_answered(
    host: str | None, inspected: Inspecting
) -> None:
    assert inspected.get(Host=host and host.format(port=inspected.port))[0] in (400, 421)


@pytest.mark.parametrize(
    "origin",
    [EVIL, "null", "http://127.0.0.1", "http://localhost:{port}", "https://127.0.0.1:{port}", ""],
)
def test_attack_02_another_pages_form_is_refused(origin: str, inspected: Inspecting) -> None:
    assert inspected.post(RUN, {}, Origin=origin.format(port=inspected.port))[0] == 403


def test_attack_03_a_form_without_an_origin_is_refused(inspected: Inspecting) -> None:
    assert inspected.post(RUN, {}, Origin=None)[0] == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_attack_04_what_another_page_asks_for_is_refused(site: str, inspected: Inspecting) -> None:
    assert inspected.get(Sec_Fetch_Site=site)[0] == 403
    assert inspected.get(Sec_Fetch_Site="none")[0] == 200


@pytest.mark.parametrize(
    "cookie", [None, "", "vespe_inspect=", "vespe_inspect=" + "0" * 64, "other=1"]
)
def test_attack_05_who_has_no_cookie_learns_nothing_and_runs_nothing(
    cookie: str | None, inspected: Inspecting
) -> None:
    for status, answer in (inspected.get(Cookie=cookie), inspected.post(RUN, {}, Cookie=cookie)):
        assert status == 403
        assert SAID in answer


def test_attack_06_the_link_opens_once(project: Path) -> None:
    with inspecting(project) as fresh:
        head, link = (
            f"Host: 127.0.0.1:{fresh.port}\r\nConnection: close\r\n\r\n",
            fresh.link.removeprefix(fresh.origin),
        )
        # nor does a look at it use it up
        assert fresh.raw(f"HEAD {link} HTTP/1.1\r\n{head}")[0] == 403
        fresh.open()
        status, answer = fresh.raw(f"GET {link} HTTP/1.1\r\n{head}")
        assert (status, SAID in answer) == (403, True)
        assert fresh.get()[0] == 200
        assert fresh.stop() == 130


def test_attack_07_no_token_in_an_address_lets_anybody_in(inspected: Inspecting) -> None:
    value = inspected.cookie.partition("=")[2]
    for query in (
        f"?token={value}",
        f"?vespe_inspect={value}",
        f"?cookie={inspected.cookie}",
        f"?token={inspected.token}",
    ):
        assert inspected.get(query, Cookie=None, Authorization=f"Bearer {value}")[0] == 403


def test_attack_08_a_room_alone_lets_nobody_in_and_neither_does_a_cookie(
    inspected: Inspecting,
) -> None:
    assert inspected.send("GET", "/")[0] == inspected.send("GET", f"/{'0' * 64}/")[0] == 403
    assert inspected.get(Cookie=None)[0] == 403


@pytest.mark.parametrize("token", ["", "0" * 64])
def test_attack_09_a_form_of_somebody_elses_making_is_refused(
    token: str, inspected: Inspecting
) -> None:
    assert inspected.post(RUN, {"token": token})[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "%2e%2e/secret.txt",
        "..%2fsecret.txt",
        "tool/project_tools/..%2f..%2f..%2fsecret.txt",
        "style.css/../../etc/passwd",
        "tool/%2e%2e/tool-say",
        "//etc/passwd",
        "tool/project_tools/tool-say%00",
        "tool/project_tools/tool-say/main.py",
        "base.html",
        "style.css%2f..%2fbase.html",
        "tool\\project_tools\\tool-say",
        "%ff%fe",
        "file:///etc/passwd",
    ],
)
def test_attack_10_no_path_leads_out_of_the_pages(path: str, inspected: Inspecting) -> None:
    status, answer = inspected.get(path)
    assert status in (403, 404)
    assert b"the secret" not in answer
    assert b"root:" not in answer
    assert inspected.get("style.css")[0] == 200


def test_attack_11_what_a_project_says_is_shown_as_text(inspected: Inspecting) -> None:
    query = urlencode({"q": XSS, "tool": XSS, "scope": XSS, "of": XSS, "rule": XSS})
    for page in [*EVERY_PAGE, *(f"{page}?{query}" for page in ("", "log", "resolution", "lint"))]:
        status, answer = inspected.get(page)
        assert status == 200, page
        assert b"<script>document" not in answer
        assert b"<img src=x" not in answer
        assert "\u202e".encode() not in answer
        assert b"\x1b" not in answer


def test_attack_12_what_a_tool_answers_is_shown_as_text(inspected: Inspecting) -> None:
    status, asked = inspected.post("tool/project_tools/tool-say", {"in:text": XSS})
    assert status == 303
    waiting = asked.partition(b"waiting=")[2].partition(b"#")[0].decode()
    status, ran = inspected.post(
        "tool/project_tools/tool-say", {"waiting": waiting, "answer": "once"}
    )
    shown = inspected.get(
        "tool/project_tools/tool-say?ran=" + ran.partition(b"ran=")[2].partition(b"#")[0].decode()
    )[1]
    assert b'class="outcome ok"' in shown
    assert b"&lt;script&gt;document" in shown
    assert b"<script>document" not in shown


@pytest.mark.parametrize("page", ["", "style.css", "nowhere", RUN])
def test_attack_13_every_answer_refuses_to_be_framed_kept_sniffed_or_embedded(
    page: str, inspected: Inspecting
) -> None:
    head = inspected.get(page)[1].partition(b"\r\n\r\n")[0].decode().lower()
    policy = head.partition("content-security-policy: ")[2].partition("\r\n")[0]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    same = [
        f"{name}: same-origin"
        for name in (
            "cross-origin-resource-policy",
            "cross-origin-opener-policy",
            "referrer-policy",
        )
    ]
    for said in (
        "frame-ancestors 'none'",
        "x-frame-options: deny",
        "cache-control: no-store",
        "x-content-type-options: nosniff",
        *same,
    ):
        assert said in head
    assert "access-control" not in head
    assert "server:" not in head


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND"])
def test_attack_14_a_method_that_no_page_uses_is_refused(
    method: str, inspected: Inspecting
) -> None:
    assert inspected.send(method, inspected.room)[0] in (400, 405)
    assert inspected.send("HEAD", inspected.room)[0] == 200


def test_attack_15_a_get_runs_nothing(inspected: Inspecting) -> None:
    mark = inspected.project / "get"
    assert (
        inspected.get(
            f"tool/project_tools/tool-nap?in:mark={mark}&token={inspected.token}&answer=once"
        )[0]
        == 200
    )
    assert not mark.exists()


def test_attack_16_a_huge_form_is_refused_before_it_is_read(inspected: Inspecting) -> None:
    head = (
        f"POST {inspected.room}{RUN} HTTP/1.1\r\nHost: 127.0.0.1:{inspected.port}\r\nCookie: "
        f"{inspected.cookie}\r\n"
    )
    head += f"Origin: {inspected.origin}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    assert inspected.raw(f"{head}Content-Length: {MAX_BODY_BYTES + 1}\r\n\r\n")[0] == 413
    assert inspected.raw(f"{head}Content-Length: -1\r\n\r\n")[0] in (400, 413)
    assert inspected.post(RUN, {f"in:{n}": "1" for n in range(2000)})[0] == 400
    assert inspected.post(RUN, {})[0] == 303


def test_attack_17_slow_clients_keep_nobody_waiting(inspected: Inspecting) -> None:
    slow = [
        socket.create_connection(("127.0.0.1", inspected.port), timeout=PATIENCE_S)
        for _ in range(150)
    ]
    said = b"unread"
    with contextlib.suppress(ConnectionError):  # one that is closed with something unread is reset
        for connection in reversed(slow):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
    assert inspected.get()[0] == 200
    try:
        said = slow[0].recv(1)
    except ConnectionResetError:
        said = b""
    assert said == b""  # the oldest of too many is closed at once
    for connection in slow:
        connection.close()


def test_attack_18_a_preflight_of_another_page_is_refused_and_allows_nothing(
    inspected: Inspecting,
) -> None:
    for origin, status in ((EVIL, 403), (inspected.origin, 405)):
        answered = inspected.send(
            "OPTIONS", inspected.room + RUN, Origin=origin, Access_Control_Request_Method="POST"
        )
        assert answered[0] == status
        assert b"access-control" not in answered[1].lower()


def test_attack_19_there_is_no_websocket(inspected: Inspecting) -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "x" * 22 + "==",
        "Sec-WebSocket-Version": "13",
    }
    assert inspected.get(**upgrade)[0] == 400


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/json", "multipart/form-data; boundary=x", ""]
)
def test_attack_20_a_form_is_of_one_kind(kind: str, inspected: Inspecting) -> None:
    assert inspected.post(RUN, {}, Content_Type=kind)[0] == 415


def test_attack_21_a_file_behind_a_link_is_not_shown(inspected: Inspecting) -> None:
    answer = inspected.get("tool/project_tools/tool-nap")[1]
    assert b"the secret" not in answer
    assert b"a symbolic link" in answer


def test_attack_22_nothing_of_a_project_without_trust_runs(project: Path) -> None:
    stock(project)
    assert vespe("untrust", cwd=project).returncode == 0
    with inspecting(project) as fresh:
        fresh.open()
        assert b"not trusted" in fresh.get()[1]
        assert b'name="in:mark"' not in fresh.get("tool/project_tools/tool-nap")[1]
        fresh.token = "0" * 64
        assert (
            fresh.post("tool/project_tools/tool-nap", {"in:mark": str(project / "mark")})[0] == 403
        )
    assert not (project / "mark").exists()


def test_attack_23_a_header_that_comes_twice_is_as_good_as_none(inspected: Inspecting) -> None:
    head = f"GET {inspected.room} HTTP/1.1\r\nCookie: {inspected.cookie}\r\nConnection: close\r\n"
    assert inspected.raw(f"{head}Host: 127.0.0.1:{inspected.port}\r\nHost: evil.example\r\n\r\n")[
        0
    ] in (400, 421)
    assert (
        inspected.raw(
            f"{head}Host: 127.0.0.1:{inspected.port}\r\nOrigin: "
            f"{inspected.origin}\r\nOrigin: {EVIL}\r\n\r\n"
        )[0]
        == 403
    )
    assert inspected.get(Cookie=f"vespe_inspect=tossed; {inspected.cookie}")[0] == 200


@pytest.mark.skipif(
    not Path("/proc/net/tcp").exists(), reason="this system does not list its sockets as files"
)
def test_attack_24_it_listens_on_127_0_0_1_alone(inspected: Inspecting) -> None:
    listening = [
        line.split()[1]
        for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
        if line.split()[3] == "0A"
    ]
    assert [place for place in listening if place.endswith(f":{inspected.port:04X}")] == [
        f"0100007F:{inspected.port:04X}"
    ]
    six = Path("/proc/net/tcp6")
    assert not six.exists() or f":{inspected.port:04X} " not in six.read_text(encoding="ascii")


def test_who_hangs_up_ends_the_call_that_was_asked_for(inspected: Inspecting) -> None:
    inspected.post("tool/project_tools/tool-read", {})
    mark = inspected.project / "mark"
    fields = f"token={inspected.token}&in%3Amark={mark}"
    head = (
        f"Host: 127.0.0.1:{inspected.port}\r\nCookie: {inspected.cookie}\r\nOrigin: "
        f"{inspected.origin}\r\n"
    )
    head += (
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(fields)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", inspected.port)) as connection:
        connection.sendall(
            f"POST {inspected.room}tool/project_tools/tool-nap HTTP/1.1\r\n{head}{fields}".encode()
        )
        pid = noted(mark)
    assert gone(pid)
