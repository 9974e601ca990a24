"""The folder and the decisions of a remote worker; tests/web/scoring runs one against a site."""

import sys
import time
import zipfile

import pytest
from click.testing import CliRunner

from brainscore import remote_worker
from brainscore.cli import app
from brainscore.remote_worker import Pair, RemoteWorker, WorkerFolder
from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.runner.process import ModelProcess
from brainscore_core.scoring import BenchmarkInfo, ErrorInfo, Estimate, ModelInfo, Receipt


class Site:
    """Stands for the requests; records what the worker sends."""

    obstacle = ""

    def __init__(self, pair=None, *, held=True, down=0):
        self.connection, self.worker = self, "lab"
        self.site = "https://score.example.org"
        self.waiting, self.held, self.down = pair, held, down
        self.lost, self.refuses = 0, False
        self.sent, self.released, self.leases = [], [], []

    def take(self, *, lease, **asked):
        """Return the pair for each request with the lease of the first one, of which `lost` responses are lost."""
        self.leases.append(lease)
        if self.lost:
            self.lost -= 1
            raise DataUnavailable("the response is lost")
        return self.waiting if lease == self.leases[0] else None

    def renew(self, pair):
        if self.refuses:
            raise UserError("the token is not valid")
        return self.held, False

    def release(self, pair, *, wait=0.0):
        self.released.append((str(pair), wait))

    def send_result(self, pair, receipt, attachments):
        if self.down:
            self.down -= 1
            raise DataUnavailable("the site cannot be reached")
        self.sent.append(Receipt.from_json(receipt).id)
        return "stored"


def pair(**changes):
    values = {
        "id": 1, "lease": "x", "model": "pixels", "benchmark": "Simulated2026.V1-rdm", "run": "site-1-1",
        "lease_seconds": 120.0, "code": {}, "plugins": "", "files": (), "sandbox": False,
    }  # fmt: skip
    return Pair(**{**values, **changes})


def receipt(**changes):
    values = {"model": ModelInfo(identifier="pixels"), "benchmark": BenchmarkInfo(identifier="Simulated2026.V1-rdm")}
    return Receipt(**{**values, "state": "scored", "score": Estimate(value=0.5), **changes})


@pytest.fixture
def work(tmp_path, monkeypatch):
    """``work(site)`` lets a worker run until no pair is waiting, without scoring; returns what it said."""
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path))

    def run(site, outcome=None):
        said = []
        worker = RemoteWorker.__new__(RemoteWorker)
        RemoteWorker.__init__(worker, site, "lab", say=said.append, until_idle=True, idle_seconds=0.01)
        worker.work = site

        def score(process, *_, **__):
            assert outcome is not None, "it scores"
            return process.store.write(outcome)

        monkeypatch.setattr(ModelProcess, "score", score)
        worker.run()
        return said

    return run


def test_processes_use_one_folder_each_and_free_ones_again(tmp_path):
    first, second = (WorkerFolder("https://a.example.org", tmp_path) for _ in range(2))
    assert (first.path.name, second.path.name) == ("0", "1")
    first.close()
    assert WorkerFolder("https://a.example.org", tmp_path).path == first.path
    second.close()


def test_a_finished_result_is_uploaded_by_the_next_worker_also_if_the_site_was_down(tmp_path, work):
    folder = WorkerFolder("https://score.example.org", tmp_path / "remote-worker")
    folder.keep(pair())
    stored = folder.results.write(receipt(), {"log": "what it printed"})
    folder.close()
    site = Site(down=2)
    said = work(site)
    assert site.sent == [stored.id]
    assert sum("cannot be reached" in line for line in said) == 2
    assert WorkerFolder("https://score.example.org", tmp_path / "remote-worker").pair is None


def test_a_pair_without_result_is_scored_again_if_its_lease_is_held(tmp_path, work):
    for held in (True, False):
        folder = WorkerFolder("https://score.example.org", tmp_path / "remote-worker")
        folder.keep(pair())
        folder.close()
        site = Site(held=held)
        said = work(site, receipt())
        assert len(site.sent) == held
        assert any("lost" in line for line in said) is not held


def test_a_pair_whose_response_was_lost_is_taken_with_the_same_lease(work, tmp_path):
    site = Site(pair())
    site.lost = 2
    work(site, receipt())
    assert len(site.sent) == 1
    first, *others, last = site.leases
    assert others == [first] * 2  # until the response arrives
    assert last != first
    folder = WorkerFolder("https://score.example.org", tmp_path / "remote-worker")
    assert folder.next_lease() == last  # also by the next process
    folder.close()


def test_a_worker_ends_when_its_token_is_revoked_and_keeps_its_pair(tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path))
    site = Site(pair(lease_seconds=0.01))
    site.refuses = True
    worker = RemoteWorker(site, "lab", say=list, until_idle=True)
    worker.work = site

    def score(process, *_, stopped, **__):
        while not stopped():
            time.sleep(0.01)

    monkeypatch.setattr(ModelProcess, "score", score)
    with pytest.raises(UserError, match="the token is not valid"):
        worker.run()
    assert not site.released
    folder = WorkerFolder("https://score.example.org", tmp_path / "remote-worker")
    assert folder.pair == site.waiting
    folder.close()


@pytest.mark.parametrize("kind", ["DataUnavailable", "Offline", "OutOfMemory"])
def test_what_cannot_be_scored_here_is_given_back(work, kind):
    site = Site(pair())
    failed = receipt(
        state="failed", score=None, reason="it lies elsewhere",
        error=ErrorInfo(type=kind, message="it lies elsewhere", traceback=""),
    )  # fmt: skip
    said = work(site, failed)
    assert (len(site.sent), len(site.released)) == (0, 1)
    assert "it lies elsewhere" in " ".join(said)


def test_plugins_of_another_version_are_not_scored(work):
    site = Site(pair(code={"benchmark": "0" * 64}))
    assert "the code of the benchmark Simulated2026.V1-rdm here is not that of the site" in " ".join(work(site))
    assert site.released
    site = Site(pair(benchmark="Nowhere2026-pls", code={"benchmark": "0" * 64}))
    assert "the benchmark Nowhere2026-pls is not installed here" in " ".join(work(site))


def test_paths_that_leave_the_folder_are_refused(tmp_path):
    folder = WorkerFolder("https://a.example.org", tmp_path)
    with pytest.raises(UserError, match="invalid path"):
        folder.files_of(pair(files=("../x",)), Site())
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr("../../x.py", "")
    with pytest.raises(UserError, match="invalid path"):
        remote_worker._unpack(tmp_path / "bad.zip", tmp_path / "out")
    with pytest.raises(UserError, match="invalid name"):
        folder.plugins_of(pair(plugins="../x"), Site())
    folder.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--site", "https://a.example.org"], "a token is needed"),
        (["--site", "http://a.example.org", "--token", "bs_x"], "unencrypted"),
        (["--site", "a.example.org", "--token", "bs_x"], "not the address of a site"),
        (["--token", "bs_x"], "--token and --name are options of --site"),
        (["--site", "https://a.example.org", "--jobs-only"], "cannot be combined"),
        (["--site", "https://a.example.org", "--token", "x", "--once", "--until-idle"], "cannot be combined"),
    ],
)
def test_wrong_options_are_explained(options, message, monkeypatch, tmp_path):
    monkeypatch.delenv("BRAINSCORE_TOKEN", raising=False)
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path))
    done = CliRunner().invoke(app, ["worker", *options])
    assert done.exit_code == 2
    assert message in done.output


def test_the_environment_with_the_token_is_hidden_while_it_works(monkeypatch, tmp_path):
    """`hide_environment` is tested with the site's processes."""
    hidden = []
    monkeypatch.setattr("brainscore_core.isolation.children.hide_environment", lambda: hidden.append("hidden"))
    monkeypatch.setattr(RemoteWorker, "run", lambda self: hidden.append("works"))
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path))
    done = CliRunner().invoke(app, ["worker", "--site", "https://a.example.org", "--token", "bs_x", "--once"])
    assert (done.exit_code, hidden) == (0, ["hidden", "works"])


def test_a_system_without_locks_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(UserError, match="require Linux or macOS"):
        WorkerFolder("https://www.example.org", root=tmp_path)
    assert not list(tmp_path.iterdir())
