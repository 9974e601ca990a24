"""A filter of system calls that a sandbox does not need. Uses only the standard library, for `_launch`."""

from __future__ import annotations

import errno
import os
import platform
import struct

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_FAMILIES = (1, 2, 10, 16)  # Unix, IPv4, IPv6, netlink: families that a network namespace isolates; not vsock

_SYSTEMS: dict[str, tuple[int, int, tuple[int, ...]]] = {  # audit number, socket, refused
    "x86_64": (
        0xC000003E,
        41,
        # ptrace, process_vm_readv/writev, process_madvise, pidfd_getfd, kcmp: other processes' memory
        # add_key, request_key, keyctl: keys belong to the user, also outside
        # bpf, perf_event_open, userfaultfd, io_uring_*, kexec, modules, mount family, quotactl, acct, swap, reboot
        # shmget, semget, msgget: memory that no limit counts
        (101, 310, 311, 440, 438, 312, 248, 249, 250, 321, 298, 323, 425, 426, 427, 246, 320, 175, 176, 313, 165, 166,
         155, 167, 168, 169, 179, 163, 272, 308, 428, 429, 430, 431, 432, 433, 442, 29, 64, 68, 304, 303, 134,
         180, 212),
    ),
    "aarch64": (
        0xC00000B7,
        198,
        (117, 270, 271, 440, 438, 272, 217, 218, 219, 280, 241, 282, 425, 426, 427, 104, 294, 105, 106, 273, 40, 39,
         41, 224, 225, 142, 60, 89, 97, 268, 428, 429, 430, 431, 432, 433, 442, 194, 190, 186, 265, 264, 42, 18),
    ),
}  # fmt: skip


def _instruction(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def _program(audit: int, socket: int, refused: tuple[int, ...]) -> bytes:
    refuse = _instruction(_RETURN, _REFUSE | errno.EPERM)
    program = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_EQUAL, audit, 1, 0),
        _instruction(_RETURN, _REFUSE | errno.ENOSYS),  # calls of another architecture have other numbers
        _instruction(_LOAD, _NUMBER),
        _instruction(_AT_LEAST, 0x40000000, 0, 1),
        _instruction(_RETURN, _REFUSE | errno.ENOSYS),
    ]
    for number in refused:
        program += [_instruction(_EQUAL, number, 0, 1), refuse]
    program += [_instruction(_EQUAL, socket, 1, 0), _instruction(_RETURN, _ALLOW), _instruction(_LOAD, _FIRST_ARGUMENT)]
    for family in _FAMILIES:
        program += [_instruction(_EQUAL, family, 0, 1), _instruction(_RETURN, _ALLOW)]
    return b"".join([*program, _instruction(_RETURN, _REFUSE | errno.EAFNOSUPPORT)])


def arguments() -> list[str]:
    """Return the arguments of bubblewrap; none for processors whose system calls are not listed here."""
    numbers = _SYSTEMS.get(platform.machine())
    if numbers is None:
        return []
    reading, writing = os.pipe()
    os.write(writing, _program(*numbers))
    os.close(writing)
    os.set_inheritable(reading, True)
    return ["--seccomp", str(reading)]
