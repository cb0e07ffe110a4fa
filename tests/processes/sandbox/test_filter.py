"""The seccomp filter as bytes: it is a program that ends, and says no only where it should."""

import struct

import pytest

from vespe.processes.sandbox import filter as seccomp

ALLOW, EPERM, EACCES, ENOSYS = 0x7FFF0000, 0x50001, 0x5000D, 0x50026
NUMBERS = {
    "read": 0,
    "clone": 56,
    "socket": 41,
    "ptrace": 101,
    "mount": 165,
    "unshare": 272,
    "memfd_create": 319,
    "fcntl": 72,
    "prlimit64": 302,
    "setpriority": 141,
    "sched_setaffinity": 203,
    "ioprio_set": 251,
    "clone3": 435,
    "ioctl": 16,
}

pytestmark = pytest.mark.skipif(
    seccomp.architecture() != 0, reason="the numbers below are those of x86-64"
)


def answer(program: bytes, number: int, *arguments: int, arch: int = 0xC000003E) -> int:
    """Run a filter as the kernel does, over the words of seccomp_data."""
    words = {0: number, 4: arch} | {16 + 8 * index: value for index, value in enumerate(arguments)}
    held = index = 0
    while True:
        code, right, wrong, value = struct.unpack_from("=HBBI", program, index * 8)
        index += 1
        if code == 0x20:
            held = words.get(value, 0)
        elif code == 0x54:
            held &= value
        elif code == 0x06:
            return int(value)
        else:
            fits = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            index += right if fits else wrong


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("read", (), ALLOW),
        ("ptrace", (), EPERM),
        ("mount", (), EPERM),
        ("unshare", (0x10000000,), EPERM),
        ("clone", (0x01200011,), ALLOW),
        ("clone", (0x10000011,), EPERM),
        ("clone3", (), ENOSYS),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), EPERM),
        ("memfd_create", (), ALLOW),
        ("socket", (2, 1), ALLOW),
        ("socket", (2, 0x80802), ALLOW),
        ("socket", (2, 3), EPERM),
        ("socket", (16, 3), ALLOW),
        ("socket", (1, 1), EACCES),
        ("fcntl", (5, 4), ALLOW),
        ("fcntl", (5, 1024), EPERM),
        ("socket", (17, 3), EACCES),
    ],
)
def test_calls_that_lead_out_are_refused_and_others_are_not(
    name: str, arguments: tuple[int, ...], expected: int
) -> None:
    program = seccomp.program((seccomp.INET, seccomp.NETLINK))
    assert answer(program, NUMBERS[name], *arguments) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "alone", "apart"),
    [
        ("prlimit64", (0, 7), ALLOW, ALLOW),
        ("prlimit64", (1, 7), EPERM, EPERM),
        ("prlimit64", (5, 7), EPERM, ALLOW),
        ("prlimit64", (seccomp.STARTER, 7), EPERM, EPERM),
        ("setpriority", (0, seccomp.STARTER), EPERM, EPERM),
        ("sched_setaffinity", (5,), EPERM, ALLOW),
        ("setpriority", (0, 0), ALLOW, ALLOW),
        ("setpriority", (0, 5), EPERM, ALLOW),
        ("setpriority", (1, 1), EPERM, EPERM),
        ("setpriority", (2, 0), EPERM, EPERM),
        ("ioprio_set", (1, 0), ALLOW, ALLOW),
        ("ioprio_set", (3, 0), EPERM, EPERM),
    ],
)
def test_limits_of_others_are_changed_only_within_a_namespace_and_never_those_of_its_first_process(
    name: str, arguments: tuple[int, ...], alone: int, apart: int
) -> None:
    for is_apart, expected in ((False, alone), (True, apart)):
        program = seccomp.program((), apart=is_apart)
        assert answer(program, NUMBERS[name], *arguments) == expected


def test_where_memory_is_bounded_none_is_shared_that_no_limit_counts() -> None:
    program = seccomp.program((), bounded=True)
    flags = {"anonymous": 0x22, "shared": 0x21, "shared and validated": 0x23, "of a file": 0x01}
    flags |= {"of a thread": 0x20022, "that grows": 0x122, "that grows, of a file": 0x102}
    found = {name: answer(program, 9, 0, 4096, 3, value) for name, value in flags.items()}
    refused = 0x5000C
    assert found == {
        "anonymous": ALLOW,
        "shared": refused,
        "shared and validated": refused,
        "of a file": ALLOW,
        "of a thread": ALLOW,
        "that grows": refused,
        "that grows, of a file": refused,
    }
    assert [answer(program, number) for number in (319, 447, 29)] == [EPERM] * 3
    assert answer(seccomp.program(()), 9, 0, 4096, 3, 0x21) == ALLOW


def test_other_architectures_and_no_sockets_at_all() -> None:
    program = seccomp.program((), memfd=False)
    assert answer(program, 0, arch=0x40000003) == EPERM and answer(program, 0x40000000) == ENOSYS
    assert (
        answer(program, NUMBERS["socket"], 2, 1) == EACCES
        and answer(program, NUMBERS["memfd_create"]) == EPERM
    )
