"""Fixtures for every test of the project, the plugins' own included."""

import gc
import hashlib
import importlib.util
import json
import logging
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
import warnings
import zlib
from collections import Counter
from pathlib import Path

import hypothesis
import pytest

collect_ignore = ["brainscore_web/wsgi.py", "brainscore_web/__main__.py"]  # they set the process up for serving
pytest_plugins = ["brainscore.pytest_plugin"]  # the entry point loads it, too, once the project is installed

# no deadline: on a loaded machine an example may take long
hypothesis.settings.register_profile("local", deadline=None, max_examples=20)
hypothesis.settings.register_profile("ci", deadline=None, max_examples=50, derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")


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
def _home_of_the_tests(tmp_path_factory, pytestconfig):
    """Nothing a test does reaches the user's own caches, results or plugins."""
    home = tmp_path_factory.mktemp("home")
    drawn = _drawn_stimuli(pytestconfig)
    if drawn is not None:
        (home / "brainscore_home").mkdir()
        (home / "brainscore_home" / "simulated2026").symlink_to(drawn)
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


def _drawn_stimuli(config):
    """Folder of the stimuli of Simulated2026, which any test may complete: kept while the code that draws them is."""
    if not config.pluginmanager.has_plugin("cacheprovider") or os.name == "nt":  # no folder, or no links
        return None
    code = config.rootpath / "brainscore_vision" / "simulated_experiment.py"
    if not code.is_file():
        return None
    return config.cache.mkdir(f"simulated2026-{hashlib.sha256(code.read_bytes()).hexdigest()[:16]}")


if importlib.util.find_spec("django") is not None:

    @pytest.fixture(scope="session")
    def django_db_setup(django_db_setup, django_db_blocker):
        """The database of the tests, and what it is at first."""
        from tests.web._databases import Template

        with django_db_blocker.unblock():
            template = Template()
        stop = template.use_after_tests_that_commit()
        yield template
        with django_db_blocker.unblock():
            stop()


@pytest.fixture(scope="session")
def mirror() -> Path:
    """Folder of published data files, laid out host/path; the test is skipped where there is none."""
    folder = os.environ.get("BRAINSCORE_MIRROR")
    if not folder:
        pytest.skip("needs real data: set BRAINSCORE_MIRROR to a folder that mirrors it")
    path = Path(folder).resolve()
    if not path.is_dir():
        pytest.fail(f"BRAINSCORE_MIRROR={folder} is not a folder")
    return path


@pytest.fixture(scope="session")
def torchvision():
    """torchvision, also where it was built for another torch: two operators are declared that it then lacks."""
    from tests.optional import declare_operators

    declare_operators()
    return pytest.importorskip("torchvision")


@pytest.fixture(scope="session")
def make_stand_in(tmp_path_factory):
    """``make(identifier, kind)`` copies a stand-in, which is made once a process."""
    from brainscore_vision.testing import stand_in
    from brainscore_vision.testing import stand_ins as _stand_ins

    made, home = {}, tmp_path_factory.mktemp("stand_ins")
    makers = {"assemblies": stand_in, "stimulus_sets": _stand_ins.make_stimulus_set}

    def make(identifier, kind):
        with pytest.MonkeyPatch.context() as patched, warnings.catch_warnings():
            patched.setenv("BRAINSCORE_HOME", str(home))  # a test may have one of its own, which ends with it
            warnings.filterwarnings("ignore", "Duplicate dimension names")
            if (identifier, kind) not in made:
                made[identifier, kind] = makers[kind](identifier)
            return made[identifier, kind].copy()

    return make


@pytest.fixture
def stand_ins(make_stand_in, monkeypatch):
    """Data are stand-ins where there are any, without a server: ``serve_stand_ins`` is for tests of their loaders."""
    from brainscore_core.plugins import Registry
    from brainscore_vision import data_registry, stimulus_set_registry
    from brainscore_vision.testing import list_stand_ins

    known, make = list_stand_ins(), Registry.make
    kinds = ((data_registry, "assemblies"), (stimulus_set_registry, "stimulus_sets"))

    def made_or_loaded(self, key, *args, **kwargs):
        for registry, kind in kinds:
            if self is registry and key in known[kind]:
                return make_stand_in(key, kind)
        return make(self, key, *args, **kwargs)

    monkeypatch.setattr(Registry, "make", made_or_loaded)


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
def browser():
    """Chromium, driven by Playwright, one for all tests of a process: the one that CHROMIUM names, else Debian's."""
    sync = pytest.importorskip("playwright.sync_api")
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not path:
        message = "needs Chromium: install it, or name it in CHROMIUM"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright runs a loop in this thread
    sync.expect.set_options(timeout=30_000)  # on a loaded machine an answer may take long
    with sync.sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield opened
        opened.close()
    os.environ.pop("DJANGO_ALLOW_ASYNC_UNSAFE")


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
def s3_server(_s3_server, monkeypatch):
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
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, os.devnull)  # the same in each test, which then may share a client
    return _s3_server


def pytest_addoption(parser):
    parser.addoption("--durations-file", metavar="FILE", help="write the duration of each phase of each test as JSON")


def pytest_configure(config):
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)  # of a shell that started the tests in the background
    config.addinivalue_line("markers", "browser: drives a browser (set by the fixture of that name)")
    config.addinivalue_line("markers", "database: uses the database of the site (set by the fixtures that give it)")
    config.addinivalue_line("markers", "sampled(n): of its cases one in n runs by default, the others are marked slow")
    path = config.getoption("--durations-file")
    if path:
        config.pluginmanager.register(_Durations(None if hasattr(config, "workerinput") else path))


class _Durations:
    """Writes what ``tests/durations.py`` reads."""

    def __init__(self, path):
        self._file = Path(path).open("w", encoding="utf-8") if path else None  # noqa: SIM115 (until the end)
        self._fixtures, self._events, self._start = [], set(), time.monotonic()
        sys.addaudithook(lambda event, _: self._events.add(event) if event in _EVENTS else None)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        start = time.perf_counter()
        try:
            return (yield)
        finally:
            self._fixtures.append((fixturedef.argname, round(time.perf_counter() - start, 4)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        report.kind, report.fixtures_set_up = _kind(item, self._events), self._fixtures
        report.slow = item.get_closest_marker("slow") is not None
        self._fixtures = []
        if call.when == "teardown":
            self._events.clear()
        return report

    def pytest_runtest_logreport(self, report):
        if hasattr(report, "kind"):  # else its process died
            self._write(
                test=report.nodeid,
                when=report.when,
                outcome=report.outcome,
                seconds=round(report.duration, 4),
                kind=report.kind,
                slow=report.slow,
                fixtures=report.fixtures_set_up,
            )

    def pytest_unconfigure(self):
        if self._file is not None:
            self._write(elapsed=round(time.monotonic() - self._start, 1), finished=time.strftime("%Y-%m-%d %H:%M"))
            self._file.close()

    def _write(self, **row):
        if self._file is not None:
            self._file.write(json.dumps(row) + "\n")


_EVENTS = {"subprocess.Popen": "process", "os.fork": "process", "os.posix_spawn": "process", "socket.bind": "server"}


def _kind(item, events):
    """What makes a test cost what it costs: what it was seen to start, or the fixtures that it uses."""
    names = set(getattr(item, "fixturenames", ()))
    kinds = {_EVENTS[event] for event in events}
    if isinstance(item, pytest.DoctestItem):
        return "doctest"
    if item.path.suffix == ".md":
        return "documentation"
    if "browser" in names:
        return "browser"
    if "process" in kinds:
        return "process"
    if "server" in kinds or names & {"live_server", "s3_server"}:
        return "server"
    return "database" if "db" in names or item.get_closest_marker("django_db") else "computation"


_HAS_TORCH = importlib.util.find_spec("torch") is not None
_NEEDS_TORCH = re.compile(r"^(import torch|from torch)|^\s*>>> (import|from) .*\btorch\b", re.MULTILINE)


def pytest_report_header():
    return [] if _HAS_TORCH else ["PyTorch is not installed: files that need it are left out"]


def pytest_ignore_collect(collection_path):
    """Leave out modules without tests and examples, and without PyTorch the files that cannot be imported."""
    if collection_path.suffix != ".py" or collection_path.name == "conftest.py":
        return None
    text = collection_path.read_text(encoding="utf-8")
    if not _HAS_TORCH and _NEEDS_TORCH.search(text):
        return True
    has_tests = collection_path.name == "test.py" or collection_path.name.startswith("test_")
    return None if has_tests or ">>>" in text else True


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage meanwhile, and never again in tests and what they import: all of it stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items):
    """Mark what ``make test`` leaves to ``make test-all``, as docs/testing.md explains; then put tests in order."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if "browser" in fixtures:
            item.add_marker(pytest.mark.browser)
        if fixtures & {"db", "transactional_db", "live_server"} or item.get_closest_marker("django_db"):
            item.add_marker(pytest.mark.database)
        sampled = item.get_closest_marker("sampled")
        if sampled is not None and zlib.crc32(item.name.encode()) % sampled.args[0]:
            item.add_marker(pytest.mark.slow(reason=f"a case outside the sample of one in {sampled.args[0]}"))
        slow = item.get_closest_marker("slow")
        if slow is not None and "reason" not in slow.kwargs and item.path.name != "test.py":
            raise pytest.UsageError(f"{item.nodeid} is marked slow without a reason: slow(reason=…)")
    result = yield
    # what takes minutes is not begun last, when the other processes have nothing left to do
    items.sort(key=lambda item: not any(mark.kwargs.get("first") for mark in item.iter_markers("slow")))
    # blocks of a document build on each other, and stay together also where tests run in random order
    blocks = {}
    for item in items:
        if item.path.suffix == ".md":
            blocks.setdefault(item.path, []).append(item)
    ordered = []
    for item in items:
        if item.path.suffix == ".md":
            ordered += sorted(blocks.pop(item.path, []), key=lambda block: block.location[1])
        else:
            ordered.append(item)
    items[:] = ordered
    return result


def pytest_terminal_summary(terminalreporter):
    """Why tests were skipped, each reason once."""
    reasons = Counter(report.longrepr[2] for report in terminalreporter.stats.get("skipped", []))
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} × {reason}", yellow=True)
