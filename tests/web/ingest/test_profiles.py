"""Profiles of layers."""

import json
import math
import os
from datetime import UTC, datetime

import pytest

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.brain_transformation.selection import LayerProfile as Profile
from brainscore_vision.model_helpers.brain_transformation.selection import LayerScore
from brainscore_web.leaderboard.models import Benchmark, LayerProfile, VisionModel
from brainscore_web.operations.management.commands.profiles import ProfileReport, keep_profiles


def profile(model="net", benchmark="MajajHong2015public.IT-pls", layers=2, halves=False, **fields):
    scores = tuple(
        LayerScore(
            layer=f"layer{n}", features=10, score=n / 10, error=math.nan, ci=(math.nan, math.nan), raw=n / 10,
            halves=((0.1, 0.2),) if halves else (),
        )
        for n in range(layers)
    )  # fmt: skip
    about = {"version": "1", "control": False, "visual_degrees": 8.0, "stimuli": 5, "ceiling": 0.8, "components": None}
    return Profile(model=model, benchmark=benchmark, scores=scores, **{**about, **fields})


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "layers"


@pytest.fixture
def write(folder):
    def write(name, made):
        file = folder / name[:2] / f"{name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(made if isinstance(made, str) else json.dumps({"schema": 1} | made.to_dict()))
        os.utime(file, (1_700_000_000, 1_700_000_000))

    return write


@pytest.fixture
def net(db):
    return VisionModel.objects.create(identifier="net")


def test_profiles_are_kept(net, folder, write):
    write("aa1", profile())
    assert keep_profiles(folder) == ProfileReport(added=1)
    kept = LayerProfile.objects.get()
    assert (kept.model, kept.benchmark, kept.region) == (net, "MajajHong2015public.IT-pls", "IT")
    assert kept.created == datetime.fromtimestamp(1_700_000_000, UTC)
    assert Profile.from_dict(kept.document).best == "layer1"
    assert keep_profiles(folder) == ProfileReport(known=1)
    write("aa1", profile(layers=3))
    assert keep_profiles(folder) == ProfileReport(changed=1)
    assert Profile.from_dict(LayerProfile.objects.get().document).best == "layer2"


def test_of_several_the_one_that_tells_most_counts(net, folder, write):
    write("aa1", profile(layers=5))
    write("bb1", profile(halves=True))
    write("cc1", profile(layers=3))
    keep_profiles(folder)
    assert Profile.from_dict(LayerProfile.objects.get().document).held_out is not None


def test_the_site_knows_the_region_best(net, folder, write):
    Benchmark.objects.create(identifier="MajajHong2015public.IT-pls", region="aIT")
    write("aa1", profile())
    keep_profiles(folder)
    assert LayerProfile.objects.get().region == "aIT"


def test_what_cannot_be_kept_is_told(net, folder, write):
    write("aa1", profile("unknown-net"))
    write("bb1", profile(benchmark="Somewhere2026"))
    write("cc1", "{")
    write("dd1", '["no profile"]')
    write("ee1", profile())
    report = keep_profiles(folder)
    assert (report.added, len(report.problems)) == (1, 4)
    assert any("unknown-net" in problem for problem in report.problems)
    assert any("the region of" in problem for problem in report.problems)


def test_a_folder_that_is_not_there_is_said(db, tmp_path, monkeypatch):
    with pytest.raises(UserError, match="no folder"):
        keep_profiles(tmp_path / "nothing")
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path))
    (tmp_path / "layers").mkdir()
    assert keep_profiles() == ProfileReport()
