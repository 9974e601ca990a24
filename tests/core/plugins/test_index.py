"""Where plugins are found, and how what was read is kept."""

import concurrent.futures
import importlib
import json
import os
import subprocess
import sys
import textwrap
import threading

import pytest

from brainscore_core.errors import UnknownIdentifier
from brainscore_core.paths import plugin_index_file
from brainscore_core.plugins import DuplicateRegistrationError, PluginWarning
from brainscore_core.plugins import index as index_module
from brainscore_core.plugins.loading import distribution_of


@pytest.fixture
def scanned(monkeypatch):
    """Files whose source was read, in place of the cache."""
    files = []

    def scan_file(file, registries):
        files.append(os.path.basename(os.path.dirname(file)))
        return original(file, registries)

    original = index_module.scan_file
    monkeypatch.setattr(index_module, "scan_file", scan_file)
    return files


@pytest.fixture
def distribution(tmp_path, domain):
    """Installs a made-up distribution that declares plugins."""

    def install(name, value, files):
        for path, source in files.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(source).replace("DOMAIN", domain.package))
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{domain.group}]\n{name} = {value}\n")
        importlib.invalidate_caches()
        domain.index.refresh()

    return install


def signature(domain):
    return f"{domain.package}: benchmark_registry model_registry"


def cached(domain):
    """Entries of a domain in the cache, by file."""
    return json.loads(plugin_index_file().read_text())["domains"][signature(domain)]


class TestCache:
    def test_an_unchanged_file_is_read_once(self, domain, scanned):
        domain.write("models", "a", "model_registry['a'] = dict")
        assert list(domain.models) == ["a"]
        assert scanned == ["a"]
        domain.open()
        assert list(domain.models) == ["a"]
        assert scanned == ["a"]

    def test_a_changed_file_is_read_again(self, domain, scanned):
        domain.write("models", "a", "model_registry['a'] = dict")
        domain.write("models", "b", "model_registry['b'] = dict")
        assert list(domain.models) == ["a", "b"]
        domain.write("models", "a", "model_registry['other'] = dict")
        assert list(domain.models) == ["b", "other"]
        assert scanned == ["a", "b", "a"]

    def test_same_size_another_time(self, domain):
        file = domain.write("models", "a", "model_registry['a'] = dict") / "__init__.py"
        assert list(domain.models) == ["a"]
        domain.write("models", "a", "model_registry['b'] = dict")
        os.utime(file, ns=(1, 1))
        assert list(domain.models) == ["b"]

    def test_a_changed_constant_elsewhere(self, domain):
        source = "from .names import NAMES\nfor name in NAMES:\n    model_registry[name] = dict"
        folder = domain.write("models", "a", source, names="NAMES = ['a', 'b']")
        assert list(domain.models) == ["a", "b"]
        (folder / "names.py").write_text("NAMES = ['a', 'b', 'c']")
        domain.open()
        assert list(domain.models) == ["a", "b", "c"]
        assert domain.imported() == []

    def test_a_removed_plugin_is_gone(self, domain):
        folder = domain.write("models", "a", "model_registry['a'] = dict")
        domain.write("models", "b", "model_registry['b'] = dict")
        assert list(domain.models) == ["a", "b"]
        (folder / "__init__.py").unlink()
        assert list(domain.models) == ["b"]
        domain.write("models", "c", "")
        assert list(domain.models) == ["b"]
        assert str(folder / "__init__.py") not in cached(domain)

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"{",
            b"[]",
            b"null",
            b"\xff\xfe",
            b'{"version": 2}',
            b'{"version": 2, "domains": 3}',
            b'{"version": 999, "domains": {}}',
            b'{"version": 2, "domains": {"SIGNATURE": {"x": [1]}}}',
            b'{"version": 2, "domains": {"SIGNATURE": {"x": [[["a"]], [], null, [], {}]}}}',
            b'{"version": 2, "domains": {"SIGNATURE": 3}}',
            b"[" * 100_000,
        ],
    )
    def test_a_damaged_cache_is_replaced(self, domain, content):
        domain.write("models", "a", "model_registry['a'] = dict")
        file = plugin_index_file()
        file.parent.mkdir(parents=True)
        file.write_bytes(content.replace(b"SIGNATURE", signature(domain).encode()))
        assert list(domain.models) == ["a"]
        assert list(cached(domain)) == [str(domain.folder / "models" / "a" / "__init__.py")]

    def test_domains_keep_the_entries_of_others(self, domain):
        domain.write("models", "a", "model_registry['a'] = dict")
        file = plugin_index_file()
        file.parent.mkdir(parents=True)
        file.write_text('{"version": 2, "domains": {"other: model_registry": {}}}')
        assert list(domain.models) == ["a"]
        assert set(json.loads(file.read_text())["domains"]) == {"other: model_registry", signature(domain)}

    def test_a_place_that_cannot_be_written(self, domain, tmp_path, monkeypatch, scanned):
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "file"))
        domain.write("models", "a", "model_registry['a'] = dict")
        for _ in range(2):
            assert list(domain.models) == ["a"]
            domain.index.refresh()
        assert scanned == ["a"]  # the process remembers
        assert sorted(os.listdir(tmp_path)) == sorted(["file", domain.package])

    def test_a_folder_in_place_of_the_file(self, domain):
        plugin_index_file().mkdir(parents=True)
        domain.write("models", "a", "model_registry['a'] = dict")
        assert list(domain.models) == ["a"]
        assert [file.name for file in plugin_index_file().parent.iterdir()] == ["plugin-index.json"]

    def test_writers_at_once_leave_one_whole_file(self, domain):
        for number in range(20):
            domain.write("models", f"m{number}", f"model_registry['m{number}'] = dict")

        def list_all(_):
            plugin_index_file().unlink(missing_ok=True)
            return list(domain.models)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            results = list(pool.map(list_all, range(12)))
        assert all(result == sorted(f"m{number}" for number in range(20)) for result in results)
        assert [file.name for file in plugin_index_file().parent.iterdir()] in (["plugin-index.json"], [])

    def test_threads_that_ask_for_one_plugin(self, domain):
        domain.write("models", "a", "import time\ntime.sleep(0.05)\nmodel_registry['a'] = lambda: 1")
        barrier = threading.Barrier(8)

        def load(_):
            barrier.wait()
            return domain.models["a"]()

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            assert list(pool.map(load, range(8))) == [1] * 8


class TestProblems:
    def test_a_syntax_error_is_one_warning_and_the_rest_works(self, domain):
        broken = domain.write("models", "broken", "model_registry['broken'] = = dict")
        domain.write("models", "good", "model_registry['good'] = dict")
        with pytest.warns(PluginWarning) as warned:
            listed = [*domain.models, *domain.benchmarks]
        assert listed == ["good"]
        assert [str(warning.message) for warning in warned] == [
            f"the plugin {domain.package}.models.broken cannot be read: {broken / '__init__.py'}:2: invalid syntax"
        ]
        with pytest.raises(UnknownIdentifier, match=r"broken/__init__\.py:2: invalid syntax"):
            domain.models["broken"]
        assert domain.models["good"] is dict

    @pytest.mark.parametrize("name", [".hidden", "_private", "__pycache__"])
    def test_folders_that_are_no_plugins(self, domain, name):
        domain.write("models", name, "model_registry['a'] = dict")
        assert list(domain.models) == []

    def test_what_else_lies_between_plugins(self, domain):
        models = domain.folder / "models"
        domain.write("models", "good", "model_registry['good'] = dict")
        (models / "loop").symlink_to(models / "loop")
        (models / "dangling").symlink_to(models / "gone")
        (models / "notes.txt").write_text("model_registry['a'] = dict")
        (models / "empty").mkdir()
        (models / "odd" / "__init__.py").mkdir(parents=True)
        (models / "pipe").mkdir()
        os.mkfifo(models / "pipe" / "__init__.py")
        (models / "linked").symlink_to(domain.write("elsewhere", "linked", "model_registry['linked'] = dict"))
        assert list(domain.models) == ["good", "linked"]
        assert domain.models["linked"] is dict

    def test_a_name_that_only_importlib_can_spell(self, domain):
        domain.write("models", "my-model", "model_registry['a'] = dict")
        assert domain.models["a"] is dict


class TestVariable:
    def test_folders_join_in(self, domain, tmp_path, monkeypatch):
        domain.write("models", "a", "model_registry['a'] = dict")
        for lab in ("lab1", "lab2"):
            domain.write(
                "models",
                f"of_{lab}",
                f"from .code import f\nmodel_registry['{lab}'] = f",
                tmp_path / lab,
                code="f = dict",
            )
        folders = os.pathsep.join([str(tmp_path / "lab1"), "", str(tmp_path / "lab2"), str(tmp_path / "lab1")])
        monkeypatch.setenv(domain.variable, folders)
        assert list(domain.models) == ["a", "lab1", "lab2"]
        assert domain.models.location("lab1").source == domain.variable
        assert domain.imported() == []
        assert domain.models["lab1"] is dict
        module = importlib.import_module(f"{domain.package}.models.of_lab2.code")
        assert module.__file__ == str(tmp_path / "lab2" / "models" / "of_lab2" / "code.py")
        package = sys.modules[f"{domain.package}.models"]
        assert list(package.__path__) == [
            str(tmp_path / "lab1" / "models"),
            str(tmp_path / "lab2" / "models"),
            str(domain.folder / "models"),
        ]

    def test_change_within_a_process(self, domain, tmp_path, monkeypatch):
        for lab in ("lab1", "lab2"):
            domain.write("models", "mine", f"model_registry['mine'] = lambda: '{lab}'", tmp_path / lab)
        domain.write("models", "extra", "model_registry['extra'] = dict", tmp_path / "lab1")
        monkeypatch.setenv(domain.variable, str(tmp_path / "lab1"))
        assert domain.models["mine"]() == "lab1"
        assert domain.models["extra"] is dict
        monkeypatch.setenv(domain.variable, str(tmp_path / "lab2"))
        assert list(domain.models) == ["mine"]
        assert domain.models["mine"]() == "lab2"
        monkeypatch.delenv(domain.variable)
        assert list(domain.models) == []
        assert "mine" not in domain.models
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"{domain.package}.models.mine")

    def test_importing_before_anything_is_listed(self, domain, tmp_path, monkeypatch):
        domain.write("models", "mine", "model_registry['mine'] = dict", tmp_path / "lab")
        importlib.import_module(f"{domain.package}.models")
        monkeypatch.setenv(domain.variable, str(tmp_path / "lab"))
        importlib.import_module(f"{domain.package}.models.mine")
        assert domain.models["mine"] is dict

    def test_a_folder_that_is_not_there(self, domain, tmp_path, monkeypatch):
        domain.write("models", "a", "model_registry['a'] = dict")
        monkeypatch.setenv(domain.variable, str(tmp_path / "typo"))
        with pytest.warns(PluginWarning, match=f"{domain.variable} names {tmp_path / 'typo'}, which is not a folder"):
            assert list(domain.models) == ["a"]
        with pytest.raises(UnknownIdentifier, match="typo"):
            domain.models["b"]

    def test_a_folder_one_level_too_deep(self, domain, tmp_path, monkeypatch):
        domain.write("models", "mine", "model_registry['mine'] = dict", tmp_path / "lab")
        monkeypatch.setenv(domain.variable, str(tmp_path / "lab" / "models"))
        with pytest.warns(PluginWarning, match=f"did you mean {tmp_path / 'lab'}\\?"):
            assert list(domain.models) == []

    def test_the_built_in_folder_itself_counts_once(self, domain, monkeypatch):
        domain.write("models", "a", "model_registry['a'] = dict")
        monkeypatch.setenv(domain.variable, str(domain.folder))
        assert domain.models["a"] is dict

    @pytest.mark.parametrize("copy", [False, True])
    def test_built_in_folders_that_are_not_replaced(self, domain, tmp_path, monkeypatch, copy):
        """Where the variable turns it off, and in a copy of the package."""
        root = tmp_path / "copy" / domain.package if copy else tmp_path / "lab"
        domain.write("models", "same", "model_registry['a'] = dict")
        domain.write("models", "same", "model_registry['a'] = list\nmodel_registry['b'] = list", root)
        domain.write("models", "other", "model_registry['c'] = list", root)
        (root / "models" / "same_too").mkdir()  # without __init__.py
        monkeypatch.setenv(domain.variable, str(root))
        if copy:
            (root / "__init__.py").touch()
        else:
            monkeypatch.setenv(f"{domain.variable}_REPLACE", "0")
        with pytest.warns(PluginWarning, match=r"1 of whose plugins has the folder name .* instead: models/same\."):
            assert list(domain.models) == ["a", "c"]
        assert domain.models["a"] is dict
        assert domain.models["c"] is list

    def test_a_tree_that_holds_the_package(self, domain, monkeypatch):
        domain.write("models", "a", "model_registry['a'] = dict")
        domain.write("models", "mine", "model_registry['mine'] = list", domain.folder.parent)
        monkeypatch.setenv(domain.variable, str(domain.folder.parent))
        assert (domain.models["a"], domain.models["mine"]) == (dict, list)
        monkeypatch.delenv(domain.variable)
        assert list(domain.models) == ["a"]
        assert domain.imported() == [f"{domain.package}.models.a"]

    def test_two_plugin_folders_of_one_name(self, domain, tmp_path, monkeypatch):
        mine = domain.write("models", "same", "model_registry['a'] = dict", tmp_path / "lab1")
        theirs = domain.write("models", "same", "model_registry['b'] = dict", tmp_path / "lab2")
        monkeypatch.setenv(domain.variable, os.pathsep.join([str(tmp_path / "lab1"), str(tmp_path / "lab2")]))
        assert list(domain.models) == ["a", "b"]
        assert domain.models["a"] is dict
        with pytest.raises(DuplicateRegistrationError) as error:
            domain.models["b"]
        assert str(mine) in str(error.value)
        assert str(theirs) in str(error.value)


class TestEntryPoints:
    def test_a_root_with_folders(self, domain, distribution):
        distribution(
            "lab-plugins",
            "lab_a.deep",
            {
                "lab_a/__init__.py": "raise SystemError",
                "lab_a/deep/__init__.py": "from DOMAIN import model_registry\nmodel_registry['root'] = dict",
                "lab_a/deep/models/m/__init__.py": "from DOMAIN import model_registry\nmodel_registry['m'] = dict",
            },
        )
        assert list(domain.models) == ["m", "root"]
        assert domain.models.location("m").package == "lab_a.deep.models.m"
        assert domain.models.location("m").source == "lab-plugins"
        assert "lab_a" not in sys.modules
        with pytest.raises(SystemError):
            domain.models["m"]

    def test_a_single_module(self, domain, distribution, tmp_path):
        distribution("single", "lab_b", {"lab_b.py": "from DOMAIN import model_registry\nmodel_registry['s'] = dict"})
        assert list(domain.models) == ["s"]
        assert domain.models.location("s").folder == tmp_path / "lab_b.py"
        assert domain.models["s"] is dict
        del sys.modules["lab_b"]

    def test_the_first_distribution_on_the_path_counts(self, domain, distribution, tmp_path, monkeypatch):
        distribution("twice", "lab_f", {"lab_f.py": "from DOMAIN import model_registry\nmodel_registry['f'] = dict"})
        info = tmp_path / "before" / "twice-2.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: twice\nVersion: 2.0\n")  # without entry points
        monkeypatch.syspath_prepend(info.parent)
        domain.index.refresh()
        assert list(domain.models) == []

    def test_a_plugin_in_whose_folder_python_was_started(self, domain, monkeypatch):
        folder = domain.write("models", "a", "model_registry['a'] = dict")
        monkeypatch.syspath_prepend(folder)
        assert distribution_of(folder) == (None, None)

    def test_what_is_announced_and_not_installed(self, domain, distribution):
        domain.write("models", "a", "model_registry['a'] = dict")
        with pytest.warns(PluginWarning, match=r"distribution gone declares plugins in the module lab_c\.x"):
            distribution("gone", "lab_c.x", {"lab_c/__init__.py": ""})
        assert list(domain.models) == ["a"]

    def test_a_collision_with_a_built_in_one(self, domain, distribution):
        domain.write("models", "a", "model_registry['a'] = dict")
        distribution("clash", "lab_d", {"lab_d.py": "from DOMAIN import model_registry\nmodel_registry['a'] = list"})
        with pytest.raises(DuplicateRegistrationError, match=r"models/a/__init__.py:2 and .*lab_d.py:2"):
            domain.models["a"]


def test_many_plugins_are_listed_without_importing_one(tmp_path):
    """In a process of its own, so that sys.modules says what was imported."""
    for number in range(300):
        folder = tmp_path / "models" / f"plugin_{number}"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(
            f"import numpy, torch\nfrom brainscore_vision import model_registry\n"
            f"model_registry['synthetic-{number}'] = lambda: {number}\n"
        )
    code = """
        import sys
        from brainscore_vision import model_registry
        names = [name for name in model_registry if name.startswith('synthetic-')]
        heavy = {'numpy', 'pandas', 'xarray', 'torch', 'sklearn', 'matplotlib'} & set(sys.modules)
        plugins = [name for name in sys.modules if name.startswith('brainscore_vision.models')]
        print(len(names), 'synthetic-7' in model_registry, sorted(heavy), plugins)
    """
    environment = {**os.environ, "BRAINSCORE_PLUGINS": str(tmp_path), "BRAINSCORE_HOME": str(tmp_path / "home")}
    for _ in range(2):  # cold, then from the cache
        run = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)], env=environment, capture_output=True, text=True, check=True
        )
        assert run.stdout.split("\n")[0] == "300 True [] []"
