"""Submitted code cannot reach beyond its sandbox: files of the machine, plugins of others, or readers."""

import pytest

from brainscore_web.submissions import plugin_folders
from brainscore_web.submissions.models import Plugin, Review, Step
from brainscore_web.submissions.pipeline import testing
from brainscore_web.submissions.pipeline.runner import run_next_step
from tests.web._plugins import benchmark_files, model_files

_METRIC = {
    "metrics/closeness/__init__.py": "from brainscore_vision import metric_registry\n\n"
    'metric_registry["closeness"] = print\n',
    "metrics/closeness/test.py": "from brainscore_vision import load_metric\n\n\n"
    'def test_it():\n    load_metric("closeness")\n',
}


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/a?/../../../../outside/evil",
        "https://example.org/a/%2E%2E/%2e%2e/%2e%2e/outside/evil",
        "https://example.org/..%2F..%2F..%2Foutside/evil",
        "https://../outside/evil",
        "https://example.org/%2Ftmp/evil",
        "https://example.org/a%00b/evil",
        "https://example.org",
    ],
)
def test_addresses_lead_nowhere_else(address, tmp_path):
    """Links to fetched files stay in their folder, whatever the address is like."""
    mirror, outside, file = tmp_path / "one" / "mirror", tmp_path / "outside", tmp_path / "fetched"
    mirror.mkdir(parents=True)
    outside.mkdir()
    (outside / "evil").write_text("as before")
    file.write_text("of a stranger")
    testing._link_into_mirror(mirror, address, file)
    assert (outside / "evil").read_text() == "as before"
    links = [path for path in tmp_path.rglob("*") if path.is_symlink()]
    assert links == []


def test_one_address_below_another(tmp_path):
    """What cannot lie beside another is left out; plain ones are where the library looks for them."""
    file = tmp_path / "fetched"
    file.write_text("content")
    for address in (
        "https://a.org/x",
        "https://a.org/x/y",
        "https://a.org/p/q",
        "https://a.org/p",
        "https://a.org/z?v=1",
    ):
        testing._link_into_mirror(tmp_path / "mirror", address, file)
    found = sorted(str(path.relative_to(tmp_path / "mirror")) for path in (tmp_path / "mirror").rglob("*"))
    assert found == ["a.org", "a.org/p", "a.org/p/q", "a.org/x", "a.org/z?v=1"]


@pytest.mark.django_db(transaction=True)
def test_others_code_is_not_shown(submit, pass_step, owner, member):
    """Tests see their own plugins, those of the same owner, and others' data and metrics, unless these are private."""

    def publish(files, *, private_files=False, **options):
        revision = submit(files, **options)
        pass_step(revision, "check", result={"files": [{"private": private_files}]})
        pass_step(revision, "test")
        if revision.needs_review:
            from brainscore_web.submissions import pipeline

            pipeline.approve(revision, Review.objects.create(revision=revision, verdict="approved"))
        assert run_next_step(revision.steps.get(kind="publish").pk)

    publish(model_files("tiles-8"), by=member, visibility="private")
    publish(benchmark_files(), by=member)
    publish(_METRIC, by=member)
    secret = {
        path.replace("closeness", "hidden"): text.replace("closeness", "hidden") for path, text in _METRIC.items()
    }
    publish(secret, by=member, private_files=True)
    publish(model_files("tiles-4", size=4), by=owner, visibility="private")
    assert Plugin.objects.count() > 4
    revision = submit(model_files("tiles-2", size=2), by=owner)
    Step.objects.filter(revision=revision, kind="check").update(result={})
    with testing.prepared_inputs(revision) as shown:
        assert shown.plugins == plugin_folders.folder_shown_to(revision)
        seen = sorted(str(path.relative_to(shown.plugins)) for path in shown.plugins.glob("*/*"))
    others = [path for path in seen if path.startswith("data/")]
    assert [path for path in seen if path not in others] == ["metrics/closeness", "models/tiles_2", "models/tiles_4"]


@pytest.mark.django_db(transaction=True)
def test_what_was_left_out_stays_an_error(submit, states, owner):
    """Trying the step again does not forget what is not there to be looked at."""
    from brainscore_web.submissions import pipeline

    files = model_files()
    files["models/tiles_8/model.py"] += "\nx = " + "(" * 150 + "1," + ")," * 150 + "\n"
    revision = submit(files)
    assert states(revision).startswith("fail")
    pipeline.retry(revision.steps.get(kind="check"), owner)
    assert run_next_step()
    assert states(revision).startswith("fail")
    revision.refresh_from_db()
    assert ("size", "models/tiles_8/model.py") in {(one["check"], one["file"]) for one in revision.findings}
    assert not run_next_step()
