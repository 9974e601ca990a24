"""``brainscore submit``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brainscore.cli._options import json_option, site_option
from brainscore.cli._output import echo, echo_json, style
from brainscore_core.errors import UserError

if TYPE_CHECKING:
    from brainscore.client import Client, SubmissionCard
    from brainscore_core.submission import Finding, Package


@click.command("submit")
@click.argument("source", metavar="PATH_OR_URL")
@click.option("--commit", default="", metavar="COMMIT", help="A hash, branch or tag of the repository.")
@click.option("--private", is_flag=True, help="Make the models and their scores visible only to you.")
@click.option("--lab", default="", metavar="NAME", help="A lab that owns it with you: the end of the URL of its page.")
@click.option("--note", default="", metavar="TEXT", help="A note to the reviewers.")
@site_option
@click.option("--dry-run", is_flag=True, help="Check the files on this machine, and send nothing.")
@click.option("--submission", metavar="ID", help="Send a new revision of this submission.")
@click.option("--wait", is_flag=True, help="Wait until the submission is complete or waits for you or a reviewer.")
@click.option("--every", type=click.FloatRange(min=0.1), default=5, show_default=True, help="Seconds between requests.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    source: str,
    commit: str,
    private: bool,
    lab: str,
    note: str,
    site: str | None,
    dry_run: bool,
    submission: str | None,
    wait: bool,
    every: float,
    json_: bool,
) -> None:
    """Submit plugins to a site, after checking them on this machine.

    PATH_OR_URL is a plugin's folder, a folder with models/, benchmarks/, data/ or metrics/ in it, a ZIP file, the
    address of a public Git repository (with --commit), or of a pull request. Log in first: brainscore login. The exit
    code is 1 if something must be fixed.
    """
    is_url = "://" in source
    if commit and not is_url:
        raise UserError("--commit is for repositories", remedy="omit it, or pass the address of a repository")
    if submission and (private or lab):
        raise UserError("a revision cannot change visibility and lab", remedy="omit --private and --lab")
    if wait and (dry_run or json_):
        raise UserError("--wait cannot be combined with --dry-run or --json", remedy="use brainscore status ID --watch")
    package: Package | None = None
    findings: tuple[Finding, ...] = ()
    if dry_run or not is_url:
        from brainscore_core.submission import errors_among

        package = _read(source, commit)
        findings = _examined(package)
        errors = errors_among(findings)
        if dry_run or errors:
            _report(package, findings, _places(source, package), json_=json_)
            if errors and not dry_run and not json_:
                echo("Nothing was sent.", err=True)
            context.exit(1 if errors else 0)
    asked: dict[str, Any] = {"note": note} if submission else {"note": note, "lab": lab}
    if not submission:
        asked["visibility"] = "private" if private else "public"
    card = _send(source, package, asked, commit=commit, site=site, submission=submission)
    if json_:
        from brainscore.cli.status import plain_values

        echo_json(plain_values(card))
    else:
        _report_submission(card, findings, waits=wait)
    if wait:
        card = _wait(card, site, every)
    if card.state in ("changes", "rejected"):
        context.exit(1)


def _read(source: str, commit: str) -> Package:
    from brainscore_core.submission import is_pull, read_folder, read_git, read_pull, read_zip

    if "://" in source:
        return read_pull(source) if is_pull(source) else read_git(source, commit)
    path = Path(source).expanduser()
    if path.is_dir():
        return read_folder(path)
    if not path.exists():
        raise UserError(f"there is no {source}", remedy="name a plugin's folder, a ZIP file, or an address https://…")
    return read_zip(path)


def _examined(package: Package) -> tuple[Finding, ...]:
    from brainscore_core.submission import examine, registered_elsewhere, sort_findings

    return sort_findings([*package.findings, *examine(package, taken=registered_elsewhere(package))])


def _places(source: str, package: Package) -> Callable[[str], str]:
    """Return a function from paths in the submission to paths on this machine, if a folder was read."""
    from brainscore_core.submission import KINDS

    path = Path(source).expanduser()
    if "://" in source or not path.is_dir():
        return str
    root = path.resolve()
    root = root.parent.parent if root.parent.name in KINDS else root.parent if root.name in KINDS else root

    def place(file: str) -> str:
        plugin = "/".join(file.split("/")[:2])
        if plugin not in package.folders:
            return file
        return os.path.relpath(root / package.folders[plugin] / file[len(plugin) + 1 :])

    return place


def _report(package: Package, findings: tuple[Finding, ...], path_of: Callable[[str], str], *, json_: bool) -> None:
    from brainscore.cli.status import echo_findings
    from brainscore_core.submission import errors_among

    if json_:
        listed: dict[str, Any] = {
            "plugins": [plugin.as_dict() for plugin in package.plugins],
            "digest": package.digest,
            "commit": package.commit,
            "errors": len(errors_among(findings)),
            "findings": [finding.as_dict() for finding in findings],
        }
        echo_json(listed)
        return
    for plugin in package.plugins:
        keys = ", ".join(registration.key for registration in plugin.registrations[:5])
        more = f" and {len(plugin.registrations) - 5} more" if len(plugin.registrations) > 5 else ""
        echo(f"{style(plugin.path, bold=True)}: {keys or 'registers nothing'}{more}")
    echo_findings(findings, place=path_of)


def _send(
    source: str,
    package: Package | None,
    asked: Mapping[str, Any],
    *,
    commit: str,
    site: str | None,
    submission: str | None,
) -> SubmissionCard:
    from brainscore.cli.status import find_submission

    with _client(site) as client:
        previous = find_submission(client, submission) if submission else None
        source_fields: dict[str, Any] = {"url": source, "commit": commit}
        if package is not None:
            stem = Path(source).resolve().name.removesuffix(".zip") or "submission"
            source_fields = {"archive": package.to_zip(), "name": f"{stem}.zip"}
        return client.submit(submission=previous, **asked, **source_fields)


def _client(site: str | None) -> Client:
    from brainscore.client import Client

    return Client(site, timeout=120)


def _report_submission(card: SubmissionCard, findings: tuple[Finding, ...], *, waits: bool) -> None:
    from brainscore.cli.status import echo_findings, echo_submission

    sent = f"Sent {card.title} as revision {card.revision} of submission {card.id}."
    echo(sent)
    if findings and not card.latest.findings:
        echo_findings(findings)
    if not waits:
        echo_submission(card)
        echo(f"Follow it with: brainscore status {card.id[:8]} --watch", err=True)


def _wait(card: SubmissionCard, site: str | None, every: float) -> SubmissionCard:
    from brainscore.cli.status import watch_submission

    with _client(site) as client:
        return watch_submission(client, card.id, every=every, until_review=True)
