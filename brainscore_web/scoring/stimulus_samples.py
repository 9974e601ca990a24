"""Samples of stimuli for the cards of benchmarks that this site has scored; the sweep of a worker starts it."""

from __future__ import annotations

import atexit
import subprocess
import sys
import time

from django.conf import settings

from brainscore_core.domains import domains
from brainscore_web.leaderboard.cards.facts import installed
from brainscore_web.leaderboard.models import Benchmark, Visibility
from brainscore_web.scoring.models import Job

_LIMIT_SECONDS = 600.0
_tried: set[str] = set()
_process: subprocess.Popen[bytes] | None = None
_started = 0.0


def benchmarks_without_samples() -> list[str]:
    """Return public, installed benchmarks of images that were scored on this site and have no samples of their stimuli.

    Submitted benchmarks are left out: their code would run with access to the site's database.
    """
    rows = Benchmark.objects.filter(
        is_mean=False, access=Visibility.PUBLIC, samples__isnull=True, jobs__state=Job.State.SCORED
    )
    names = rows.order_by("identifier").values_list("domain", "identifier").distinct()
    of_images = {each.name for each in domains() if each.wording.stimulus == "image"}
    return [name for domain, name in names if domain in of_images and name in installed(domain, "benchmark")]


def store_samples() -> int:
    """Start a process that stores samples of one benchmark, if none is running; return how many were started.

    A benchmark that failed is tried again by the next worker. Public sites do this only if their operator has set
    ``BRAINSCORE_SITE_STIMULUS_SAMPLES``, since stimuli may have their own licences.
    """
    global _process, _started  # one process per worker
    if not settings.STIMULUS_SAMPLES:
        return 0
    if _process is not None and _process.poll() is None:
        if time.monotonic() - _started > _LIMIT_SECONDS:
            _process.kill()
        return 0
    name = next((name for name in benchmarks_without_samples() if name not in _tried), None)
    if name is None:
        return 0
    _tried.add(name)
    _started = time.monotonic()
    command = [sys.executable, "-m", "brainscore_web", "sample_stimuli", "--", name]
    _process = subprocess.Popen(  # noqa: S603 # our own command
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    atexit.register(_process.terminate)
    return 1
