"""A small domain package with plugins, made anew for each test."""

import itertools
import sys
import textwrap

import pytest

from brainscore_core.plugins import PluginIndex, Registry

_numbers = itertools.count()
KINDS = ("benchmarks", "models")
HEAD = "from {package} import benchmark_registry, model_registry\n"


class Domain:
    """A package on disk, its index and its registries."""

    def __init__(self, folder):
        self.package = f"domain{next(_numbers)}"
        self.folder = folder / self.package
        self.folder.mkdir()
        for kind in KINDS:
            (self.folder / kind).mkdir()
            (self.folder / kind / "__init__.py").write_text("")
        (self.folder / "__init__.py").write_text("")
        self.variable = f"{self.package.upper()}_PLUGINS"
        self.group = f"{self.package}.plugins"
        self.open()

    def open(self):
        """Start with nothing known, as a new process does."""
        self.index = PluginIndex(
            self.package,
            folder=self.folder,
            kinds=KINDS,
            registries=("benchmark_registry", "model_registry"),
            variable=self.variable,
            entry_points=self.group,
        )
        self.index.install()
        self.models = Registry("model_registry", noun="model", index=self.index, list_command="domain list models")
        self.benchmarks = Registry("benchmark_registry", noun="benchmark", index=self.index)
        module = __import__(self.package)
        module.model_registry = self.models
        module.benchmark_registry = self.benchmarks

    def write(self, kind, name, source, root=None, **others):
        folder = (root or self.folder) / kind / name
        folder.mkdir(parents=True, exist_ok=True)
        head = HEAD.format(package=self.package)
        (folder / "__init__.py").write_text(head + textwrap.dedent(source))
        for other, text in others.items():
            (folder / f"{other}.py").write_text(textwrap.dedent(text))
        return folder

    def imported(self):
        return sorted(name for name in sys.modules if name.startswith(f"{self.package}.") and name.count(".") > 1)


@pytest.fixture
def domain(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "home"))
    meta_path = list(sys.meta_path)
    made = Domain(tmp_path)
    yield made
    sys.meta_path[:] = meta_path
    for name in [name for name in sys.modules if name.split(".")[0] == made.package]:
        del sys.modules[name]
