"""Fixtures for every test of the project, the plugins' own included."""

import importlib.util
import logging
import os
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import hypothesis
import pytest

collect_ignore = ["brainscore_web/wsgi.py", "brainscore_web/__main__.py"]  # they set the process up for serving
pytest_plugins = ["brainscore.pytest_plugin"]  # the entry point loads it, too, once the project is installed

# a loaded machine is slow; that is no failure
hypothesis.settings.register_profile("steady", deadline=None)
hypothesis.settings.load_profile("steady")


def _set_up_site():
    """Set up the site, where Django is installed: in a folder of its own, with static files as they lie in the tree."""
    if importlib.util.find_spec("django") is None:
        return
    os.environ.setdefault("BRAINSCORE_SITE_HOME", tempfile.mkdtemp(prefix="brainscore-site-"))
    os.environ.setdefault("BRAINSCORE_SITE_SECRET", "only for tests, where nothing is worth signing")
    import django
    from django.conf import settings

    import brainscore_web.settings as site

    chosen = {name: getattr(site, name) for name in dir(site) if name.isupper()}
    chosen["STORAGES"]["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    chosen["WHITENOISE_USE_FINDERS"] = chosen["WHITENOISE_AUTOREFRESH"] = True
    chosen["PASSWORD_HASHERS"] = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    chosen["ALLOWED_HOSTS"] = ["testserver", "localhost", "127.0.0.1"]
    settings.configure(**chosen)
    django.setup()


_set_up_site()


@pytest.fixture(scope="session", autouse=True)
def _home_of_the_tests(tmp_path_factory):
    """Nothing a test does reaches the user's own caches, results or plugins."""
    home = tmp_path_factory.mktemp("home")
    tempfile.tempdir = str(tmp_path_factory.mktemp("temporary"))  # what examples leave behind goes with the tests' own
    unset = ("RESULTS", "PLUGINS", "ACTIVATIONS", "ACTIVATIONS_LIMIT", "MAX_MEMORY")
    kept = {f"BRAINSCORE_{name}": os.environ.pop(f"BRAINSCORE_{name}", None) for name in unset}
    for name in ("BRAINIO_HOME", "BRAINSCORE_HOME"):
        kept[name] = os.environ.get(name)
        os.environ[name] = str(home / name.lower())
    if "BRAINSCORE_MIRROR" in os.environ:  # some tests change the working directory
        kept["BRAINSCORE_MIRROR"] = os.environ["BRAINSCORE_MIRROR"]
        folders = kept["BRAINSCORE_MIRROR"].split(os.pathsep)
        os.environ["BRAINSCORE_MIRROR"] = os.pathsep.join(str(Path(folder).resolve()) for folder in folders)
    yield
    for name, value in kept.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@pytest.fixture(scope="session")
def mirror() -> Path:
    """Folder of published data files, laid out host/path; the test is skipped where there is none."""
    folder = os.environ.get("BRAINSCORE_MIRROR")
    if not folder:
        pytest.skip("needs real data: set BRAINSCORE_MIRROR to a folder that mirrors it")
    path = Path(folder).resolve()
    if not path.is_dir():
        pytest.fail(f"BRAINSCORE_MIRROR={folder} is no folder")
    return path


@pytest.fixture(scope="session")
def torchvision():
    """torchvision, also where it was built for another torch: two operators are declared that it then lacks."""
    torch = pytest.importorskip("torch")
    for operator in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, operator):
            torch.library.define(
                f"torchvision::{operator}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
            )
    return pytest.importorskip("torchvision")


@pytest.fixture
def need_program():
    """``need_program('chromium')`` returns its path; absent: skipped, or failed where CI is set."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None:
            message = f"needs the program {name!r}, which is not installed"
            if os.environ.get("CI"):
                pytest.fail(message)
            pytest.skip(message)
        return path

    return find


@pytest.fixture(scope="session")
def _s3_server():
    """Address of an S3 server of this process's own."""
    moto = pytest.importorskip("moto.server", reason="needs moto: pip install 'brainscore[test]'")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3_server(_s3_server, monkeypatch, tmp_path):
    """Address of an empty S3 server, which loaders and uploads use during the test, with credentials for it.

    Buckets keep versions where they are made so; objects are private unless uploaded with the ACL ``public-read``.
    """
    requests = pytest.importorskip("requests")
    requests.post(f"{_s3_server}/moto-api/reset", timeout=60)
    monkeypatch.setenv("AWS_ENDPOINT_URL", _s3_server)
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no_config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no_credentials"))
    return _s3_server


_HAS_TORCH = importlib.util.find_spec("torch") is not None
_NEEDS_TORCH = re.compile(r"^(import torch|from torch)|^\s*>>> (import|from) .*\btorch\b", re.MULTILINE)


def pytest_report_header():
    return [] if _HAS_TORCH else ["PyTorch is not installed: files that need it are left out"]


def pytest_ignore_collect(collection_path):
    """Where PyTorch is not installed, leave out the files that cannot be imported, or whose examples cannot run."""
    if _HAS_TORCH or collection_path.suffix != ".py" or not _NEEDS_TORCH.search(collection_path.read_text()):
        return None
    return True


def pytest_terminal_summary(terminalreporter):
    """Why tests were skipped, each reason once."""
    reasons = Counter(report.longrepr[2] for report in terminalreporter.stats.get("skipped", []))
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} × {reason}", yellow=True)
