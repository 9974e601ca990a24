"""``brainscore submit``, ``login``, ``logout``, ``status`` and ``download``, with a site that is really there."""

import csv
import io
import json
import stat
import zipfile

import pytest

pytest.importorskip("django")
pytest.importorskip("ninja")

from django.contrib.auth.models import Permission
from django.core.cache import caches

from brainscore.client import Client
from brainscore.client.connection import saved_tokens
from brainscore_core.errors import UserError
from brainscore_core.paths import token_file
from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt, ResultsStore
from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.submissions.models import Step, Submission
from tests.web._plugins import benchmark_files, model_files


@pytest.fixture(autouse=True)
def _own_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("BRAINSCORE_SITE", "BRAINSCORE_TOKEN", "BRAINSCORE_PLUGINS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def site(live_server, confirmed):
    """Address of a site, and a token of somebody who may submit."""
    caches["rates"].clear()
    token = ApiToken.issue(confirmed, "laptop", ["read", "submit"])[1]
    return live_server.url, token


@pytest.fixture
def confirmed(transactional_db):
    """Somebody with a confirmed address."""
    from allauth.account.models import EmailAddress

    user = User.objects.create_user("ada@example.org", display_name="Ada")
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


@pytest.fixture
def logged_in(cli, site):
    """Logged in at the site."""
    url, token = site
    found = cli("login", "--site", url, "--token-stdin", input=f"{token}\n")
    assert found.exit_code == 0, found.output
    return url


@pytest.fixture
def plugin(tmp_path):
    """``plugin(files)`` writes plugins, and gives their folder."""

    def write(files, name="lab"):
        for path, text in files.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_text(text)
        return tmp_path / name

    return write


def test_dry_run_tells_findings_as_linters_do(cli, plugin):
    files = model_files("tiles-9")
    files["models/tiles_9/model.py"] += "import requests\n"
    folder = plugin({**files, "models/tiles_9/requirements.txt": "numpy\ngit+https://example.org/x\n"})
    found = cli("submit", "--dry-run", str(folder / "models/tiles_9"))
    assert found.exit_code == 1
    lines = found.stdout.splitlines()
    assert lines[0] == "models/tiles_9: tiles-9"
    number = len(files["models/tiles_9/model.py"].splitlines())
    assert lines[1] == f"lab/models/tiles_9/model.py:{number}: warning[network] the code uses requests"
    assert lines[2].startswith("    → ")
    assert lines[3].startswith("lab/models/tiles_9/requirements.txt:2: error[requirements] git+https://example.org/x: ")
    assert lines[-1] == "1 error, 1 warning"
    told = json.loads(cli("submit", "--dry-run", "--json", str(folder)).stdout)
    assert (told["errors"], told["plugins"][0]["name"], told["findings"][0]["line"]) == (1, "tiles_9", number)


def test_dry_run_of_what_is_fine(cli, plugin, tmp_path):
    folder = plugin({**model_files(), **benchmark_files()})
    found = cli("submit", "--dry-run", str(folder))
    assert (found.exit_code, found.stdout.splitlines()[-1]) == (0, "1 warning"), found.output
    assert "lab/benchmarks/author2026/__init__.py: warning[metadata] there is no METADATA" in found.stdout
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
        for path, text in model_files().items():
            archive.writestr(f"deep/{path}", text)
    found = cli("submit", "--dry-run", "mine.zip")
    assert found.exit_code == 0
    assert "note[layout] deep/models/tiles_8/ is read as models/tiles_8/" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent"], "there is no absent"),
        (["http://example.org/x", "--dry-run"], "does not begin with https://"),
        ([".", "--commit", "main"], "--commit is for repositories"),
        (["."], "there is no plugin"),
        ([".", "--wait", "--dry-run"], "--wait cannot be combined"),
        ([".", "--private", "--submission", "1"], "cannot change visibility and lab"),
    ],
)
def test_mistakes_are_told_without_traceback(cli, arguments, said):
    found = cli("submit", *arguments)
    assert found.exit_code == 2, found.output
    assert said in found.stderr
    assert isinstance(found.exception, SystemExit)


def test_login_keeps_the_token_for_its_owner_alone(cli, site, monkeypatch):
    url, token = site
    found = cli("login", "--site", f"{url}/", input=f"{token}\n")
    assert found.exit_code == 0, found.output
    assert f"Logged in at {url} as Ada (read, submit)." in found.stdout
    assert token not in found.output
    assert stat.S_IMODE(token_file().stat().st_mode) == 0o600
    assert [path.name for path in token_file().parent.iterdir()] == ["login.json"]
    assert Client().url == url
    assert Client().me().name == "Ada"
    monkeypatch.setenv("BRAINSCORE_TOKEN", "bs_other")
    with pytest.raises(UserError, match="not valid"):
        Client().me()  # the environment comes first
    monkeypatch.delenv("BRAINSCORE_TOKEN")
    monkeypatch.setenv("BRAINSCORE_SITE", "http://127.0.0.1:9")
    assert Client().url == "http://127.0.0.1:9"
    assert Client(url).me().name == "Ada"
    monkeypatch.delenv("BRAINSCORE_SITE")
    assert "Logged out" in cli("logout").stdout
    assert not token_file().exists()
    assert "No token" in cli("logout", "--site", url).stdout


def test_tokens_that_are_not_kept(cli, site):
    url, _ = site
    found = cli("login", "--site", url, "--token-stdin", input="bs_wrong\n")
    assert found.exit_code
    assert not token_file().exists()
    assert "the token is empty" in cli("login", "--site", url, "--token-stdin", input="\n").stderr
    assert "unencrypted" in cli("login", "--site", "http://example.org", "--token-stdin", input="x\n").stderr


def test_a_file_of_tokens_that_others_can_read_or_that_is_broken(cli, logged_in):
    token_file().chmod(0o644)
    with pytest.raises(UserError, match="other users can read"):
        Client()
    token_file().chmod(0o600)
    token_file().write_text("{")
    with pytest.raises(UserError, match="is not valid"):
        saved_tokens()


def test_submit_and_status(cli, logged_in, plugin, confirmed):
    folder = plugin(model_files("tiles-9"))
    found = cli("submit", str(folder), "--private", "--note", "A first try.")
    assert found.exit_code == 0, found.output
    row = Submission.objects.get()
    assert (row.owner, row.visibility, row.latest.note) == (confirmed, "private", "A first try.")
    assert f"as revision 1 of submission {row.pk}" in found.stdout
    with zipfile.ZipFile(io.BytesIO(bytes(row.latest.archive))) as archive:
        assert archive.namelist() == sorted(model_files("tiles-9"))
    assert row.latest.address == "lab.zip"
    found = cli("status")
    assert found.stdout == f"{row.pk}\n"
    told = json.loads(cli("status", "--json").stdout)
    assert told[0]["id"] == str(row.pk)
    found = cli("status", str(row.pk)[:6])
    assert found.exit_code == 0, found.output
    assert "· Checks (waiting)" in found.stdout
    assert f"/submissions/{row.pk}/" in found.stdout
    told = json.loads(cli("status", str(row.pk), "--json").stdout)
    assert [step["kind"] for step in told["revisions"][0]["steps"]] == ["check", "test", "review", "publish", "score"]
    assert "begins with 'ffffffff'" in cli("status", "ffffffff").stderr


def test_what_has_errors_is_not_sent(cli, logged_in, plugin):
    files = model_files("tiles-9")
    del files["models/tiles_9/test.py"]
    found = cli("submit", str(plugin(files)))
    assert found.exit_code == 1
    assert "error[tests] there is no test.py" in found.stdout
    assert "Nothing was sent." in found.stderr
    assert not Submission.objects.exists()


def test_a_revision(cli, logged_in, plugin):
    folder = plugin(model_files("tiles-9"))
    assert cli("submit", str(folder)).exit_code == 0
    row = Submission.objects.get()
    plugin(model_files("tiles-9", size=9))
    found = cli("submit", str(folder), "--submission", str(row.pk)[:8], "--json")
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert (told["id"], told["revision"]) == (str(row.pk), 2)
    assert row.revisions.count() == 2


def test_watching_until_something_is_to_be_done(cli, logged_in, plugin):
    folder = plugin(model_files("tiles-9"))
    assert cli("submit", str(folder)).exit_code == 0
    row = Submission.objects.get()
    Step.objects.filter(revision=row.latest, kind="test").update(state="failed", reason="1 test failed", log="E 1 == 2")
    Submission.objects.filter(pk=row.pk).update(state="changes")
    found = cli("status", str(row.pk), "--watch", "--log", "--every", "0.1")
    assert found.exit_code == 1
    assert "✗ Tests (failed): 1 test failed" in found.stdout
    assert found.stdout.endswith("Tests:\nE 1 == 2\n")


def test_without_a_token_nothing_is_sent(cli, site, plugin):
    found = cli("submit", str(plugin(model_files("tiles-9"))), "--site", site[0])
    assert "brainscore login" in found.stderr
    assert not Submission.objects.exists()


def test_downloads(cli, logged_in, plugin, tmp_path, confirmed):
    from brainscore_web.leaderboard.simulation import simulate_leaderboard

    simulate_leaderboard(models=3, benchmarks=4, versions=1)
    assert cli("download", "scores").exit_code == 0
    with (tmp_path / "brain-score-scores.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["model"][:9] for row in rows} == {"simulated"}
    assert cli("download", "leaderboard", "--format", "bib", "-o", "cite.bib").exit_code == 0
    assert cli("submit", str(plugin(model_files("tiles-9")))).exit_code == 0
    row = Submission.objects.get()
    found = cli("download", "submission", str(row.pk)[:8], "-o", "mine.zip")
    assert found.exit_code == 0, found.output
    assert (tmp_path / "mine.zip").read_bytes() == bytes(row.latest.archive)
    confirmed.user_permissions.add(Permission.objects.get(codename="add_score"))
    made = Receipt(
        model=ModelInfo(identifier="simulated"), benchmark=BenchmarkInfo(identifier="Posted2026-pls", version=1),
        state="scored", score=Estimate(value=0.5, error=0.01),
    )  # fmt: skip
    (tmp_path / "receipts").mkdir()
    made = ResultsStore(tmp_path / "receipts").write(made)
    token = ApiToken.issue(confirmed, "scoring", ["read", "receipts:write"])[1]
    assert Client(logged_in, token).post_receipts(made, visibility="public").added == 1
    found = cli("download", "receipt", made.id, "-o", "receipt.json")
    assert found.exit_code == 0, found.output
    assert Receipt.from_dict(json.loads((tmp_path / "receipt.json").read_text())) == made
    for arguments, said in {
        ("receipt", "../x"): "not an identifier", ("receipt", "absent"): "absent", ("scores", "-o", "no/x"): "no folder"
    }.items():  # fmt: skip
        assert said in cli("download", *arguments).stderr
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".part")]
