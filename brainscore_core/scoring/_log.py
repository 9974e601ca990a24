"""What a pair printed, as it may be kept: bounded, without secrets of the machine."""

import re

from brainscore_core.scoring._privacy import scrub_text

__all__ = ["LOG_BYTES", "kept_log"]

LOG_BYTES = 1_000_000
"""At most so much of a log is kept: its first and its last half."""

_LINE = 2000  # characters; what searches for paths and addresses slows down with the square of a line's length
_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\-_])|[\x00-\x08\x0b-\x1f\x7f]"
)


def kept_log(text: str) -> str:
    r"""Make a log fit to be kept beside a receipt.

    Of a line that was overwritten, as progress bars are, the last state stays. Colours and other control characters
    go, and so do paths, names of users and machines, and credentials. Lines of more than 2,000 characters lose their
    middle, and so does a log of more than 1 MB.

    Parameters
    ----------
    text : str
        As printed.

    Returns
    -------
    str
        At most `LOG_BYTES` in UTF-8; empty if nothing was printed.

    Examples
    --------
    >>> kept_log("10 %\r20 %\r\x1b[32mdone\x1b[0m\nwrote /home/alice/results/a.nc\n")
    'done\nwrote …/a.nc\n'
    """
    text = _without_middle(text, LOG_BYTES)  # there may be gigabytes
    lines = [_without_middle(_last_state(line), _LINE) for line in text.replace("\r\n", "\n").split("\n")]
    text = scrub_text("\n".join(lines))
    return _bounded(text).strip("\n") + "\n" if text.strip() else ""


def _last_state(line: str) -> str:
    states = [state for state in line.split("\r") if state.strip()]
    return _CONTROL.sub("", states[-1]) if states else ""


def _without_middle(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}{_left_out(len(text) - 2 * half, 'characters')}{text[-half:]}"


def _bounded(text: str) -> str:
    data = text.encode()
    if len(data) < LOG_BYTES:
        return text
    half = LOG_BYTES // 2 - 100  # room for the remark
    start, end = data[:half].decode(errors="ignore"), data[-half:].decode(errors="ignore")
    return f"{start}{_left_out(len(data) - 2 * half, 'bytes')}{end}"


def _left_out(count: int, unit: str) -> str:
    return f"\n… {count:,} {unit} are left out here …\n"
