"""The second step: run the plugins' own tests and the checks of their kinds, in a cage, with public data alone."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from brainscore_core.errors import UserError
from brainscore_core.files import temporary_folder
from brainscore_core.plugins.environments import Environment, RequirementsError
from brainscore_core.scoring.subjects.cage import Cage, run_in_cage
from brainscore_web.submissions import in_the_cage
from brainscore_web.submissions.models import Revision, Step
from brainscore_web.submissions.pipeline._check import Log, package_of
from brainscore_web.submissions.pipeline._claims import Claim
from brainscore_web.submissions.pipeline._declared import files_at_hand, request_of
from brainscore_web.submissions.pipeline._outcome import Failed, Later, Outcome
from brainscore_web.submissions.pipeline._reports import Tally, read_answer, read_tests
from brainscore_web.submissions.pipeline._requirements import environment_for
from brainscore_web.submissions.publishing import folder_shown_to

__all__ = ["TEST_FOLDERS", "test"]

TEST_FOLDERS = "brainscore-test-"
"""What the names of temporary folders begin with."""

_NOT_NOW = "the site cannot run tests at the moment"
_SECONDS = 3600.0  # of a plugin's tests, and of its checks
_PROCESSES = 256
_OUTPUT = 16 << 20  # bytes
_ORDER = ("data", "metrics", "models", "benchmarks")


@dataclass(frozen=True)
class _Shown:
    """What the cage of a submission shows, besides the platform."""

    plugins: Path
    mirror: Path
    files: tuple[Path, ...]
    answers: Path


@dataclass
class _Run:
    """One step as it goes on."""

    claim: Claim
    log: Log
    shown: _Shown
    tally: Tally = field(default_factory=Tally)


def test(claim: Claim) -> Outcome | None:
    """Do the step.

    Parameters
    ----------
    claim : Claim
        Of the step.
    """
    _require_means()
    revision = claim.step.revision
    with _showing(revision) as shown:
        run = _Run(claim, Log(claim), shown)
        for plugin in sorted(revision.plugins, key=lambda one: (_ORDER.index(one["kind"]), one["name"])):
            _plugin(run, plugin["kind"], plugin["name"])
            if claim.lost():
                return None
    tally = run.tally
    return Outcome(passed=not tally.problems(), reason=tally.in_words(), log=run.log.text, result=tally.as_dict())


def _require_means() -> None:
    """Nothing is left out because the site lacks something: the step waits."""
    from brainscore_web.scoring.caging import what_is_missing

    if missing := what_is_missing():
        raise Later(_NOT_NOW, internal=str(missing)) from missing
    if importlib.util.find_spec("pytest") is None:
        raise Later(_NOT_NOW, internal="pytest is not installed: pip install 'brainscore[test]'")


@contextmanager
def _showing(revision: Revision) -> Iterator[_Shown]:
    """Folders and files for the cage; of the files that the code names, those that everybody may have."""
    result = Step.objects.get(revision=revision, kind=Step.Kind.CHECK).result
    public = {
        (one["url"], one["sha1"], one["sha256"])
        for one in result.get("files", ())
        if one["verified"] and not one["private"]
    }
    with temporary_folder(TEST_FOLDERS) as place:
        mirror, answers = place / "mirror", place / "answers"
        for folder in (place, mirror, answers):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)  # the cage's user is another
        files = []
        for declared, path in files_at_hand(package_of(revision)):
            if (declared.url, declared.sha1 or "", declared.sha256 or "") in public:
                _mirrored(mirror, request_of(declared).address, path)
                files.append(path)
        yield _Shown(folder_shown_to(revision), mirror, tuple(dict.fromkeys(files)), answers)


def _mirrored(mirror: Path, address: str, path: Path) -> None:
    """Lay a link to a file where the library looks for the address."""
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2].lower()
    names = [unquote(name) for name in parts.path.split("/") if name]
    if parts.query and names:
        names[-1] = f"{names[-1]}?{parts.query}"
    # this process writes outside of any cage: no part may lead elsewhere
    if not names or any(one in ("", ".", "..") or "/" in one or "\0" in one for one in (host, *names)):
        return
    place = mirror.joinpath(host, *names)
    with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):  # one address is a folder of another
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(path)


def _plugin(run: _Run, kind: str, name: str) -> None:
    """Run the tests of one plugin, then its checks."""
    folder = run.shown.plugins / kind / name
    try:
        environment = environment_for(folder, say=run.log.say)
    except RequirementsError as error:  # it could be met in the step before
        raise Failed(error.message, log=run.log.text) from error
    try:
        answer = run.shown.answers / f"{kind}-{name}"
        answer.mkdir(mode=0o755)
        files = sorted(map(str, {*folder.rglob("test.py"), *folder.rglob("test_*.py")}))
        if files:
            run.log.say(f"Tests of {kind}/{name}")
            options = ["--import-mode=importlib", "-p", "brainscore.pytest_plugin", "-p", "no:cacheprovider", "-c"]
            report = _empty(answer / "tests.xml")
            command = ["-m", "pytest", *options, os.devnull, "-ra", "--tb=short", f"--junitxml={report}", *files]
            ended = _in_cage(run, environment, report, command)
            run.tally.add_tests(f"{kind}/{name}", read_tests(report), ended)
        else:
            run.log.say(f"{kind}/{name} has no tests")
        run.log.say(f"Checks of {kind}/{name}")
        report = _empty(answer / "checks.json")
        command = [in_the_cage.__file__, kind, str(folder), str(report)]
        ended = _in_cage(run, environment, report, command)
        run.tally.add_checks(f"{kind}/{name}", read_answer(report), ended)
    finally:
        environment.release()


def _empty(file: Path) -> Path:
    file.touch(mode=0o644)
    return file


def _in_cage(run: _Run, environment: Environment, report: Path, arguments: list[str]) -> Any:
    shown, memory = run.shown, int(settings.UPLOADS["memory"])
    own = [environment.folder, *environment.mounts] if environment.folder.is_dir() else [*environment.mounts]
    cage = Cage(
        folders=[shown.plugins, shown.mirror, *(path for path in own if path.is_dir())],
        files=[*shown.files, Path(in_the_cage.__file__)],
        writable=[report],
        environment={
            "BRAINSCORE_PLUGINS": str(shown.plugins),
            "BRAINSCORE_MIRROR": str(shown.mirror),
            "BRAINSCORE_MAX_MEMORY": str(memory // 2),
        },
        memory=memory,
        processes=_PROCESSES,
        scratch=memory // 2,
    )

    def stopped() -> bool:
        run.log.flush()
        return run.claim.lost()

    try:
        ended = run_in_cage(
            [str(environment.python or sys.executable), "-P", *arguments],
            cage,
            timeout=_SECONDS,
            max_output=_OUTPUT,
            on_output=run.log.add,
            stopped=stopped,
        )
    except UserError as error:
        raise Later(_NOT_NOW, internal=str(error)) from error
    if ended.message:
        run.log.say(f"It {ended.message}")
    return ended
