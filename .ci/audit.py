"""Ask the advisory service of PyPI about the versions that requirements/constraints.txt names: ``make audit``.

A vulnerability that is known fails, unless .ci/accepted_advisories.txt says why it does not matter here. Where the
service cannot be reached, that is said, and is no failure.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
VERSIONS = HERE.parent / "requirements" / "constraints.txt"
ACCEPTED = HERE / "accepted_advisories.txt"
_SECONDS = 600
_NO_NET = re.compile(
    r"ConnectionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError|NameResolutionError|Max retries exceeded"
    r"|Could not connect|Network is unreachable|\b(?:429|5\d\d) (?:Server|Client) Error"
)


class Verdict(NamedTuple):
    """Whether all is well, and what to say."""

    fine: bool
    text: str


def accepted(text: str) -> dict[str, str]:
    """Read advisories that do not matter here, each with its reason: ``GHSA-… because …``."""
    lines = (line.split(None, 1) for line in text.splitlines() if line.strip() and not line.startswith("#"))
    found = {parts[0]: parts[1].strip() if len(parts) > 1 else "" for parts in lines}
    for name, reason in found.items():
        if not reason:
            raise SystemExit(f"{ACCEPTED.name}: {name} has no reason")
    return found


def judge(status: int, output: str, errors: str, known: dict[str, str]) -> Verdict:
    """Say what an answer of pip-audit means.

    Parameters
    ----------
    status : int
        With which it ended.
    output, errors : str
        What it wrote.
    known : dict
        Advisories that are accepted, and why.
    """
    try:
        asked = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        if _NO_NET.search(errors):
            return Verdict(True, "Not audited: the advisory service cannot be reached.")
        last = errors.strip().splitlines()[-1:] or ["it said nothing"]
        return Verdict(False, f"pip-audit failed ({status}): {last[0]}")
    answered = [one for one in asked if "vulns" in one]
    if not answered:  # an index that has packages alone, such as a mirror, answers to each that it is not there
        return Verdict(True, f"Not audited: the advisory service knows none of {len(asked)} packages here.")
    found = []
    for one in answered:
        for advisory in one["vulns"]:
            names = {advisory["id"], *advisory.get("aliases", ())}
            if not names & set(known):
                fixed = ", ".join(advisory.get("fix_versions", ())) or "no version yet"
                found.append(f"{one['name']} {one['version']}: {advisory['id']}, fixed in {fixed}")
    skipped = len(asked) - len(answered)
    said = f"{len(answered)} packages audited" + (f", {skipped} not known to the service" if skipped else "")
    if found:
        return Verdict(False, "\n".join([f"{said}; vulnerable:", *found]))
    return Verdict(True, f"{said}: no vulnerability is known.")


def main() -> int:
    """Ask and say."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(VERSIONS), "--no-deps", "--disable-pip"]
    known = accepted(ACCEPTED.read_text(encoding="utf-8")) if ACCEPTED.exists() else {}
    try:
        done = subprocess.run(  # noqa: S603 # our own command
            [*command, "--format", "json", "--progress-spinner", "off"],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        verdict = judge(done.returncode, done.stdout, done.stderr, known)
    except subprocess.TimeoutExpired:
        verdict = Verdict(True, "Not audited: the advisory service is too slow.")
    sys.stdout.write(verdict.text + "\n")
    return 0 if verdict.fine else 1


if __name__ == "__main__":
    sys.exit(main())
