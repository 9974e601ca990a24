"""Reports that come out of a cage: written by code that nobody has looked at, so nothing in them is believed."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from brainscore_core.scoring.subjects.cage import Ended

__all__ = ["Report", "Tally", "read_answer", "read_tests"]

_LONGEST = 8_000_000  # bytes; read into memory it takes thirty times as much
_KEPT = 200
_TEXT = 2000
_PRIVATE = "data that are not public"  # as the plugin of pytest says


class Report(NamedTuple):
    """What became of a plugin's tests."""

    passed: int
    skipped: int
    private: int
    failures: list[dict[str, str]]


@dataclass
class Tally:
    """What became of all tests and checks."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    private: int = 0
    failures: list[dict[str, str]] = field(default_factory=list)
    checks: list[dict[str, str]] = field(default_factory=list)
    about: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add_tests(self, plugin: str, report: Report | None, ended: Ended) -> None:
        """Count the tests of a plugin."""
        if report is not None:
            self.passed += report.passed
            self.skipped += report.skipped
            self.private += report.private
            self._fail(*report.failures)
        if ended.cause not in ("", "exit") or report is None:
            self._fail({"name": f"tests of {plugin}", "message": ended.message or "they left no report"})
        elif ended.status not in (0, 5) and not report.failures:  # 5: all of them were left out
            self._fail({"name": f"tests of {plugin}", "message": ended.message})

    def add_checks(self, plugin: str, answer: dict[str, Any] | None, ended: Ended) -> None:
        """Count the checks of a plugin, and keep what it says about itself."""
        if answer is None or ended.cause:
            self._fail({"name": f"checks of {plugin}", "message": ended.message or "they left no answer"})
            return
        if answer["error"]:
            self._fail({"name": f"checks of {plugin}", "message": answer["error"]})
        for check in answer["checks"]:
            name = f"{check['subject']}: {check['name']}"
            if check["result"] == "failed":
                self._fail({"name": name, "message": f"{check['explanation']} {check['remedy']}".strip()})
            if len(self.checks) < _KEPT:
                self.checks.append(
                    {
                        "plugin": plugin,
                        "kind": check["kind"],
                        "name": name,
                        "result": check["result"],
                        "message": check["explanation"],
                    }
                )
        if len(self.about) < _KEPT:
            self.about[plugin] = answer["about"]

    def problems(self) -> int:
        """How many tests and checks failed."""
        return self.failed

    def in_words(self) -> str:
        """Why the step failed; empty where it did not."""
        if not self.failed:
            return ""
        return f"{self.failed} {'tests or checks' if self.failed > 1 else 'test or check'} failed"

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "passed": self.passed,
            "failed": self.failed,
            "skipped": self.skipped,
            "skipped_private": self.private,
            "failures": self.failures,
            "checks": self.checks,
            "about": self.about,
        }

    def _fail(self, *failures: dict[str, str]) -> None:
        self.failed += len(failures)
        room = max(_KEPT - len(self.failures), 0)
        self.failures += [{name: _short(text) for name, text in one.items()} for one in failures[:room]]


def read_tests(file: Path) -> Report | None:
    """Read the report of pytest; None where there is none that can be read."""
    content = _read(file)
    if content is None:
        return None
    try:
        text = content.decode()  # given as text, no declaration turns it into another encoding
        if "\0" in text or "<!DOCTYPE" in text or "<!ENTITY" in text:
            return None
        root = ElementTree.fromstring(text)  # noqa: S314 - without definitions there is nothing to unfold
    except (ElementTree.ParseError, ValueError):
        return None
    passed = skipped = private = 0
    failures = []
    for case in root.iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name', '')}".removeprefix("::")
        wrong = [one for one in case if one.tag in ("failure", "error")]
        left = next((one for one in case if one.tag == "skipped"), None)
        if wrong:
            failures.append({"name": name, "message": wrong[0].get("message") or "failed"})
        elif left is not None and left.get("type") != "pytest.xfail":
            skipped += 1
            private += _PRIVATE in (left.get("message") or "")
        else:
            passed += 1
    return Report(passed, skipped, private, failures)


def read_answer(file: Path) -> dict[str, Any] | None:
    """Read what `in_the_cage` wrote; None where it is something else."""
    content = _read(file)
    try:
        answer = json.loads(content or b"")
        checks = [
            {name: _short(check[name]) for name in ("kind", "subject", "name", "result", "explanation", "remedy")}
            for check in answer["checks"]
        ]
        about = {_short(name): dict(entry) for name, entry in answer["about"].items()}
        return {"checks": checks, "about": _plain(about), "error": _short(answer["error"])}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _read(file: Path) -> bytes | None:
    """Content of a regular file that is not too long; no link is followed."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LONGEST:
            return None
        return stream.read(_LONGEST)


def _short(text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError(type(text).__name__)
    plain = text.replace("\0", "").encode(errors="replace").decode()
    return plain if len(plain) <= _TEXT else f"{plain[:_TEXT]}…"


def _plain(value: Any, depth: int = 6) -> Any:
    """Values as every database keeps them; what is too deep, long or large is left out."""
    if isinstance(value, str):
        return value.replace("\0", "").encode(errors="replace").decode()[:20_000]
    if isinstance(value, dict) and depth:
        return {_short(name): _plain(one, depth - 1) for name, one in list(value.items())[:_KEPT]}
    if isinstance(value, list) and depth:
        return [_plain(one, depth - 1) for one in value[:_KEPT]]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else None
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    return None
