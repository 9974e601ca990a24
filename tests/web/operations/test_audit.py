"""What an answer of pip-audit means, by answers that were recorded."""

import importlib.util
import json
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / ".ci" / "audit.py"

CLEAN = {
    "dependencies": [
        {"name": "click", "version": "8.2.1", "vulns": []},
        {
            "name": "brainscore",
            "skip_reason": "Dependency not found on PyPI and could not be audited: brainscore (0.1.0)",
        },
    ],
    "fixes": [],
}
VULNERABLE = {
    "dependencies": [
        {"name": "click", "version": "8.2.1", "vulns": []},
        {
            "name": "jinja2",
            "version": "3.1.4",
            "vulns": [
                {
                    "id": "GHSA-q2x7-8rv6-6q7h",
                    "fix_versions": ["3.1.5"],
                    "aliases": ["CVE-2024-56326"],
                    "description": "An oversight in how the sandboxed environment detects calls to str.format.",
                }
            ],
        },
    ],
    "fixes": [],
}
OF_A_MIRROR = {
    "dependencies": [
        {"name": "jinja2", "skip_reason": "Dependency not found on PyPI and could not be audited: jinja2 (3.1.4)"},
        {"name": "click", "skip_reason": "Dependency not found on PyPI and could not be audited: click (8.2.1)"},
    ],
    "fixes": [],
}
NO_NET = """Traceback (most recent call last):
  File "site-packages/requests/adapters.py", line 723, in send
    raise ProxyError(e, request=request)
requests.exceptions.ProxyError: HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded with url: \
/pypi/jinja2/3.1.4/json (Caused by ProxyError('Unable to connect to proxy', NewConnectionError("HTTPSConnection(\
host='127.0.0.1', port=9): Failed to establish a new connection: [Errno 111] Connection refused")))
"""


@pytest.fixture(scope="module")
def audit():
    spec = importlib.util.spec_from_file_location("audit", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nothing_is_known(audit):
    found = audit.judge(0, json.dumps(CLEAN), "No known vulnerabilities found", {})
    assert found == (True, "1 packages audited, 1 not known to the service: no vulnerability is known.")


def test_a_vulnerability_fails_and_is_named(audit):
    found = audit.judge(1, json.dumps(VULNERABLE), "Found 1 known vulnerability in 1 package", {})
    assert not found.fine
    assert "jinja2 3.1.4: GHSA-q2x7-8rv6-6q7h, fixed in 3.1.5" in found.text
    assert not audit.judge(1, json.dumps(VULNERABLE), "", {"CVE-2024-1": "another"}).fine
    assert audit.judge(1, json.dumps(VULNERABLE), "", {"CVE-2024-56326": "no sandbox is used here"}).fine


@pytest.mark.parametrize(("status", "output", "errors"), [(0, json.dumps(OF_A_MIRROR), ""), (1, "\n", NO_NET)])
def test_a_service_that_cannot_be_reached_is_no_failure(audit, status, output, errors):
    found = audit.judge(status, output, errors, {})
    assert found.fine
    assert found.text.startswith("Not audited")


@pytest.mark.parametrize("errors", ["", "ERROR:pip_audit._cli:requirement bad is not pinned", "usage: pip-audit [-h]"])
def test_other_failures_fail(audit, errors):
    found = audit.judge(1, "", errors, {})
    assert not found.fine
    assert (errors or "said nothing") in found.text


def test_what_is_accepted_has_a_reason(audit):
    read = audit.accepted("# why\n\nGHSA-1 not used here\nCVE-2 only on Windows\n")
    assert read == {"GHSA-1": "not used here", "CVE-2": "only on Windows"}
    with pytest.raises(SystemExit, match="GHSA-3 has no reason"):
        audit.accepted("GHSA-3\n")
    audit.accepted(audit.ACCEPTED.read_text())


def test_all_locked_versions_are_asked_about(audit):
    lines = [line for line in audit.VERSIONS.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) > 50
    assert all("==" in line for line in lines)  # pip-audit takes no others without pip
