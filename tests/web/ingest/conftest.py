"""Receipts of all kinds."""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from brainscore_core.scoring import (
    BenchmarkInfo,
    CeilingEstimate,
    ErrorInfo,
    Estimate,
    ModelInfo,
    PluginCode,
    Receipt,
    Timings,
)

START = datetime(2026, 1, 1, tzinfo=UTC)


def make_receipt(
    model="a-model", benchmark="Some2026.IT-pls", *, state="scored", day=0, value=0.5, ceiling=0.8, **info
):
    """A receipt made `day` days after the start of 2026."""
    about = {"version": 1, "parent": "IT", "bibtex": "@misc{some, title = {Some}}", **info}
    scored = state == "scored"
    return Receipt(
        model=ModelInfo(identifier=model, plugin=PluginCode(name="a_model")),
        benchmark=BenchmarkInfo(identifier=benchmark, **about),
        state=state,
        created=f"{START + timedelta(days=day):%Y-%m-%dT%H:%M:%S.%f}Z",
        reason=None if scored else f"it is {state}",
        error=ErrorInfo(type="ValueError", message="no", traceback="no") if state == "failed" else None,
        score=Estimate(
            value=value, error=0.02, ci=(value - 0.04, value + 0.04), ci_level=0.95, ci_estimates="stimuli",
            scale="ceiled", unclamped=value + 0.01,
        ) if scored else None,
        raw=Estimate(value=value * 0.8, error=0.016, ci=(0.36, 0.44), ci_level=0.95) if scored else None,
        ceiling=None if ceiling is None else CeilingEstimate(
            value=ceiling, error=0.01, ci=(0.78, 0.82), ci_level=0.95, ci_estimates="splits", meaning="reliability",
            lower_bound=0.7,
        ),
        timings=Timings(total=12.5),
    ).identified()  # fmt: skip


@pytest.fixture
def receipt():
    return make_receipt


@pytest.fixture
def document():
    """A receipt in plain JSON types, parts of which are replaced: `part__name=value`."""

    def make(**changes):
        made = make_receipt()
        data = replace(made).to_dict()
        for path, value in changes.items():
            *parts, name = path.split("__")
            inner = data
            for part in parts:
                inner = inner[part]
            inner[name] = value
        return data

    return make


@pytest.fixture
def process(tmp_path, transactional_db, django_db_setup):
    """Run Python on an empty database that is no test's: one in memory knows no waiting. Gives what it prints."""
    folder = tmp_path / "site"
    environment = {
        **os.environ,
        "BRAINSCORE_SITE_HOME": str(folder),
        "DATABASE_URL": django_db_setup.write(folder),
        "DJANGO_SETTINGS_MODULE": "brainscore_web.settings",
    }

    def run(*arguments):
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert not done.returncode, done.stderr
        return done.stdout

    return run
