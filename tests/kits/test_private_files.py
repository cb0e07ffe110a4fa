"""Files of a kit that may not be meant for others."""

import pytest

from vespe.kits.private_files import find_private

KEY = b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n"


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        (".env", b"", "secrets"),
        ("tool-a/.env.local", b"", "secrets"),
        ("tool-a/prod.env", b"", "secrets"),
        ("tool-a/.ENV", b"", "secrets"),
        ("id_rsa", b"", "secrets"),
        ("certs/server.key", b"", "secrets"),
        ("notes.txt", b"# mine\n" + KEY, "private key"),
        (".secret", b"", "is hidden"),
        (".idea/workspace.xml", b"", "lies in .idea"),
        (".env.example", b"", "is hidden"),
        ("env.example", b"", ""),
        ("id_rsa.pub", b"ssh-rsa", ""),
        ("cert.pem", b"-----BEGIN CERTIFICATE-----", ""),
        (".github/workflows/test.yml", b"", ""),
        (".gitignore", b"", ""),
        ("tool-a/main.py", b"KEY = 1", ""),
    ],
)
def test_what_may_be_private_is_told_with_the_reason(path: str, content: bytes, said: str) -> None:
    found = list(find_private({path: content}))
    assert [told for told, _ in found] == ([path] if said else [])
    assert not said or said in found[0][1]
